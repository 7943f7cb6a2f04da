"""The chapter's golden figures: every one at full precision and as readers see it.

Expected values are worked out here from published counts by plain integer arithmetic,
so that a slip in a formula cannot hide in both places. ``ROW`` numbers are those of the
chapter's table of 46 figures.
"""

from __future__ import annotations

from fractions import Fraction as F
from typing import Any

import pytest

from py_core.facts import fact
from py_core.model import Model, load_model
from py_core.quantity import at, evaluate
from py_core.scenario import DEFAULT, Scenario, parse_scenario

P = 27_781_427_952  # Qwen3.8-27B, published
P_TEXT = 26_895_998_464
P_COMPUTE = 25_624_600_064  # text without the input embedding
P_EMBEDDING = 1_271_398_400
P_VISION, P_MTP = 460_730_096, 424_699_392
QWEN3_8B = 8_190_735_360
ROUTED = 58 * 256 * 3 * 7168 * 2048  # DeepSeek-V3
G = 2 * P
GB, MIB, HOUR = 10**9, 2**20, 3600
MFU_PEAK = F(9894, 10) * 10**12
LONG = "sequence=131072"
DSV3 = "model=deepseek-v3&pipeline_stages=16"

BACKWARD = F(4 * P_COMPUTE * 4096, 400 * 10**12)
RING_SECONDS = F(7, 4) * G / (50 * GB)

