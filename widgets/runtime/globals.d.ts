// What the runtime's classic scripts share through the global scope.

interface LessonPython extends EventTarget {
  stage: "idle" | "loading" | "ready" | "failed";
  /** Why it failed, in a word that status.js explains; "file": a page opened from the file system. */
  reason: string;
  /** The name of the file it failed at, if it did at one. */
  file: string;
  /** Bytes that came over the wire so far, and in all. */
  readonly loaded: number;
  readonly total: number;
  /** So many bytes, in the words of the build. */
  told(bytes: number): string;
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
  show(answered?: boolean): void;
  refuse(why?: string): void;
  announce(frame: HTMLElement, onlyNotices: boolean, ticks: string[]): void;
  copy(text: string, done: "copied" | "data"): Promise<void>;
}

interface LessonUndo {
  readonly pending: number;
  /** What the next undo would restore, if there is anything left to take back. */
  readonly former: string | undefined;
  /** A request for that many levels back is on its way. */
  ask(levels: number): void;
  /** It is answered; ``left``: the configuration that was left, where that counts. */
  settle(left?: string): void;
}

interface LessonWidget extends Element {
  /** HTML to print besides: what readers without JavaScript see, while it is at its beginning. */
  readonly still: string;
  take(params: URLSearchParams, quiet?: boolean): void;
}

interface LessonQueries {
  sorted(params: URLSearchParams): string;
  /** What a button asks for. */
  asksFor(button: HTMLButtonElement): URLSearchParams;
  /** What the fields of a form hold. */
  held(form: HTMLFormElement): URLSearchParams;
  /** What a slider asks for. */
  slidTo(slider: HTMLInputElement): URLSearchParams;
  /** A widget's keys among those of a page, laid over its first query; null if there are none. */
  within(params: URLSearchParams, id: string, first: string): string | null;
  /** Let the page's address carry what differs from the first query. */
  toAddress(id: string, first: string, shown: string): void;
}

interface LessonView {
  /** Show a frame; a slider that is given stays where the reader has it. */
  show(view: HTMLElement, html: string, slider?: HTMLInputElement): void;
  /** Start what moves in the frame: it went one step on. */
  travel(view: HTMLElement): void;
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
declare var lessonIntent: (
  widget: HTMLElement,
  python: LessonPython,
  signal: AbortSignal,
) => void;
declare var lessonStatus: (
  widget: HTMLElement,
  python: LessonPython,
  signal: AbortSignal,
) => LessonStatus;
declare var lessonUndo: (widget: HTMLElement) => LessonUndo;
declare var lessonQueries: LessonQueries;
declare var lessonView: LessonView;
/** Tick what the frame of this widget shows; returns words for what is ticked for the first time. */
declare var lessonTasks: (name: string, frame: HTMLElement) => string[];
declare var lessonPython: (manifestURL: string) => LessonPython;
/** The panel for the reader's own model: its HTML, and once that is in the page, a way to open it. */
declare var lessonYoursPanel: string;
declare var lessonYours: { toggle(): void } | undefined;
/** Fetches a widget's prerendered frames when it is near, or as soon as the answer is called. */
declare var lessonFramesOf: (widget: HTMLElement, signal: AbortSignal) => () => Promise<void>;
declare var lessonFrames: Record<string, Record<string, string>>;
declare var Idiomorph: {
  morph(
    node: Element,
    html: string,
    options: { morphStyle: string; restoreFocus: boolean; callbacks: object },
  ): void;
};
/** What some browsers tell of the line. */
interface Navigator {
  readonly connection?: {
    readonly saveData: boolean;
    readonly effectiveType: string;
    readonly downlink: number;
    readonly type?: string;
  };
}

/** In the worker: what the build has put before it. */
declare const MANIFEST: import("./worker.mjs").Boot;
