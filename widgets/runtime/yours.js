// The reader's own model and cluster: the panel, a config that is brought along, and the page
// that follows. Python computes and judges; this file puts its answers where the page has them.

(() => {
  const KEPT = "lesson.yours"; // session storage: kept from lesson to lesson, for this visit

  document.body.insertAdjacentHTML("beforeend", globalThis.lessonYoursPanel);
  const panel = /** @type {HTMLElement} */ (document.getElementById("your-model"));
  const widget = /** @type {HTMLElement & LessonWidget} */ (document.getElementById("yours"));
  const says = /** @type {HTMLElement} */ (panel.querySelector("[data-own]"));
  const text = /** @type {HTMLTextAreaElement} */ (panel.querySelector("textarea"));
  const counts = /** @type {HTMLDetailsElement} */ (panel.querySelector(".yours-counts"));
  const python = globalThis.lessonPython(widget.getAttribute("runtime") ?? "");
  const opener = document.querySelector("[data-yours]");
  panel.addEventListener("toggle", () => {
    opener?.setAttribute("aria-expanded", String(panel.matches(":popover-open")));
    if (panel.matches(":popover-open")) panel.focus();
  });
  // Who opens the panel will change something: Python gets all it needs for that ready.
  panel.addEventListener("toggle", () => python.ask({ page, query: initial }).catch(() => {}), { once: true });
  globalThis.lessonYours = { toggle: () => panel.togglePopover() };

  const remembered = () => {
    try {
      return new URLSearchParams(sessionStorage.getItem(KEPT) ?? "");
    } catch {
      return new URLSearchParams(); // nothing kept, or no leave to
    }
  };

  /** @param {string} query @param {string} packed */
  const remember = (query, packed) => {
    try {
      if (query || packed) sessionStorage.setItem(KEPT, new URLSearchParams({ query, packed }).toString());
      else sessionStorage.removeItem(KEPT);
    } catch {} // for this page only
  };

  // The page's figures and claims, as they were built.

  /** @typedef {{node: HTMLElement, text: string, panel: string}} Figure */
  const inWidgets = "lesson-widget, .panel, .yours-panel";
  /** @param {string} selector @returns {HTMLElement[]} */
  const ofPage = (selector) =>
    [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(`article ${selector}`))].filter(
      (node) => !node.closest(inWidgets),
    );
  /** @type {Figure[]} */
  const figures = ofPage("button.q[data-q]").map((node) => ({
    node,
    text: node.textContent ?? "",
    panel: node.getAttribute("popovertarget") ?? "",
  }));
  const claims = ofPage(".claim[data-claim]");
  const names = ofPage("[data-model]").map((node) => ({ node, text: node.textContent }));
  const list = document.getElementById("figures")?.closest(".panels"); // widgets have their own
  // Cloned: a panel that has been open carries its place as a style, which the policy lets no
  // script write as HTML.
  const built = list?.cloneNode(true);
  const initial = widget.querySelector("[data-full]")?.getAttribute("data-full") ?? "";
  // The way back needs no Python.
  const first = widget.querySelector("[data-view]")?.innerHTML ?? "";
  globalThis.lessonFrames.yours = { [initial]: first };
  const page = JSON.stringify({
    base: widget.getAttribute("base"),
    figures: figures.map(({ node: { dataset: d } }) => [d.q, d.set ?? "", d.unit ?? "", d.digits ?? ""]),
    claims: claims.map(({ dataset: d }) => [d.claim, d.set ?? ""]),
  });

  /** @param {Figure} figure @param {string} shown @param {string} to @param {string} [why] */
  const put = ({ node, text: was }, shown, to, why) => {
    node.textContent = shown;
    node.setAttribute("popovertarget", to);
    const moved = shown !== was;
    node.classList.toggle("moved", moved);
    const note = why ?? (moved ? `这一课的例子：${was}` : "");
    if (note) node.setAttribute("aria-description", note);
    else node.removeAttribute("aria-description");
  };

  /** @param {HTMLElement} claim @param {boolean | null} holds null: nobody can say @param {string} note */
  const judge = (claim, holds, note) => {
    claim.classList.toggle("fails", holds === false);
    claim.classList.toggle("unsure", holds === null);
    const old = claim.nextElementSibling;
    if (old?.matches(".claim-instead")) old.remove();
    if (!note) return;
    const span = document.createElement("span");
    span.className = "claim-instead";
    span.textContent = `（${note}）`;
    claim.after(span);
  };

  /** What a figure was in the lesson, for those who cannot hover. @param {Figure} figure */
  const recall = ({ node, text: was }) => {
    const head = document.getElementById(node.getAttribute("popovertarget") ?? "")?.querySelector(".panel-head");
    if (node.textContent === was || !head || head.nextElementSibling?.matches(".panel-was")) return;
    const line = document.createElement("p");
    line.className = "panel-was";
    line.textContent = `这一课的例子：${was}`;
    head.after(line);
  };

  /** Panels made without the page do not know where else on it a figure stands. @param {string} html */
  const relist = (html) => {
    if (!list) return;
    const uses = new Map([...list.querySelectorAll(".panel-uses")].map((e) => [e.parentElement?.id, e]));
    const facts = [...list.querySelectorAll('.panel[id^="fact-"]')]; // papers stay what they are
    list.innerHTML = new DOMParser().parseFromString(html, "text/html").querySelector(".panels")?.innerHTML ?? "";
    for (const made of list.querySelectorAll(".panel")) {
      made.querySelector(".panel-close")?.before(uses.get(made.id) ?? "");
    }
    list.append(...facts.filter((fact) => !list.querySelector(`#${CSS.escape(fact.id)}`)));
  };

  const restore = () => {
    if (built) list?.replaceChildren(...built.cloneNode(true).childNodes);
    for (const { node, text } of names) node.textContent = text;
    for (const figure of figures) put(figure, figure.text, figure.panel);
    for (const claim of claims) judge(claim, true, "");
    delete document.documentElement.dataset.scenario;
  };

  let latest = 0;
  let packed = "";
  /** Of every model brought, by its slug. @type {Map<string, string>} */
  const packs = new Map();
  let followed = initial;
  let linked = false; // the address says what the experiments show, too

  /** The experiments take over what has changed and they have a field for. @param {string} query */
  const lead = (query) => {
    const before = new URLSearchParams(followed);
    followed = query;
    if (linked) return (linked = false);
    const changed = [...new URLSearchParams(query)].filter(([name, value]) => before.get(name) !== value);
    if (!changed.length) return;
    for (const other of /** @type {NodeListOf<HTMLElement & LessonWidget>} */ (
      document.querySelectorAll("article lesson-widget")
    )) {
      const frame = other.querySelector("[data-full]");
      const shown = new URLSearchParams(frame?.getAttribute("data-full") ?? "");
      const own = changed.filter(([name]) => shown.has(name));
      for (const [name, value] of own) shown.set(name, value);
      const keys = [...shown].map(([name, value]) => [`${other.id}.${name}`, value]);
      if (own.length) other.take(new URLSearchParams(keys), true); // the panel speaks for all
    }
  };

  /** The page follows the panel; the last choice wins. */
  const follow = async () => {
    const mine = ++latest;
    const query = widget.querySelector("[data-full]")?.getAttribute("data-full") ?? "";
    const changed = query !== initial;
    packed = packs.get(new URLSearchParams(query).get("model") ?? "") ?? packed;
    carry();
    remember(changed ? query : "", changed ? packed : "");
    // What the reader looks at first: figures, then experiments, then what lies behind figures.
    const coming = changed ? python.ask({ page, query }).catch(() => null) : null;
    lead(query);
    if (!changed) return restore();
    const answer = await coming;
    if (mine !== latest || !answer) return;
    for (const { node } of names) node.textContent = answer.model;
    figures.forEach((figure, i) => {
      const { text: shown, panel: to = "", why } = answer.figures[i];
      put(figure, shown, to, why);
    });
    claims.forEach((claim, i) => judge(claim, answer.claims[i].holds, answer.claims[i].note));
    const behind = await python.ask({ page, query, panels: true }).catch(() => null);
    if (mine !== latest || !behind) return;
    relist(behind.html);
    figures.forEach(recall);
    document.documentElement.dataset.scenario = query;
  };
  widget.addEventListener("framed", follow);

  // A config that the reader brings.

  /** The field that is at fault is marked, and no other. @param {{field: string} | undefined} error @param {HTMLElement} beside */
  const blame = (error, beside) => {
    const fields = /** @type {NodeListOf<HTMLInputElement | HTMLTextAreaElement>} */ (panel.querySelectorAll("textarea, .yours-counts input"));
    const name = error?.field.split("/").at(-1);
    for (const field of fields) {
      const wrong = error && (beside === says ? field === text : field.name === name);
      field.ariaInvalid = wrong ? "true" : null;
    }
  };

  /** Python's answer about a model; what is wrong with it is said. @param {object} request @param {HTMLElement} beside */
  const heard = async (request, beside = says) => {
    beside.textContent = "正在读……";
    const answer = await python.ask(request).catch(() => null);
    if (!answer) beside.textContent = "Python 没能载入，读不了配置；再试一次。";
    else if (answer.error) beside.textContent = `${answer.error.says}。`;
    blame(answer?.error, beside);
    if (answer?.error?.unknown) {
      beside.textContent += "不在其中的，可以在下面只填参数个数。";
      counts.open = true;
    }
    return answer && !answer.error ? answer : null;
  };

  /** @param {object} request @param {HTMLElement} beside */
  const bring = async (request, beside = says) => {
    const answer = await heard(request, beside);
    if (!answer) return null;
    beside.textContent = `${answer.name}：${answer.total} 个参数。`;
    packs.set(answer.slug, (packed = answer.packed));
    return answer;
  };

  /** The config travels behind the #; a link within the page would push it out. */
  const carry = () => {
    const url = new URL(location.href);
    if (packed) url.hash = `config=${packed}`;
    else if (url.hash.startsWith("#config=")) url.hash = "";
    if (url.href !== location.href) history.replaceState(history.state, "", url);
  };
  addEventListener("hashchange", carry);

  /** @param {object} request @param {HTMLElement} beside */
  const use = async (request, beside = says) => {
    const answer = await bring(request, beside);
    if (!answer) return;
    if (!answer.packed) beside.textContent += "配置太长，链接里带不上。";
    widget.take(new URLSearchParams({ model: answer.slug }));
  };

  /** @param {File | undefined} file */
  const read = async (file) => {
    // A picture or a checkpoint is refused before it is read.
    if (!file || !(await heard({ size: file.size }))) return;
    use({ config: (text.value = await file.text()) });
  };

  panel.querySelector("form.yours-own")?.addEventListener("submit", (event) => {
    event.preventDefault();
    use({ config: text.value });
  });
  counts.querySelector("form")?.addEventListener("submit", (event) => {
    event.preventDefault();
    const typed = Object.fromEntries(new FormData(/** @type {HTMLFormElement} */ (event.target)));
    use({ counts: typed }, /** @type {HTMLElement} */ (counts.querySelector("[role=status]")));
  });
  panel.querySelector('[type="file"]')?.addEventListener("change", ({ target }) => {
    read(/** @type {HTMLInputElement} */ (target).files?.[0]);
  });
  panel.querySelector('[type="file"]')?.addEventListener("click", ({ target }) => {
    /** @type {HTMLInputElement} */ (target).value = ""; // the same file once more is a change, too
  });
  panel.addEventListener("dragover", (event) => event.preventDefault());
  panel.addEventListener("drop", (event) => {
    event.preventDefault();
    read(event.dataTransfer?.files[0]);
  });
  panel.querySelector("[data-forget]")?.addEventListener("click", () => {
    packs.clear();
    packed = text.value = says.textContent = "";
    counts.querySelector("form")?.reset();
    carry();
    widget.take(new URLSearchParams(initial));
  });

  // What a link brings, or what was chosen on the page before.

  const start = async () => {
    const own = new URLSearchParams(location.search);
    const named = [...new URLSearchParams(initial).keys()].some((key) => own.has(key));
    const kept = remembered();
    const link = /^#config=(.+)$/.exec(location.hash)?.[1] ?? kept.get("packed");
    if (link) await bring({ packed: link });
    linked = named;
    if (named) widget.take(own);
    else if (kept.get("query")) widget.take(new URLSearchParams(kept.get("query") ?? ""));
  };
  start();
})();
