"""``lesson``: the core at a terminal, for authors and for scripts.

    lesson params CONFIG.json       what a model's parameters add up to
    lesson value NAME --set k=v     one figure with its formula and inputs
    lesson values                   all figures by name
    lesson steps SCHEME             a collective, step by step, with its ledger
    lesson claims                   which statements hold
    lesson check [FILE…]            what authors must mend in the pages

A command returns an :class:`Answer`, a record and a way to read it; only
:class:`OneLine` prints. So nothing is printed before all is known, ``--json`` and plain
text cannot disagree, and bad input is one line on stderr with exit status 2.

Imports stand inside functions where a command can do without them: a script calls
``lesson`` many times and waits for each.
"""

from __future__ import annotations

import json
import os
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from py_core.errors import Accepted, LessonError, ScenarioError, ScheduleError, whole

if TYPE_CHECKING:
    from build_tools.lint import Finding
    from py_core.model import Model
    from py_core.scenario import Scenario

# Exit statuses. 70 and 74 are sysexits.h's; 130 and 141 what a shell says of SIGINT and SIGPIPE.
FALSE_CLAIM, BAD_INPUT, OUR_FAULT, CANNOT_WRITE, INTERRUPTED, BROKEN_PIPE = 1, 2, 70, 74, 130, 141
ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"

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
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="FIELD=VALUE",
        help="Change a Scenario field, such as cards=64 or model=qwen3-8b; repeatable.",
    ),
]
OwnConfig = Annotated[
    str | None,
    typer.Option("--config", metavar="FILE", help="Take the model from this config.json."),
]


# ── plain text ──────────────────────────────────────────────────────────────────────────


def _width(text: str) -> int:
    """Columns of a terminal: Chinese characters take two."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _table(rows: Iterable[Sequence[str]], right: Sequence[int] = (), indent: str = "") -> list[str]:
    """Rows in aligned columns; those numbered in ``right`` are flush right, as numbers are."""
    rows = list(rows)
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]

    def cell(index: int, text: str) -> str:
        space = " " * (widths[index] - _width(text))
        return space + text if index in right else text + space

    return [indent + "  ".join(cell(i, text) for i, text in enumerate(row)) for row in rows]


def _under(scenario: Mapping[str, str]) -> list[str]:
    """Which Scenario was used, unless it is the lesson's own."""
    changed = ", ".join(f"{name} = {value}" for name, value in scenario.items())
    return [f"with {changed}", ""] if changed else []


# ── input ───────────────────────────────────────────────────────────────────────────────


def _called(place: str) -> str:
    return "standard input" if place == "-" else place


def _bytes_of(place: str) -> bytes:
    """A file's bytes, or those of standard input for ``-``; never more than a config may have."""
    from py_core.configs import MAX_BYTES

    try:
        if place == "-":
            data = sys.stdin.buffer.read(MAX_BYTES + 1)
        else:
            with open(place, "rb") as file:
                data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise LessonError(_called(place), reason, "a file that can be read") from None
    if len(data) > MAX_BYTES:
        raise LessonError(_called(place), "a longer file", f"at most {MAX_BYTES:,} bytes")
    return data


def _model(place: str) -> Model:
    """The model of a published slug, of a config file, or of standard input (``-``).

    A file holds a ``config.json`` as published, or one inside ``{"name", "config"}`` as in
    ``docs/data/models``. Errors name the file, and within it the field.
    """
    from py_core import data
    from py_core.configs import ROOT
    from py_core.errors import ConfigError, UnknownName
    from py_core.model import ANCHOR, load_model, own_model

    slugs = (ANCHOR, *data.model_slugs())
    if place in slugs:
        return load_model(place)
    if place != "-" and not os.path.exists(place) and not re.search(r"[/\\]|\.json$", place):
        raise UnknownName("model (and no file of that name)", place, slugs)
    content = _bytes_of(place)
    try:
        return own_model(content, "" if place == "-" else place)
    except ConfigError as error:
        inside = f": {error.field}" if error.field != ROOT else ""
        raise ConfigError(_called(place) + inside, error.value, error.accepted) from None


def _scenario(changes: Sequence[str] | None, config: str | None) -> Scenario:
    """The lesson's Scenario with ``--set`` and ``--config`` applied."""
    from py_core.scenario import DEFAULT

    new: dict[str, object] = {}
    for text in changes or ():
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise ScenarioError("--set", text, Accepted("field=value, such as cards=64", "字段=值"))
        if name in new:
            raise ScenarioError(name, value, Accepted("given once", "只写一次"))
        new[name] = value
    if config is not None:
        if "model" in new:
            once = Accepted("given once, here or by --config", "只写一次")
            raise ScenarioError("model", new["model"], once)
        new["model"] = _model(config)
    return DEFAULT.with_fields(new)


