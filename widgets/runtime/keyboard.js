// The keys of a widget: arrows, Home and End press the frame's buttons; Space plays and pauses,
// but on a button, which it presses; Escape pauses, Ctrl+Z takes back, Enter sends what was typed.

(() => {
  /** Where keys are for typing and choosing. @param {Element} element */
  const typesIn = (element) => element.matches("input:not([type=range]), textarea, select");

  /** @param {Element} element */
  const ofPlayer = (element) => element.closest("[data-player]") !== null;

  const TAKES_SPACE = "button, a[href], summary, select, textarea, input:not([type=range])";

  /**
   * @param {HTMLElement} widget
   * @param {LessonPlayer} player
   * @param {AbortSignal} signal
   */
  globalThis.lessonKeyboard = (widget, player, signal) => {
    /** What Enter has sent already. @type {{input: EventTarget, value: string} | undefined} */
    let entered;

    /** Whether keys are for a figure's panel, not for the widget. */
    const forPanel = () => "popover" in widget && widget.querySelector(":popover-open") !== null;

    /**
     * Space plays and pauses, as on any player, wherever it has nothing else to do: buttons,
     * links and fields keep it.
     * @param {KeyboardEvent} event
     */
    const plays = ({ key, target }) =>
      key === " " && player.available && !/** @type {Element} */ (target).closest(TAKES_SPACE);

    /**
     * Along a row of buttons, such as the factors of a formula; whether there is one.
     * @param {Element} from @param {string} key
     */
    const along = (from, key) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
      const row = from.closest("[data-row]");
      if (!step || !row) return false;
      const buttons = [...row.querySelectorAll("button:not(.q)")];
      const next = buttons[buttons.indexOf(from) + step];
      if (next instanceof HTMLElement) next.focus();
      return true;
    };

    /** Whether the event is dealt with. @param {KeyboardEvent} event */
    const pressed = (event) => {
      const target = /** @type {Element} */ (event.target);
      const typing = typesIn(target);
      const modified = event.ctrlKey || event.metaKey || event.altKey;
      // The theme acts on bare letters and , . / wherever a button has the focus.
      if (!modified) event.stopPropagation();
      if ((event.ctrlKey || event.metaKey) && event.key === "z" && !typing) {
        /** @type {HTMLElement} */ (widget.querySelector('[data-tool="undo"]')).click();
        return true;
      }
      if (event.key === "Escape" && player.playing) {
        player.toggle();
        return true;
      }
      if (typing && event.key === "Enter" && !ofPlayer(target)) {
        // Left alone, Enter would press the form's first button.
        const input = /** @type {HTMLInputElement} */ (target);
        entered = { input, value: input.value };
        input.form?.requestSubmit();
        return true;
      }
      if (typing || modified) return false;
      if (plays(event)) {
        if (!event.repeat) player.toggle();
        return true;
      }
      // A slider has keys of its own; Enter on it, too, would press the form's first button.
      if (target.matches("[type=range]")) return event.key === "Enter";
      // A table that scrolls keeps its arrow keys.
      const scrolls = target.matches(".lw-scroll") && target.scrollWidth > target.clientWidth;
      if (scrolls && event.key.startsWith("Arrow")) return false;
      if (event.key.startsWith("Arrow") && along(target, event.key)) return true;
      const button = widget.querySelector(`[data-view] [data-key="${CSS.escape(event.key)}"]`);
      if (!(button instanceof HTMLButtonElement)) return false;
      button.click();
      return true;
    };

    /** @param {string} type @param {(event: any) => void} listener */
    const on = (type, listener) => widget.addEventListener(type, listener, { signal });
    on("keydown", (event) => !forPanel() && pressed(event) && event.preventDefault());
    on("change", ({ target }) => {
      // The widget follows a slider while it moves; the speed is the player's.
      if (target.type === "range" || ofPlayer(target)) return;
      // After Enter the browser reports the same text once more, on leaving the field.
      const again = entered?.input === target && entered?.value === target.value;
      if (entered?.input === target) entered = undefined;
      if (!again) target.form?.requestSubmit();
    });
  };
})();
