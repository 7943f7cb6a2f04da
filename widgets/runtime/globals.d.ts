// What the runtime's classic scripts share through the global scope.

interface LessonPython extends EventTarget {
  stage: "idle" | "loading" | "ready" | "failed";
  /** Why it failed; "file" for a page that was opened from the file system. */
  reason: string;
  /** Bytes fetched so far, and in all. */
  loaded: number;
  total: number;
  boot(): void;
  ask(request: object): Promise<any>;
}

interface LessonPlayer {
  readonly available: boolean;
  readonly playing: boolean;
  readonly pressing: boolean;
  toggle(): void;
  stop(): void;
  shown(): void;
}

interface LessonStatus {
  show(): void;
  say(word?: "error" | "copied" | "copyFailed"): void;
}

declare var lessonPlayer: (
  widget: HTMLElement,
  signal: AbortSignal,
  paused: () => void,
) => LessonPlayer;
declare var lessonKeyboard: (
  widget: HTMLElement,
  player: LessonPlayer,
  signal: AbortSignal,
) => void;
declare var lessonStatus: (
  widget: HTMLElement,
  python: LessonPython,
  signal: AbortSignal,
) => LessonStatus;
declare var lessonPython: (manifestURL: string) => LessonPython;
declare var lessonFrames: Record<string, Record<string, string>>;
declare var Idiomorph: {
  morph(node: Element, html: string, options: { morphStyle: string; restoreFocus: boolean }): void;
};
