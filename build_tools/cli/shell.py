"""The program itself: answers printed, errors told in one line, exit statuses."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from py_core.errors import LessonError

# Exit statuses. 70 and 74 are sysexits.h's; 130 and 141 what a shell says of SIGINT and SIGPIPE.
FALSE_CLAIM, BAD_INPUT, OUR_FAULT, CANNOT_WRITE, INTERRUPTED, BROKEN_PIPE = 1, 2, 70, 74, 130, 141

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command found. ``text`` turns the record into lines for people."""

    record: Record
    text: Callable[[Record], list[str]]
    as_json: bool
    status: int = 0

    def written(self) -> str:
        if not self.as_json:
            return "\n".join(line.rstrip() for line in self.text(self.record)) + "\n"
        encoding = getattr(sys.stdout, "encoding", None) or ""
        utf8 = encoding.lower().replace("-", "") == "utf8"
        return json.dumps(self.record, ensure_ascii=not utf8, indent=2) + "\n"


class OneLine(TyperGroup):
    """The commands, with errors of every kind told in one line. Prints the answer."""

    def main(self, *args: Any, **options: Any) -> Any:
        options |= {"prog_name": "lesson", "standalone_mode": False}
        sys.exit(self._status(*args, **options))

    def _status(self, *args: Any, **options: Any) -> int:
        try:
            answer = super().main(*args, **options)
            if not isinstance(answer, Answer):  # --help, or Ctrl-C: a status
                return int(answer or 0)
            written = answer.written()
        except LessonError as error:
            return _complain(str(error), BAD_INPUT)
        except typer.TyperException as error:
            context = getattr(error, "ctx", None)
            command = context.command_path if context else "lesson"
            return _complain(f"{error.format_message()} (see {command} --help)", BAD_INPUT)
        except (KeyboardInterrupt, typer.Abort):
            return INTERRUPTED
        except Exception as error:
            if os.environ.get("LESSON_TRACEBACK"):
                raise
            what = f"a fault of ours, {type(error).__name__}: {error}"
            return _complain(f"{what} (LESSON_TRACEBACK=1 shows where)", OUR_FAULT)
        return _print(written) or answer.status


def _print(text: str) -> int:
    """To stdout; what its encoding lacks becomes a question mark rather than an error."""
    if sys.stdout is None:  # closed by whoever started us
        return _complain("cannot write the answer: standard output is closed", CANNOT_WRITE)
    encoding = sys.stdout.encoding or "utf-8"
    try:
        sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
        sys.stdout.flush()
    except OSError as error:
        # Python would try again at exit, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if isinstance(error, BrokenPipeError):  # whoever read us has seen enough
            return BROKEN_PIPE
        return _complain(f"cannot write the answer: {error.strerror}", CANNOT_WRITE)
    return 0


def _complain(message: str, status: int) -> int:
    """One line on stderr: control characters of a bad value must not reach the terminal."""
    line = " ".join(message.split())
    safe = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)
    print(f"lesson: {safe}", file=sys.stderr)
    return status


app = typer.Typer(
    name="lesson",
    cls=OneLine,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Figures, claims and schedules of the lesson, computed by the core.",
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
