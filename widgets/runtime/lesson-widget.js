// <lesson-widget>: an event becomes a query, the query a frame, the frame the page.
//
// Frames come from the prerendered set where it has them, else from Python in the worker.
// This file knows no formula and formats no number: it passes queries and morphs HTML.

(() => {
  const UNDO_LEVELS = 50;
  const BUSY_AFTER = 150; // ms; quicker answers need no word
  const SLOW_AFTER = 1_000;

  // The words of the status line. All other words of a widget come from Python.
  const WORDS = {
    loading: "正在载入 Python，预先算好的步骤已经可以走",
    failed: "Python 没能载入：预先算好的步骤照常能走，其他设置暂时算不了",
    error: "这一步没算出来，画面停在上一个状态",
    busy: "正在计算",
    copied: "链接已复制",
    copyFailed: "复制不了，请直接复制地址栏",
  };

  const frames = (globalThis.lessonFrames ??= {});

  /** A query with its keys sorted: what frames are kept under. @param {URLSearchParams} params */
  const sorted = (params) => {
    const copy = new URLSearchParams(params);
    copy.sort();
    return copy.toString();
  };

  class LessonWidget extends HTMLElement {
    /** @type {AbortController | undefined} */
    #listeners;
    /** @type {string[]} */
    #past = [];
    #latest = 0; // number of the newest request; older answers are dropped
    #initial = "";
    /** The query that was asked for last, shown or still on its way. */
    #wanted = "";
    /** The query that could not be answered, for another try. */
    #unanswered = "";
    /** @type {string | undefined} what Enter has sent already */
    #entered;

    connectedCallback() {
      if (this.#listeners) return;
      this.#listeners = new AbortController();
      const { signal } = this.#listeners;
      /** @param {string} type @param {(event: any) => void} listener */
      const on = (type, listener) => this.addEventListener(type, listener, { signal });
      on("submit", (event) => this.#submitted(event));
      on("change", (event) => this.#changed(event.target));
      on("click", (event) => this.#clicked(event));
      on("keydown", (event) => this.#pressed(event));
      for (const intent of ["pointerenter", "focusin", "touchstart"]) {
        this.addEventListener(intent, () => this.#python.boot(), { signal, passive: true, once: true });
      }
      this.#python.addEventListener("stage", () => this.#showStage(), { signal });

      this.#initial = this.#wanted = this.#shown;
      const linked = this.#fromURL();
      if (linked) this.#go(linked, { configured: true, silent: true });
      this.dataset.alive = "";
    }

    disconnectedCallback() {
      this.#listeners?.abort();
      this.#listeners = undefined;
    }

    get #python() {
      return globalThis.lessonPython(this.getAttribute("runtime") ?? "");
    }

    /** @returns {HTMLElement} */
    get #frame() {
      return /** @type {HTMLElement} */ (this.querySelector("[data-view] > [data-frame]"));
    }

    /** The query of the frame that is shown. */
    get #shown() {
      return this.#frame.dataset.full ?? "";
    }

    /** @param {string} tool @returns {HTMLElement} */
    #tool(tool) {
      return /** @type {HTMLElement} */ (this.querySelector(`[data-tool="${tool}"]`));
    }

    // Events to queries

    /** @param {HTMLInputElement} input */
    #changed(input) {
      // After Enter the browser reports the same text once more, on leaving the field.
      if (input.value !== this.#entered) input.form?.requestSubmit();
      this.#entered = undefined;
    }

    /** @param {SubmitEvent} event */
    #submitted(event) {
      event.preventDefault();
      if (event.submitter?.getAttribute("aria-disabled") === "true") return;
      const next = new URLSearchParams(this.#wanted);
      const button = /** @type {HTMLButtonElement | null} */ (event.submitter);
      if (button?.name) {
        // A button acts on the state that is shown, not on a text that is half typed.
        next.set(button.name, button.value);
      } else {
        const form = new FormData(/** @type {HTMLFormElement} */ (event.target));
        for (const [name, value] of form) next.set(name, String(value));
      }
      this.#turn(next);
    }

    /** Go to ``next``; where more than the cursor changes, the cursor starts afresh. @param {URLSearchParams} next */
    #turn(next) {
      const cursor = new URLSearchParams(this.#frame.dataset.cursor);
      const now = new URLSearchParams(this.#wanted);
      const configured = [...next].some(([name, value]) => !cursor.has(name) && now.get(name) !== value);
      if (configured) for (const [name, value] of cursor) next.set(name, value);
      this.#go(sorted(next), { configured });
    }

    /** @param {MouseEvent} event */
    #clicked(event) {
      const target = /** @type {Element} */ (event.target);
      const button = /** @type {HTMLElement | null} */ (target.closest("[data-tool]"));
      if (!button || button.getAttribute("aria-disabled") === "true") return;
      switch (button.dataset.tool) {
        case "undo":
          this.#go(/** @type {string} */ (this.#past.pop()), { configured: false });
          break;
        case "reset":
          this.#go(this.#initial, { configured: this.#wanted !== this.#initial });
          break;
        case "copy":
          this.#copy();
          break;
        case "retry":
          this.#python.boot();
          if (this.#unanswered) this.#go(this.#unanswered, { configured: true });
          break;
      }
    }

    /** @param {KeyboardEvent} event */
    #pressed(event) {
      const target = /** @type {Element} */ (event.target);
      if (this.querySelector(":popover-open")) return; // for a figure's panel, not the stepper
      const typing = target.matches("input, textarea, select");
      // The theme acts on bare letters and , . / wherever a button has the focus.
      if (!event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
      if ((event.ctrlKey || event.metaKey) && event.key === "z" && !typing) {
        this.#tool("undo").click();
      } else if (typing && event.key === "Enter") {
        // Left alone, Enter would press the form's first button.
        const input = /** @type {HTMLInputElement} */ (target);
        this.#entered = input.value;
        input.form?.requestSubmit();
      } else if (typing || event.ctrlKey || event.metaKey || event.altKey) {
        return;
      } else {
        // A scrolling table keeps its arrow keys.
        if (target.matches("[role=region]") && event.key.startsWith("Arrow")) return;
        const button = this.querySelector(`[data-view] [data-key="${event.key}"]`);
        if (!(button instanceof HTMLButtonElement)) return;
        button.click();
      }
      event.preventDefault();
    }

    /** This widget's keys in the page's URL, laid over its first frame; null if there are none. */
    #fromURL() {
      const next = new URLSearchParams(this.#initial);
      const prefix = `${this.id}.`;
      let any = false;
      for (const [key, value] of new URLSearchParams(location.search)) {
        if (!key.startsWith(prefix)) continue;
        next.set(key.slice(prefix.length), value);
        any = true;
      }
      return any ? sorted(next) : null;
    }

    // Queries to frames

    /**
     * Show the frame of ``query``. The latest request wins.
     * @param {string} query
     * @param {{configured: boolean, silent?: boolean}} how
     */
    async #go(query, { configured, silent = false }) {
      const mine = ++this.#latest;
      this.#wanted = query;
      let html = frames[this.id]?.[query];
      if (html === undefined) {
        const busy = setTimeout(() => this.toggleAttribute("busy", true), BUSY_AFTER);
        const asked = new URLSearchParams(query);
        if (!silent) asked.set("was", this.#shown);
        try {
          ({ html } = await this.#python.ask({
            widget: this.getAttribute("name"),
            query: asked.toString(),
            id: this.id,
            base: this.getAttribute("base"),
          }));
        } catch {
          if (mine === this.#latest) this.#refused();
          return;
        } finally {
          clearTimeout(busy);
          if (mine === this.#latest) this.toggleAttribute("busy", false);
        }
      }
      if (mine !== this.#latest || html === undefined) return;
      const former = this.#shown;
      this.#unanswered = "";
      this.#show(html);
      const now = this.#shown;
      if (configured && !silent && now !== former) this.#past.push(former);
      this.#past.splice(0, this.#past.length - UNDO_LEVELS);
      this.#wanted = now;
      this.#tool("undo").setAttribute("aria-disabled", String(this.#past.length === 0));
      this.#showStage();
      this.#writeURL();
      if (!silent) this.#announce();
    }

    /** @param {string} html */
    #show(html) {
      const view = /** @type {HTMLElement} */ (this.querySelector("[data-view]"));
      globalThis.Idiomorph.morph(view, html, { morphStyle: "innerHTML", restoreFocus: true });
      // Morphing changes attributes; what a control holds now is a property of its own.
      for (const input of view.querySelectorAll("input")) {
        input.value = input.defaultValue;
      }
    }

    #refused() {
      this.#unanswered = this.#wanted;
      this.#wanted = this.#shown;
      if (this.#python.stage !== "failed") this.#say(WORDS.error);
      this.#show(this.#frame.outerHTML); // the controls go back to what is shown
    }

    #writeURL() {
      const url = new URL(location.href);
      const prefix = `${this.id}.`;
      for (const key of [...url.searchParams.keys()]) {
        if (key.startsWith(prefix)) url.searchParams.delete(key);
      }
      for (const [name, value] of new URLSearchParams(this.#frame.dataset.query)) {
        url.searchParams.set(prefix + name, value);
      }
      if (url.href !== location.href) history.replaceState(history.state, "", url);
    }

    // Words

    #showStage() {
      const { stage } = this.#python;
      this.setAttribute("python", stage);
      this.#tool("retry").hidden = stage !== "failed";
      if (stage === "failed") this.#say(WORDS.failed);
      else if (stage === "loading") {
        // A warm start takes less than this, and needs no word.
        setTimeout(() => this.#python.stage === "loading" && this.#say(WORDS.loading), SLOW_AFTER);
      } else this.#say("");
    }

    /** @param {string} words */
    #say(words) {
      const status = /** @type {HTMLElement} */ (this.querySelector("[data-status]"));
      if (status.textContent !== words) status.textContent = words;
    }

    #announce() {
      const live = /** @type {HTMLElement} */ (this.querySelector("[data-live]"));
      const notices = [...this.#frame.querySelectorAll(".lw-notice")].map((n) => n.textContent);
      const says = this.#frame.querySelector("[data-says]")?.textContent ?? "";
      live.textContent = [...notices, says].join(" ").replace(/\s+/g, " ").trim();
    }

    async #copy() {
      try {
        await navigator.clipboard.writeText(location.href);
        this.#say(WORDS.copied);
      } catch {
        this.#say(WORDS.copyFailed);
      }
    }
  }

  customElements.define("lesson-widget", LessonWidget);
})();
