"""Away from the lesson's defaults: few micro-batches, odd sizes, other expert groups."""

from __future__ import annotations

from fractions import Fraction as F
from math import comb

import pytest

from py_core.errors import LessonError, ScenarioError
from py_core.quantity import at, evaluate, names
from py_core.scenario import Scenario, parse_scenario

GB = 10**9


def value(name: str, query: str = "") -> F:
    return evaluate(name, parse_scenario(query)).value


def refused(name: str, query: str) -> ScenarioError:
    with pytest.raises(ScenarioError) as caught:
        evaluate(name, parse_scenario(query))
    return caught.value


# Pipelines: a schedule played slot by slot, in the order that Megatron-LM runs it.


def played(p: int, m: int, v: int) -> tuple[int, F]:
    """Slots of the whole step (a chunk forward 1, backward 2), and the most micro-batches'
    worth of activations that the first stage holds."""
    chunks = m * v

    def forward(k: int) -> tuple[int, int]:
        return k % (p * v) // p, k // (p * v) * p + k % p

    def backward(k: int) -> tuple[int, int]:
        chunk, micro_batch = forward(k)
        return v - 1 - chunk, micro_batch

    orders = []
    for rank in range(p):
        warm = p - 1 - rank if v == 1 else 2 * (p - rank - 1) + (v - 1) * p
        warm = min(warm, chunks)
        order = [("F", *forward(k)) for k in range(warm)]
        for k in range(chunks - warm):
            order += [("F", *forward(warm + k)), ("B", *backward(k))]
        orders.append(order + [("B", *backward(k)) for k in range(chunks - warm, chunks)])

    ends: dict[tuple[str, int, int], int] = {}  # (F or B, stage of the whole model, micro-batch)
    free, place = [0] * p, [0] * p
    while any(place[r] < len(orders[r]) for r in range(p)):
        before = sum(place)
        for r in range(p):
            while place[r] < len(orders[r]):
                what, chunk, micro_batch = orders[r][place[r]]
                stage = chunk * p + r
                needs = []
                if what == "F" and stage:
                    needs = [("F", stage - 1, micro_batch)]
                if what == "B":
                    needs = [("F", stage, micro_batch)]
                    needs += [("B", stage + 1, micro_batch)] if stage < p * v - 1 else []
                if any(n not in ends for n in needs):
                    break
                start = max([free[r], *(ends[n] for n in needs)])
                free[r] = ends[what, stage, micro_batch] = start + (1 if what == "F" else 2)
                place[r] += 1
        assert sum(place) > before, "the schedule waits for itself"

    held = most = 0
    for what, _, _ in orders[0]:
        held += 1 if what == "F" else -1
        most = max(most, held)
    return max(ends.values()), F(most, v)


@pytest.mark.parametrize("p", [1, 2, 3, 4, 8])
def test_1f1b_holds_and_takes_what_it_says(p: int) -> None:
    for m in (1, 2, 3, 4, 7, 8, 9, 20):
        slots, held = played(p, m, 1)
        query = f"pipeline_stages={p}&micro_batches={m}&interleave=1"
        assert value("1f1b.in_flight", query) == value("interleaved.in_flight", query) == held
        assert value("1f1b.slots", query) == slots
        assert value("interleaved.bubble_of_total", query) == F(slots - 3 * m, slots)


@pytest.mark.parametrize("v", [2, 3, 4])
@pytest.mark.parametrize("p", [2, 3, 4, 8])
def test_the_interleaved_pipeline_holds_and_takes_what_it_says(p: int, v: int) -> None:
    for m in (p, 2 * p, 4 * p):
        slots, held = played(p, m, v)
        query = f"pipeline_stages={p}&micro_batches={m}&interleave={v}"
        assert value("interleaved.in_flight", query) == held
        assert value("interleaved.bubble_of_total", query) == F(slots - 3 * m * v, slots)
        whole = value("activations.tensor_sequence_selective", query)
        assert value("activations.first_stage", query) == whole * held / p


