// The page's one Python: a module worker that boots when somebody shows intent, and a
// queue in front of it. Classic script, so that pages opened from file:// still step
// through their prerendered frames.

(() => {
  const SILENCE = 30_000; // ms without a sign of life before a boot counts as failed
  const ANSWER_LIMIT = 10_000;

  /**
   * @typedef {"idle" | "loading" | "ready" | "failed"} Stage
   * @typedef {{worker: string, pyodide: string, indexURL: string, lockFileURL: string, stdLibURL: string, packageBaseUrl: string, packages: string[], sizes: Record<string, number>}} Manifest
   * @typedef {{resolve: (reply: any) => void, reject: (error: Error) => void, request: string, timer: number}} Waiting
   */

  class Python extends EventTarget {
    /** @type {Stage} */
    stage = "idle";
    reason = "";
    loaded = 0;
    total = 1;
    /** @type {Worker | null} */
    #worker = null;
    /** Ends the boot that is under way. @type {AbortController} */
    #boot = new AbortController();
    #watchdog = 0;
    #tickets = 0;
    /** @type {Map<number, Waiting>} */
    #waiting = new Map();

    /** @param {string} manifestURL */
    constructor(manifestURL) {
      super();
      this.manifestURL = manifestURL;
    }

    /** Start, unless it is started. */
    boot() {
      if (this.stage === "loading" || this.stage === "ready") return;
      this.#boot = new AbortController();
      const { signal } = this.#boot;
      this.#enter("loading");
      this.#start(signal).catch((error) => {
        if (!signal.aborted) this.#fail(String(error?.message ?? error));
      });
    }

    /**
     * Ask widgets.answer(); starts Python if need be.
     * @param {object} request
     * @returns {Promise<any>}
     */
    ask(request) {
      this.boot();
      return new Promise((resolve, reject) => {
        const ticket = ++this.#tickets;
        this.#waiting.set(ticket, { resolve, reject, request: JSON.stringify(request), timer: 0 });
        if (this.stage === "ready") this.#post(ticket);
        if (this.stage === "failed") this.#rejectAll();
      });
    }

    /** @param {AbortSignal} signal */
    async #start(signal) {
      // Module workers and fetch() do not exist for file:// pages; do not even try.
      if (location.protocol === "file:") throw new Error("file");
      this.#watch();
      const base = new URL(this.manifestURL, document.baseURI);
      const response = await fetch(base, { signal });
      if (!response.ok) throw new Error(`${response.status} ${this.manifestURL}`);
      /** @type {Manifest} */
      const { worker: script, sizes, ...boot } = await response.json();
      if (signal.aborted) return;
      this.loaded = 0;
      this.total = Object.values(sizes).reduce((sum, size) => sum + size, 0);
      const at = (/** @type {string} */ path) => new URL(path, base).href;
      const worker = new Worker(at(script), { type: "module" });
      this.#worker = worker;
      worker.onmessage = ({ data }) => !signal.aborted && this.#receive(data);
      worker.onerror = (event) => {
        event.preventDefault();
        if (!signal.aborted) this.#fail(event.message || "worker");
      };
      // Pyodide wants absolute addresses.
      for (const key of /** @type {const} */ (["pyodide", "indexURL", "lockFileURL", "stdLibURL", "packageBaseUrl"])) {
        boot[key] = at(boot[key]);
      }
      worker.postMessage({ type: "boot", boot });
    }

    #watch() {
      clearTimeout(this.#watchdog);
      this.#watchdog = setTimeout(() => this.#fail("timeout"), SILENCE);
    }

    /** @param {{type: string, ticket: number, reply: string, reason: string, bytes: number}} message */
    #receive(message) {
      if (message.type === "progress") {
        if (this.stage === "loading") this.#watch();
        this.loaded += message.bytes;
        this.dispatchEvent(new Event("progress"));
      } else if (message.type === "ready") {
        clearTimeout(this.#watchdog);
        this.#enter("ready");
        for (const ticket of this.#waiting.keys()) this.#post(ticket);
      } else if (message.type === "failed") {
        this.#fail(message.reason);
      } else {
        const entry = this.#waiting.get(message.ticket);
        if (!entry) return;
        clearTimeout(entry.timer);
        this.#waiting.delete(message.ticket);
        if (message.type === "answer") entry.resolve(JSON.parse(message.reply));
        else entry.reject(new Error(message.reason));
      }
    }

    /** @param {number} ticket */
    #post(ticket) {
      const entry = this.#waiting.get(ticket);
      if (!entry) return;
      entry.timer = setTimeout(() => this.#fail("no answer"), ANSWER_LIMIT);
      this.#worker?.postMessage({ type: "ask", ticket, request: entry.request });
    }

    /** @param {string} reason */
    #fail(reason) {
      this.#boot.abort();
      clearTimeout(this.#watchdog);
      this.#worker?.terminate();
      this.#worker = null;
      this.#enter("failed", reason);
      this.#rejectAll();
    }

    #rejectAll() {
      for (const entry of this.#waiting.values()) {
        clearTimeout(entry.timer);
        entry.reject(new Error(this.reason));
      }
      this.#waiting.clear();
    }

    /** @param {Stage} stage @param {string} [reason] */
    #enter(stage, reason = "") {
      this.stage = stage;
      this.reason = reason;
      this.dispatchEvent(new Event("stage"));
    }
  }

  /** @type {Map<string, Python>} */
  const started = new Map();

  /** The page's Python for this manifest: one worker for all widgets. @param {string} manifestURL */
  globalThis.lessonPython = (manifestURL) => {
    let python = started.get(manifestURL);
    if (!python) started.set(manifestURL, (python = new Python(manifestURL)));
    return python;
  };
})();