def _whole(field: str, text: str, low: int, high: int) -> int:
    """A whole number in ASCII digits, from ``low`` to ``high``."""
    if not re.fullmatch(r"[0-9]{1,9}", text) or not low <= int(text) <= high:
        raise ScheduleError(field, text, whole(low, high))
    return int(text)


# ── lesson params ───────────────────────────────────────────────────────────────────────


@app.command()
def params(
    config: Annotated[
        str,
        typer.Argument(
            metavar="CONFIG.json",
            help="A config file, '-' for standard input, or a model's name, such as qwen3-8b.",
            show_default=False,
        ),
    ],
    as_json: AsJson = False,
) -> Answer:
    """Count a model's parameters: each trained tensor once."""
    inventory = _model(config).inventory
    largest = inventory.largest
    record = {
        "name": inventory.name,
        "model_type": inventory.model_type,
        "total": inventory.total,
        "text": inventory.text,
        "parts": dict(inventory.parts),
        "tied": inventory.tied,
        "bytes": inventory.bytes,
        "tensors": sum(tensor.count for tensor in inventory.tensors),
        "largest": {
            "name": largest.name.replace("{}", "0"),
            "shape": list(largest.shape),
            "parameters": largest.numel,
        },
    }
    return Answer(record, _params_text, as_json)


def _params_text(r: Record) -> list[str]:
    largest = r["largest"]
    shape = " × ".join(f"{n:,}" for n in largest["shape"])
    counts = [(part, f"{count:,}") for part, count in r["parts"].items() if count]
    counts += [("total", f"{r['total']:,}"), ("  text alone", f"{r['text']:,}")]
    return [
        f"{r['name']} ({r['model_type']})",
        "",
        *_table([*counts, ("bytes", f"{r['bytes']:,}")], right=(1,)),
        "",
        *_table(
            [
                ("tensors", f"{r['tensors']:,}"),
                ("largest", f"{largest['name']}: {shape} = {largest['parameters']:,}"),
                ("tied", "yes, lm_head is the embedding" if r["tied"] else "no"),
            ]
        ),
    ]


# ── lesson value, lesson values ─────────────────────────────────────────────────────────


@app.command()
def value(
    name: Annotated[
        str | None, typer.Argument(help="Such as ring.sent_per_card.", show_default=False)
    ] = None,
    changes: Changes = None,
    config: OwnConfig = None,
    every: Annotated[bool, typer.Option("--list", help="List all, as `lesson values`.")] = False,
    as_json: AsJson = False,
) -> Answer:
    """Compute one figure and show where it comes from."""
    if every:
        return values(changes, config, as_json)
    if name is None:
        raise LessonError("NAME", "", "the name of a quantity (lesson values lists them)")
    from py_core.quantity import evaluate

    scenario = _scenario(changes, config)
    record = evaluate(name, scenario).record() | {"scenario": scenario.changes()}
    return Answer(record, _value_text, as_json)


def _value_text(r: Record) -> list[str]:
    rows = [("exact", r["exact"]), ("formula", r["formula"]), ("", f"= {r['substituted']}")]
    fixed = [f"{name} = {value}" for name, value in r.get("where", {}).items()]
    tree = list(_branches(r["inputs"], "  ", set()))
    return [
        *_under(r["scenario"]),
        f"{r['name']} = {r['display']}",
        f"  {r['says']}{'，' if fixed else ''}{'，'.join(fixed)}",
        "",
        *_table(rows, indent="  "),
        *(["", *_table(tree)] if tree else []),
    ]


def _branches(inputs: list[Record], indent: str, seen: set[str]) -> Iterable[tuple[str, ...]]:
    """Symbol, value, source and meaning of each input; a quantity is unfolded once."""
    for i in inputs:
        yield f"{indent}{i['symbol']}", i["display"], _origin(i), i["says"]
        if i["kind"] != "quantity":
            continue
        which = f"{i['name']} {i.get('where', '')}"
        only_counted = [inner["kind"] for inner in i["inputs"]] == ["inventory"]
        if which not in seen and not only_counted:
            seen.add(which)
            yield from _branches(i["inputs"], indent + "  ", seen)


def _origin(i: Record) -> str:
    """Where an input comes from, in a word or two."""
    match i["kind"]:
        case "quantity":
            return str(i["name"])
        case "scenario":
            return f"--set {i['field']}"
        case "config":
            return f"config {i['pointer']}"
        case "fact":
            return f"fact {i['id']}"
        case kind:
            return str(kind)


