"""``lesson timeline``: one step of data parallelism, the backward and its buckets."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from build_tools.cli.given import model_of
from build_tools.cli.shell import Answer, AsJson, Record, app
from build_tools.cli.text import table
from py_core.errors import Accepted, LessonError, ScenarioError, number, one_of, whole

if TYPE_CHECKING:
    from py_core.lanes import Bucket
    from py_core.setting import Setting
    from py_core.timeline import Timeline

_NUMBER = re.compile(r"[0-9]{1,18}(\.[0-9]{1,12})?([eE][+-]?[0-9]{1,2})?")
_WITHOUT_LIMIT = ("inf", "infinity")
SHOWN = 8  # buckets at each end that plain text shows


def _option(help_: str, *names: str, metavar: str | None = None) -> Any:
    return typer.Option(*names, help=help_, metavar=metavar)


@app.command()
def timeline(
    model: Annotated[
        str, _option("A model's name, a config file, or '-'.", metavar="NAME|FILE")
    ] = "qwen3.8-27b",
    tokens: Annotated[str, _option("Per card and micro-batch, from 0.")] = "4096",
    cards: Annotated[str, _option("From 1.")] = "8",
    bandwidth: Annotated[
        str, _option("Of a card, one way, across nodes, in bytes/s; inf has no limit.")
    ] = "50e9",
    flops: Annotated[str, _option("Effective FLOP/s of a card.")] = "400e12",
    grad_dtype: Annotated[
        str, _option("bf16, fp16 or fp32.", "--grad-dtype", "--grad_dtype")
    ] = "bf16",
    bucket_cap: Annotated[
        str,
        _option(
            "In bytes; DDP's own, 25 MiB, makes the first bucket 1 MiB.",
            "--bucket-cap",
            "--bucket_cap",
        ),
    ] = "26214400",
    mode: Annotated[
        str,
        _option(
            "buckets, sync, first-iteration, rebuilt, find-unused, absent, error, tied, "
            "flipped or no-sync-trap; the options below set the same one by one."
        ),
    ] = "buckets",
    alpha: Annotated[str, _option("Seconds that each message costs, across nodes.")] = "0",
    unused: Annotated[
        str | None,
        _option("How DDP takes vision and MTP: static, find-unused, error or absent."),
    ] = None,
    order: Annotated[
        str | None,
        _option("In which gradients arrive: reverse registration, or arrival as in autograd."),
    ] = None,
    tied: Annotated[
        bool | None,
        typer.Option("--tied/--untied", help="Embedding and head in one tensor, or not."),
    ] = None,
    flipped: Annotated[
        bool | None,
        typer.Option("--flipped", help="Layers run the other way since the buckets were made."),
    ] = None,
    accumulation: Annotated[str | None, _option("Micro-batches a step, from 1 to 64.")] = None,
    no_sync: Annotated[
        str | None,
        _option("on, off, or trap (the last forward inside it too).", "--no-sync", "--no_sync"),
    ] = None,
    cards_per_node: Annotated[
        str, _option("From 1.", "--cards-per-node", "--cards_per_node")
    ] = "1",
    node_bandwidth: Annotated[
        str, _option("As --bandwidth, inside a node.", "--node-bandwidth", "--node_bandwidth")
    ] = "160e9",
    node_alpha: Annotated[
        str, _option("As --alpha, inside a node.", "--node-alpha", "--node_alpha")
    ] = "0",
    hierarchical: Annotated[
        bool, typer.Option("--hierarchical", help="Reduce inside nodes first; else one ring.")
    ] = False,
    trace: Annotated[
        str | None,
        _option("Write the step as a trace for Perfetto or chrome://tracing.", metavar="FILE"),
    ] = None,
    as_json: AsJson = False,
) -> Answer:
    """Simulate one step: when which bucket leaves, and what of it the backward hides.

    Times are seconds from the start of the first backward. JSON has model, mode, setting,
    backward_s, forward_s, comm_s, hidden_s, exposed_s, hidden_share, comm_over_backward and
    break_even_tokens (null without communication or backward), step_s, step_without_overlap_s,
    bucket_count (of one backward), sent_bytes, problem (null, or why
    nothing is sent) and buckets in order of launch: index, micro_batch, bytes, ready_s,
    launch_s, start_s, end_s, hidden_s, exposed_s, tensors (names).
    """
    from py_core.scenario import GRADIENT_BYTES
    from py_core.setting import MODES, Setting
    from py_core.timeline import simulate

    if grad_dtype not in GRADIENT_BYTES:
        raise ScenarioError("grad_dtype", grad_dtype, one_of(GRADIENT_BYTES))
    if mode not in MODES:
        raise ScenarioError("mode", mode, one_of(MODES))
    changes: dict[str, Any] = dict(MODES[mode])
    told = {"unused": unused, "order": order, "tied": tied, "flipped": flipped, "no_sync": no_sync}
    changes |= {name: value for name, value in told.items() if value is not None}
    if accumulation is not None:
        changes["accumulation"] = _whole("accumulation", accumulation, 1, 64)
    setting = Setting(
        model_of(model).inventory,
        cards=_whole("cards", cards, 1, 1_048_576),
        cards_per_node=_whole("cards_per_node", cards_per_node, 1, 1_048_576),
        bandwidth=_rate("bandwidth", bandwidth),
        node_bandwidth=_rate("node_bandwidth", node_bandwidth),
        latency=_real("alpha", alpha, 0, 1, "s"),
        node_latency=_real("node_alpha", node_alpha, 0, 1, "s"),
        hierarchical=hierarchical,
        flops=_real("flops", flops, 1, 10**21, "FLOP/s"),
        tokens=_whole("tokens", tokens, 0, 1_000_000_000),
        gradient_bytes=GRADIENT_BYTES[grad_dtype],
        bucket_cap=_whole("bucket_cap", bucket_cap, 1, 1 << 50),
        **changes,
    )
    found = simulate(setting)
    record = _record(found, mode, grad_dtype)
    if trace is not None:
        record["trace"] = _write(trace, found)
    return Answer(record, _timeline_text, as_json)


def _exact(field: str, text: str, accepted: Accepted) -> Fraction:
    if not _NUMBER.fullmatch(text):
        raise ScenarioError(field, text, accepted)
    return Fraction(text)


def _whole(field: str, text: str, low: int, high: int) -> int:
    """A whole number, which may be written 25e6."""
    value = _exact(field, text, whole(low, high))
    if value.denominator != 1 or not low <= value <= high:
        raise ScenarioError(field, text, whole(low, high))
    return int(value)


def _real(field: str, text: str, low: int, high: int, unit: str) -> Fraction:
    accepted = number(f"{low}", f"{high:g}", unit)
    value = _exact(field, text, accepted)
    if not low <= value <= high:
        raise ScenarioError(field, text, accepted)
    return value


def _rate(field: str, text: str) -> Fraction | None:
    """Bytes/s, or None for without limit."""
    if text.lower() in _WITHOUT_LIMIT:
        return None
    accepted = Accepted("a number from 1 to 1e+18 bytes/s, or inf", "1 到 1e+18 字节/秒，或 inf")
    value = _exact(field, text, accepted)
    if not 1 <= value <= 10**18:
        raise ScenarioError(field, text, accepted)
    return value


def _write(place: str, found: Timeline) -> str:
    from py_core.trace import trace_json

    try:
        Path(place).write_text(trace_json(found) + "\n", encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise LessonError(f"--trace {place}", reason, "a file that can be written") from None
    return place


def _number(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def _record(found: Timeline, mode: str, grad_dtype: str) -> Record:
    problem = found.problem
    return {
        "model": found.setting.inventory.name,
        "mode": mode,
        "setting": _setting(found.setting, grad_dtype),
        "backward_s": float(found.backward),
        "forward_s": float(found.forward),
        "comm_s": float(found.communication),
        "hidden_s": float(found.hidden),
        "exposed_s": float(found.exposed),
        "hidden_share": _number(found.hidden_share),
        "comm_over_backward": _number(found.ratio),
        "step_s": float(found.step),
        "step_without_overlap_s": float(found.step_without_overlap),
        "break_even_tokens": found.break_even_tokens,
        "bucket_count": found.bucket_count,
        "sent_bytes": found.sent_bytes,
        "problem": problem and {"name": problem.name, "says": problem.english},
        "buckets": [_bucket(bucket) for bucket in found.buckets],
    }


def _setting(setting: Setting, grad_dtype: str) -> Record:
    return {
        "tokens": setting.tokens,
        "cards": setting.cards,
        "cards_per_node": setting.cards_per_node,
        "bandwidth": _number(setting.bandwidth),
        "node_bandwidth": _number(setting.node_bandwidth),
        "alpha": float(setting.latency),
        "node_alpha": float(setting.node_latency),
        "hierarchical": setting.hierarchical,
        "flops": float(setting.flops),
        "grad_dtype": grad_dtype,
        "bucket_cap": setting.bucket_cap,
        "sending": setting.sending,
        "unused": setting.unused,
        "order": setting.order,
        "tied": setting.inventory.tied if setting.tied is None else setting.tied,
        "flipped": setting.flipped,
        "accumulation": setting.accumulation,
        "no_sync": setting.no_sync,
    }


def _bucket(bucket: Bucket) -> Record:
    return {
        "index": bucket.index,
        "micro_batch": bucket.micro_batch,
        "bytes": bucket.bytes,
        "ready_s": float(bucket.ready),
        "launch_s": float(bucket.launch),
        "start_s": float(bucket.start),
        "end_s": float(bucket.end),
        "hidden_s": float(bucket.hidden),
        "exposed_s": float(bucket.exposed),
        "tensors": [name for name, _ in bucket.tensors()],
    }


def _timeline_text(r: Record) -> list[str]:
    s = r["setting"]
    hidden, ratio, even = r["hidden_share"], r["comm_over_backward"], r["break_even_tokens"]
    readouts = [
        ("backward", _seconds(r["backward_s"])),
        ("communication", _seconds(r["comm_s"])),
        ("  ÷ backward", "—" if ratio is None else f"{ratio:.4f}"),
        ("  hidden", "—" if hidden is None else f"{100 * hidden:.1f}%"),
        ("  exposed", _seconds(r["exposed_s"])),
        ("step", _seconds(r["step_s"])),
        ("  without overlap", _seconds(r["step_without_overlap_s"])),
        ("break-even tokens", "—" if even is None else f"{even:,}"),
        ("buckets", f"{len(r['buckets']):,}"),
    ]
    written = [f"trace written to {r['trace']}"] if "trace" in r else []
    return [
        f"{r['model']}: {r['mode']}, {s['cards']:,} card{'s' * (s['cards'] > 1)}, "
        f"{s['tokens']:,} tokens a card, "
        f"{s['grad_dtype']} gradients",
        "",
        *table(readouts, right=(1,)),
        "",
        *([f"nothing is sent: {r['problem']['says']}"] if r["problem"] else _bucket_rows(r)),
        *written,
    ]


def _seconds(value: float) -> str:
    return f"{value:.4f} s"


_COLUMNS = ("bucket", "bytes", "ready", "launch", "start", "end", "exposed", "tensors")


def _bucket_rows(r: Record) -> list[str]:
    buckets = r["buckets"]
    rest = len(buckets) - 2 * SHOWN
    shown = buckets if rest <= 0 else [*buckets[:SHOWN], *buckets[-SHOWN:]]
    rows = [
        (
            f"{b['index']}",
            f"{b['bytes']:,}",
            *(f"{b[key]:.4f}" for key in ("ready_s", "launch_s", "start_s", "end_s", "exposed_s")),
            b["tensors"][0] + (f" and {more:,} more" if (more := len(b["tensors"]) - 1) else ""),
        )
        for b in shown
    ]
    lines = table([_COLUMNS, *rows], right=range(7))
    if rest > 0:
        lines.insert(1 + SHOWN, f"… {rest:,} more; --json lists all")
    return lines
