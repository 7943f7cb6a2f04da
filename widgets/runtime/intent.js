// When Python is fetched: as soon as a reader shows that they want it, by touch, focus or a pointer
// that comes near; or when a widget is in sight, nothing else is to be done, and the line is fast
// and not paid by the byte. Readers who save data get it when they ask for what needs it, not before.

(() => {
  const NEAR = 120; // px between the pointer and the widget
  const FAST = 5; // Mbit/s: Python is there in some seconds
  const AHEAD = "25%"; // of the window, below and above it

  globalThis.lessonIntent = (widget, python, signal) => {
    const { connection } = navigator;
    if (connection?.saveData) return;
    const boot = () => {
      if (python.stage === "idle") python.boot();
    };
    for (const type of ["pointerenter", "focusin", "touchstart"]) {
      widget.addEventListener(type, boot, { signal, passive: true, once: true });
    }

    let looking = false;
    /** @param {PointerEvent} event */
    const near = ({ clientX: x, clientY: y }) => {
      if (looking || python.stage !== "idle") return;
      looking = true;
      requestAnimationFrame(() => {
        looking = false;
        const { left, right, top, bottom } = widget.getBoundingClientRect();
        if (x > left - NEAR && x < right + NEAR && y > top - NEAR && y < bottom + NEAR) boot();
      });
    };
    document.addEventListener("pointermove", near, { signal, passive: true });

    // Browsers that do not tell of the line are not asked for more than readers do.
    const fast = connection?.effectiveType === "4g" && connection.downlink >= FAST;
    if (!fast || connection.type === "cellular" || !("requestIdleCallback" in globalThis)) return;
    const sight = new IntersectionObserver(
      ([{ isIntersecting }]) => {
        if (!isIntersecting) return;
        sight.disconnect();
        requestIdleCallback(() => signal.aborted || boot());
      },
      { rootMargin: AHEAD },
    );
    sight.observe(widget);
    signal.addEventListener("abort", () => sight.disconnect());
  };
})();