@app.command(name="values")
def values(changes: Changes = None, config: OwnConfig = None, as_json: AsJson = False) -> Answer:
    """List all figures by name, with their value and meaning."""
    from py_core.quantity import evaluate, names

    scenario = _scenario(changes, config)

    def entry(name: str) -> Record:
        try:
            q = evaluate(name, scenario)
        except LessonError as error:  # a dense model has no experts; the others still count
            return {"name": name, "error": str(error)}
        return {"name": name, "unit": q.unit.name, "display": q.display(), "says": q.says}

    record = {"scenario": scenario.changes(), "quantities": [entry(name) for name in names()]}
    return Answer(record, _values_text, as_json)


def _values_text(r: Record) -> list[str]:
    rows = [
        (q["name"], q.get("display", "—"), q.get("says") or q["error"]) for q in r["quantities"]
    ]
    return [*_under(r["scenario"]), *_table(rows, right=(1,))]


# ── lesson steps ────────────────────────────────────────────────────────────────────────


@app.command()
def steps(
    scheme: Annotated[
        str,
        typer.Argument(
            help="naive, ring, reduce-scatter, all-gather, tree, halving-doubling, direct "
            "or hierarchical.",
            show_default=False,
        ),
    ],
    cards: Annotated[str, typer.Option(help="From 2 to 16.")] = "4",
    elements: Annotated[
        str | None, typer.Option(help="Numbers on each card; as many as cards if left out.")
    ] = None,
    seed: Annotated[str, typer.Option(help="Of the test data.")] = "7",
    cards_per_node: Annotated[
        str | None,
        typer.Option("--cards-per-node", "--cards_per_node", help="For hierarchical only."),
    ] = None,
    as_json: AsJson = False,
) -> Answer:
    """Run a collective on test data: its steps and its ledger."""
    from py_core.executor import MAX_ELEMENTS, MAX_SEED, run
    from py_core.schedules import MAX_CARDS, MIN_CARDS, schedule

    n = _whole("cards", cards, MIN_CARDS, MAX_CARDS)
    size = n if elements is None else _whole("elements", elements, n, MAX_ELEMENTS)
    drawn = _whole("seed", seed, 0, MAX_SEED)
    group = None
    if cards_per_node is not None:
        group = _whole("cards_per_node", cards_per_node, 1, n)
    plan = schedule(scheme, n, group)
    begun = run(plan, size, drawn)
    listed = [
        {
            "number": number,
            "phase": step.phase,
            "transfers": [
                {
                    "source": t.source,
                    "target": t.target,
                    "blocks": list(t.blocks),
                    "elements": sum(map(begun.block_size, t.blocks)),
                    "op": t.op,
                }
                for t in step.transfers
            ],
        }
        for number, step in enumerate(plan.steps, 1)
    ]
    done = begun.finish()
    record: Record = {"scheme": scheme, "cards": n}
    if plan.cards_per_node is not None:
        record["cards_per_node"] = plan.cards_per_node
    record |= {
        "elements": size,
        "seed": drawn,
        "steps": listed,
        "ledger": [
            {"rank": rank, "sent": sent, "received": received}
            for rank, (sent, received) in enumerate(
                zip(done.ledger.sent, done.ledger.received, strict=True)
            )
        ],
        "total_sent": done.ledger.total_sent,
        "busiest": done.ledger.busiest,
        "max_difference": done.max_difference,
    }
    return Answer(record, _steps_text, as_json)


def _steps_text(r: Record) -> list[str]:
    nodes = f", {r['cards_per_node']} cards per node" if "cards_per_node" in r else ""
    moves = [
        (f"step {s['number']}" if first else "", s["phase"] if first else "", *_move(t))
        for s in r["steps"]
        for first, t in zip([True] + [False] * len(s["transfers"]), s["transfers"], strict=False)
    ]
    ledger = [(f"{c['rank']}", f"{c['sent']:,}", f"{c['received']:,}") for c in r["ledger"]]
    return [
        f"{r['scheme']}: {r['cards']} cards{nodes}, {r['elements']:,} elements each, "
        f"seed {r['seed']}, {len(r['steps'])} steps",
        "",
        *_table(moves, right=(4,)),
        "",
        *_table([("card", "sent", "received"), *ledger], right=(0, 1, 2)),
        "",
        f"sent in all {r['total_sent']:,}, by the busiest card {r['busiest']:,}; "
        f"largest difference from the direct sum {r['max_difference']}",
    ]


