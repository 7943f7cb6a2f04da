"""The overlap timeline: state, readouts and picture, without a browser."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from html import unescape
from itertools import pairwise
from typing import Any
from urllib.parse import urlencode
from xml.etree import ElementTree

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import widgets
from py_core import evaluate, parse_scenario
from py_core.errors import UnknownName
from py_core.timeline import Timeline, simulate
from tests.core.frames import full, ids, same_in_pyodide
from widgets.overlap.picture import LEAST, WIDTH, Bar, Part, Window, bars, lanes, marks, parts
from widgets.overlap.setting import CONFIGURATION, FIELDS, MOST_ZOOM, PLACES, step_of
from widgets.overlap.widget import TASKS, TOKENS, walk
from widgets.overlap.words import Clock
from widgets.state import parse
from widgets.tasks import reached

SEEN = "guess=skip&"
TIME = r"[\d.,]+ (s|ms|µs)"
SETTINGS = [
    "",
    "mode=sync",
    "mode=first-iteration",
    "tokens=16384",
    "tokens=0",
    "tokens=65536&unused=absent",
    "tokens=7590&unused=find-unused",
    "cards=1",
    "cards=64&net=hierarchical&latency=14",
    "net=nvlink&bandwidth=160",
    "bandwidth=inf",
    "accumulation=3&no_sync=off",
    "accumulation=4&tokens=2048",
    "order=flipped",
    "order=arrival&gradient=fp32&cap=400",
    "tied=on",
    "model=deepseek-v3&tokens=16384",
    "model=gpt2&cap=1",
]
PROBLEMS = ["unused=error", "accumulation=2&no_sync=trap"]


def simulated(query: str) -> Timeline:
    return simulate(step_of(parse(CONFIGURATION, query).values).setting)


def told(html: str) -> dict[str, str]:
    """Every readout in the tiles."""
    tiles = html.split('<dl class="lw-tiles overlap-tiles">')[1].split("</dl>", maxsplit=1)[0]
    return dict(re.findall(r'data-q="overlap\.(\w+)">([^<]*)<', tiles))


def svg(html: str) -> ElementTree.Element:
    begin = html.index('<svg class="overlap-picture"')
    return ElementTree.fromstring(html[begin : html.index("</svg>\n</div>", begin)] + "</svg>")


# ── readouts ────────────────────────────────────────────────────────────────────────────

GOLDENS = [
    ("mode=sync", {"backward": "1.05 s", "communication": "1.94 s", "exposed": "1.94 s"}),
    ("tokens=4096", {"ratio": "1.85", "hidden_share": "51.3%", "exposed": "0.95 s"}),
    ("tokens=16384", {"backward": "4.20 s", "hidden_share": "92.1%", "exposed": "0.15 s"}),
    ("tokens=16384&unused=absent", {"exposed": "0.091 s", "buckets": "370"}),
]


@pytest.mark.parametrize(("query", "expected"), GOLDENS)
def test_goldens(query: str, expected: dict[str, str]) -> None:
    shown = told(widgets.render("overlap", SEEN + query))
    assert {name: shown[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("readout", "quantity"),
    [
        ("backward", "backward.seconds"),
        ("communication", "communication.seconds"),
        ("ratio", "communication.over_backward"),
        ("exposed", "timeline.exposed"),
        ("hidden_share", "timeline.hidden_share"),
        ("buckets", "timeline.buckets"),
        ("step", "timeline.step"),
        ("step_without_overlap", "step.seconds_sync_after_backward"),
    ],
)
@pytest.mark.parametrize(
    "query", ["", "tokens=16384&cards=64", "model=qwen3-8b&bandwidth=12.5&flops=200"]
)
def test_a_readout_is_the_quantity_of_the_prose(query: str, readout: str, quantity: str) -> None:
    """One truth: what the page says, the widget says, whoever computed it."""
    shown = told(widgets.render("overlap", SEEN + query))
    assert shown[readout] == evaluate(quantity, parse_scenario(query)).display()


def test_the_break_even() -> None:
    html = widgets.render("overlap", SEEN)
    assert 'data-q="overlap.break_even">7,590<' in html
    assert simulated("tokens=7590").ratio < 1 <= simulated("tokens=7589").ratio  # type: ignore[operator]


@pytest.mark.parametrize("query", SETTINGS)
def test_the_share_at_other_tokens_needs_no_simulation(query: str) -> None:
    here = simulated(query)
    for tokens in (0, 1, 512, 3000, 4096, 7590, 16_384, 65_536):
        assert here.hidden_share_at(tokens) == simulated(f"{query}&tokens={tokens}").hidden_share


def test_zero_and_without_limit_are_said() -> None:
    assert "只有一张卡" in widgets.render("overlap", SEEN + "cards=1")
    assert "通信不花时间" in widgets.render("overlap", SEEN + "bandwidth=inf")
    assert "一个 token 也没有" in widgets.render("overlap", SEEN + "tokens=0")
    nothing = widgets.render("overlap", SEEN + "tokens=0&cards=1")
    assert told(nothing)["step"] == "0.00 s"
    uneven = widgets.render("overlap", SEEN + "net=hierarchical&cards=9")
    assert "9 张卡分不成每台 8 张" in uneven


@pytest.mark.parametrize("query", PROBLEMS)
def test_a_problem_is_explained_and_nothing_is_sent(query: str) -> None:
    html = widgets.render("overlap", SEEN + query)
    assert "什么也没有传" in html
    assert told(html).keys() == {"forward", "backward", "buckets"}
    assert "overlap-bar" not in html


# ── the picture ─────────────────────────────────────────────────────────────────────────


def windows(found: Timeline) -> list[Window]:
    whole = max(1, int(found.end * found.ticks_per_second))
    ends = [(0, 1), (whole // 2, 2), (whole * 3 // 4, 64), (whole // 3, 2048)]
    return [Window(low, low + max(1, (whole - low) // many)) for low, many in ends]


def spans(path: str) -> list[tuple[int, int]]:
    """The strokes of a path: whole units only."""
    assert re.fullmatch(r"(M\d+ 0h\d+(m\d+ 0h\d+)*)?", path), path
    found, at = [], 0
    for step, length in re.findall(r"[Mm](\d+) 0h(\d+)", path):
        at += int(step)
        found.append((at, at + int(length)))
        at += int(length)
    return found


@pytest.mark.parametrize("query", SETTINGS)
def test_bars_keep_order_and_sums(query: str) -> None:
    """UX 25, and what is merged loses nothing."""
    found = simulated(query)
    every = windows(found)[0]
    shown = list(parts(found, every))
    assert sum(part.count for part in shown) == len(found.buckets)
    seconds = found.seconds(sum(part.busy for part in shown))
    maps = Fraction(0)
    if found.used_map:
        maps = found.seconds(found.used_map[1] - found.used_map[0])
    assert seconds + maps == found.communication
    late = found.seconds(sum(part.exposed for part in shown))
    assert late <= found.exposed <= late + maps
    for a, b in pairwise(shown):
        assert a.start <= a.end <= b.start
    for window in windows(found):
        shown = list(parts(found, window))
        groups = bars(window, shown)
        for total in ("count", "bytes", "busy", "exposed"):
            assert sum(getattr(b, total) for b in groups) == sum(getattr(p, total) for p in shown)
        for p in found.passes:
            widths = [b.end - b.start for b in groups if b.head.of is p]
            assert len(widths) < 2 or min(widths) >= LEAST * window.span // WIDTH
        assert len(shown) <= 2 * WIDTH + len(found.runs) * len(found.passes)
        for path in lanes(found, window, shown).values():
            drawn = spans(path)
            assert len(drawn) <= WIDTH
            assert all(0 <= start < end <= WIDTH + 1 for start, end in drawn)
            assert all(end <= start for (_, end), (start, _) in pairwise(drawn))


@pytest.mark.parametrize("query", ["", "tokens=16384", "model=deepseek-v3", "order=flipped"])
def test_a_bar_is_what_the_buckets_are(query: str) -> None:
    found = simulated(query)
    for window in windows(found):
        for bar in bars(window, list(parts(found, window)))[:3]:
            single = found.buckets[bar.first : bar.last + 1]
            assert bar.bytes == sum(b.bytes for b in single)
            assert found.seconds(bar.exposed) == sum(b.exposed for b in single)
            assert found.seconds(bar.start) == single[0].start
            assert found.seconds(bar.end) == single[-1].end
            assert all(b.start >= b.launch >= b.ready for b in single)


def test_a_part_counts_what_is_exposed_of_many() -> None:
    found = simulated("model=deepseek-v3&tokens=20000")
    p = found.passes[0]
    for run in found.runs:
        if run.count > 1:
            whole = Part(p, run, 0, run.count, run.start, run.end)
            late = [
                max(0, run.start_of(j) + run.cost - max(run.start_of(j), p.end))
                for j in range(run.count)
            ]
            assert Bar.of(whole).exposed == sum(late)


@pytest.mark.parametrize("query", [*SETTINGS, *PROBLEMS])
@pytest.mark.parametrize("view", ["", "&zoom=5&from=30000&table=on&time=31000&pin=mode%3Dsync"])
def test_frames_are_whole(query: str, view: str) -> None:
    html = widgets.render("overlap", SEEN + query + view)
    assert "lw-notice" not in html
    assert not re.search(r"\sstyle\s*=", html)
    seen = ids(html)
    assert len(seen) == len(set(seen))
    picture = svg(html)
    for element in picture.iter():
        for name in ("x", "x1", "x2", "width"):
            at = element.get(name, "0")
            assert re.fullmatch(r"\d+(\.\d\d)?%|\d+", at), (name, at)
            assert not at.endswith("%") or 0 <= float(at[:-1]) <= 100
    named = re.findall(r'class="overlap-bar".*? aria-label="([^"]*)"', html)
    for label in named:  # UX 21: start, end, duration, content
        assert re.match(r"(第 \d+ 个微批的)?第 [\d,]+(–[\d,]+)? 桶", label)
        assert re.search(
            rf"：{TIME} 到 {TIME}，传 {TIME}，[\d.]+ (GB|MB|kB|字节)",
            label,
        )
    assert html.count("<tr data-light") == (len(named) if view else 0)


def test_a_chosen_bucket_is_told_in_full() -> None:
    html = widgets.render("overlap", SEEN + "bucket=1")
    text = unescape(html.split('class="overlap-bucket"')[1].split('class="overlap-curve"')[0])
    for words in ("第 1 桶", "4 个张量", "最后的归一化", "第 63 层的", "mlp.down_proj", "178.3 MB"):
        assert words in text
    assert 'aria-current="true"' in html
    assert "没有第 9999 桶" in widgets.render("overlap", SEEN + "bucket=9999")
    tail = widgets.render("overlap", SEEN + "model=deepseek-v3&bucket=45687")
    assert "第 45,687 桶" in tail


def test_neighbours_lead_from_bucket_to_bucket() -> None:
    html = widgets.render("overlap", SEEN + "bucket=12")
    asked = dict(re.findall(r'id="overlap-bucket-(\w+)" name="go" value="([^"]*)"', html))
    assert asked == {
        "first": "bucket=0",
        "back": "bucket=11",
        "next": "bucket=13",
        "last": "bucket=405",
        "none": "bucket=",
    }


def test_every_window_is_within_the_whole() -> None:
    found = simulated("")
    for zoom in range(MOST_ZOOM + 1):
        for begin in (0, 1, PLACES // 2, PLACES - 1):
            html = widgets.render("overlap", f"{SEEN}zoom={zoom}&from={begin}")
            for asked in re.findall(
                r'id="overlap-view-\w+" name="go" value="zoom=(\d+)&amp;from=(\d+)"', html
            ):
                level, at = map(int, asked)
                assert 0 <= level <= MOST_ZOOM
                assert 0 <= at <= PLACES - (PLACES >> level)
    whole = int(found.end * found.ticks_per_second)
    for window in windows(found):
        clock = Clock.for_span(window.span, whole, found.ticks_per_second)
        found_marks = marks(window, clock)
        assert 2 <= len(found_marks) <= 9
        assert len({text for _, text in found_marks}) == len(found_marks)


def test_the_clock_rounds_half_to_even() -> None:
    clock = Clock(10_000, "s", 1, 3)
    assert [clock(t) for t in (5, 15, 14_995, 12_345)] == [
        "0.000 s",
        "0.002 s",
        "1.500 s",
        "1.234 s",
    ]


# ── state ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("field", "typed"),
    [
        *(("tokens", t) for t in ("-3", "2.5", "abc", "１２", "", "10000001")),
        *(("cards", t) for t in ("0", "-1", "1.5", "一")),
        *(("bandwidth", t) for t in ("0", "-1", "50 GB", "1e3", "nan", "无限")),
        *(("cap", t) for t in ("0", "25.5", "1048577")),
        *(("latency", t) for t in ("-1", "1000001")),
        *(("accumulation", t) for t in ("0", "65")),
        ("pin", "mode=never"),
        ("bucket", "-1"),
    ],
)
def test_a_bad_value_keeps_the_last_good_one(field: str, typed: str) -> None:
    """UX 15 and 41."""
    was = "guess=skip&tokens=16384&cards=64&bandwidth=100&cap=50&latency=2&accumulation=2"
    before = parse(FIELDS, was)[field]
    html = widgets.render("overlap", f"{SEEN}{urlencode({field: typed, 'was': was})}")
    assert full(html).get(field, "") == str(before)
    assert f'id="overlap-{field}-error"' in html
    if field not in ("pin", "bucket"):
        assert f'aria-invalid="true" aria-describedby="overlap-{field}-error"' in html


def test_without_limit_has_two_names() -> None:
    for typed in ("inf", "不限"):
        html = widgets.render("overlap", SEEN + urlencode({"bandwidth": typed}))
        assert full(html)["bandwidth"] == "inf"
        assert 'value="不限"' in html


def test_a_number_has_one_spelling() -> None:
    assert full(widgets.render("overlap", "bandwidth=050.500"))["bandwidth"] == "50.5"


QUERIES = st.one_of(
    st.text(max_size=80),
    st.fixed_dictionaries(
        {},
        optional={
            f.name: st.sampled_from([*f.options])
            if hasattr(f, "options") and f.name != "model"
            else st.sampled_from(["qwen3.8-27b", "deepseek-v3", "gpt2", "qwen3-8b", "nobody"])
            if f.name == "model"
            else st.one_of(
                st.integers(0, 70_000).map(str),
                st.sampled_from(["1", "inf", "0.5", "x", "mode=sync"]),
            )
            for f in FIELDS
        },
    ).map(urlencode),
)


@settings(deadline=None, max_examples=200)
@example("no_sync=trap&tokens=0&cards=2000")
@given(QUERIES)
def test_any_query_gives_a_frame_that_survives_its_own_query(query: str) -> None:
    html = widgets.render("overlap", query)
    state = full(html)
    again = widgets.render("overlap", urlencode(state))
    assert full(again) == dict(state.items())
    if not parse(FIELDS, query).notices:
        assert again == html


@pytest.mark.parametrize("field", [f.name for f in FIELDS] + ["bogus"])
def test_what_a_reader_types_is_escaped(field: str) -> None:
    html = widgets.render("overlap", SEEN + urlencode({field: '"><script>alert(1)</script>'}))
    assert "<script" not in html


def test_two_copies_share_no_id() -> None:
    query = "guess=half&tokens=x&table=on&bucket=3&zoom=2&pin=mode%3Dsync&bogus=1&other=2"
    seen = ids(*(widgets.render("overlap", query, name) for name in ("overlap", "overlap2")))
    assert len(seen) == len(set(seen)) > 60


# ── the guess, the tasks, the file ──────────────────────────────────────────────────────


def test_it_asks_first_and_shows_what_there_is_to_hide() -> None:
    """UX 36: a guess before the answer; skipping is allowed."""
    asked = widgets.render("overlap", "")
    assert told(asked)["exposed"] == "1.94 s"
    assert "overlap-curve" not in asked
    for guess, verdict in [("none", "没猜中"), ("half", "猜中了"), ("most", "没猜中")]:
        html = widgets.render("overlap", f"guess={guess}")
        assert told(html)["exposed"] == "0.95 s"
        assert re.search(rf"<p>{verdict}。你猜的是", html)
        assert "你猜的是" in widgets.render("overlap", f"guess={guess}&tokens=65536")
    linked = widgets.render("overlap", "tokens=16384")  # a link to a state shows that state
    assert told(linked)["hidden_share"] == "92.1%"
    assert re.search(r'name="go" value="guess=skip&amp;mode=sync"', linked)


def test_every_task_begins_in_a_state_of_its_own() -> None:
    starts = [parse(FIELDS, task.start).full_query() for task in TASKS.values()]
    assert len(set(starts)) == len(starts)


def test_tasks_are_ticked_where_their_point_is_seen() -> None:
    """UX 37."""
    for name, task in TASKS.items():
        assert name not in reached(widgets.widget("overlap"), parse(FIELDS, task.start))
    for query, seen in [
        ("", "buckets"),
        ("tokens=16384", "hidden"),
        ("tokens=7590", "even"),
        ("tokens=16384&unused=absent", "stub"),
    ]:
        assert reached(widgets.widget("overlap"), parse(FIELDS, SEEN + query)) == seen


def test_walk() -> None:
    assert len(walk()) == len(set(walk())) == 4 + len(TOKENS) + 3
    assert all(not parse(FIELDS, q).notices for q in walk())


def test_the_step_can_be_taken_away_as_a_trace() -> None:
    asked = {"widget": "overlap", "query": "tokens=16384", "export": "trace"}
    file = json.loads(widgets.answer(json.dumps(asked)))
    events = json.loads(file["text"])["traceEvents"]
    sent = [e for e in events if e["ph"] == "X" and "bucket" in e["args"]]
    assert (file["name"], file["type"]) == ("qwen3.8-27b-8x16384.trace.json", "application/json")
    assert len(sent) == 406
    with pytest.raises(UnknownName):
        widgets.answer(json.dumps(asked | {"export": "film"}))


def test_frames_are_the_same_bytes_in_pyodide(browser_python: dict[str, Any]) -> None:
    """UX 59 and 61."""
    more = [SEEN + q + "&zoom=3&from=20000&table=on&bucket=7" for q in SETTINGS + PROBLEMS]
    same_in_pyodide("overlap", more, browser_python)
