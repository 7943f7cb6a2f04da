"""A simulated step as a trace that Perfetto and chrome://tracing open, beside a real profile.

The Trace Event Format: complete events (``ph: "X"``) with ``ts`` and ``dur`` in µs on two
named threads of one process, ``backward`` and ``communication``, as the compute and the
NCCL stream of a profile. Time 0 is the start of the first backward.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

from py_core.buckets import Piece
from py_core.lanes import Bucket, Interval, Pass
from py_core.timeline import Timeline

Event = dict[str, Any]

PROCESS: Final = 1
BACKWARD, COMMUNICATION = 1, 2  # thread ids


def trace(timeline: Timeline) -> dict[str, Any]:
    """The step as a Trace Event object, ready to be written as JSON.

    A bucket's ``args`` are its bytes, its tensors (like experts in a row as one line), when
    it was ready and launched, and how much of it was exposed; times in µs.
    """
    setting = timeline.setting
    return {
        "traceEvents": [*_names(timeline), *_computing(timeline), *_sending(timeline)],
        "displayTimeUnit": "ms",
        "otherData": {
            "model": setting.inventory.name,
            "cards": setting.cards,
            "tokens": setting.tokens,
            "computed": "simulated, not measured",
        },
    }


def trace_json(timeline: Timeline) -> str:
    """:func:`trace` as text."""
    return json.dumps(trace(timeline), ensure_ascii=False, separators=(",", ":"))


def _names(timeline: Timeline) -> Iterator[Event]:
    named: dict[str, list[tuple[int, dict[str, Any]]]] = {
        "process_name": [(0, {"name": f"{timeline.setting.inventory.name}, simulated"})],
        "thread_name": [
            (BACKWARD, {"name": "backward"}),
            (COMMUNICATION, {"name": "communication"}),
        ],
        "thread_sort_index": [
            (BACKWARD, {"sort_index": BACKWARD}),
            (COMMUNICATION, {"sort_index": COMMUNICATION}),
        ],
    }
    for name, threads in named.items():
        for thread, args in threads:
            yield {"name": name, "ph": "M", "pid": PROCESS, "tid": thread, "args": args}


def _complete(
    name: str, thread: int, start: Fraction, end: Fraction, args: dict[str, Any]
) -> Event:
    # Whole nanoseconds, so that neighbours touch and never overlap.
    begun, over = round(start * 10**9), round(end * 10**9)
    return {
        "name": name,
        "ph": "X",
        "pid": PROCESS,
        "tid": thread,
        "ts": begun / 1000,
        "dur": (over - begun) / 1000,
        "args": args,
    }


def _computing(timeline: Timeline) -> Iterator[Event]:
    seconds = timeline.seconds
    for p in timeline.passes:
        told = {"micro_batch": p.number}
        if p.number and p.start > p.forward:  # the first forward lies before time 0
            yield _complete("forward", BACKWARD, seconds(p.forward), seconds(p.start), told)
        for interval in timeline.intervals:
            if interval.end > interval.start:
                yield _layer(timeline, p, interval)


def _layer(timeline: Timeline, p: Pass, interval: Interval) -> Event:
    name = interval.part if interval.layer is None else f"layer {interval.layer}"
    start, end = (timeline.seconds(p.start + t) for t in (interval.start, interval.end))
    return _complete(name, BACKWARD, start, end, {"micro_batch": p.number})


def _sending(timeline: Timeline) -> Iterator[Event]:
    for bucket in timeline.buckets:
        yield _all_reduce(bucket)
    if timeline.used_map:
        start, end = timeline.used_map
        for p in timeline.passes:
            if p.sends:
                at = timeline.seconds(p.start + start), timeline.seconds(p.start + end)
                yield _complete("map of used parameters", COMMUNICATION, *at, {})


def _all_reduce(bucket: Bucket) -> Event:
    args = {
        "bucket": bucket.index,
        "micro_batch": bucket.micro_batch,
        "bytes": bucket.bytes,
        "tensors": [_written(piece) for piece in bucket.pieces],
        "ready": _microseconds(bucket.ready),
        "launch": _microseconds(bucket.launch),
        "exposed": _microseconds(bucket.exposed),
    }
    name = f"all_reduce bucket {bucket.index}"
    return _complete(name, COMMUNICATION, bucket.start, bucket.end, args)


def _written(piece: Piece) -> str:
    if piece.count == 1:
        return piece.first
    return f"{piece.first} … {piece.last} ({piece.count:,} tensors)"


def _microseconds(seconds: Fraction) -> float:
    return round(seconds * 10**9) / 1000
