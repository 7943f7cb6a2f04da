// The panel for the reader's own model is fetched when it is wanted: when its button is pressed,
// or when the address, or this visit, says that a model was chosen.

(() => {
  const button = document.querySelector("[data-yours]");
  if (!(button instanceof HTMLElement)) return;
  button.hidden = !("popover" in button);

  const chosen = () => {
    const bare = [...new URLSearchParams(location.search).keys()].some((key) => !key.includes("."));
    try {
      return bare || location.hash.startsWith("#config=") || sessionStorage.getItem("lesson.yours");
    } catch {
      return bare; // no leave to look
    }
  };

  /** @type {Promise<void> | undefined} */
  let coming;
  const fetched = () =>
    (coming ??= new Promise((resolve, reject) => {
      const script = Object.assign(document.createElement("script"), { src: button.dataset.yours });
      script.onload = () => resolve();
      script.onerror = () => reject((coming = undefined)); // another press, another try
      document.head.append(script);
    }));

  button.addEventListener("click", () => {
    fetched().then(
      () => globalThis.lessonYours?.toggle(),
      () => (button.textContent = "没取到，再按一次"),
    );
  });
  for (const intent of ["pointerenter", "focus"]) {
    button.addEventListener(intent, () => fetched().catch(() => {}), { once: true });
  }
  if (chosen()) fetched().catch(() => {});
})();
