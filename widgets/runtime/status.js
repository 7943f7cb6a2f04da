// A widget's words beside its frame: the status line, which says how far Python is and what went
// wrong, and the live region, which says what Python wrote. All other words come from Python.

(() => {
  const SLOW_AFTER = 1_000; // ms; a warm start takes less, and needs no word

  const WORDS = {
    loading: "正在载入 Python，预先算好的步骤已经可以走",
    failed: "Python 没能载入：预先算好的步骤照常能走，其他设置暂时算不了",
    file: "从文件打开的页面载不了 Python：预先算好的步骤照常能走",
    error: "这一步没算出来，画面停在上一个状态",
    copied: "链接已复制",
    data: "数据已复制，可以贴进表格",
    copyFailed: "浏览器不让复制；链接可以从地址栏复制",
  };

  class Status {
    #widget;
    #python;
    #line;
    #bar;
    #retry;
    #live;
    #slow = 0;
    #later = 0;
    #saidAt = -Infinity;

    /** @param {HTMLElement} widget @param {LessonPython} python @param {AbortSignal} signal */
    constructor(widget, python, signal) {
      /** @param {string} selector @returns {any} */
      const find = (selector) => widget.querySelector(selector);
      this.#widget = widget;
      this.#python = python;
      this.#line = /** @type {HTMLElement} */ (find("[data-status]"));
      this.#bar = /** @type {HTMLProgressElement} */ (find("[data-progress]"));
      this.#retry = /** @type {HTMLElement} */ (find('[data-tool="retry"]'));
      this.#live = /** @type {HTMLElement} */ (find("[data-live]"));
      python.addEventListener("stage", () => this.show(), { signal });
      python.addEventListener("progress", () => this.#showProgress(), { signal });
      signal.addEventListener("abort", () => clearTimeout(this.#slow));
      if (python.stage !== "idle") this.show(); // another widget has started it
    }

    /** The stage Python is in. */
    show() {
      const { stage, reason } = this.#python;
      this.#widget.setAttribute("python", stage);
      if (stage !== "failed" && document.activeElement === this.#retry) this.#line.focus();
      this.#retry.hidden = stage !== "failed" || reason === "file";
      this.#showProgress();
      if (stage === "loading") {
        this.#slow ||= setTimeout(() => this.say("loading"), SLOW_AFTER);
        return;
      }
      clearTimeout(this.#slow);
      this.#slow = 0;
      if (stage === "failed") this.say(reason === "file" ? "file" : "failed");
      else if (![WORDS.copied, WORDS.data].includes(this.#line.textContent ?? "")) this.say();
    }

    /** @param {keyof WORDS} [word] */
    say(word) {
      const words = word ? WORDS[word] : "";
      if (this.#line.textContent !== words) this.#line.textContent = words;
      this.#showProgress();
    }

    /**
     * One sentence for those who listen: the notices, then what the frame says, then the ticks.
     * @param {HTMLElement} frame
     * @param {boolean} onlyNotices
     * @param {string[]} ticks
     */
    announce(frame, onlyNotices, ticks) {
      const words = [...frame.querySelectorAll(".lw-notice")].map((n) => n.textContent);
      if (!onlyNotices) words.push(frame.querySelector("[data-says]")?.textContent ?? "");
      const text = [...words, ...ticks].join(" ").replace(/\s+/g, " ").trim();
      clearTimeout(this.#later);
      // Of what follows close upon each other, only the last is said (``data-calm``, in ms).
      const wait = this.#saidAt + Number(frame.dataset.calm ?? 0) - performance.now();
      if (text && wait > 0) this.#later = setTimeout(() => this.#tell(text), wait);
      else if (text) this.#tell(text);
    }

    /** @param {string} text */
    #tell(text) {
      this.#saidAt = performance.now();
      this.#live.textContent = text;
    }

    /** @param {string} text @param {"copied" | "data"} done what to say then */
    async copy(text, done) {
      try {
        await navigator.clipboard.writeText(text);
        this.say(done);
      } catch {
        this.say("copyFailed");
      }
    }

    #showProgress() {
      const { stage, loaded, total } = this.#python;
      this.#bar.hidden = stage !== "loading" || this.#line.textContent !== WORDS.loading;
      this.#bar.max = total;
      this.#bar.value = loaded;
    }
  }

  globalThis.lessonStatus = (widget, python, signal) => new Status(widget, python, signal);
})();