# (row of the table or "", quantity, Scenario, exact value in base units, as displayed)
GOLDENS: list[tuple[Any, str, str, F | int, str]] = [
    (1, "state.bytes", "", 444_502_847_232, "444.5 GB"),
    (2, "state.cards_of_memory", "", F(16 * P, 80 * GB), "5.6 倍"),
    (3, "dsv3.gpu_hours", "", 2_664_000 * HOUR, "2,664,000 小时"),
    (3, "dsv3.gpu_hours_from_rate", "", 2_664_000 * HOUR, "2,664,000 小时"),
    (4, "dsv3.years_on_one_card", "", 2_664_000 * HOUR, "304 年"),
    (5, "dsv3.days_on_its_cards", "", F(2_664_000 * HOUR, 2048), "54.2 天"),
    (6, "ring.coefficient", "", F(14, 8), "1.75"),
    (6, "ring.coefficient", "cards=64", F(63, 32), "1.97"),
    (7, "ring.sent_per_card", "", 97_234_997_832, "97.2 GB"),
    (8, "ring.sent_per_card", "cards=64", 109_389_372_561, "109.4 GB"),
    (9, "ring.sent_per_card", "cards=1024", F(2 * 1023 * G, 1024), "111.0 GB"),
    (9, "ring.limit", "cards=1024", 111_125_711_808, "111.1 GB"),
    (10, "naive.received_by_card0", "", 388_939_991_328, "388.9 GB"),
    (10, "naive.received_by_card0", "cards=64", 3_500_459_921_952, "3,500 GB"),
    (10, "naive.gather_seconds", "", F(7 * G, 50 * GB), "7.78 s"),
    (10, "naive.gather_seconds", "cards=64", F(63 * G, 50 * GB), "70.01 s"),
    (11, "naive.growth_8_to_1024", "", F(1023, 7), "146 倍"),
    (11, "naive.received_by_card0", "cards=1024", 56_840_801_589_792, "56,841 GB"),
    (12, "naive.card0_over_others", "", 7, "7 倍"),
    (12, "naive.received_by_others", "", G, "55.6 GB"),
    (13, "naive.over_ring", "", 4, "4 倍"),
    (13, "naive.over_ring", "cards=64", 32, "32 倍"),
    (13, "naive.over_ring", "cards=1024", 512, "512 倍"),
    (14, "ring.sent_per_card", "model=qwen3-8b", 28_667_573_760, "28.7 GB"),
    (14, "model.parameters", "model=qwen3-8b", QWEN3_8B, "8,190,735,360"),
    (15, "bucket_cap", "", 25 * 1024 * 1024, "25 MiB"),
    (16, "communication.seconds", "", RING_SECONDS, "1.94 s"),
    (17, "backward.seconds", "", BACKWARD, "1.05 s"),
    (17, "backward.seconds_all_parameters", "", F(4 * P * 4096, 400 * 10**12), "1.14 s"),
    (17, "model.compute_parameters", "", P_COMPUTE, "25,624,600,064"),
    (18, "communication.over_backward", "", RING_SECONDS / BACKWARD, "1.85"),
    (19, "communication.over_backward", "tokens=16384", RING_SECONDS / BACKWARD / 4, "0.46"),
    (19, "backward.seconds", "tokens=16384", 4 * BACKWARD, "4.20 s"),
    (20, "averaging.overweight", "", F(3, 2), "1.5 倍"),
    (21, "zero1.bytes", "", F(11, 2) * P, "152.8 GB"),
    (21, "zero2.bytes", "", F(15, 4) * P, "104.2 GB"),
    (21, "zero3.bytes", "", 2 * P, "55.6 GB"),
    (22, "zero3.over_data_parallel", "", F(3, 2), "1.5 倍"),
    (23, "zero3.memory_left", "", 80 * GB - 2 * P, "24.4 GB"),
    (24, "activations.selective", "", 45_634_027_520, "45.6 GB"),
    (25, "activations.tensor_sequence_selective", "", 5_704_253_440, "5.7 GB"),
    (26, "tensor_parallel.sent_per_card", "", 18_790_481_920, "18.8 GB"),
    (27, "tensor_parallel.allreduces_per_layer", "", 4, "4"),
    (27, "tensor_parallel.syncs_per_micro_batch", "", 256, "256"),
    (28, "tensor_parallel.cross_node_share", "", F(5, 125), "4.0%"),
    (29, "pipeline.bubble_over_ideal", "", F(7, 32), "21.9%"),
    (29, "pipeline.bubble_of_total", "", F(7, 39), "17.9%"),
    (29, "1f1b.slots", "", 117, "117"),
    (29, "pipeline.ideal_slots", "", 96, "96"),
    (30, "interleaved.bubble_over_ideal", "", F(7, 128), "5.5%"),
    (30, "interleaved.bubble_of_total", "", F(7, 135), "5.2%"),
    (31, "gpipe.in_flight", "", 32, "32"),
    (31, "1f1b.in_flight", "", 8, "8"),
    (32, "zb_h1.idle_slots", "", 7, "7"),
    (32, "1f1b.idle_slots", "", 21, "21"),
    (32, "zb_h1.over_1f1b", "", F(1, 3), "0.33"),
    (32, "zb_h1.slots", "", 103, "103"),
    (33, "dualpipe.parameter_copies", "", 2, "2"),
    (33, "dualpipe.in_flight", "", 9, "9"),
    (33, "dualpipe.idle_slots", "", 6, "6"),
    (34, "context_parallel.example_card0", "", 10, "10 对"),
    (34, "context_parallel.example_card1", "", 26, "26 对"),
    (34, "context_parallel.example_card2", "", 42, "42 对"),
    (34, "context_parallel.example_card3", "", 58, "58 对"),
    (34, "context_parallel.example_zigzag", "", 34, "34 对"),
    (35, "context_parallel.kv_bytes", LONG, 536_870_912, "0.54 GB"),
    (35, "context_parallel.ring_sent_per_card", LONG, 469_762_048, "0.47 GB"),
    (36, "ulysses.limit", "", 4, "4"),
    (37, "model.routed_expert_parameters", DSV3, ROUTED, "653,908,770,816"),
    (38, "expert_parallel.experts_per_card", DSV3, 4, "4"),
    (38, "expert_parallel.routed_per_card", DSV3, F(ROUTED, 1024), "0.64 B 参数"),
    (38, "expert_parallel.routed_per_card_unstaged", DSV3, F(ROUTED, 64), "10.2 B 参数"),
    (39, "expert_parallel.nodes_limited", DSV3, 4, "4"),
    (40, "dsv3.ib_over_nvlink", "", F(5, 16), "0.31"),
    (40, "expert_parallel.bandwidth_ratio", "", F(5, 16), "0.31"),
    (42, "dsv3.cards_per_replica", "", 16 * 64, "1,024"),
    (42, "dsv3.expert_parallel_cards", "", 64, "64"),
    (42, "dsv3.expert_replicas", "", 2, "2"),
    (43, "llama3.cards", "", 16_384, "16,384"),
    (43, "llama3.mfu", "", F(41, 100), "41.0%"),
    (43, "llama3.tflops_over_peak", "", F(400 * 10**12) / MFU_PEAK, "40.4%"),
    (43, "llama3.cards_long_context", "", 16_384, "16,384"),
    (43, "llama3.cards_misprinted", "", 8192, "8,192"),
    (43, "llama3.cards_first_row", "", 8192, "8,192"),
    # Beyond the table: the rest of the chapter and of the map.
    ("", "model.parameters", "", P, "27,781,427,952"),
    ("", "model.text_parameters", "", P_TEXT, "26,895,998,464"),
    ("", "model.vision_parameters", "", P_VISION, "460,730,096"),
    ("", "model.mtp_parameters", "", P_MTP, "424,699,392"),
    ("", "model.main_parameters", DSV3, 671_026_404_352, "671,026,404,352"),
    ("", "model.parameters", DSV3, 682_636_472_320, "682,636,472,320"),
    ("", "model.parameters", "model=llama-3.1-405b", 405_853_388_800, "405,853,388,800"),
    ("", "gradient.bytes", "", 55_562_855_904, "55.6 GB"),
    ("", "state.bytes_each", "", 16, "16 字节/参数"),
    ("", "state.bytes_each", "gradient=fp32", 18, "18 字节/参数"),
    ("", "state.bytes", "gradient=fp32", 18 * P, "500.1 GB"),
    ("", "parameter.bytes", "gradient=fp32", 2 * P, "55.6 GB"),
    ("", "gradient.bytes", "gradient=fp32", 4 * P, "111.1 GB"),
    ("", "optimizer.bytes", "gradient=fp32", 12 * P, "333.4 GB"),
    ("", "state.cards_needed", "", 6, "6"),
    ("", "ring.sent_per_card", "gradient=fp32", 7 * P, "194.5 GB"),
    ("", "communication.seconds", "gradient=fp32", F(7 * P, 50 * GB), "3.89 s"),
    ("", "communication.seconds", "cards_per_node=8", F(7 * P, 2 * 160 * GB), "0.61 s"),
    ("", "communication.seconds_in_node", "", F(7 * P, 2 * 160 * GB), "0.61 s"),
    ("", "communication.text_bytes", "", F(7, 2) * P_TEXT, "94.1 GB"),
    ("", "communication.text_seconds", "", F(7, 2) * P_TEXT / (50 * GB), "1.88 s"),
    ("", "communication.embedding_seconds", "", F(7, 2) * P_EMBEDDING / (50 * GB), "0.089 s"),
    ("", "communication.unused_seconds", "", F(7, 2) * (P_VISION + P_MTP) / (50 * GB), "0.062 s"),
    ("", "communication.break_even_tokens", "", 7590, "7,590"),
    ("", "naive.over_ring", "cards=256", 128, "128 倍"),
    ("", "ring.cards_above_coefficient", "", 21, "21"),
    ("", "ring.growth_8_to_1024", "", F(1023, 1024) / F(7, 8), "1.14 倍"),
    ("", "allreduce.least_in_total", "", 14 * G, "777.9 GB"),
    ("", "allreduce.least_by_busiest", "", F(14, 8) * G, "97.2 GB"),
    ("", "tree.sent_by_leaf", "", G, "55.6 GB"),
    ("", "in-network.gain", "", F(7, 4), "1.75 倍"),
    (
        "",
        "hierarchical.bandwidth_seconds",
        "cards=64&cards_per_node=8",
        F(14, 8) * G / (160 * GB) + F(14, 8) * G / 8 / (50 * GB),
        "0.85 s",
    ),
    (
        "",
        "ring.bandwidth_seconds",
        "cards=64&cards_per_node=8",
        F(126, 64) * G / (50 * GB),
        "2.19 s",
    ),
    ("", "ring.growth_when_doubled", "", F(15, 14), "1.07 倍"),
    ("", "naive.growth_when_doubled", "", F(15, 7), "2.1 倍"),
    ("", "ring.ledger_busiest", "", F(7, 4), "1.75 倍"),
    ("", "tree.ledger_busiest", "", 3, "3 倍"),
    ("", "interleaved.communication_factor", "", 4, "4 倍"),
    ("", "combined.parameters_per_card", "", F(P, 64), "0.43 B 参数"),
    ("", "ring.balance_bytes", "", 8 * 14 * 50_000, "5.3 MiB"),
    ("", "ring.balance_bytes", "cards=64", 64 * 14 * 50_000, "42.7 MiB"),
    ("", "ring.balance_bytes", "cards=1024", 1024 * 14 * 50_000, "683.6 MiB"),
    ("", "bucket.ring_latency_seconds", "", F(14 * 14, 10**6), "0.20 ms"),
    ("", "bucket.ring_bandwidth_seconds", "", F(14 * 25 * MIB, 8 * 50 * GB), "0.92 ms"),
    ("", "bucket.ring_latency_seconds", "cards=64", F(126 * 14, 10**6), "1.8 ms"),
    ("", "bucket.ring_bandwidth_seconds", "cards=64", F(126 * 25 * MIB, 64 * 50 * GB), "1.0 ms"),
    ("", "bucket.ring_latency_seconds", "cards=1024", F(2046 * 14, 10**6), "28.6 ms"),
    ("", "ring.beats_tree_from_bytes", "latency=10", 2_000_000 / F(17, 8), "0.90 MiB"),
    (
        "",
        "ring.beats_tree_from_bytes",
        "latency=10&cards=64",
        57 * 500_000 / (6 - F(63, 64)),
        "5.4 MiB",
    ),
    (
        "",
        "ring.beats_tree_from_bytes",
        "latency=10&cards=1024",
        1013 * 500_000 / (10 - F(1023, 1024)),
        "53.7 MiB",
    ),
    ("", "global_batch.tokens", "", 32_768, "32,768"),
    ("", "global_batch.tokens_each", "cards=64", 512, "512"),
    ("", "zero1.sent_per_card", "", 97_234_997_832, "97.2 GB"),
    ("", "zero3.sent_per_card", "", F(21, 8) * G, "145.9 GB"),
    (
        "",
        "activations.no_parallel",
        "",
        4096 * 5120 * 64 * 34 + 4096 * 64 * 5 * 24 * 4096,
        "174.5 GB",
    ),
    ("", "activations.full_recompute", "", 2 * 4096 * 5120 * 64, "2.7 GB"),
    ("", "tensor_parallel.kv_copies", "", 2, "2"),
    ("", "interleaved.in_flight", "", F(39, 4), "9.8"),
    ("", "zb_h2.idle_slots", "", 0, "0"),
    ("", "zb_h2.in_flight", "", 15, "15"),
    ("", "zb1p.idle_slots", "", 7, "7"),
    ("", "dualpipe.idle_slots_split", "", 6, "6"),
    ("", "activations.message_bytes", "", 4096 * 5120 * 2, "41.9 MB"),
    (
        "",
        "ulysses.sent_per_card_unreplicated",
        LONG,
        F(7, 8) * 16_384 * (2 * 24 * 256 + 2 * 4 * 256) * 2,
        "0.41 GB",
    ),
    # With 4 heads of K and V on 8 cards, each goes to two: as much as the ring sends.
    (
        "",
        "ulysses.sent_per_card",
        LONG,
        F(7, 8) * 16_384 * (2 * 24 * 256 + 2 * 8 * 256) * 2,
        "0.47 GB",
    ),
    ("", "ulysses.kv_copies", LONG, 2, "2"),
    ("", "linear_attention.state_bytes", "", 48 * 128 * 128 * 4, "3.1 MB"),
    ("", "context_parallel.pairs_zigzag", "sequence=16&context_parallel=4", 34, "34 对"),
    ("", "context_parallel.pairs_first", "sequence=16&context_parallel=4", 10, "10 对"),
    ("", "context_parallel.pairs_last", "sequence=16&context_parallel=4", 58, "58 对"),
    ("", "expert_parallel.nodes", DSV3, 8, "8"),
    ("", "expert_parallel.bytes_per_token", DSV3, 4 * 7168 * 3, "86.0 kB"),
    ("", "expert_parallel.remote_bytes_per_token", DSV3, 75_264, "75.3 kB"),
    ("", "expert_parallel.seconds_per_token", DSV3, F(75_264, 50 * GB), "1.5 µs"),
    ("", "expert_parallel.active_parameters_per_layer", DSV3, 585_318_400, "585,318,400"),
    ("", "dsv3.training_flops", "", 6 * 37 * 10**9 * 148 * 10**11, "3.3 × 10²⁴ FLOP"),
    ("", "megatron_1t.cards", "", 3072, "3,072"),
    ("", "compute.share_of_peak", "", F(400 * 10**12) / MFU_PEAK, "40.4%"),
]

