// The module worker in which Python runs. Strings in, strings out: a request is the JSON
// that widgets.answer() takes, a reply the JSON it gives. No proxy leaves this file.

/** @typedef {{pyodide: string, indexURL: string, lockFileURL: string, stdLibURL: string, packageBaseUrl: string, packages: string[]}} Boot */

/** What went wrong, in words: some of Pyodide's failures are plain objects. @param {any} error */
const reason = (error) => String(error?.message ?? error?.name ?? error);

/** @param {any} error */
const fail = (error) => postMessage({ type: "failed", reason: reason(error) });

/** @type {((request: string) => string) | null} */
let answer = null;

const fetched = globalThis.fetch;

/**
 * fetch(), reporting every chunk. Pyodide waits for ever for a WASM file that is missing or
 * has the wrong type: so what is missing is found here, and the type, which not every host
 * knows, is said here.
 * @type {typeof fetch}
 */
globalThis.fetch = async (input, init) => {
  const response = await fetched(input, init);
  const type = response.headers.get("content-type") ?? "";
  const wasm = /\.wasm($|\?)/.test(response.url);
  if (wasm && (!response.ok || type.startsWith("text/html"))) {
    fail(new Error(`${response.url}: ${response.status} ${type}`));
  }
  if (!response.ok || !response.body) return response;
  const report = new TransformStream({
    transform(chunk, controller) {
      postMessage({ type: "progress", bytes: chunk.byteLength });
      controller.enqueue(chunk);
    },
  });
  const { status, statusText } = response;
  const headers = new Headers(response.headers);
  if (wasm) headers.set("Content-Type", "application/wasm");
  return new Response(response.body.pipeThrough(report), { status, statusText, headers });
};

/** @param {Boot} boot */
async function start({ pyodide, ...options }) {
  const { loadPyodide } = await import(pyodide);
  const python = await loadPyodide(options);
  // A wheel that could not be fetched shows only here, as a module that is not there.
  answer = python.pyimport("widgets").answer;
  postMessage({ type: "ready" });
}

addEventListener("message", ({ data }) => {
  if (data.type === "boot") {
    start(data.boot).catch(fail);
  } else if (answer) {
    try {
      postMessage({ type: "answer", ticket: data.ticket, reply: answer(data.request) });
    } catch (error) {
      postMessage({ type: "error", ticket: data.ticket, reason: reason(error) });
    }
  }
});
