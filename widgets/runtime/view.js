// A widget's view: one frame is morphed into the next. What is the reader's stays as it is: the
// focus, the slider under the finger, what was folded out, the player. Values that a frame marks
// (``data-mark``) are framed for a moment when they change; what it says glides
// (``data-glide``) moves from its old place to the new one, unless readers want no motion.

(() => {
  /** @param {Node} node */
  const isPlayer = (node) => node instanceof Element && node.hasAttribute("data-player");

  const GLIDE = { duration: 450, easing: "ease-in-out" };

  /** Where each gliding thing is. @param {HTMLElement} view @returns {Map<string, DOMRect>} */
  const places = (view) =>
    new Map(gliding(view).map((e) => [e.dataset.glide ?? "", e.getBoundingClientRect()]));

  /** @param {HTMLElement} view @returns {(SVGElement & {dataset: DOMStringMap})[]} */
  const gliding = (view) => [...view.querySelectorAll("[data-glide]")].map((e) => /** @type {any} */ (e));

  /** Let each start from where it was. @param {HTMLElement} view @param {Map<string, DOMRect>} before */
  const glide = (view, before) => {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    for (const e of gliding(view)) {
      const was = before.get(e.dataset.glide ?? "");
      const is = e.getBoundingClientRect();
      if (!was?.width || !is.width || (was.left === is.left && was.width === is.width)) continue;
      const from = `translateX(${was.left - is.left}px) scaleX(${was.width / is.width})`;
      e.animate([{ transform: from }, { transform: "none" }], GLIDE);
    }
  };

  const callbacks = {
    // What is equal need not be gone through: most of a frame is, and the browser sees it at once.
    /** @param {Node} node @param {Node} next */
    beforeNodeMorphed: (node, next) => !isPlayer(node) && !node.isEqualNode(next),
    /** @param {string} name @param {Element} element */
    beforeAttributeUpdated: (name, element) => name !== "open" || element.localName !== "details",
  };

  const MARKED_FOR = 1_000; // ms

  /** What each marked value says. @param {HTMLElement} view @returns {Map<string, string | null>} */
  const marked = (view) =>
    new Map([...view.querySelectorAll("[data-mark]")].map((e) => [e.id, e.textContent]));

  /** Frame, for a moment, the values that have changed. @param {HTMLElement} view */
  const mark = (view, /** @type {Map<string, string | null>} */ before) => {
    for (const e of view.querySelectorAll("[data-mark]")) {
      if (!before.has(e.id) || before.get(e.id) === e.textContent) continue;
      e.classList.add("changed");
      setTimeout(() => e.classList.remove("changed"), MARKED_FOR);
    }
  };

  /** @param {Element} element */
  const inSight = (element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  };

  /** What has the focus is not left out of sight. @param {Element} focused */
  const stay = (focused) => {
    if (focused === document.activeElement && !inSight(focused)) focused.scrollIntoView({ behavior: "instant" });
  };

  globalThis.lessonView = {
    show(view, html, slider) {
      const focused = document.activeElement ?? view;
      const inView = view.contains(focused);
      const seen = inSight(focused);
      const place = slider?.value ?? "";
      const before = marked(view);
      // What follows a slider is there at once.
      const from = focused.matches("[type=range]") ? null : places(view);
      // A kept element would go on with the travel it has begun.
      for (const travel of view.querySelectorAll("[data-travel]")) travel.remove();
      globalThis.Idiomorph.morph(view, html, { morphStyle: "innerHTML", restoreFocus: true, callbacks });
      // Morphing changes attributes; what a control holds now is a property of its own.
      for (const input of view.querySelectorAll("input")) {
        input.value = input === slider ? place : input.defaultValue;
      }
      for (const option of view.querySelectorAll("select:not([data-speed]) option")) {
        /** @type {HTMLOptionElement} */ (option).selected = option.hasAttribute("selected");
      }
      mark(view, before);
      // The focus was on something that is gone; or the frame is so much lower than the former
      // that it would be left behind.
      if (inView && !view.contains(document.activeElement)) view.parentElement?.focus({ preventScroll: true });
      else if (seen) requestAnimationFrame(() => stay(focused)); // the layout is a task of its own
      if (from) glide(view, from);
    },

    travel(view) {
      if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
      for (const travel of view.querySelectorAll("[data-travel]")) {
        if (travel instanceof SVGAnimationElement) travel.beginElement();
      }
    },
  };
})();
