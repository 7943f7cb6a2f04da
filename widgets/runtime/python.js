// The page's one Python: a module worker that boots when somebody shows intent, and a
// queue in front of it. Classic script, so that pages opened from file:// still step
// through their prerendered frames.

(() => {
  const SILENCE = 30_000; // ms without a sign of life before a boot counts as failed
  const ANSWER_LIMIT = 10_000; // ms that one answer may take
  const MANIFEST = /python\.[0-9a-f]{12}\.json/;

  /**
   * @typedef {import("./worker.mjs").Sums} Sums
   * @typedef {LessonPython["stage"]} Stage
   * @typedef {{index: string, files: Record<string, Sums>, sizes: string[], step: number}} Manifest
   * @typedef {{resolve: (reply: any) => void, reject: (error: Error) => void, request: string}} Waiting
   */

  class Python extends EventTarget {
    /** @type {Stage} */
    stage = "idle";
    reason = "";
    file = "";
    /** How much of each file has come, and how much is to come. @type {Map<string, [number, number]>} */
    #files = new Map();
    /** What so many steps of bytes are in words. @type {string[]} */
    #sizes = [];
    #step = 1;
    /** @type {Worker | null} */
    #worker = null;
    /** Ends the boot that is under way. @type {AbortController} */
    #boot = new AbortController();
    #watchdog = 0;
    #tickets = 0;
    /** In the order in which they were asked. @type {Map<number, Waiting>} */
    #waiting = new Map();

    /** @param {string} manifestURL */
    constructor(manifestURL) {
      super();
      this.manifestURL = manifestURL;
      // The network is back: whoever waited for it need not ask.
      addEventListener("online", () => this.reason === "network" && this.boot());
    }

    get loaded() {
      return this.#sum(0);
    }

    get total() {
      return this.#sum(1);
    }

    /** So many bytes, in the words of the build. @param {number} bytes */
    told(bytes) {
      return this.#sizes[Math.round(bytes / this.#step)] ?? "";
    }

    /** @param {0 | 1} which */
    #sum(which) {
      return [...this.#files.values()].reduce((sum, bytes) => sum + bytes[which], 0);
    }

    /** Start, unless it is started. */
    boot() {
      if (this.stage === "loading" || this.stage === "ready") return;
      this.#boot = new AbortController();
      const { signal } = this.#boot;
      this.#files = new Map();
      this.#enter("loading");
      this.#start(signal).catch((error) => {
        if (!signal.aborted) this.#fail(error?.kind ?? "network", error?.file, error);
      });
    }

    /**
     * Ask widgets.answer(); starts Python if need be. Rejected with an error whose ``kind`` says
     * what became of it: a word of status.js, or "" where Python itself refused.
     * @param {object} request
     * @returns {Promise<any>}
     */
    ask(request) {
      this.boot();
      return new Promise((resolve, reject) => {
        const ticket = ++this.#tickets;
        this.#waiting.set(ticket, { resolve, reject, request: JSON.stringify(request) });
        if (this.stage === "ready") this.#post(ticket);
        if (this.stage === "failed") this.#rejectAll();
      });
    }

    /** @param {AbortSignal} signal */
    async #start(signal) {
      // Module workers and fetch() do not exist for file:// pages; do not even try.
      if (location.protocol === "file:") throw fault("file");
      this.#watch();
      const base = new URL(this.manifestURL, document.baseURI);
      // The worker has its manifest in it: neither waits for the other.
      const script = base.href.replace(/json$/, "mjs");
      const worker = new Worker(script, { type: "module" });
      this.#worker = worker;
      worker.onmessage = ({ data }) => !signal.aborted && this.#receive(data);
      worker.onerror = (event) => {
        event.preventDefault();
        // An error without words: the script itself did not come.
        if (!signal.aborted) this.#fail(event.message ? "crashed" : "missing", script, event);
      };
      const response = await fetch(base, { signal });
      /** Some hosts answer with a page where a file is gone. @type {Manifest | null} */
      const manifest = response.ok ? await response.json().catch(() => null) : null;
      if (signal.aborted) return;
      if (!manifest) throw fault("missing", this.manifestURL);
      const { index, files } = manifest;
      this.#sizes = manifest.sizes;
      this.#step = manifest.step;
      const at = (/** @type {string} */ path) => new URL(path, base).href;
      // Some may have begun to come.
      for (const [file, { wire }] of Object.entries(files)) {
        if (!this.#files.has(at(file))) this.#files.set(at(file), [0, wire]);
      }
      const wasm = `${index}pyodide.asm.wasm`;
      const { content, module } = await this.#compiled(at(wasm), files[wasm], signal);
      if (signal.aborted) return;
      worker.postMessage({ type: "wasm", content, module }, content ? [content.buffer] : []);
    }

    /**
     * The WASM file, and the module it is compiled to while it comes, by other threads than this.
     * It is done here and not in the worker because browsers keep the machine code of what a page
     * compiles: a second visit starts three times as fast. Nothing is checked, and what fails is
     * null: the worker then does it, and says what is wrong.
     * @param {string} url
     * @param {Sums} sums
     * @param {AbortSignal} signal
     */
    async #compiled(url, { size, wire }, signal) {
      try {
        const response = await fetch(url, { signal });
        const { headers, ok } = response;
        if (!ok) throw new Error(url);
        const reader = /** @type {ReadableStream<Uint8Array>} */ (response.clone().body).getReader();
        const module = WebAssembly.compileStreaming(response).catch(() => null);
        const packed = headers.has("content-encoding");
        const coming = packed ? Number(headers.get("content-length")) || wire : size;
        const content = new Uint8Array(size);
        let length = 0;
        for (;;) {
          const { done, value } = await reader.read();
          if (done) break;
          content.set(value, length);
          length += value.length;
          this.#come(url, (length / size) * coming, coming);
        }
        if (length !== size) throw new Error(url);
        return { content, module: await module };
      } catch {
        return { content: null, module: null };
      }
    }

    /** @param {string} file @param {number} bytes @param {number} coming */
    #come(file, bytes, coming) {
      if (this.stage === "loading") this.#watch();
      this.#files.set(file, [bytes, coming]);
      this.dispatchEvent(new Event("progress"));
    }

    #watch() {
      clearTimeout(this.#watchdog);
      this.#watchdog = setTimeout(() => this.#fail("timeout"), SILENCE);
    }

    /** @param {{type: string, ticket: number, reply: string, kind: string, file: string, reason: string, bytes: number, coming: number}} message */
    #receive(message) {
      const { type, file, bytes, coming } = message;
      if (type === "progress") {
        this.#come(file, bytes, coming);
      } else if (type === "ready") {
        clearTimeout(this.#watchdog);
        this.#enter("ready");
        for (const ticket of this.#waiting.keys()) this.#post(ticket);
      } else if (type === "failed") {
        this.#fail(message.kind, file, new Error(message.reason));
      } else {
        this.#answered(message);
      }
    }

    /** @param {{type: string, ticket: number, reply: string, kind: string, reason: string}} message */
    #answered({ type, ticket, reply, kind, reason }) {
      const entry = this.#waiting.get(ticket);
      if (!entry) return;
      if (kind) return this.#restart(kind);
      this.#waiting.delete(ticket);
      this.#time();
      if (type === "answer") entry.resolve(JSON.parse(reply));
      else entry.reject(fault("", "", new Error(reason)));
    }

    /** @param {number} ticket */
    #post(ticket) {
      const entry = this.#waiting.get(ticket);
      if (!entry) return;
      if (this.#waiting.keys().next().value === ticket) this.#time();
      this.#worker?.postMessage({ type: "ask", ticket, request: entry.request });
    }

    /** Python answers one after the other; this is the time of the one whose turn it is. */
    #time() {
      clearTimeout(this.#watchdog);
      if (this.#waiting.size) this.#watchdog = setTimeout(() => this.#restart("stuck"), ANSWER_LIMIT);
    }

    /** The one whose turn it is has cost us this Python; the others wait for the next. @param {string} kind */
    #restart(kind) {
      const [ticket, entry] = this.#waiting.entries().next().value ?? [];
      if (ticket) this.#waiting.delete(ticket);
      this.#end();
      this.stage = "idle";
      this.boot();
      entry?.reject(fault(kind));
    }

    #end() {
      this.#boot.abort();
      clearTimeout(this.#watchdog);
      this.#worker?.terminate();
      this.#worker = null;
    }

    /**
     * @param {string} kind
     * @param {string} [file]
     * @param {unknown} [_error] why, for those who look
     */
    async #fail(kind, file = "", _error) {
      this.#end();
      const { signal } = this.#boot;
      // Names carry their content's hash, so what is gone or is another was replaced, most likely.
      if (["missing", "corrupt", "crashed"].includes(kind) && (await this.#outdated())) kind = "outdated";
      if (signal !== this.#boot.signal) return; // another try has begun meanwhile
      this.#enter("failed", kind, file.replace(/^.*\//, ""));
      this.#rejectAll();
    }

    /** Whether the page at this address is another one by now. */
    async #outdated() {
      try {
        const page = await fetch(location.pathname, { cache: "no-cache", signal: AbortSignal.timeout(5_000) });
        const [now] = MANIFEST.exec(await page.text()) ?? [];
        return page.ok && now !== undefined && !this.manifestURL.endsWith(now);
      } catch {
        return false;
      }
    }

    #rejectAll() {
      for (const entry of this.#waiting.values()) entry.reject(fault(this.reason, this.file));
      this.#waiting.clear();
    }

    /** @param {Stage} stage @param {string} [reason] @param {string} [file] */
    #enter(stage, reason = "", file = "") {
      this.stage = stage;
      this.reason = reason;
      this.file = file;
      this.dispatchEvent(new Event("stage"));
    }
  }

  /** @param {string} kind @param {string} [file] @param {Error} [cause] */
  const fault = (kind, file = "", cause) => Object.assign(new Error(kind, { cause }), { kind, file });

  /** @type {Map<string, Python>} */
  const started = new Map();

  /** The page's Python for this manifest: one worker for all widgets. @param {string} manifestURL */
  globalThis.lessonPython = (manifestURL) => {
    let python = started.get(manifestURL);
    if (!python) started.set(manifestURL, (python = new Python(manifestURL)));
    return python;
  };
})();