def test_what_is_in_flight_is_never_more_than_there_is() -> None:
    """With one micro-batch there is one; the defaults of p, v stay."""
    one = "micro_batches=1"
    for name in ("gpipe", "1f1b", "zb_h1", "zb_h2"):
        assert value(f"{name}.in_flight", one) == 1
    assert value("interleaved.in_flight", "micro_batches=1&interleave=1") == 1
    assert value("interleaved.in_flight", "micro_batches=8") == 8  # not 9.75
    assert value("zb_h2.in_flight", "micro_batches=12") == 12
    # One micro-batch, eight layers of it on the first stage: 34sbh/t × 64 ÷ 8.
    stage = value("activations.first_stage", "micro_batches=1&interleave=1")
    assert stage == F(34 * 4096 * 5120 * 64, 8 * 8)


INTERLEAVED = [n for n in names() if n.startswith("interleaved.")] + ["activations.first_stage"]


@pytest.mark.parametrize("name", INTERLEAVED)
@pytest.mark.parametrize("m", [1, 4, 12, 33])
def test_interleaving_needs_whole_rounds_of_micro_batches(name: str, m: int) -> None:
    error = refused(name, f"micro_batches={m}")
    assert (error.field, error.value) == ("micro_batches", m)
    assert "a multiple of pipeline_stages = 8" in str(error)
    assert "级数 8 的倍数" in error.chinese
    assert value(name, f"micro_batches={m}&interleave=1") > 0


FILLED = {
    "zb_h1": ("zb_h1.idle_slots", "zb_h1.slots", "zb_h1.bubble_over_ideal", "zb_h1.over_1f1b"),
    "zb1p": ("zb1p.idle_slots",),
    "zb_h2": ("zb_h2.idle_slots", "zb_h2.slots", "zb_h2.bubble_over_ideal"),
    "dualpipe": tuple(
        f"dualpipe.{n}"
        for n in ("idle_slots", "idle_slots_split", "slots", "bubble_over_ideal", "in_flight")
    ),
}


@pytest.mark.parametrize(
    ("scheme", "least"), [("zb_h1", 8), ("zb1p", 8), ("zb_h2", 15), ("dualpipe", 16)]
)
def test_bubbles_are_refused_where_the_pipe_does_not_fill(scheme: str, least: int) -> None:
    for name in FILLED[scheme]:
        for few in {1, 2, least - 2, least - 1}:
            error = refused(name, f"micro_batches={few}")
            assert error.field == "micro_batches"
        assert value(name, f"micro_batches={least}") >= 0
    assert f"at least {least}" in str(refused(FILLED[scheme][0], f"micro_batches={least - 2}"))


@pytest.mark.parametrize("p", range(1, 9))
def test_the_first_stage_waits_for_its_first_backward(p: int) -> None:
    """F = B = W: it comes after p forwards and p−1 backwards of others, in which the first
    stage does as many forwards as it may hold. It waits no more than that, says Qi et al."""
    for m in range(1, 3 * p):
        for scheme, least in (("zb_h1", p), ("zb_h2", 2 * p - 1)):
            query = f"pipeline_stages={p}&micro_batches={m}"
            waits = 2 * p - 1 - value(f"{scheme}.in_flight", query)
            if m >= least:
                assert value(f"{scheme}.idle_slots", query) == waits
            else:
                refused(f"{scheme}.idle_slots", query)


def test_dualpipe_feeds_from_both_ends() -> None:
    assert refused("dualpipe.in_flight", "micro_batches=33").field == "micro_batches"
    assert refused("dualpipe.in_flight", "pipeline_stages=7").field == "pipeline_stages"
    assert value("dualpipe.in_flight", "pipeline_stages=16") == 17


