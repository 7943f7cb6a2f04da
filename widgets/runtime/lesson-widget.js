// <lesson-widget>: an event becomes a query, the query a frame, the frame the page.
//
// Frames come from the prerendered set where it has them, else from Python in the worker.
// This file knows no formula and formats no number: it passes queries and morphs HTML.

(() => {
  const BUSY_AFTER = 150; // ms; quicker answers need no word
  const WRITE_AFTER = 300; // ms between addresses while a slider moves; browsers limit them

  /**
   * @typedef {object} Slide a slider that the reader moves
   * @property {HTMLInputElement} input
   * @property {string} query what it asks for by now
   * @property {string} shown what it asked for when it was last answered
   * @property {boolean} asking
   * @property {boolean} released
   * @property {boolean} pushed whether undo knows of it
   */

  const frames = globalThis.lessonFrames;
  const { sorted, asksFor, held, slidTo, within, toAddress } = globalThis.lessonQueries;

  class LessonWidget extends HTMLElement {
    /** @type {AbortController | undefined} */
    #listeners;
    /** @type {LessonPlayer} */
    #player = /** @type {any} */ (undefined); // from when the widget is in a page, as #status
    /** @type {LessonStatus} */
    #status = /** @type {any} */ (undefined);
    /** Fetches the prerendered frames. @type {() => Promise<void>} */
    #frames = async () => {};
    #initial = "";
    /** The query that was asked for last, shown or still on its way. */
    #wanted = "";
    #latest = 0; // number of the newest request; older answers are dropped
    /** @type {LessonUndo} */
    #undo = /** @type {any} */ (undefined);
    /** What could not be answered, for another try. @type {{query: string, undone: number} | undefined} */
    #unanswered;
    /** @type {Slide | undefined} */
    #slide;
    #busy = 0;
    #writtenAt = -Infinity;
    /** Until the pointer that came down on a control is up again. @type {Promise<void> | undefined} */
    #pressed;
    /** Words of the tasks ticked since the last announcement. @type {string[]} */
    #ticked = [];

    connectedCallback() {
      if (this.#listeners) return;
      this.#listeners = new AbortController();
      const { signal } = this.#listeners;
      /** @param {string} type @param {(event: any) => void} listener */
      const on = (type, listener) => this.addEventListener(type, listener, { signal });
      on("submit", (event) => this.#submitted(event));
      on("input", ({ target }) => target.type === "range" && this.#slid(target));
      on("change", ({ target }) => target.type === "range" && this.#released(target));
      on("click", (event) => this.#clicked(event));
      on("pointerdown", ({ target }) => target.closest("button:not(.q), a[href]") && this.#press());
      globalThis.lessonIntent(this, this.#python, signal);
      this.#frames = globalThis.lessonFramesOf(this, signal);
      this.#status = globalThis.lessonStatus(this, this.#python, signal);
      this.#player = globalThis.lessonPlayer(this, signal, () => this.#announce());
      globalThis.lessonKeyboard(this, this.#player, signal);

      this.#undo ??= globalThis.lessonUndo(this);
      this.#initial ||= this.#shown;
      this.#wanted = this.#shown;
      const linked = within(new URLSearchParams(location.search), this.id, this.#initial);
      if (linked) this.#go(linked, { linked: true });
      this.#showAddress();
      this.dataset.alive = "";
    }

    disconnectedCallback() {
      this.#listeners?.abort();
      this.#listeners = undefined;
      this.#latest++; // what is on its way is wanted no more
      this.#slide = undefined;
      this.#rest();
    }

    get #python() {
      return globalThis.lessonPython(this.getAttribute("runtime") ?? "");
    }

    /** @returns {HTMLElement} */
    get #frame() {
      return /** @type {HTMLElement} */ (this.querySelector("[data-view] > [data-frame]"));
    }

    /** What readers without JavaScript see, for those who print what they have not touched. */
    get still() {
      const still = this.#shown === this.#initial && this.querySelector("noscript");
      return still ? (still.textContent ?? "") : "";
    }

    /** The query of the frame that is shown. */
    get #shown() {
      return this.#frame.dataset.full ?? "";
    }

    /** @returns {HTMLElement} */
    get #view() {
      return /** @type {HTMLElement} */ (this.querySelector("[data-view]"));
    }

    /** ``query`` without its cursor: what undo restores. @param {string | URLSearchParams} query */
    #configuration(query) {
      const params = new URLSearchParams(query);
      for (const name of new URLSearchParams(this.#frame.dataset.cursor).keys()) params.delete(name);
      return sorted(params);
    }

    // Events to queries

    /**
     * No frame moves a control from under the pointer that came down on it: the click would be
     * lost, as when a number has just been typed and its notice goes.
     */
    #press() {
      const ended = new AbortController();
      this.#pressed = new Promise((resolve) => {
        const up = () => {
          ended.abort();
          this.#pressed = undefined;
          setTimeout(resolve); // the click comes first
        };
        for (const type of ["pointerup", "pointercancel", "blur"]) {
          addEventListener(type, up, { signal: ended.signal });
        }
      });
    }

    /** @param {SubmitEvent} event */
    #submitted(event) {
      event.preventDefault();
      if (event.submitter?.getAttribute("aria-disabled") === "true") return;
      const button = /** @type {HTMLButtonElement | null} */ (event.submitter);
      // A button acts on the state that is shown, not on a text that is half typed.
      const form = /** @type {HTMLFormElement} */ (event.target);
      const values = button?.name ? asksFor(button) : held(form);
      const query = this.#with(values, button?.name === "go");
      this.#go(query, { played: this.#player.pressing });
    }

    /**
     * The wanted query with other values. A new configuration starts at its beginning, unless
     * the values say ``exactly`` where.
     * @param {URLSearchParams} values
     */
    #with(values, exactly = false) {
      const next = new URLSearchParams(this.#wanted);
      for (const [name, value] of values) next.set(name, value);
      if (this.#configuration(next) !== this.#configuration(this.#wanted)) {
        for (const [name, value] of new URLSearchParams(this.#frame.dataset.cursor)) {
          if (!exactly || !values.has(name)) next.set(name, value);
        }
      }
      return sorted(next);
    }

    /**
     * The widget follows a slider: one question at a time, then the one for where the slider is
     * by then.
     * @param {HTMLInputElement} input
     */
    async #slid(input) {
      const query = this.#with(slidTo(input));
      let slide = this.#slide;
      if (slide?.input !== input || (slide.released && slide.shown === slide.query)) {
        const none = { query: "", shown: "", asking: false, released: false, pushed: false };
        slide = this.#slide = { input, ...none };
      }
      if (slide.query === query) return;
      slide.released = false;
      slide.query = this.#wanted = query;
      if (slide.asking) return;
      slide.asking = true;
      while (this.#slide === slide && slide.shown !== slide.query) {
        await this.#go(slide.query, { slide });
      }
      slide.asking = false;
    }

    /** The reader lets go of the slider. @param {HTMLInputElement} input */
    #released(input) {
      this.#slid(input);
      const slide = this.#slide;
      if (!slide || slide.released) return;
      slide.released = true;
      if (slide.shown === slide.query) this.#settled();
    }

    /** @param {MouseEvent} event */
    #clicked(event) {
      const target = /** @type {Element} */ (event.target);
      const button = /** @type {HTMLElement | null} */ (target.closest("[data-tool]"));
      if (!button || button.getAttribute("aria-disabled") === "true") return;
      switch (button.dataset.tool) {
        case "undo": {
          const { former, pending } = this.#undo;
          if (former !== undefined) this.#go(former, { undone: pending + 1 });
          break;
        }
        case "reset":
          this.#go(this.#initial);
          break;
        case "copy":
          this.#status.copy(location.href, "copied");
          break;
        case "data":
          this.#status.copy(this.#frame.querySelector("[data-copy]")?.textContent ?? "", "data");
          break;
        case "retry":
          if (this.#python.reason === "outdated") return location.reload();
          this.#python.boot();
          if (this.#unanswered) this.#go(this.#unanswered.query, this.#unanswered);
          break;
      }
    }

    /** The frame's button for this key. @param {string} key */
    #key(key) {
      const button = this.querySelector(`[data-view] [data-key="${CSS.escape(key)}"]`);
      return button instanceof HTMLButtonElement ? button : null;
    }

    /**
     * As if the page had been opened with these keys; only that the reader can undo it.
     * @param {URLSearchParams} params
     * @param {boolean} [quiet] what it shows then is not said
     */
    take(params, quiet) {
      const query = within(params, this.id, this.#initial);
      if (query !== null) this.#go(query, { leap: true, quiet });
    }

    // Queries to frames

    /**
     * Show the frame of ``query``. The latest request wins. ``undone``: how many former
     * configurations this takes back; ``linked``: the state comes from the address; ``leap``: from
     * a link on the page, and another step alone can be undone too; ``quiet``: only notices are said;
     * ``played``: the player asks, or a ``slide``, not a single step of the reader.
     * @param {string} query
     * @param {{undone?: number, linked?: boolean, leap?: boolean, quiet?: boolean, played?: boolean, slide?: Slide}} [how]
     */
    async #go(query, { undone = 0, linked = false, leap = false, quiet = false, played = false, slide } = {}) {
      const mine = ++this.#latest;
      if (!played) this.#player.stop();
      this.#slide = slide;
      this.#wanted = query;
      this.#undo.ask(undone);
      if (!frames[this.id]) await this.#frames();
      if (mine !== this.#latest) return;
      const html = frames[this.id]?.[query] ?? (await this.#ask(query, linked, mine));
      if (this.#pressed) await this.#pressed;
      if (mine !== this.#latest || html === undefined) return;
      const moving = slide && slide.query !== query; // on, under the reader's finger
      const former = this.#shown;
      const next = this.#key("ArrowRight");
      const ahead = next && next.ariaDisabled !== "true" ? asksFor(next) : null;
      this.#unanswered = undefined;
      lessonView.show(this.#view, html, moving ? slide.input : undefined);
      this.#wanted = moving ? slide.query : this.#shown;
      const changed = leap
        ? former !== this.#shown
        : this.#configuration(former) !== this.#configuration(this.#shown);
      this.#undo.settle(changed && !undone && !linked && !slide?.pushed ? former : undefined);
      if (changed && slide) slide.pushed = true;
      this.#status.show(true);
      this.dispatchEvent(new CustomEvent("framed", { bubbles: true }));
      this.#player.shown();
      this.#ticked.push(...globalThis.lessonTasks(this.id, this.#frame));
      const shown = new URLSearchParams(this.#shown);
      const onward = ahead && [...ahead].every(([name, value]) => shown.get(name) === value);
      if (onward && !changed && !undone && !linked && !leap) lessonView.travel(this.#view);
      if (slide) slide.shown = query;
      if (slide && (moving || !slide.released)) {
        if (performance.now() - this.#writtenAt > WRITE_AFTER) this.#writeURL();
      } else if (played && this.#player.playing) this.#writeURL();
      else this.#settled(linked || quiet);
    }

    /**
     * The frame of ``query`` from Python; undefined if it does not come or is wanted no more.
     * @param {string} query
     * @param {boolean} linked
     * @param {number} mine
     * @returns {Promise<string | undefined>}
     */
    async #ask(query, linked, mine) {
      clearTimeout(this.#busy);
      this.#busy = setTimeout(() => this.toggleAttribute("busy", true), BUSY_AFTER);
      const asked = new URLSearchParams(query);
      if (!linked) asked.set("was", this.#shown);
      try {
        const reply = await this.#python.ask({
          widget: this.getAttribute("name"),
          query: asked.toString(),
          id: this.id,
          base: this.getAttribute("base"),
        });
        return reply.html;
      } catch (error) {
        if (mine === this.#latest) this.#refused(/** @type {any} */ (error).kind);
        return undefined;
      } finally {
        if (mine === this.#latest) this.#rest();
      }
    }

    #rest() {
      clearTimeout(this.#busy);
      this.toggleAttribute("busy", false);
    }

    /** @param {string} [why] */
    #refused(why) {
      this.#unanswered = { query: this.#wanted, undone: this.#undo.pending };
      this.#player.stop();
      this.#slide = undefined;
      this.#wanted = this.#shown;
      this.#undo.ask(0);
      if (this.#python.stage !== "failed") this.#status.refuse(why);
      lessonView.show(this.#view, this.#frame.outerHTML); // the controls go back to what is shown
    }

    /** The reader has arrived somewhere. */
    #settled(linked = false) {
      this.#writeURL();
      this.#announce(linked);
    }

    /**
     * The address carries what differs from the page's own first frame. Browsers take their time
     * over it, and the reader waits for the frame: so the frame comes first.
     */
    #writeURL() {
      this.#writtenAt = performance.now();
      setTimeout(() => {
        if (!this.isConnected) return;
        toAddress(this.id, this.#initial, this.#shown);
        this.#showAddress();
      });
    }

    // Words

    /** For those who read it on paper. */
    #showAddress() {
      const line = this.querySelector("[data-address]");
      if (line) line.textContent = location.href;
    }

    /** @param {boolean} [onlyNotices] */
    #announce(onlyNotices = false) {
      this.#status.announce(this.#frame, onlyNotices, this.#ticked.splice(0));
    }
  }

  customElements.define("lesson-widget", LessonWidget);
})();
