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
    file: "从文件打开的页面载不了 Python：预先算好的步骤照常能走",
    error: "这一步没算出来，画面停在上一个状态",
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
    #initial = "";
    /** The query that was asked for last, shown or still on its way. */
    #wanted = "";
    #latest = 0; // number of the newest request; older answers are dropped
    /** @type {string[]} former configurations, the latest last */
    #past = [];
    #undone = 0; // how many of them the request on its way takes back
    /** What could not be answered, for another try. @type {{query: string, undone: number} | undefined} */
    #unanswered;
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
        const boot = () => this.#python.stage === "idle" && this.#python.boot();
        this.addEventListener(intent, boot, { signal, passive: true, once: true });
      }
      this.#python.addEventListener("stage", () => this.#showStage(), { signal });
      this.#python.addEventListener("progress", () => this.#showProgress(), { signal });

      this.#initial = this.#wanted = this.#shown;
      const linked = this.#fromURL();
      if (linked) this.#go(linked, { linked: true });
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

    /** @param {string} name @returns {HTMLElement} */
    #part(name) {
      return /** @type {HTMLElement} */ (this.querySelector(`[data-${name}]`));
    }

    /** @param {string} tool @returns {HTMLElement} */
    #tool(tool) {
      return /** @type {HTMLElement} */ (this.querySelector(`[data-tool="${tool}"]`));
    }

    /** ``query`` without its cursor: what undo restores. @param {string | URLSearchParams} query */
    #configuration(query) {
      const params = new URLSearchParams(query);
      for (const name of new URLSearchParams(this.#frame.dataset.cursor).keys()) params.delete(name);
      return sorted(params);
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
      if (this.#configuration(next) !== this.#configuration(this.#wanted)) {
        const start = new URLSearchParams(this.#frame.dataset.cursor);
        for (const [name, value] of start) next.set(name, value);
      }
      this.#go(sorted(next));
    }

    /** @param {MouseEvent} event */
    #clicked(event) {
      const target = /** @type {Element} */ (event.target);
      const button = /** @type {HTMLElement | null} */ (target.closest("[data-tool]"));
      if (!button || button.getAttribute("aria-disabled") === "true") return;
      switch (button.dataset.tool) {
        case "undo": {
          const undone = this.#undone + 1;
          const former = this.#past.at(-undone);
          if (former !== undefined) this.#go(former, { undone });
          break;
        }
        case "reset":
          this.#go(this.#initial);
          break;
        case "copy":
          this.#copy();
          break;
        case "retry":
          this.#python.boot();
          if (this.#unanswered) this.#go(this.#unanswered.query, this.#unanswered);
          break;
      }
    }

    /** @param {KeyboardEvent} event */
    #pressed(event) {
      const target = /** @type {Element} */ (event.target);
      if (this.querySelector(":popover-open")) return; // for a figure's panel, not the stepper
      const typing = target.matches("input, textarea, select");
      const modified = event.ctrlKey || event.metaKey || event.altKey;
      // The theme acts on bare letters and , . / wherever a button has the focus.
      if (!modified) event.stopPropagation();
      if ((event.ctrlKey || event.metaKey) && event.key === "z" && !typing) {
        this.#tool("undo").click();
      } else if (typing && event.key === "Enter") {
        // Left alone, Enter would press the form's first button.
        const input = /** @type {HTMLInputElement} */ (target);
        this.#entered = input.value;
        input.form?.requestSubmit();
      } else if (typing || modified) {
        return;
      } else {
        // A scrolling table keeps its arrow keys.
        if (target.matches("[role=region]") && event.key.startsWith("Arrow")) return;
        const button = this.querySelector(`[data-view] [data-key="${CSS.escape(event.key)}"]`);
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
        if (!key.startsWith(prefix) || key === `${prefix}was`) continue;
        next.set(key.slice(prefix.length), value);
        any = true;
      }
      return any ? sorted(next) : null;
    }

    // Queries to frames

    /**
     * Show the frame of ``query``. The latest request wins. ``undone``: how many former
     * configurations this takes back; ``linked``: the state comes from the address.
     * @param {string} query
     * @param {{undone?: number, linked?: boolean}} [how]
     */
    async #go(query, { undone = 0, linked = false } = {}) {
      const mine = ++this.#latest;
      this.#wanted = query;
      this.#undone = undone;
      this.#showUndo();
      const html = frames[this.id]?.[query] ?? (await this.#ask(query, linked, mine));
      if (mine !== this.#latest || html === undefined) return;
      const former = this.#shown;
      this.#unanswered = undefined;
      this.#show(html);
      this.#wanted = this.#shown;
      this.#past.splice(this.#past.length - this.#undone, this.#undone);
      const changed = this.#configuration(former) !== this.#configuration(this.#shown);
      if (changed && !undone && !linked) this.#past.push(former);
      if (this.#past.length > UNDO_LEVELS) this.#past.shift();
      this.#undone = 0;
      this.#showUndo();
      this.#showStage();
      this.#writeURL();
      this.#announce(linked);
    }

    /**
     * The frame of ``query`` from Python; undefined if it does not come or is wanted no more.
     * @param {string} query
     * @param {boolean} linked
     * @param {number} mine
     * @returns {Promise<string | undefined>}
     */
    async #ask(query, linked, mine) {
      const busy = setTimeout(() => this.toggleAttribute("busy", true), BUSY_AFTER);
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
      } catch {
        if (mine === this.#latest) this.#refused();
        return undefined;
      } finally {
        clearTimeout(busy);
        if (mine === this.#latest) this.toggleAttribute("busy", false);
      }
    }

    /** @param {string} html */
    #show(html) {
      const view = this.#part("view");
      globalThis.Idiomorph.morph(view, html, { morphStyle: "innerHTML", restoreFocus: true });
      // Morphing changes attributes; what a control holds now is a property of its own.
      for (const input of view.querySelectorAll("input")) input.value = input.defaultValue;
    }

    #refused() {
      this.#unanswered = { query: this.#wanted, undone: this.#undone };
      this.#wanted = this.#shown;
      this.#undone = 0;
      this.#showUndo();
      if (this.#python.stage !== "failed") this.#say(WORDS.error);
      this.#show(this.#frame.outerHTML); // the controls go back to what is shown
    }

    /** The address carries what differs from the page's own first frame. */
    #writeURL() {
      const url = new URL(location.href);
      const prefix = `${this.id}.`;
      for (const key of [...url.searchParams.keys()]) {
        if (key.startsWith(prefix)) url.searchParams.delete(key);
      }
      const initial = new URLSearchParams(this.#initial);
      for (const [name, value] of new URLSearchParams(this.#shown)) {
        if (initial.get(name) !== value) url.searchParams.set(prefix + name, value);
      }
      if (url.href !== location.href) history.replaceState(history.state, "", url);
    }

    // Words

    #showUndo() {
      const left = this.#past.length - this.#undone;
      this.#tool("undo").setAttribute("aria-disabled", String(left === 0));
    }

    #showStage() {
      const { stage, reason } = this.#python;
      const status = this.#part("status");
      const retry = this.#tool("retry");
      this.setAttribute("python", stage);
      if (stage !== "failed" && document.activeElement === retry) status.focus();
      retry.hidden = stage !== "failed" || reason === "file";
      this.#showProgress();
      if (stage === "failed") this.#say(reason === "file" ? WORDS.file : WORDS.failed);
      else if (stage === "loading") {
        // A warm start takes less than this, and needs no word.
        setTimeout(() => this.#python.stage === "loading" && this.#say(WORDS.loading), SLOW_AFTER);
      } else if (status.textContent !== WORDS.copied) this.#say("");
    }

    #showProgress() {
      const bar = /** @type {HTMLProgressElement} */ (this.#part("progress"));
      const { stage, loaded, total } = this.#python;
      bar.hidden = stage !== "loading" || this.#part("status").textContent !== WORDS.loading;
      bar.max = total;
      bar.value = loaded;
    }

    /** @param {string} words */
    #say(words) {
      const status = this.#part("status");
      if (status.textContent !== words) status.textContent = words;
      this.#showProgress();
    }

    /** @param {boolean} [onlyNotices] */
    #announce(onlyNotices = false) {
      const words = [...this.#frame.querySelectorAll(".lw-notice")].map((n) => n.textContent);
      if (!onlyNotices) words.push(this.#frame.querySelector("[data-says]")?.textContent ?? "");
      const text = words.join(" ").replace(/\s+/g, " ").trim();
      if (text) this.#part("live").textContent = text;
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
