// The service worker: after one visit the site is read, and its Python runs, without a network.
//
// What there is to keep is put before this file when the site is built (`lessonKept`): addresses
// below the site's root with their SHA-256. One cache holds one version of the site and nothing
// else, so that pages and files of two versions never meet: a page comes from the network where
// that answers, its files have their content in their names, and without a network all of it
// comes from the one cache.

(() => {
  const PATIENCE = 4_000; // ms for the network, before a page that is kept is shown

  /**
   * @typedef {Array<[path: string, sha256: string]>} Entries
   * @type {any}
   */
  const worker = self;
  /** @type {{version: string, first: Entries, later: Entries}} what reading takes, and the rest */
  const { version, first, later } = worker.lessonKept;
  const root = worker.registration.scope;
  const mine = `lesson ${root} `; // other sites may live on this host
  const name = mine + version;

  const at = (/** @type {string} */ path) => new URL(path, root).href;
  const kept = new Set([...first, ...later].map(([path]) => at(path)));

  /** Names with a hash in them stand for one content for ever. @param {string} url */
  const fixed = (url) => /[.-][0-9a-f]{8,}[./]/.test(url.slice(root.length));

  /** The address under which something is kept, whatever its query. @param {string} url */
  const plain = (url) => url.replace(/[?#].*/s, "").replace(/\/index\.html$/, "/");

  /** A copy that other versions of ours have already. @param {string} url */
  async function copied(url) {
    if (!fixed(url)) return undefined;
    for (const other of await caches.keys()) {
      const found = other.startsWith(mine) && (await (await caches.open(other)).match(url));
      if (found) return found;
    }
    return undefined;
  }

  /** Fetch what has this content; anything else is an error. @param {string} url @param {string} sha256 */
  async function fetched(url, sha256) {
    const integrity = `sha256-${sha256}`;
    const ask = (/** @type {RequestCache} */ cache) => fetch(url, { integrity, cache });
    // The browser's own cache may hold the file of another version, or a spoilt one.
    const response = await ask(fixed(url) ? "default" : "no-cache").catch(() => ask("reload"));
    if (!response.ok) throw new Error(`${response.status} ${url}`);
    // As a page, browsers refuse an answer that was redirected.
    const { headers } = response;
    return response.redirected ? new Response(response.body, { headers }) : response;
  }

  /** Keep all of these, or fail. @param {Entries} entries */
  async function keep(entries) {
    const cache = await caches.open(name);
    const missing = async (/** @type {[string, string]} */ [path, sha256]) => {
      const url = at(path);
      if (await cache.match(url)) return;
      await cache.put(url, (await copied(url)) ?? (await fetched(url, sha256)));
    };
    await Promise.all(entries.map(missing));
  }

  async function removeOthers() {
    for (const other of await caches.keys()) {
      if (other.startsWith(mine) && other !== name) await caches.delete(other);
    }
  }

  /** Fails where nothing is kept. @param {string} url @returns {Promise<Response>} */
  async function fromCache(url) {
    const found = await (await caches.open(name)).match(url);
    if (!found) throw new Error(`${url} is not kept`);
    return found;
  }

  /** @returns {Promise<null>} */
  const late = () => new Promise((resolve) => setTimeout(() => resolve(null), PATIENCE));

  /**
   * What the network says; what is kept, if it says nothing, an error of its own, or takes long.
   * @param {Request} request
   * @param {string} url
   */
  async function fresh(request, url) {
    const network = fetch(request);
    const answer = await Promise.race([network, late()]).catch(() => null);
    return answer && answer.status < 500 ? answer : fromCache(url).catch(() => network);
  }

  const NOT_KEPT = `<!doctype html><html lang="zh"><meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1"><title>现在没有网络</title>
<h1>现在没有网络</h1><p>这个地址没有存在本机。连上网再打开，或者回到<a href="${root}">这一章</a>。</p></html>`;

  const without = () =>
    new Response(NOT_KEPT, { status: 503, headers: { "Content-Type": "text/html; charset=utf-8" } });

  worker.addEventListener("install", (/** @type {any} */ event) => event.waitUntil(keep(first)));

  worker.addEventListener("activate", (/** @type {any} */ event) =>
    event.waitUntil(removeOthers().then(() => worker.clients.claim())),
  );

  worker.addEventListener("fetch", (/** @type {any} */ event) => {
    const { request } = event;
    const url = plain(request.url);
    if (request.method !== "GET" || !url.startsWith(root)) return;
    if (kept.has(url)) {
      event.respondWith(
        fixed(url) ? fromCache(url).catch(() => fetch(request)) : fresh(request, url),
      );
    } else if (request.mode === "navigate") {
      const slashed = `${url}/`;
      const known = () => (kept.has(slashed) ? Response.redirect(slashed) : without());
      event.respondWith(fetch(request).catch(known));
    }
  });

  // What a page asks of this worker, answered through the port that it sends along.
  /** @type {Record<string, () => Promise<unknown>>} */
  const tasks = {
    version: async () => version,
    keep: () => keep(later).then(() => true, () => false),
    takeOver: () => worker.skipWaiting(),
  };

  worker.addEventListener("message", (/** @type {any} */ event) => {
    const task = tasks[event.data];
    if (task) event.waitUntil(task().then((answer) => event.ports[0]?.postMessage(answer)));
  });
})();