# The same figures in decimal digits, worked out elsewhere; ours must round to them.
DIGITS: list[tuple[str, str, str, int]] = [
    ("dsv3.years_on_one_card", "304.1095890411", "", 365 * 24 * HOUR),
    ("dsv3.days_on_its_cards", "54.1992187500", "", 24 * HOUR),
    ("ring.sent_per_card", "111.017190605", "cards=1024", GB),
    ("communication.seconds", "1.9446999566", "", 1),
    ("backward.seconds", "1.0495836186", "", 1),
    ("communication.over_backward", "1.8528299434", "", 1),
    ("communication.over_backward", "0.4632074858", "tokens=16384", 1),
    ("hierarchical.bandwidth_seconds", "0.8508062310", "cards=64&cards_per_node=8", 1),
    ("expert_parallel.nodes_free", "5.2946520004", DSV3, 1),
    ("dsv3.flops_per_card", "342.5926", "", 10**12),
    ("dsv3.mfu", "0.346263", "", 1),
]

# What rows state as printed facts, not as results.
FACTS: list[tuple[int, str, Any]] = [
    (15, "ddp.bucket_cap_bytes", 26_214_400),
    (15, "ddp.first_bucket_bytes", 1_048_576),
    (27, "megatron.allreduces_per_layer", [2, 2]),
    (28, "zero.cross_node_tflops", 5),
    (28, "zero.cross_node_peak_fraction", 0.05),
    (33, "dsv3.dualpipe_activations", "PP + 1"),
    (39, "dsv3.max_nodes_per_token", 4),
    (40, "dsv3.nvlink_ib_ratio", 3.2),
    (41, "dsv3.compute_to_communication", [1, 1]),
    (42, "dsv3.data_parallel_kind", "ZeRO-1"),
    (42, "dsv3.tensor_parallel", 1),
    (44, "ring.hpc_year", 2009),
    (44, "ring.deep_learning_date", "2017-02-21"),
    (44, "ring.horovod_year", 2018),
    (45, "ddp.first_submitted", "2020-06-28"),
    (45, "ddp.scaling_gpus", 256),
    (46, "zero.first_submitted", "2019-10-04"),
    (46, "fsdp.year", 2023),
    (46, "megatron.year", 2019),
    (46, "gpipe.year", 2018),
    (46, "sc21.year", 2021),
    (46, "zb.first_submitted", "2023-11-30"),
    (46, "ring_attention.year", 2023),
    (46, "ulysses.year", 2023),
    (46, "gshard.year", 2020),
]


