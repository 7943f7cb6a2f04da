// The module worker in which Python runs. Strings in, strings out: a request is the JSON
// that widgets.answer() takes, a reply the JSON it gives. No proxy leaves this file.

/** @typedef {{pyodide: string, indexURL: string, lockFileURL: string, stdLibURL: string, packageBaseUrl: string, packages: string[]}} Boot */

/** What went wrong, in words: some of Pyodide's failures are plain objects. @param {any} error */
const reason = (error) => String(error?.message ?? error?.name ?? error);

/** @type {((request: string) => string) | null} */
let answer = null;

/** @param {Boot} boot */
async function start(boot) {
  const { loadPyodide } = await import(boot.pyodide);
  const python = await loadPyodide({
    indexURL: boot.indexURL,
    lockFileURL: boot.lockFileURL,
    stdLibURL: boot.stdLibURL,
    packageBaseUrl: boot.packageBaseUrl,
    packages: boot.packages,
  });
  // A wheel that could not be fetched shows only here, as a module that is not there.
  answer = python.pyimport("widgets").answer;
  postMessage({ type: "ready" });
}

addEventListener("message", ({ data }) => {
  if (data.type === "boot") {
    start(data.boot).catch((error) => postMessage({ type: "failed", reason: reason(error) }));
  } else if (answer) {
    try {
      postMessage({ type: "answer", ticket: data.ticket, reply: answer(data.request) });
    } catch (error) {
      postMessage({ type: "error", ticket: data.ticket, reason: reason(error) });
    }
  }
});
