// Queries: what a widget's controls ask for, and how the page's address carries its state.

(() => {
  /** A query with its keys sorted: what frames are kept under. @param {URLSearchParams} params */
  const sorted = (params) => {
    const copy = new URLSearchParams(params);
    copy.sort();
    return copy.toString();
  };

  /** The Scenario's keys stand bare in the address. @param {string} id */
  const prefixOf = (id) => (id === "yours" ? "" : `${id}.`);

  globalThis.lessonQueries = {
    sorted,

    // A button named "go" carries several fields.
    asksFor: ({ name, value }) => new URLSearchParams(name === "go" ? value : [[name, value]]),

    // Sliders have no name: the widget has followed them already.
    held: (form) => new URLSearchParams(/** @type {any} */ (new FormData(form))),

    // A slider goes over the values of a list, if it has one. Like a button it leaves alone what
    // is half typed; hidden fields go along.
    slidTo({ form, value, dataset: { field = "", values } }) {
      const hidden = [...(form?.querySelectorAll("input") ?? [])].filter((i) => i.type === "hidden");
      const to = values?.split(" ")[Number(value)] ?? value;
      return new URLSearchParams([...hidden.map((i) => [i.name, i.value]), [field, to]]);
    },

    within(params, id, first) {
      const next = new URLSearchParams(first);
      const prefix = prefixOf(id);
      let any = false;
      for (const [key, value] of params) {
        const name = key.slice(prefix.length);
        if (!key.startsWith(prefix) || name === "was" || (!prefix && !next.has(name))) continue;
        next.set(name, value);
        any = true;
      }
      return any ? sorted(next) : null;
    },

    toAddress(id, first, shown) {
      const url = new URL(location.href);
      const prefix = prefixOf(id);
      const initial = new URLSearchParams(first);
      for (const key of [...url.searchParams.keys()]) {
        const own = prefix ? key.startsWith(prefix) : initial.has(key);
        if (own) url.searchParams.delete(key);
      }
      for (const [name, value] of new URLSearchParams(shown)) {
        if (initial.get(name) !== value) url.searchParams.set(prefix + name, value);
      }
      if (url.href !== location.href) history.replaceState(history.state, "", url);
    },
  };
})();
