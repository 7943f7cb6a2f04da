"""Commands that ask the core: parameters, figures, schedules, claims."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated

import typer

from build_tools.cli.given import (
    Changes,
    OwnConfig,
    model_of,
    scenario_of,
    whole_number,
)
from build_tools.cli.shell import FALSE_CLAIM, Answer, AsJson, Record, app
from build_tools.cli.text import table
from py_core.errors import LessonError, UnknownName


def under(scenario: Mapping[str, str]) -> list[str]:
    """Which Scenario was used, unless it is the lesson's own."""
    changed = ", ".join(f"{name} = {value}" for name, value in scenario.items())
    return [f"with {changed}", ""] if changed else []


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
    inventory = model_of(config).inventory
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
        *table([*counts, ("bytes", f"{r['bytes']:,}")], right=(1,)),
        "",
        *table(
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
        return values(None, changes, config, as_json)
    if name is None:
        raise LessonError("NAME", "", "the name of a quantity (lesson values lists them)")
    from py_core.quantity import evaluate

    scenario = scenario_of(changes, config)
    record = evaluate(name, scenario).record() | {"scenario": scenario.changes()}
    return Answer(record, _value_text, as_json)


def _value_text(r: Record) -> list[str]:
    rows = [("exact", _exact(r["exact"])), ("formula", r["formula"]), ("", f"= {r['substituted']}")]
    fixed = [f"{name} = {value}" for name, value in r.get("where", {}).items()]
    tree = list(_branches(r["inputs"], "  ", set()))
    return [
        *under(r["scenario"]),
        f"{r['name']} = {r['display']}",
        f"  {r['says']}{'，' if fixed else ''}{'，'.join(fixed)}",
        "",
        *table(rows, indent="  "),
        *(["", *table(tree)] if tree else []),
    ]


def _exact(written: str) -> str:
    """``27781427952 parameter`` as people read it: digits grouped, and no unit for a count."""
    value, _, dimension = written.partition(" ")
    grouped = "/".join(f"{int(part):,}" for part in value.split("/"))
    return grouped if dimension == "1" else f"{grouped} {dimension}"


def _branches(inputs: list[Record], indent: str, seen: set[str]) -> Iterable[tuple[str, ...]]:
    """Symbol, value, source and meaning of each input; a quantity is unfolded once.

    One that is read off somewhere, and not computed, takes its source into its own row.
    """
    for i in inputs:
        inner = i["inputs"] if i["kind"] == "quantity" else []
        if [(j["symbol"], j["display"]) for j in inner] == [_plain_symbol(i)]:
            says = max(i["says"], inner[0]["says"], key=len)
            yield f"{indent}{i['symbol']}", i["display"], f"{i['name']}: {_origin(inner[0])}", says
            continue
        yield f"{indent}{i['symbol']}", i["display"], _origin(i), i["says"]
        which = f"{i.get('name')} {i.get('where', '')}"
        if inner and which not in seen:
            seen.add(which)
            yield from _branches(inner, indent + "  ", seen)


def _plain_symbol(i: Record) -> tuple[str, str]:
    """Symbol and value without the fields that were fixed: ``P``, not ``P（N = 8）``."""
    return i["symbol"].partition("（")[0], i["display"]


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
def values(
    prefix: Annotated[
        str | None,
        typer.Argument(help="Only names that begin so, such as ring.", show_default=False),
    ] = None,
    changes: Changes = None,
    config: OwnConfig = None,
    as_json: AsJson = False,
) -> Answer:
    """List figures by name, with their value and meaning."""
    from py_core import quantity

    scenario = scenario_of(changes, config)
    known = quantity.names()
    wanted = [name for name in known if name.startswith(prefix or "")]
    if not wanted:
        raise UnknownName("prefix", str(prefix), {_group(n) for n in known} - {""})

    def entry(name: str) -> Record:
        try:
            q = quantity.evaluate(name, scenario)
        except LessonError as error:  # a dense model has no experts; the others still count
            says = quantity.meaning(name)
            return {"name": name, "says": says, "error": str(error)}
        return {"name": name, "unit": q.unit.name, "display": q.display(), "says": q.says}

    record = {"scenario": scenario.changes(), "quantities": [entry(name) for name in wanted]}
    return Answer(record, _values_text, as_json)


def _group(name: str) -> str:
    """``ring`` of ``ring.steps``; "" for a Scenario field."""
    group, dot, _ = name.partition(".")
    return group if dot else ""


def _values_text(r: Record) -> list[str]:
    """Group by group, Scenario fields first; below, why some have no value."""
    listed = sorted(r["quantities"], key=lambda q: _group(q["name"]))
    rows = table([(q["name"], q.get("display", "—"), q["says"]) for q in listed], right=(1,))
    lines = []
    for before, q, row in zip([None, *listed], listed, rows, strict=False):
        if before and _group(before["name"]) != _group(q["name"]):
            lines.append("")
        lines.append(row)
    reasons = dict.fromkeys(q["error"] for q in listed if "error" in q)
    missing = ["", *(f"—  {reason}" for reason in reasons)] if reasons else []
    return [*under(r["scenario"]), *lines, *missing]


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

    n = whole_number("cards", cards, MIN_CARDS, MAX_CARDS)
    size = n if elements is None else whole_number("elements", elements, n, MAX_ELEMENTS)
    drawn = whole_number("seed", seed, 0, MAX_SEED)
    group = None
    if cards_per_node is not None:
        group = whole_number("cards_per_node", cards_per_node, 1, n)
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
        (f"{s['number']}" if first else "", s["phase"] if first else "", *_move(t))
        for s in r["steps"]
        for first, t in zip([True] + [False] * len(s["transfers"]), s["transfers"], strict=False)
    ]
    ledger = [(f"{c['rank']}", f"{c['sent']:,}", f"{c['received']:,}") for c in r["ledger"]]
    return [
        f"{r['scheme']}: {r['cards']} cards{nodes}, {r['elements']:,} elements each, "
        f"seed {r['seed']}, {len(r['steps'])} steps",
        "",
        *table([_MOVES, *moves], right=(0, 4)),
        "",
        *table([("card", "sent", "received"), *ledger], right=(0, 1, 2)),
        "",
        f"sent in all {r['total_sent']:,}, by the busiest card {r['busiest']:,}; "
        f"largest difference from the direct sum {r['max_difference']}",
    ]


_MOVES = ("step", "phase", "from → to", "block", "elements", "op")


def _move(t: Record) -> tuple[str, str, str, str]:
    blocks: list[int] = t["blocks"]
    run_of = len(blocks) > 1 and blocks == list(range(blocks[0], blocks[-1] + 1))
    listed = f"{blocks[0]}–{blocks[-1]}" if run_of else ", ".join(map(str, blocks))
    return f"{t['source']} → {t['target']}", listed, f"{t['elements']:,}", t["op"]


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

    scenario = scenario_of(changes, config)

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
        *under(r["scenario"]),
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
