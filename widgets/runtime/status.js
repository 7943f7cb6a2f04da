// A widget's words beside its frame: the status line, which says how far Python is and what went
// wrong, and the live region, which says what Python wrote. All other words come from Python.

(() => {
  const SLOW_AFTER = 1_000; // ms; a warm start takes less, and needs no word

  const GOES_ON = "预先算好的步骤照常能走";
  const STAYS = "画面停在上一个状态";

  const WORDS = {
    loading: "正在载入 Python，预先算好的步骤已经可以走",
    file: `从文件打开的页面载不了 Python：${GOES_ON}`,
    error: `这一步没算出来，${STAYS}`,
    copied: "链接已复制",
    data: "数据已复制，可以贴进表格",
    copyFailed: "浏览器不让复制；链接可以从地址栏复制",
    unsaved: "浏览器不让这一页保存东西：打的勾、选的速度只在这一次有效",
    // Python was there, and had to be started anew.
    stuck: `这一步算了 10 秒还没有结果，已经停下它，重新启动 Python；${STAYS}`,
    memory: `这一步要的内存浏览器给不了，已经重新启动 Python；${STAYS}`,
    crashed: `Python 意外停了，已经重新启动；${STAYS}`,
  };

  /** Why Python is not there. @type {Record<string, (file: string) => string>} */
  const CAUSES = {
    network: () => "网络断了",
    timeout: () => "服务器半分钟没有动静",
    missing: (file) => `服务器上找不到 ${file}`,
    corrupt: (file) => `收到的 ${file} 和校验和对不上`,
    blocked: () => "浏览器或网站的设置不让运行 WebAssembly",
    memory: () => "浏览器给的内存不够",
    outdated: (file) => `网站更新过，这一页还是旧版，它要的 ${file} 已经撤下`,
  };

  /** @param {string} reason @param {string} file */
  const failed = (reason, file) => {
    if (reason === "file") return WORDS.file;
    const cause = CAUSES[reason]?.(file);
    const way = reason === "outdated" ? "重新载入页面就是新版，眼前的设置会留下" : "其他设置暂时算不了";
    return `${cause ? `${cause}，` : ""}Python 没能载入：${GOES_ON}，${way}`;
  };

  const DONE = ["copied", "data"];
  const AGAIN = ["error", "stuck", "memory", "crashed"]; // worth another try
  /** What stays until the next frame, whatever becomes of Python. */
  const LASTING = [...DONE, ...AGAIN, "unsaved"];
  let toldUnsaved = false;

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
    #size;
    /** What the line says. @type {string | undefined} */
    #word;

    /** @param {HTMLElement} widget @param {LessonPython} python @param {AbortSignal} signal */
    constructor(widget, python, signal) {
      /** @param {string} selector @returns {any} */
      const find = (selector) => widget.querySelector(selector);
      this.#widget = widget;
      this.#python = python;
      this.#line = /** @type {HTMLElement} */ (find("[data-status]"));
      this.#bar = /** @type {HTMLProgressElement} */ (find("[data-progress]"));
      this.#size = /** @type {HTMLElement} */ (find("[data-size]"));
      this.#retry = /** @type {HTMLElement} */ (find('[data-tool="retry"]'));
      this.#live = /** @type {HTMLElement} */ (find("[data-live]"));
      python.addEventListener("stage", () => this.show(), { signal });
      python.addEventListener("progress", () => this.#showProgress(), { signal });
      signal.addEventListener("abort", () => clearTimeout(this.#slow));
      const unsaved = () => {
        if (!toldUnsaved) this.say("unsaved");
        toldUnsaved = true;
      };
      widget.addEventListener("unsaved", unsaved, { signal });
      if (python.stage !== "idle") this.show(); // another widget has started it
    }

    /** The stage Python is in; ``answered``: what the reader asked for has come. */
    show(answered = false) {
      const { stage, reason, file } = this.#python;
      this.#widget.setAttribute("python", stage);
      if (stage !== "loading") {
        clearTimeout(this.#slow);
        this.#slow = 0;
      }
      const lasting = (answered ? DONE : LASTING).includes(this.#word ?? "");
      if (stage === "failed") this.#write("failed", failed(reason, file));
      else if (stage === "loading") this.#slow ||= setTimeout(() => this.#wait(), SLOW_AFTER);
      else if (!lasting) this.say();
      this.#offer();
      this.#showProgress();
    }

    /** The start takes its time. */
    #wait() {
      if (!LASTING.includes(this.#word ?? "")) this.say("loading");
    }

    /** What was asked for does not come. @param {string} [why] */
    refuse(why) {
      this.say(/** @type {keyof WORDS} */ (why && why in WORDS ? why : "error"));
    }

    /** @param {keyof WORDS} [word] */
    say(word) {
      this.#write(word, word ? WORDS[word] : "");
      this.#offer();
      this.#showProgress();
    }

    /** @param {string | undefined} word @param {string} words */
    #write(word, words) {
      this.#word = word;
      // All widgets wait for the same Python; the one where the reader is says so.
      this.#line.ariaLive = this.#widget.matches(":hover, :focus-within") ? "polite" : "off";
      if (this.#line.textContent !== words) this.#line.textContent = words;
    }

    /** Another try, where one may help; a page that is outdated is loaded anew. */
    #offer() {
      const { stage, reason } = this.#python;
      const failed = stage === "failed" && reason !== "file";
      const offered = failed || (stage === "ready" && AGAIN.includes(this.#word ?? ""));
      if (!offered && document.activeElement === this.#retry) this.#line.focus();
      this.#retry.hidden = !offered;
      this.#retry.textContent = failed && reason === "outdated" ? "重新载入页面" : "再试一次";
    }

    /**
     * One sentence for those who listen: the notices, then what the frame says, then the ticks.
     * @param {HTMLElement} frame
     * @param {boolean} onlyNotices
     * @param {string[]} ticks
     */
    announce(frame, onlyNotices, ticks) {
      const said = onlyNotices ? ".lw-notice" : ".lw-notice, [data-says]";
      const words = [...frame.querySelectorAll(said)].map((e) => e.textContent);
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

    /** How much of it has come. */
    #showProgress() {
      const { stage, loaded, total } = this.#python;
      const shown = stage === "loading" && this.#word === "loading";
      this.#bar.hidden = !shown;
      this.#bar.max = total || 1;
      this.#bar.value = loaded;
      const come = shown ? this.#python.told(loaded) : "";
      this.#size.textContent = come && `${come} / ${this.#python.told(total)}`;
    }
  }

  globalThis.lessonStatus = (widget, python, signal) => new Status(widget, python, signal);
})();