def test_every_row_of_the_table_is_here() -> None:
    rows = {g[0] for g in GOLDENS if g[0]} | {f[0] for f in FACTS}
    assert rows == set(range(1, 47))


@pytest.mark.parametrize(
    ("name", "query", "exact", "shown"),
    [pytest.param(*g[1:], id=f"{g[0]} {g[1]} {g[2]}") for g in GOLDENS],
)
def test_golden(name: str, query: str, exact: F | int, shown: str) -> None:
    q = evaluate(name, parse_scenario(query))
    assert q.value == exact
    assert q.display() == shown


@pytest.mark.parametrize(("name", "digits", "query", "scale"), DIGITS)
def test_digits(name: str, digits: str, query: str, scale: int) -> None:
    value = evaluate(name, parse_scenario(query)).value / scale
    places = len(digits.partition(".")[2])
    assert round(value, places) == F(digits)


@pytest.mark.parametrize(("row", "fact_id", "value"), FACTS)
def test_printed(row: int, fact_id: str, value: Any) -> None:
    assert fact(fact_id).value == value


def test_the_formula_shows_the_gradient_so_that_its_product_holds() -> None:
    q = evaluate("ring.sent_per_card")
    assert q.formula == "2 × (N − 1) ÷ N × G"
    assert q.substituted == "2 × 7 ÷ 8 × 55.563 GB"
    assert round(F(2 * 7, 8) * F("55.563"), 1) == F("97.2")


