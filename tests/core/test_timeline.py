"""The timeline: golden values, and what holds for every setting and model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from py_core.backward import ORDERS, with_tying
from py_core.buckets import DEFAULT_CAP, MIB, UNUSED, Cut, plan
from py_core.errors import ScenarioError
from py_core.inventory import Inventory, Tensor
from py_core.lanes import Bucket
from py_core.model import ANCHOR, load_model
from py_core.quantity import evaluate
from py_core.scenario import parse_scenario
from py_core.setting import MODES, NO_SYNC, SENDING, Setting, all_reduce, setting_of
from py_core.timeline import Timeline, simulate
from py_core.trace import BACKWARD, COMMUNICATION, trace, trace_json

MODELS = (ANCHOR, "qwen3-0.6b", "gpt2", "mixtral-8x7b", "deepseek-v2-lite", "gemma-3-4b")
GB = 10**9


@cache
def model(slug: str = ANCHOR) -> Inventory:
    return load_model(slug).inventory


def setting(mode: str = "buckets", slug: str = ANCHOR, **changes: Any) -> Setting:
    return replace(Setting(model(slug)).in_mode(mode), **changes)


def timeline(mode: str = "buckets", slug: str = ANCHOR, **changes: Any) -> Timeline:
    return simulate(setting(mode, slug, **changes))


def rounded(*values: Fraction | None) -> tuple[float, ...]:
    return tuple(round(float(value or 0), 4) for value in values)


# ── golden values ───────────────────────────────────────────────────────────────────────

GOLDENS = [
    ("sync", 4096, (1.0496, 1.9447, 1.9447, 0.0)),
    ("buckets", 4096, (1.0496, 1.9447, 0.9472, 0.5129)),
    ("buckets", 16_384, (4.1983, 1.9447, 0.1532, 0.9212)),
    ("rebuilt", 4096, (1.0496, 1.9447, 0.9472, 0.5129)),
    ("rebuilt", 16_384, (4.1983, 1.9447, 0.1546, 0.9205)),
    ("absent", 4096, (1.0496, 1.8827, 0.8852, 0.5298)),
    ("first-iteration", 16_384, (4.1983, 1.9447, 1.9447, 0.0)),
    ("flipped", 16_384, (4.1983, 1.9447, 1.8348, 0.0565)),
]


@pytest.mark.parametrize(("mode", "tokens", "expected"), GOLDENS)
def test_goldens(mode: str, tokens: int, expected: tuple[float, ...]) -> None:
    found = timeline(mode, tokens=tokens)
    assert rounded(found.backward, found.communication, found.exposed, found.hidden_share) == (
        expected
    )


def test_the_first_bucket_is_the_head() -> None:
    first = timeline().buckets[0]
    assert rounded(first.launch) == (0.0521,)
    assert list(first.tensors()) == [("lm_head.weight", 2 * 1_271_398_400)]


@pytest.mark.parametrize(
    ("mode", "slug", "count"),
    [
        ("absent", ANCHOR, 370),
        ("buckets", ANCHOR, 406),
        ("rebuilt", ANCHOR, 406),
        ("first-iteration", ANCHOR, 1),
        ("buckets", "qwen3-8b", 182),
    ],
)
def test_number_of_buckets(mode: str, slug: str, count: int) -> None:
    assert len(timeline(mode, slug).buckets) == count


def test_the_last_stub_is_the_embedding_the_zeros_and_a_rest() -> None:
    here = parse_scenario("tokens=16384")
    names = (
        "timeline.exposed",
        "communication.embedding_seconds",
        "communication.unused_seconds",
        "timeline.rest",
    )
    assert rounded(*(evaluate(name, here).value for name in names)) == (
        (0.1532, 0.0890, 0.0620, 0.0022)
    )


def test_node_links_and_hierarchy() -> None:
    """Seconds that the ring and the hierarchy take for the whole gradient of the anchor."""
    grad = 2 * model().total
    for changes, seconds in (
        ({"cards_per_node": 8}, 0.6077),
        ({"cards": 64}, 2.1878),
        ({"cards": 64, "cards_per_node": 8, "hierarchical": True}, 0.8509),
        ({"gradient_bytes": 4}, 2 * 1.9447),
    ):
        fixed, byte = all_reduce(setting(**changes))
        size = grad * changes.get("gradient_bytes", 2) // 2
        assert fixed == 0
        assert float(byte * size) == pytest.approx(seconds, abs=1e-4)


def test_messages_cost_their_fixed_part_each() -> None:
    alpha = Fraction(14, 10**6)
    without, found = timeline(), timeline(latency=alpha)
    assert found.communication - without.communication == 406 * 14 * alpha


# ── what sliders can reach ──────────────────────────────────────────────────────────────


def test_no_tokens_leave_nothing_to_hide_behind() -> None:
    found = timeline(tokens=0)
    assert (found.backward, found.ratio, found.hidden_share) == (0, None, 0)
    assert found.exposed == found.communication == found.end
    assert all(bucket.launch == 0 for bucket in found.buckets)


@pytest.mark.parametrize("changes", [{"cards": 1}, {"bandwidth": None}])
def test_no_communication(changes: dict[str, Any]) -> None:
    found = timeline(**changes)
    assert (found.communication, found.exposed, found.hidden_share) == (0, 0, None)
    assert found.break_even_tokens is None
    assert found.end == found.backward
    assert len(found.buckets) == 406


@pytest.mark.parametrize("tokens", [1, 100, 4096])
def test_break_even_is_the_first_count_that_hides(tokens: int) -> None:
    even = timeline(tokens=tokens).break_even_tokens
    assert even == 7590
    below, above = timeline(tokens=even - 1), timeline(tokens=even)
    assert below.communication >= below.backward
    assert above.communication < above.backward


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("cards", 0),
        ("cards", True),
        ("tokens", -1),
        ("tokens", 1.5),
        ("bandwidth", Fraction(0)),
        ("bandwidth", 50e9),
        ("flops", None),
        ("latency", Fraction(-1)),
        ("bucket_cap", 0),
        ("gradient_bytes", 0),
        ("accumulation", 0),
        ("sending", "later"),
        ("unused", "sometimes"),
        ("order", "alphabetical"),
        ("no_sync", "maybe"),
    ],
)
def test_bad_values_are_named(field: str, value: object) -> None:
    with pytest.raises(ScenarioError) as caught:
        setting(**{field: value})
    assert caught.value.field == field
    assert caught.value.value == value


def test_nodes_must_be_even_for_a_hierarchy() -> None:
    with pytest.raises(ScenarioError, match="a divisor of cards = 12"):
        setting(cards=12, cards_per_node=8, hierarchical=True)
    assert setting(cards=12, cards_per_node=8).cards == 12


def test_a_mode_that_is_none() -> None:
    with pytest.raises(ScenarioError, match="first-iteration"):
        setting("eventually")


@pytest.mark.parametrize("query", ["", "tokens=16384", "cards=64&gradient=fp32", "model=gpt2"])
def test_readouts_are_the_pages_figures(query: str) -> None:
    scenario = parse_scenario(query)
    found = simulate(setting_of(scenario))
    for name, value in {
        "timeline.backward": found.backward,
        "timeline.communication": found.communication,
        "communication.seconds": found.communication,
        "communication.over_backward": found.ratio,
        "communication.break_even_tokens": found.break_even_tokens,
        "timeline.exposed": found.exposed,
        "timeline.hidden_share": found.hidden_share,
        "timeline.end": found.end,
        "timeline.buckets": len(found.buckets),
        "timeline.step": found.step,
        "step.seconds_sync_after_backward": found.step_without_overlap,
        "forward.seconds": found.forward,
        "timeline.sent_bytes": found.sent_bytes,
        "timeline.find-unused.communication": (
            simulate(setting_of(scenario, unused="find-unused")).communication
        ),
    }.items():
        assert evaluate(name, scenario).value == value, name


# ── modes ───────────────────────────────────────────────────────────────────────────────


def test_unused_parameters_without_a_word_to_ddp() -> None:
    found = timeline("error")
    assert found.problem is not None
    assert found.problem.name == "unused"
    assert "348" in found.problem.english
    assert "348" in found.problem.chinese
    assert (len(found.buckets), found.communication, found.sent_bytes) == (0, 0, 0)
    assert timeline("error", "qwen3-8b").problem is None  # it has none


def test_zeros_leave_last_though_ready_first() -> None:
    found = timeline()
    tail = found.buckets[-36:]
    assert all(b.ready == found.buckets[0].ready for b in tail[1:])
    assert all(b.launch == found.backward for b in tail)


def test_find_unused_sends_the_first_registered_last_and_then_a_map() -> None:
    found = timeline("find-unused")
    last = found.buckets[-1]
    assert next(last.tensors())[0].startswith("model.visual.patch_embed")
    assert found.communication_bytes == found.sent_bytes + 4 * 1_199
    assert found.used_map is not None
    assert found.end == found.seconds(found.used_map[1])
    assert timeline("find-unused", order="arrival", tokens=10**6).exposed < (
        timeline("rebuilt", tokens=10**6).exposed  # MTP, registered last, now leaves first
    )


def test_a_tied_head_cannot_leave_early() -> None:
    tied, found = timeline("tied", tokens=16_384), timeline(tokens=16_384)
    assert tied.backward == found.backward
    assert found.sent_bytes - tied.sent_bytes == 2 * 1_271_398_400
    assert "lm_head" not in next(tied.buckets[0].tensors())[0]
    assert tied.buckets[0].launch > found.buckets[0].launch
    assert tied.intervals[0].part == found.intervals[0].part == "lm_head"


@pytest.mark.parametrize("slug", [ANCHOR, "gemma-2-2b", "gpt2"])
def test_tying_can_be_undone(slug: str) -> None:
    here = model(slug)
    there = with_tying(here, not here.tied)
    assert there.tied is not here.tied
    assert with_tying(here, None) is with_tying(here, here.tied) is here
    back = with_tying(there, here.tied)
    assert [t.shape for t in back.tensors] == [t.shape for t in here.tensors]
    assert here.compute_parameters == there.compute_parameters == back.compute_parameters


def test_turned_layers_leave_in_a_burst() -> None:
    found = timeline("flipped", "qwen3-8b", tokens=16_384)
    layer = [b for b in found.buckets if "layers." in b.pieces[0].first][1:]
    assert found.intervals[2].layer == 0
    assert found.intervals[-2].layer == 35  # whose gradients the first buckets wait for
    assert all(b.launch > found.seconds(found.intervals[-2].start) for b in layer)


@pytest.mark.parametrize(("no_sync", "all_reduces"), [("off", 4), ("on", 1), ("trap", 0)])
def test_gradient_accumulation(no_sync: str, all_reduces: int) -> None:
    one = timeline(tokens=1024)
    found = timeline(tokens=1024, accumulation=4, no_sync=no_sync)
    assert found.backward == 4 * one.backward
    assert found.communication == all_reduces * one.communication
    assert found.exposed == all_reduces * one.exposed
    assert len(found.buckets) == all_reduces * len(one.buckets)
    assert [p.sends for p in found.passes].count(True) == all_reduces
    assert (found.problem is not None) == (no_sync == "trap")
    assert found.end == found.step - one.forward
    assert found.step == 4 * (one.forward + one.backward) + found.exposed


# ── a second way of making the buckets, one tensor after another ────────────────────────


def one_by_one(cut: Cut) -> list[tuple[list[str], int, int]]:
    """Names, bytes and launch (in work) of every bucket, by the plainest possible loop."""
    here = with_tying(cut.inventory, cut.tied)
    used = [t for t in here.expand_backward() if t.forward is not None]
    if cut.order == "registration":
        used = [t for t in here.expand() if t.forward is not None][::-1]
    today = used
    if cut.flipped:
        layers = iter(sorted((t for t in used if t.layer is not None), key=lambda t: t.layer or 0))
        today = [next(layers) if t.layer is not None else t for t in used]
    unit = plan(cut).unit
    ready, done = {}, sum(int(t.numel * t.active * unit) for t in used if t.tied_with)
    for tensor in today:
        done += 0 if tensor.tied_with else int(tensor.numel * tensor.active * unit)
        ready[tensor.name] = done
    unused = [t for t in here.expand() if t.forward is None] if cut.unused != "absent" else []
    first = ready[today[0].name]
    if cut.rebuilt:
        walk = used + unused
    else:
        walk = [t for t in here.expand() if t.forward is not None or cut.unused != "absent"]
    made: list[list[Tensor]] = [[]]
    for tensor in walk:
        limit = cut.limits[min(len(made), len(cut.limits)) - 1]
        made[-1].append(tensor)
        if limit is not None and sum(t.numel for t in made[-1]) * 2 >= limit:
            made.append([])
    made = [bucket for bucket in made if bucket]
    if not cut.rebuilt:
        made.reverse()
    latest, result = 0, []
    for bucket in made:
        latest = max(latest, *(ready.get(t.name, first) for t in bucket))
        result.append(([t.name for t in bucket], 2 * sum(t.numel for t in bucket), latest))
    return result


def listed(cut: Cut) -> Iterator[tuple[list[str], int, int]]:
    for run in plan(cut).runs:
        for j in range(run.count):
            names = [name for piece in run.pieces_of(j) for name in piece.names()]
            yield names, run.bytes, run.launch + j * run.launch_step


CUTS = [
    {"unused": unused, "order": order, "flipped": flipped}
    for unused in ("static", "find-unused", "absent")
    for order in ORDERS
    for flipped in (False, True)
]


@pytest.mark.parametrize("cap", [MIB, DEFAULT_CAP, 97 * MIB, 1 << 32])
@pytest.mark.parametrize("changes", CUTS, ids=lambda c: "-".join(map(str, c.values())))
@pytest.mark.parametrize("slug", ["gpt2", "qwen3-0.6b", "mixtral-8x7b", ANCHOR])
def test_runs_are_what_the_plain_loop_makes(slug: str, changes: dict[str, Any], cap: int) -> None:
    cut = Cut(model(slug), cap=cap, **changes)
    assert list(listed(cut)) == one_by_one(cut)


@pytest.mark.parametrize(
    ("unused", "order", "cap"),
    [("static", "arrival", DEFAULT_CAP), ("find-unused", "registration", 100 * MIB)],
)
def test_runs_of_256_experts(unused: str, order: str, cap: int) -> None:
    cut = Cut(model("deepseek-v3"), cap=cap, unused=unused, order=order)
    assert list(listed(cut)) == one_by_one(cut)
    assert len(plan(cut).runs) < 600


# ── invariants ──────────────────────────────────────────────────────────────────────────

exact = st.integers(1, 10**6).map(lambda n: Fraction(n, 1000))
SETTINGS = st.builds(
    Setting,
    inventory=st.sampled_from(MODELS).map(model),
    cards=st.integers(1, 64),
    cards_per_node=st.sampled_from([1, 8]),
    bandwidth=st.none() | exact.map(lambda x: x * GB),
    node_bandwidth=st.none() | exact.map(lambda x: x * GB),
    latency=st.just(Fraction(0)) | exact.map(lambda x: x / 10**6),
    node_latency=st.just(Fraction(0)) | exact.map(lambda x: x / 10**6),
    flops=exact.map(lambda x: x * 10**12),
    tokens=st.integers(0, 65_536),
    gradient_bytes=st.sampled_from([2, 4]),
    bucket_cap=st.sampled_from([MIB, DEFAULT_CAP, 1 << 28, 1 << 32]),
    sending=st.sampled_from(SENDING),
    unused=st.sampled_from(UNUSED),
    tied=st.sampled_from([None, True, False]),
    order=st.sampled_from(ORDERS),
    flipped=st.booleans(),
    accumulation=st.integers(1, 3),
    no_sync=st.sampled_from(NO_SYNC),
)


@settings(max_examples=60)
@given(SETTINGS)
def test_invariants(here: Setting) -> None:
    found = simulate(here)
    buckets = list(found.buckets)
    assert len(buckets) == len(found.buckets)
    assert [b.index for b in buckets] == [
        i for p in found.passes if p.sends for i in range(found.bucket_count)
    ]
    for bucket in buckets:
        assert bucket.ready <= bucket.launch <= bucket.start <= bucket.end
        assert bucket.hidden + bucket.exposed == bucket.end - bucket.start
        assert min(bucket.hidden, bucket.exposed) >= 0
    for before, after in pairwise(buckets):
        assert before.launch <= after.launch
        assert before.end <= after.start
    assert found.hidden + found.exposed == found.communication
    assert 0 <= found.exposed <= found.communication
    assert found.end <= found.step <= found.step_without_overlap
    assert all(b.end <= found.end for b in buckets)
    if found.used_map is None:
        assert sum(b.exposed for b in buckets) == found.exposed
        assert sum(b.end - b.start for b in buckets) == found.communication
    assert_compute_lane(found)
    assert_each_tensor_once(found, buckets)


def assert_compute_lane(found: Timeline) -> None:
    """The backward has no gap and no overlap, and takes 4 FLOP per parameter and token."""
    here, one = found.setting, found.passes[0]
    assert found.intervals[0].start == 0
    assert all(a.end == b.start for a, b in pairwise(found.intervals))
    assert found.intervals[-1].end == one.end - one.start
    work = 4 * here.inventory.compute_parameters * here.tokens
    assert found.backward == here.accumulation * work / here.flops
    assert all(p.forward >= q.end for q, p in pairwise(found.passes))


def assert_each_tensor_once(found: Timeline, buckets: list[Bucket]) -> None:
    here = found.setting
    built = with_tying(here.inventory, here.tied)
    present = [t for t in built.tensors if t.forward is not None or here.unused != "absent"]
    for p in found.passes:
        if p.sends:
            inside = [b for b in buckets if b.micro_batch == p.number]
            names = [name for b in inside for name, _ in b.tensors()]
            assert len(names) == len(set(names)) == sum(t.count for t in present)
            assert sum(b.bytes for b in inside) == sum(
                t.parameters * (here.gradient_bytes or 0) for t in present
            )
            assert all(sum(size for _, size in b.tensors()) == b.bytes for b in inside)


def test_buckets_are_a_sequence() -> None:
    found = timeline("no-sync-trap", no_sync="off").buckets
    assert len(found) == 2 * 406
    assert found[-1] == list(found)[-1] == found[811]
    assert [b.index for b in found[404:408]] == [404, 405, 0, 1]
    assert found[406].micro_batch == 1
    for outside in (812, -813):
        with pytest.raises(IndexError):
            _ = found[outside]


# ── trace ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("mode", MODES)
def test_a_trace_has_two_named_lanes_without_overlap(mode: str) -> None:
    found = timeline(mode, slug="qwen3.5-9b", accumulation=2)
    read = json.loads(trace_json(found))
    assert read == trace(found)
    events = read["traceEvents"]
    named = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert named == {BACKWARD: "backward", COMMUNICATION: "communication"}
    for thread in named:
        lane = [e for e in events if e["ph"] == "X" and e["tid"] == thread]
        for before, after in pairwise(lane):
            assert before["dur"] >= 0
            assert round(1000 * (before["ts"] + before["dur"])) <= round(1000 * after["ts"])
        if thread == BACKWARD:
            assert lane[0]["name"] == "lm_head"
            assert lane[1]["name"] == "norm"
        else:
            assert [e["args"]["bytes"] for e in lane if e["args"]] == [
                b.bytes for b in found.buckets
            ]


def test_a_trace_says_what_is_in_a_bucket() -> None:
    found = timeline(slug="mixtral-8x7b", bucket_cap=1 << 31)
    events = trace(found)["traceEvents"]
    bucket = next(e for e in events if e["name"] == "all_reduce bucket 1")
    assert bucket["ts"] == pytest.approx(10**6 * float(found.buckets[1].start), abs=1e-3)
    assert any("tensors)" in line for line in bucket["args"]["tensors"])
    assert bucket["args"]["launch"] >= bucket["args"]["ready"]
