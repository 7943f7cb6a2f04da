// Panels of figures are popovers and open without this file. It puts them beside the figure
// on wide screens, gives it the focus, closes it when the reader follows a link out of it,
// and gives the focus back where browsers do not: to a panel that it was opened from.

(() => {
  const GAP = 8; // px between figure and panel
  const SHEET = "(max-width: 44em)"; // narrower screens show a sheet at the bottom

  /** @type {HTMLElement | null} the button that was pressed last */
  let pressed = null;
  /** @type {WeakMap<HTMLElement, HTMLElement>} */
  const openedBy = new WeakMap();

  /** @param {(event: Event) => void} listener @param {string} type */
  const on = (type, listener) => document.addEventListener(type, listener, { capture: true });

  on("click", (event) => {
    const target = /** @type {Element} */ (event.target);
    pressed = target.closest("[popovertarget]");
    const link = target.closest('[popover] a[href^="#"]');
    /** @type {HTMLElement | null | undefined} */ (link?.closest("[popover]"))?.hidePopover();
  });

  on("beforetoggle", (event) => {
    const panel = /** @type {HTMLElement} */ (event.target);
    // Unseen until it has its place; the toggle event comes a frame later.
    if (panel.matches(".panel")) panel.classList.add("placing");
  });

  // The theme acts on bare letters wherever the focus is; in a panel they are nobody's.
  document.addEventListener("keydown", (event) => {
    const target = /** @type {Element} */ (event.target);
    const modified = event.ctrlKey || event.metaKey || event.altKey;
    if (event.key.length === 1 && !modified && target.closest?.(".panel, button.q")) {
      event.stopPropagation();
    }
  });

  on("toggle", (event) => {
    const panel = /** @type {HTMLElement} */ (event.target);
    if (!panel.matches(".panel")) return;
    if (panel.matches(":popover-open")) {
      if (pressed) openedBy.set(panel, pressed);
      place(panel);
      panel.classList.remove("placing");
      panel.focus({ preventScroll: true }); // so that a screen reader reads it
    } else if (document.activeElement === document.body || panel.contains(document.activeElement)) {
      // Closed by Escape or its button; a click elsewhere has moved on and has no focus here.
      const opener = openedBy.get(panel);
      if (opener?.closest(":popover-open")) opener.focus({ preventScroll: true });
    }
  });

  /** @param {HTMLElement} panel */
  function place(panel) {
    const opener = openedBy.get(panel);
    panel.style.removeProperty("left");
    panel.style.removeProperty("top");
    const beside = opener !== undefined && !matchMedia(SHEET).matches;
    panel.classList.toggle("placed", beside);
    if (!beside) return;
    const figure = opener.getBoundingClientRect();
    const { width, height } = panel.getBoundingClientRect();
    const room = document.documentElement.clientWidth - width - GAP;
    const below = figure.bottom + GAP;
    const fits = below + height + GAP <= innerHeight;
    const top = fits ? below : Math.max(GAP, figure.top - GAP - height);
    panel.style.left = `${scrollX + Math.max(GAP, Math.min(figure.left, room))}px`;
    panel.style.top = `${scrollY + top}px`;
  }
})();
