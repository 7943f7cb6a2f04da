// Prerendered frames: a script for each widget, fetched once the widget is near the window, so
// that a page opens without waiting for what is further down; and all of them once nothing else
// is to be done, so that they are there when the network or the site's version goes. A script,
// not data: those load in pages opened from file:// too.

(() => {
  const AHEAD = "100%"; // of the window, below and above it

  const REST = 2_000; // ms, where browsers do not say when they are idle

  globalThis.lessonFrames ??= {};

  /** @param {() => void} work */
  const idle = (work) => globalThis.requestIdleCallback?.(work) ?? setTimeout(work, REST);

  /** @type {Map<string, Promise<unknown>>} */
  const coming = new Map();

  /** @param {string} src */
  const fetched = (src) =>
    new Promise((resolve) => {
      const script = Object.assign(document.createElement("script"), { src, onload: resolve });
      script.onerror = () => {
        coming.delete(src); // another try later; meanwhile Python has every frame
        resolve(undefined);
      };
      document.head.append(script);
    });

  globalThis.lessonFramesOf = (widget, signal) => {
    const src = widget.getAttribute("frames");
    /** Until the frames are there, or cannot be had. */
    const come = async () => {
      if (!src || globalThis.lessonFrames[widget.id]) return;
      if (!coming.has(src)) coming.set(src, fetched(src));
      await coming.get(src);
    };
    const near = new IntersectionObserver(
      ([{ isIntersecting }]) => {
        if (!isIntersecting) return;
        near.disconnect();
        come();
      },
      { rootMargin: AHEAD },
    );
    near.observe(widget);
    const rest = () => navigator.connection?.saveData || idle(come);
    if (document.readyState === "complete") rest();
    else addEventListener("load", rest, { signal });
    signal.addEventListener("abort", () => near.disconnect());
    return come;
  };
})();
