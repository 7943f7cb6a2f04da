// The page's one Python: a module worker that boots when somebody shows intent, and a
// queue in front of it. Classic script, so that pages opened from file:// still step
// through their prerendered frames.

(() => {
  const BOOT_LIMIT = 60_000; // ms without an answer before a boot counts as failed
  const ANSWER_LIMIT = 10_000;

  /**
   * @typedef {"idle" | "loading" | "ready" | "failed"} Stage
   * @typedef {{worker: string, pyodide: string, indexURL: string, lockFileURL: string, stdLibURL: string, packageBaseUrl: string, packages: string[]}} Manifest
   */

  class Python extends EventTarget {
    /** @param {string} manifestURL */
    constructor(manifestURL) {
      super();
      this.manifestURL = manifestURL;
      /** @type {Stage} */
      this.stage = "idle";
      /** @type {Worker | null} */
      this.worker = null;
      this.tickets = 0;
      /** @type {Map<number, {resolve: (reply: any) => void, reject: (error: Error) => void, request: string, timer: number}>} */
      this.waiting = new Map();
      this.watchdog = 0;
    }

    /** Start, unless it is started. */
    boot() {
      if (this.stage === "loading" || this.stage === "ready") return;
      this.#enter("loading");
      this.#start().catch((error) => this.#fail(String(error)));
    }

    /**
     * Ask widgets.answer(); starts Python if need be.
     * @param {object} request
     * @returns {Promise<any>}
     */
    ask(request) {
      this.boot();
      return new Promise((resolve, reject) => {
        const ticket = ++this.tickets;
        this.waiting.set(ticket, { resolve, reject, request: JSON.stringify(request), timer: 0 });
        if (this.stage === "ready") this.#post(ticket);
      });
    }

    async #start() {
      this.watchdog = setTimeout(() => this.#fail("timeout"), BOOT_LIMIT);
      const base = new URL(this.manifestURL, document.baseURI);
      const response = await fetch(base);
      if (!response.ok) throw new Error(`${response.status} ${this.manifestURL}`);
      /** @type {Manifest} */
      const manifest = await response.json();
      const at = (/** @type {string} */ path) => new URL(path, base).href;
      const worker = new Worker(at(manifest.worker), { type: "module" });
      this.worker = worker;
      worker.onmessage = ({ data }) => this.#receive(data);
      worker.onerror = (event) => {
        event.preventDefault();
        this.#fail(event.message || "worker");
      };
      worker.postMessage({
        type: "boot",
        boot: {
          pyodide: at(manifest.pyodide),
          indexURL: at(manifest.indexURL),
          lockFileURL: at(manifest.lockFileURL),
          stdLibURL: at(manifest.stdLibURL),
          packageBaseUrl: at(manifest.packageBaseUrl),
          packages: manifest.packages,
        },
      });
    }

    /** @param {{type: string, ticket: number, reply: string, reason: string}} message */
    #receive(message) {
      if (message.type === "ready") {
        clearTimeout(this.watchdog);
        this.#enter("ready");
        for (const ticket of this.waiting.keys()) this.#post(ticket);
      } else if (message.type === "failed") {
        this.#fail(message.reason);
      } else {
        const entry = this.waiting.get(message.ticket);
        if (!entry) return;
        clearTimeout(entry.timer);
        this.waiting.delete(message.ticket);
        if (message.type === "answer") entry.resolve(JSON.parse(message.reply));
        else entry.reject(new Error(message.reason));
      }
    }

    /** @param {number} ticket */
    #post(ticket) {
      const entry = this.waiting.get(ticket);
      if (!entry) return;
      entry.timer = setTimeout(() => this.#fail("no answer"), ANSWER_LIMIT);
      this.worker?.postMessage({ type: "ask", ticket, request: entry.request });
    }

    /** @param {string} reason */
    #fail(reason) {
      if (this.stage === "failed") return;
      clearTimeout(this.watchdog);
      this.worker?.terminate();
      this.worker = null;
      this.#enter("failed", reason);
      for (const entry of this.waiting.values()) {
        clearTimeout(entry.timer);
        entry.reject(new Error(reason));
      }
      this.waiting.clear();
    }

    /** @param {Stage} stage @param {string} [reason] */
    #enter(stage, reason) {
      this.stage = stage;
      this.dispatchEvent(new CustomEvent("stage", { detail: { stage, reason } }));
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
