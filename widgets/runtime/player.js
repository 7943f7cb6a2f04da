// Play: presses a widget's "next" button at the pace the reader chose, until the end, or until
// the reader does anything else with the widget or looks away. It never starts by itself.

(() => {
  const SPEED = "lesson.speed"; // where this reader's speed is remembered

  class Player {
    /** Whether the event under way comes from the player, not from the reader. */
    pressing = false;
    #widget;
    #paused;
    /** The speed that this reader chose. @type {string | null} */
    #chosen = recall();
    /** Ends the listeners of the play under way. @type {AbortController | undefined} */
    #play;
    #timer = 0;
    #pressedAt = 0;
    #waiting = false; // for the frame that was asked for last

    /**
     * @param {HTMLElement} widget
     * @param {AbortSignal} signal ends the player
     * @param {() => void} paused called when the reader pauses, with nothing on its way
     */
    constructor(widget, signal, paused) {
      this.#widget = widget;
      this.#paused = paused;
      /** @param {string} type @param {string} part @param {() => void} listener */
      const on = (type, part, listener) => {
        const heard = (/** @type {any} */ { target }) => target.closest(part) && listener();
        widget.addEventListener(type, heard, { signal });
      };
      on("click", "[data-play]", () => this.toggle());
      on("change", "[data-speed]", () => this.#changeSpeed());
      signal.addEventListener("abort", () => this.stop());
      this.shown();
    }

    /** @returns {HTMLElement | null} */
    get #button() {
      return this.#widget.querySelector("[data-view] [data-play]");
    }

    /** @returns {HTMLSelectElement | null} */
    get #speed() {
      return this.#widget.querySelector("[data-view] [data-speed]");
    }

    /** Whether there is anything to play. */
    get available() {
      return this.#button !== null;
    }

    get playing() {
      return this.#play !== undefined;
    }

    /** What the play button does, and the space bar. */
    toggle() {
      if (!this.playing) return this.#start();
      this.stop();
      if (!this.#waiting) this.#paused();
    }

    stop() {
      if (!this.playing) return;
      this.#play?.abort();
      this.#play = undefined;
      clearTimeout(this.#timer);
      this.#label();
    }

    /** The widget shows a frame: the answer to what was pressed. */
    shown() {
      this.#waiting = false;
      const speed = [...(this.#speed?.options ?? [])].find((o) => o.value === this.#chosen);
      if (speed) speed.selected = true; // a player that has just come does not know of it
      if (!this.playing) return;
      if (this.#can("ArrowRight")) this.#schedule();
      else this.stop();
    }

    /** @param {string} key @returns {HTMLElement | null} */
    #find(key) {
      return this.#widget.querySelector(`[data-view] [data-key="${key}"]`);
    }

    /** @param {string} key */
    #can(key) {
      const button = this.#find(key);
      return button !== null && button.getAttribute("aria-disabled") !== "true";
    }

    #start() {
      const key = ["ArrowRight", "Home"].find((k) => this.#can(k)); // at the end, from the start
      if (!key) return;
      this.#play = new AbortController();
      const { signal } = this.#play;
      const sight = new IntersectionObserver((seen) => seen.at(-1)?.isIntersecting || this.stop());
      sight.observe(this.#widget);
      signal.addEventListener("abort", () => sight.disconnect());
      document.addEventListener("visibilitychange", () => document.hidden && this.stop(), { signal });
      for (const type of ["click", "input"]) {
        this.#widget.addEventListener(type, (event) => this.#touched(event), { signal });
      }
      this.#label();
      this.#press(key);
    }

    /** Any control of the frame that the reader uses ends the play. @param {Event} event */
    #touched({ target }) {
      const control = /** @type {Element} */ (target).closest("button, a, input, select, textarea");
      if (this.pressing || control?.closest("[data-player]")) return;
      if (control?.closest("[data-view]")) this.stop();
    }

    /** @param {string} key */
    #press(key) {
      this.#pressedAt = performance.now();
      this.#waiting = this.pressing = true;
      this.#find(key)?.click();
      this.pressing = false;
    }

    /** The next press comes one interval after the last, however long its answer took. */
    #schedule() {
      const interval = Number(this.#speed?.selectedOptions[0].dataset.interval);
      clearTimeout(this.#timer);
      this.#timer = setTimeout(
        () => this.#press("ArrowRight"),
        Math.max(0, interval - (performance.now() - this.#pressedAt)),
      );
    }

    #changeSpeed() {
      this.#chosen = this.#speed?.value ?? null;
      try {
        localStorage.setItem(SPEED, this.#chosen ?? "");
      } catch {
        // A reader who forbids storage still chooses the speed of this visit.
        this.#widget.dispatchEvent(new Event("unsaved"));
      }
      if (this.playing && !this.#waiting) this.#schedule();
    }

    #label() {
      const button = this.#button;
      if (button) button.textContent = (this.playing ? button.dataset.pause : button.dataset.play) ?? "";
      this.#widget.toggleAttribute("playing", this.playing);
    }
  }

  function recall() {
    try {
      return localStorage.getItem(SPEED);
    } catch {
      return null;
    }
  }

  globalThis.lessonPlayer = (widget, signal, paused) => new Player(widget, signal, paused);
})();