def _move(t: Record) -> tuple[str, str, str, str]:
    blocks: list[int] = t["blocks"]
    run_of = len(blocks) > 1 and blocks == list(range(blocks[0], blocks[-1] + 1))
    listed = f"{blocks[0]}–{blocks[-1]}" if run_of else ", ".join(map(str, blocks))
    word = "blocks" if len(blocks) > 1 else "block"
    return f"{t['source']} → {t['target']}", f"{word} {listed}", f"{t['elements']:,}", t["op"]


# ── lesson claims ───────────────────────────────────────────────────────────────────────


@app.command(name="claims")
def claims(
    changes: Changes = None,
    config: OwnConfig = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 if one is false.")] = False,
    as_json: AsJson = False,
) -> Answer:
    """Judge every statement of the lesson for a Scenario."""
    from py_core.claims import Claim, judge
    from py_core.claims import claims as every

    scenario = _scenario(changes, config)

    def entry(claim: Claim) -> Record:
        try:
            return judge(claim.name, scenario).record()
        except LessonError as error:  # what it speaks of is not there: no experts, no MTP
            return {"name": claim.name, "says": claim.says, "holds": None, "error": str(error)}

    judged = [entry(claim) for claim in every()]
    verdicts = [claim["holds"] for claim in judged]
    record = {
        "scenario": scenario.changes(),
        "claims": judged,
        "true": verdicts.count(True),
        "false": verdicts.count(False),
        "undecided": verdicts.count(None),
    }
    failed = strict and record["false"]
    return Answer(record, _claims_text, as_json, FALSE_CLAIM if failed else 0)


_VERDICTS = {True: "true", False: "FALSE", None: "—"}


def _claims_text(r: Record) -> list[str]:
    return [
        *_under(r["scenario"]),
        *(line for claim in r["claims"] for line in _claim_text(claim)),
        f"{r['true']} true, {r['false']} false, {r['undecided']} undecided",
    ]


def _claim_text(claim: Record) -> list[str]:
    lines = [f"{_VERDICTS[claim['holds']]:<7}{claim['name']}: {claim['says']}"]
    for c in claim.get("comparisons", ()):
        failed = "" if c["holds"] else "  ← does not hold"
        lines += [c["formula"], f"  {c['substituted']}{failed}"]
    lines += filter(None, (claim.get("instead"), claim.get("error")))
    return [lines[0], *(f"       {line}" for line in lines[1:]), ""]


# ── lesson check ────────────────────────────────────────────────────────────────────────

FINDINGS = 1


@app.command()
def check(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE]...",
            help="Markdown files or folders of them; all of docs/ if left out.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> Answer:
    """Find figures typed by hand and half-open claims in the pages."""
    pages = [page for place in files or [str(DOCS)] for page in _pages(Path(place))]
    findings = [
        {"path": _shown_path(page), **asdict(finding)}
        for page in dict.fromkeys(pages)
        for finding in _findings(page)
    ]
    record = {"files": len(dict.fromkeys(pages)), "findings": findings}
    return Answer(record, _check_text, as_json, FINDINGS if findings else 0)


def _pages(place: Path) -> list[Path]:
    if place.is_dir():
        return sorted(place.rglob("*.md"))
    return [place]


def _shown_path(page: Path) -> str:
    """As seen from here, or from the repository."""
    whole_path = page.resolve()
    for base in (Path.cwd(), ROOT):
        if whole_path.is_relative_to(base):
            return whole_path.relative_to(base).as_posix()
    return page.as_posix()


def _findings(page: Path) -> list[Finding]:
    """What must be mended in one file, in its order."""
    from build_tools import lint
    from build_tools.source import Source

    try:
        # Line ends as they are: columns are counted in the file's own text.
        text = page.read_bytes().decode("utf-8")
    except OSError as error:
        raise LessonError(str(page), error.strerror, "a file that can be read") from None
    except UnicodeDecodeError as error:
        raise LessonError(str(page), str(error), "a file in UTF-8") from None
    # What only the Markdown extension knows (unknown names, false claims) joins here.
    return lint.check(Source(text))


def _check_text(r: Record) -> list[str]:
    listed = [
        f"{f['path']}:{f['line']}:{f['column']}: {' '.join(f['text'].split())}: {f['says']}"
        for f in r["findings"]
    ]
    pages = f"{r['files']} file{'' if r['files'] == 1 else 's'}"
    wrong = {f["path"] for f in r["findings"]}
    if not listed:
        return [f"{pages} checked, nothing to mend"]
    return [*listed, f"{pages} checked, {len(listed)} to mend in {len(wrong)}"]
