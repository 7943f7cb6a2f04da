// What is pointed at or has the focus lights up wherever else the figure shows it: elements with
// the same ``data-light``. What its bar is called stands in the figure's hint meanwhile.

(() => {
  /** @param {Element} widget @param {string | undefined} which */
  const light = (widget, which) => {
    for (const e of /** @type {NodeListOf<HTMLElement>} */ (widget.querySelectorAll("[data-light]"))) {
      e.toggleAttribute("data-lit", e.dataset.light === which);
    }
    const hint = /** @type {HTMLElement | null} */ (widget.querySelector("[data-hint]"));
    if (!hint) return;
    const named = which && widget.querySelector(`[aria-label][data-light="${CSS.escape(which)}"]`);
    hint.dataset.quiet ??= hint.textContent ?? ""; // a new frame brings a hint without it
    hint.textContent = named ? named.getAttribute("aria-label") : hint.dataset.quiet;
  };

  /** @param {EventTarget | null} target @returns {HTMLElement | null} */
  const lamp = (target) =>
    target instanceof Element ? target.closest("lesson-widget [data-light]") : null;

  for (const type of ["pointerover", "focusin"]) {
    document.addEventListener(type, ({ target }) => {
      const at = lamp(target);
      const widget = at?.closest("lesson-widget");
      if (at && widget) light(widget, at.dataset.light);
    });
  }
  for (const type of ["pointerout", "focusout"]) {
    document.addEventListener(type, (event) => {
      const widget = lamp(event.target)?.closest("lesson-widget");
      const next = /** @type {PointerEvent | FocusEvent} */ (event).relatedTarget;
      if (widget && !lamp(next)) light(widget, undefined);
    });
  }
})();