def test_a_stage_has_a_layer_and_a_neighbour() -> None:
    for name in ("pipeline.layers_per_stage", "combined.parameters_per_card"):
        assert refused(name, "pipeline_stages=65").field == "pipeline_stages"
        assert value(name, "pipeline_stages=64") > 0
    error = refused("activations.first_stage", "pipeline_stages=16&interleave=5")
    assert (error.field, error.value) == ("interleave", 5)
    assert "at most 4: 64 layers, 16 stages" in str(error)
    assert refused("pipeline.sent_per_step", "pipeline_stages=1").field == "pipeline_stages"


# Heads.

TENSOR = [
    "tensor_parallel.sent_per_card",
    "tensor_parallel.seconds_in_node",
    "tensor_parallel.seconds_across_nodes",
    "tensor_parallel.kv_copies",
    "activations.tensor",
    "activations.tensor_sequence",
    "activations.tensor_selective",
    "activations.tensor_sequence_selective",
    "activations.first_stage",
    "combined.parameters_per_card",
    "combined.gradient_bytes",
]
ULYSSES = ["ulysses.sent_per_card", "ulysses.sent_per_card_unreplicated", "ulysses.kv_copies"]


@pytest.mark.parametrize("name", TENSOR)
def test_tensor_parallel_sizes_divide_the_heads(name: str) -> None:
    """The anchor: 24 heads, 4 of K and V, and 16 of keys in linear attention."""
    for t in (1, 2, 4, 8):
        assert value(name, f"tensor_parallel={t}") >= 0
    for t, rule in (
        (7, "a divisor of 24 attention heads"),
        (16, "a divisor of 24 attention heads"),
        (3, "a divisor or a multiple of 4 K/V heads"),
        (6, "a divisor or a multiple of 4 K/V heads"),
        (12, "a divisor of 16 linear-attention heads"),
    ):
        error = refused(name, f"tensor_parallel={t}")
        assert (error.field, error.value) == ("tensor_parallel", t)
        assert rule in str(error)
    # Plain attention with 32 heads, 8 of K and V.
    assert value(name, "model=qwen3-8b&tensor_parallel=16") > 0


@pytest.mark.parametrize("name", ULYSSES)
def test_ulysses_sizes_divide_the_heads_and_the_sequence(name: str) -> None:
    for c in (1, 2, 4, 8, 12, 24):
        assert value(name, f"context_parallel={c}&sequence=4608") >= 0
    for c in (3, 6, 7, 16, 48):
        error = refused(name, f"context_parallel={c}&sequence=42336")
        assert (error.field, error.value) == ("context_parallel", c)
    assert refused(name, "sequence=4097").field == "sequence"


def test_kv_copies_are_what_the_cards_are_of_the_heads() -> None:
    for kind, field in (("tensor_parallel", "tensor_parallel"), ("ulysses", "context_parallel")):
        for cards, copies in ((1, 1), (2, 1), (4, 1), (8, 2)):
            assert value(f"{kind}.kv_copies", f"{field}={cards}") == copies
    assert value("ulysses.kv_copies", "context_parallel=12&sequence=4608") == 3


