// The module worker in which Python runs. Strings in, strings out: a request is the JSON
// that widgets.answer() takes, a reply the JSON it gives. No proxy leaves this file.

/**
 * @typedef {{size: number, wire: number, sha256: string}} Sums bytes, bytes with gzip, SHA-256
 * @typedef {{index: string, info: object, files: Record<string, Sums>, wheels: string[]}} Boot
 * @typedef {"network" | "missing" | "corrupt" | "blocked" | "memory" | "crashed" | ""} Kind
 */

/** What keeps Python from starting or going on, and the file it lies in, if it lies in one. */
class Fault extends Error {
  /** @param {Kind} kind @param {string} [file] @param {unknown} [cause] */
  constructor(kind, file = "", cause) {
    super(`${kind} ${file} ${cause instanceof Error ? cause.message : ""}`);
    this.kind = kind;
    this.file = file;
  }
}

/** @param {any} error */
const fail = (error) => {
  const kind = kindOf(error);
  const file = error instanceof Fault ? error.file : "";
  // Some of Pyodide's failures are plain objects.
  const reason = String(error?.message ?? error?.name ?? error);
  postMessage({ type: "failed", kind, file, reason });
};

/** @param {any} error @returns {Kind} */
function kindOf(error) {
  if (error instanceof Fault) return error.kind;
  if (error?.type === "MemoryError" || /out of memory|allocat|memory access/i.test(error?.message)) {
    return "memory";
  }
  // After any of these Pyodide answers no more.
  if (error?.pyodide_fatal_error || error instanceof WebAssembly.RuntimeError) return "crashed";
  return error instanceof RangeError ? "crashed" : "";
}

const fetched = globalThis.fetch;

/**
 * The content of a file, checked. What is in a cache may be damaged: then it is asked for again.
 * @param {string} url
 * @param {Sums} sums
 */
async function received(url, sums) {
  try {
    return await receivedFrom("default", url, sums);
  } catch (fault) {
    if (!(fault instanceof Fault) || fault.kind !== "corrupt") throw fault;
    return receivedFrom("reload", url, sums);
  }
}

/**
 * @param {RequestCache} cache
 * @param {string} url
 * @param {Sums} sums
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
async function receivedFrom(cache, url, sums) {
  const { size, wire } = sums;
  const lost = (/** @type {unknown} */ error) => {
    throw new Fault("network", url, error);
  };
  const response = await fetched(url, { cache }).catch(lost);
  if (!response.ok || !response.body) throw new Fault("missing", url);
  // How much comes over the wire: what the host says, or what is usual where it does not.
  const { headers } = response;
  const packed = headers.has("content-encoding");
  const coming = packed ? Number(headers.get("content-length")) || wire : size;
  const content = new Uint8Array(size);
  const reader = response.body.getReader();
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read().catch(lost);
    if (done) break;
    if (length + value.length > size) throw new Fault("corrupt", url);
    content.set(value, length);
    length += value.length;
    postMessage({ type: "progress", file: url, bytes: (length / size) * coming, coming });
  }
  if (length !== size || !(await isRight(content, sums))) throw new Fault("corrupt", url);
  return content;
}

/**
 * Without TLS browsers give no digests; lengths and formats are still checked.
 * @param {Uint8Array<ArrayBuffer>} content
 * @param {Sums} sums
 */
async function isRight(content, { sha256 }) {
  return !crypto.subtle || hex(await crypto.subtle.digest("SHA-256", content)) === sha256;
}

/** @param {ArrayBuffer} bytes */
const hex = (bytes) => [...new Uint8Array(bytes)].map((b) => b.toString(16).padStart(2, "0")).join("");

/** The WASM file as the page has it. @type {Promise<{content: Uint8Array<ArrayBuffer> | null, module: WebAssembly.Module | null}>} */
const given = new Promise((resolve) => {
  addEventListener("message", ({ data }) => data.type === "wasm" && resolve(data));
});

/**
 * The WASM module. The page compiles it while it comes; what fails there is done, and told, here.
 * @param {string} url
 * @param {Sums} sums
 */
