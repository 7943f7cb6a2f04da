// Undo: the configurations that a widget has had, and the button that takes them back.

(() => {
  const LEVELS = 50;

  class Undo {
    /** How many levels the request on its way takes back. */
    pending = 0;
    #button;
    /** Former configurations, the latest last. @type {string[]} */
    #past = [];

    /** @param {HTMLElement} widget */
    constructor(widget) {
      this.#button = /** @type {HTMLElement} */ (widget.querySelector('[data-tool="undo"]'));
    }

    get former() {
      return this.#past.at(-this.pending - 1);
    }

    /** @param {number} levels */
    ask(levels) {
      this.pending = levels;
      const left = this.#past.length - levels;
      this.#button.setAttribute("aria-disabled", String(left === 0));
    }

    /** @param {string} [left] */
    settle(left) {
      this.#past.splice(this.#past.length - this.pending, this.pending);
      if (left !== undefined) this.#past.push(left);
      if (this.#past.length > LEVELS) this.#past.shift();
      this.ask(0);
    }
  }

  globalThis.lessonUndo = (widget) => new Undo(widget);
})();