@pytest.mark.parametrize("c", [1, 2, 4, 8, 12, 24])
def test_ulysses_sends_each_card_the_heads_it_works_on(c: int) -> None:
    """Counted head by head: card 0 sends its s/c tokens of every head that another card needs."""
    s, heads, kv, d = 4608, 24, 4, 256
    sent = 0
    for card in range(1, c):
        mine = range(card * heads // c, (card + 1) * heads // c)
        keys = {h * kv // heads for h in mine}
        sent += (2 * len(mine) + 2 * len(keys)) * d * (s // c) * 2
    query = f"context_parallel={c}&sequence={s}"
    assert value("ulysses.sent_per_card", query) == sent
    same = value("ulysses.sent_per_card_unreplicated", query) == sent
    assert same == (value("ulysses.kv_copies", query) == 1 or c == 1)


def test_pieces_of_a_sequence_are_whole() -> None:
    """Cut in one piece a card, it need only divide by c; zig-zag takes two pieces a card."""
    assert value("context_parallel.piece_tokens", "sequence=12&context_parallel=4") == 3
    for name in ("context_parallel.piece_tokens", "context_parallel.ring_sent_per_card"):
        assert refused(name, "sequence=13&context_parallel=4").field == "sequence"
    error = refused("context_parallel.half_piece_tokens", "sequence=12&context_parallel=4")
    assert "a multiple of 2 × context_parallel = 8" in str(error)
    assert "上下文并行的卡数的两倍 8 的倍数" in error.chinese


# Experts, on machines of eight cards.


@pytest.mark.parametrize(
    ("cards", "nodes", "limited", "remote"),
    [(256, 32, 4, 4), (64, 8, 4, 4), (32, 4, 4, 3), (16, 2, 2, 1), (8, 1, 1, 0), (4, 1, 1, 0)],
)
def test_expert_traffic_follows_the_size_of_the_group(
    cards: int, nodes: int, limited: int, remote: int
) -> None:
    query = f"model=deepseek-v3&expert_parallel={cards}"
    assert value("expert_parallel.nodes", query) == nodes
    assert value("expert_parallel.nodes_limited", query) == limited
    assert value("expert_parallel.remote_nodes_limited", query) == remote
    assert value("expert_parallel.bytes_per_token", query) == remote * 7168 * 3
    average = limited * F(nodes - 1, nodes) * 7168 * 3
    assert value("expert_parallel.remote_bytes_per_token", query) == average
    assert value("expert_parallel.seconds_per_token", query) == average / (50 * GB)
    free = nodes * (1 - F(comb(256 - 256 // nodes, 8), comb(256, 8)))
    assert value("expert_parallel.nodes_free", query) == free


EXPERTS = [
    n
    for n in names()
    if n.startswith("expert_parallel.")
    and n not in ("expert_parallel.bandwidth_ratio", "expert_parallel.active_parameters_per_layer")
]


@pytest.mark.parametrize("name", EXPERTS)
def test_expert_groups_divide_the_experts(name: str) -> None:
    error = refused(name, "model=deepseek-v3&expert_parallel=48")
    assert (error.field, error.value) == ("expert_parallel", 48)
    assert "a divisor of 256 experts" in str(error)
    assert refused(name, "").field == "model"


def test_expert_groups_fill_their_machines() -> None:
    """12 cards would be a machine and a half: Kimi K2's 384 experts divide by 12."""
    error = refused("expert_parallel.nodes", "model=kimi-k2&expert_parallel=12")
    assert "a multiple of 8 (whole nodes), or less than 8" in str(error)
    assert value("expert_parallel.nodes", "model=kimi-k2&expert_parallel=48") == 6


def test_replicas_of_deepseek_come_from_its_cards() -> None:
    assert value("dsv3.cards_per_replica") * value("dsv3.expert_replicas") == 2048


# All of it at once: no size gives an answer that divides by zero or turns negative.


@pytest.mark.parametrize(
    "query",
    [
        "micro_batches=1&pipeline_stages=1&interleave=1",
        "micro_batches=1&pipeline_stages=64&interleave=1",
        "tensor_parallel=1&context_parallel=1&sequence=1",
        "model=deepseek-v3&expert_parallel=1&micro_batches=1",
        "model=gpt2&pipeline_stages=12&interleave=1&tensor_parallel=12&context_parallel=12",
    ],
)
def test_extremes(query: str) -> None:
    here = at(parse_scenario(query))
    for name in names():
        try:
            q = here.quantity(name)
        except LessonError:
            continue
        assert q.value >= 0 or "memory_left" in name, name


def test_the_formulas_say_what_is_capped() -> None:
    here = at(Scenario())
    assert here.quantity("interleaved.in_flight").formula == "min(p × (1 + (p − 1) ÷ (p × v)), m)"
    assert here.quantity("zb_h2.in_flight").formula == "min(2 × p − 1, m)"
