// Without a network: the service worker keeps the site, and a newer version of it is offered,
// never forced. From the file system: links lead to the pages' files, and what cannot work there
// says so. Under `mkdocs serve`, where pages carry no version, an old service worker is removed.

(() => {
  const WORDS = {
    kept: "已存在本机，断网也能读、能做实验",
    offer: "这一课有新版本。",
    take: "换到新版",
    later: "先不换",
    noSearch: "从文件打开时不能搜索",
    file: "从文件打开的页面：文字、数的出处和预先算好的步骤都在，搜索和现算要放到网站上才行",
  };
  const SETTLED = 1_000; // ms after the page has loaded: first what the reader came for
  const CHECK_EVERY = 3_600_000; // ms between looks for a new version, while a page stays open

  const config = JSON.parse(document.getElementById("__config")?.textContent ?? "{}");
  const root = new URL(config.base ?? ".", location.href);
  const version = document.querySelector('meta[name="lesson-version"]')?.getAttribute("content");

  /** @param {ServiceWorker | null} worker @param {string} task @returns {Promise<any>} */
  const ask = (worker, task) =>
    new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = ({ data }) => resolve(data);
      worker?.postMessage(task, [port2]);
    });

  /** @param {string} text @param {() => void} pressed */
  const button = (text, pressed) => {
    const made = Object.assign(document.createElement("button"), { type: "button", textContent: text });
    made.addEventListener("click", pressed);
    return made;
  };

  /** In the page's last line. @param {string} words */
  function say(words) {
    const line = document.querySelector("[data-kept]");
    if (line) line.textContent = ` · ${words}`;
  }

  /** Say that there is a new version; the reader decides. @param {() => void} change */
  function offer(change) {
    document.querySelector(".new-version")?.remove();
    const box = Object.assign(document.createElement("div"), { className: "new-version" });
    box.setAttribute("role", "status");
    const take = button(WORDS.take, change);
    take.className = "primary";
    box.append(WORDS.offer, take, button(WORDS.later, () => box.remove()));
    document.body.append(box);
  }

  /** A page that came from the network may be the new one already. @param {ServiceWorker | null} worker */
  const isNewer = async (worker) => worker !== null && (await ask(worker, "version")) !== version;

  /** @param {ServiceWorkerRegistration} registration */
  async function offerNewer({ waiting }) {
    if (!(await isNewer(waiting))) return;
    offer(() => {
      navigator.serviceWorker.addEventListener("controllerchange", () => location.reload());
      ask(waiting, "takeOver");
    });
  }

  /** Keep the rest too, Python above all: at once if it was fetched anyhow, else as far as the
   * reader's line is free. @param {ServiceWorkerRegistration} registration */
  async function keepAll(registration) {
    const runtime = document.querySelector("lesson-widget")?.getAttribute("runtime");
    const python = runtime ? globalThis.lessonPython(runtime) : null;
    const { saveData, type, effectiveType } = /** @type {any} */ (navigator).connection ?? {};
    const spared = saveData || type === "cellular" || /[23]g/.test(effectiveType ?? "");
    if (spared && python?.stage !== "ready") {
      const started = () => {
        if (python?.stage !== "ready") return;
        python.removeEventListener("stage", started);
        keepAll(registration);
      };
      python?.addEventListener("stage", started);
      return;
    }
    if (await ask(registration.active, "keep")) say(WORDS.kept);
  }

  async function serve() {
    await navigator.serviceWorker.register(new URL("service-worker.js", root));
    const registration = await navigator.serviceWorker.ready;
    registration.addEventListener("updatefound", () => {
      const { installing } = registration;
      installing?.addEventListener("statechange", () => offerNewer(registration));
    });
    const { serviceWorker } = navigator;
    serviceWorker.addEventListener("controllerchange", async () => {
      // In another tab the reader has changed; this one goes on until it is told to.
      if (await isNewer(serviceWorker.controller)) offer(() => location.reload());
    });
    let looked = performance.now();
    document.addEventListener("visibilitychange", () => {
      if (document.hidden || performance.now() - looked < CHECK_EVERY) return;
      looked = performance.now();
      registration.update().catch(() => {}); // no network: next time
    });
    await offerNewer(registration);
    await keepAll(registration);
  }

  /** What an earlier visit to a built site at this address has left. */
  async function forget() {
    const registration = await navigator.serviceWorker.getRegistration();
    if (!registration) return;
    for (const name of await caches.keys()) {
      if (name.startsWith(`lesson ${registration.scope} `)) await caches.delete(name);
    }
    await registration.unregister();
  }

  /** From the file system, a folder is no page, and search cannot fetch its index. */
  function makeDo() {
    for (const link of document.links) {
      if (link.protocol === "file:" && link.pathname.endsWith("/")) link.pathname += "index.html";
    }
    const search = document.querySelector("[data-md-component=search-query]");
    if (search instanceof HTMLInputElement) {
      search.disabled = true;
      search.placeholder = WORDS.noSearch;
    }
    say(WORDS.file);
  }

  if (location.protocol === "file:") makeDo();
  else if (!navigator.serviceWorker) return; // an insecure address, or the reader forbids it
  else if (!version) forget();
  else {
    // Without it the page is as it was: a host or a reader may refuse what it needs.
    addEventListener("load", () => setTimeout(() => serve().catch(() => {}), SETTLED));
  }
})();