def test_zero_papers_own_table() -> None:
    """7.5 billion parameters on 64 cards: 120, 31.4, 16.6 and 1.9 GB."""
    model = Model("seven-and-a-half", "7.5B", {"parameters_only": {"total": 7_500_000_000}})
    here = at(Scenario(model=model, cards=64))
    shown = [here.quantity(n).display() for n in ("zero1.bytes", "zero2.bytes", "zero3.bytes")]
    assert here.quantity("state.bytes").value == 120 * GB
    assert shown == ["31.4 GB", "16.6 GB", "1.9 GB"]


@pytest.mark.parametrize(
    ("heads", "hidden", "layers", "stages", "interleave", "micro_batch", "batch", "gib"),
    [
        (64, 6144, 48, 1, 1, 4, 4, "9.5625"),
        (96, 12288, 96, 8, 3, 1, 64, "12.3516"),
        (128, 20480, 105, 35, 3, 1, 280, "23.0762"),
        (160, 25600, 128, 64, 1, 1, 512, "26.5625"),
    ],
)
def test_korthikantis_profiled_activations(
    heads: int,
    hidden: int,
    layers: int,
    stages: int,
    interleave: int,
    micro_batch: int,
    batch: int,
    gib: str,
) -> None:
    """First stage, s = 2,048, t = 8, tensor and sequence parallel, selective recomputation."""
    config = {**load_model("gpt2").config, "n_head": heads, "n_embd": hidden, "n_layer": layers}
    scenario = Scenario(
        model=Model(f"gpt-{layers}-{hidden}", "GPT", config),
        sequence=2048,
        micro_batch=micro_batch,
        micro_batches=batch // micro_batch,
        pipeline_stages=stages,
        interleave=interleave,
    )
    value = evaluate("activations.first_stage", scenario).value / 2**30
    assert abs(value - F(gib)) <= F(1, 20_000)


def test_the_default_scenario_is_the_lessons() -> None:
    assert DEFAULT.query() == ""
    assert [evaluate(n).display() for n in ("cards", "bandwidth", "flops", "card_memory")] == [
        "8",
        "50 GB/s",
        "400 TFLOPS",
        "80 GB",
    ]
