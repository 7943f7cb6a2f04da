// Panels of figures are popovers and open without this file. It puts them beside the figure
// on wide screens, gives it the focus, closes it when the reader follows a link out of it,
// and gives the focus back where browsers do not: to a panel that it was opened from. What a
// frame cannot know, for it is made without its page, is added here: where else on the page a
// figure of a widget stands, and, on paper, a widget's figures in the list at the end.

(() => {
  if (!("popover" in document.body)) return; // older browsers show no panels
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

  // A term says what it means while the pointer or the keyboard rests on it; a click keeps it.
  const REST = 250; // ms
  /** @type {HTMLElement | null} the panel that shows for as long as that */
  let hint = null;
  let resting = 0;
  let closed = 0;

  /** @param {EventTarget | null} at */
  const termAt = (at) => (at instanceof Element ? at.closest("button.term") : null);

  /** @param {HTMLElement} term */
  const rest = (term) => {
    clearTimeout(resting);
    resting = setTimeout(() => {
      if (document.querySelector(".panel:popover-open")) return;
      pressed = term;
      hint = document.getElementById(term.getAttribute("popovertarget") ?? "");
      hint?.showPopover();
    }, REST);
  };

  /** The pointer or the focus has gone to ``at``. @param {EventTarget | null} at */
  const leave = (at) => {
    clearTimeout(resting);
    if (hint && !(at instanceof Node && hint.contains(at))) {
      resting = setTimeout(() => hint?.hidePopover(), REST);
    }
  };

  on("pointerover", (event) => {
    const { target, pointerType } = /** @type {PointerEvent} */ (event);
    const term = termAt(target);
    if (pointerType !== "mouse") return;
    if (term instanceof HTMLElement) rest(term);
    else leave(target);
  });

  on("focusin", ({ target }) => {
    const term = termAt(target);
    // The focus comes back to the term when its panel closes: that asks for nothing.
    const back = performance.now() - closed < REST;
    if (term instanceof HTMLElement && term.matches(":focus-visible") && !back) rest(term);
    else leave(target);
  });

  on("click", (event) => {
    const term = termAt(event.target);
    clearTimeout(resting);
    if (!term || hint?.id !== term.getAttribute("popovertarget")) return;
    event.preventDefault(); // it would close
    hint?.focus({ preventScroll: true });
    hint = null;
  });

  on("beforetoggle", (event) => {
    const panel = /** @type {HTMLElement} */ (event.target);
    if (!panel.matches(".panel")) return;
    // Unseen until it has its place; the toggle event comes a frame later.
    if (panel.matches(":popover-open")) closed = performance.now();
    else panel.classList.add("placing");
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
      addUses(panel);
      place(panel);
      panel.classList.remove("placing");
      if (panel !== hint) panel.focus({ preventScroll: true }); // a screen reader reads it
      return;
    }
    panel.removeAttribute("style"); // no frame may be made from it: the policy forbids
    if (panel === hint) hint = null;
    if (document.activeElement === document.body || panel.contains(document.activeElement)) {
      // Closed by Escape or its button; a click elsewhere has moved on and has no focus here.
      const opener = openedBy.get(panel);
      if (opener?.closest(":popover-open")) opener.focus({ preventScroll: true });
    }
  });

  // The reader tabs on, out of the panel: it would stay and cover what comes next.
  on("focusout", (event) => {
    const panel = /** @type {Element} */ (event.target).closest(".panel:popover-open");
    const next = /** @type {FocusEvent} */ (event).relatedTarget;
    if (!(panel instanceof HTMLElement) || !(next instanceof Element)) return;
    if (panel.contains(next)) return;
    const deeper = next.closest(".panel:popover-open");
    if (deeper instanceof HTMLElement && panel.contains(openedBy.get(deeper) ?? null)) return;
    if (openedBy.get(panel) === next) return; // whose click closes it
    panel.hidePopover();
  });

  const said = (/** @type {Element} */ panel) =>
    [...panel.querySelectorAll(".panel-head, .panel-numbers")].map((e) => e.textContent).join();

  /** The panel of the same figure in the page's own list. @param {HTMLElement} panel */
  function onPage(panel) {
    const name = CSS.escape(panel.dataset.figure ?? "");
    const alike = document.querySelectorAll(`.panel[data-figure="${name}"]`);
    return [...alike].find((p) => !p.closest("lesson-widget") && said(p) === said(panel));
  }

  /** @param {HTMLElement} panel */
  function addUses(panel) {
    if (!panel.closest("lesson-widget") || panel.querySelector(".panel-uses")) return;
    const uses = onPage(panel)?.querySelector(".panel-uses")?.cloneNode(true);
    if (uses) panel.querySelector(".panel-close")?.before(uses);
  }

  /** @type {Element[]} */
  const printed = [];

  addEventListener("beforeprint", () => {
    const list = document.querySelector(".panels:not(lesson-widget .panels)");
    for (const widget of /** @type {NodeListOf<LessonWidget>} */ (
      document.querySelectorAll("lesson-widget")
    )) {
      const still = document.createElement("div");
      still.className = "lw-paper";
      still.innerHTML = widget.still;
      widget.querySelector(".lw-address")?.before(still);
      printed.push(still);
    }
    const panels = document.querySelectorAll("lesson-widget .panel");
    for (const panel of panels) {
      if (!list || !(panel instanceof HTMLElement) || onPage(panel)) continue;
      const copy = /** @type {HTMLElement} */ (panel.cloneNode(true));
      for (const e of [copy, ...copy.querySelectorAll("[id]")]) e.removeAttribute("id");
      list.append(copy);
      printed.push(copy);
    }
  });

  addEventListener("afterprint", () => {
    for (const added of printed.splice(0)) added.remove();
  });

  /** @param {HTMLElement} panel */
  function place(panel) {
    const opener = openedBy.get(panel);
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
