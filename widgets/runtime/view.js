// A widget's view: one frame is morphed into the next. What is the reader's stays as it is: the
// focus, the slider under the finger, what was folded out, the player.

(() => {
  /** @param {Node} node */
  const isPlayer = (node) => node instanceof Element && node.hasAttribute("data-player");

  const callbacks = {
    // What is equal need not be gone through: most of a frame is, and the browser sees it at once.
    /** @param {Node} node @param {Node} next */
    beforeNodeMorphed: (node, next) => !isPlayer(node) && !node.isEqualNode(next),
    /** @param {string} name @param {Element} element */
    beforeAttributeUpdated: (name, element) => name !== "open" || element.localName !== "details",
  };

  globalThis.lessonView = {
    show(view, html, slider) {
      const place = slider?.value ?? "";
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
    },

    travel(view) {
      if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
      for (const travel of view.querySelectorAll("[data-travel]")) {
        if (travel instanceof SVGAnimationElement) travel.beginElement();
      }
    },
  };
})();