async function compiled(url, sums) {
  if (typeof WebAssembly === "undefined") throw new Fault("blocked");
  const { content, module } = await given;
  const right = content && (await isRight(content, sums));
  if (right && module) return module;
  const again = () => (content ? receivedFrom("reload", url, sums) : received(url, sums));
  // Its content is right then: whatever fails now is this browser, or a policy.
  return WebAssembly.compile(right ? content : await again()).catch((error) => {
    throw new Fault(kindOf(error) || "blocked", url, error);
  });
}

/**
 * The files in a wheel of ours, whose entries are stored as they are.
 * @param {Uint8Array<ArrayBuffer>} wheel
 * @returns {Generator<[string, Uint8Array]>}
 */
function* unpacked({ buffer }) {
  const view = new DataView(buffer);
  const end = buffer.byteLength - 22;
  let entry = view.getUint32(end + 16, true);
  for (let left = view.getUint16(end + 10, true); left > 0; left--) {
    const [name, extra, comment] = [28, 30, 32].map((at) => view.getUint16(entry + at, true));
    const header = view.getUint32(entry + 42, true);
    const start = header + 30 + view.getUint16(header + 26, true) + view.getUint16(header + 28, true);
    yield [
      new TextDecoder().decode(new Uint8Array(buffer, entry + 46, name)),
      new Uint8Array(buffer, start, view.getUint32(entry + 20, true)),
    ];
    entry += 46 + name + extra + comment;
  }
}

/** @type {((request: string) => string) | null} */
let answer = null;

/** The build has put it before this file. @type {Boot} */
const { info, ...boot } = MANIFEST;

async function start() {
  // Pyodide wants absolute addresses.
  const absolute = (/** @type {string} */ path) => new URL(path, import.meta.url).href;
  const index = absolute(boot.index);
  const wheels = boot.wheels.map(absolute);
  const files = Object.fromEntries(
    Object.entries(boot.files).map(([file, sums]) => [absolute(file), sums]),
  );
  const at = { loader: `${index}pyodide.mjs`, script: `${index}pyodide.asm.js` };
  const wasm = `${index}pyodide.asm.wasm`;
  const library = `${index}python_stdlib.zip`;
  // All at once. A script is checked, and then the browser has it in its cache.
  const rest = Object.keys(files).filter((url) => url !== wasm);
  const coming = new Map(rest.map((url) => [url, received(url, files[url])]));
  const [module, loader] = await Promise.all([
    compiled(wasm, files[wasm]),
    coming.get(at.loader)?.then(() => import(at.loader)),
    coming.get(at.script)?.then(() => import(at.script)),
    ...coming.values(),
  ]);
  const content = new Map();
  for (const url of [library, ...wheels]) content.set(url, await coming.get(url));

  // Pyodide asks for two files that are here; and it waits for ever if this fails.
  globalThis.fetch = async (url) => new Response(content.get(String(url)));
  WebAssembly.instantiateStreaming = async (_, imports) => {
    try {
      return { module, instance: await WebAssembly.instantiate(module, imports) };
    } catch (error) {
      fail(new Fault(kindOf(error) || "blocked", wasm, error));
      throw error;
    }
  };
  const python = await loader.loadPyodide({
    indexURL: index,
    lockFileContents: { info, packages: {} },
    packageBaseUrl: index,
    // Much quicker than to have Python install them.
    async fsInit(/** @type {any} */ FS, /** @type {{sitePackages: string}} */ { sitePackages }) {
      for (const wheel of wheels) {
        for (const [name, file] of unpacked(content.get(wheel))) {
          if (name.includes(".dist-info/")) continue;
          const path = `${sitePackages}/${name}`;
          FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
          FS.writeFile(path, file);
        }
      }
    },
  });
  globalThis.fetch = fetched;
  answer = python.pyimport("lesson_start").answer;
  postMessage({ type: "ready" });
}

addEventListener("message", ({ data }) => {
  if (data.type === "ask" && answer) {
    try {
      const reply = answer(data.request);
      // A Pyodide that has just broken gives nothing, and says nothing.
      if (typeof reply !== "string") throw new Fault("crashed");
      postMessage({ type: "answer", ticket: data.ticket, reply });
    } catch (error) {
      const kind = kindOf(error);
      postMessage({ type: "error", ticket: data.ticket, kind, reason: String(error) });
    }
  }
});

start().catch(fail);
