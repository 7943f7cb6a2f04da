// Files that a widget's state can be taken away as: Python writes them, this hands them over.

(() => {
  const FAILED = "这个文件要由 Python 现算，可 Python 没能载入";

  /** @param {{name: string, type: string, text: string}} file */
  const save = ({ name, type, text }) => {
    const address = URL.createObjectURL(new Blob([text], { type }));
    const link = Object.assign(document.createElement("a"), { href: address, download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  };

  document.addEventListener("click", async ({ target }) => {
    const button = /** @type {Element} */ (target).closest?.("lesson-widget [data-export]");
    const widget = button?.closest("lesson-widget");
    if (!(button instanceof HTMLElement) || !widget) return;
    const frame = /** @type {HTMLElement} */ (widget.querySelector("[data-view] > [data-frame]"));
    const status = /** @type {HTMLElement} */ (widget.querySelector("[data-status]"));
    const python = globalThis.lessonPython(widget.getAttribute("runtime") ?? "");
    try {
      save(
        await python.ask({
          widget: widget.getAttribute("name"),
          query: frame.dataset.full,
          export: button.dataset.export,
        }),
      );
    } catch {
      status.textContent = FAILED;
    }
  });
})();
