"""Figures typed by hand in prose, found and refused.

A figure in prose is computed (``q``), printed by a paper (``fact``), typed with a reason
(``lit``) or vouched for by a claim around it; all else would lie as soon as a config or
the reader's Scenario changes. What is no figure is told apart by rule:

- ordinals and references: 第 2 课, 图 1, §3.1, 0 号卡
- years, dates, versions, names: 2017 年, 2026-11-30, ZeRO-1/2/3, Qwen3-8B, Llama 3 405B, 1F1B
- formulas in symbols: N − 1, 2(N−1)/N, N 分之一, 10⁹ 字节
- 一 as a word, and words of size: 一张卡, 上百张卡, 成千上万, 加一倍, 一半
- two or three particular cards: 这三张卡, 任意两张卡, 两张卡之间
- counts up to ten of ordinary things: 三个问题, 两段, 四步

A Scenario field (cards, tokens, MiB, GB/s, TFLOPS, N = 8) is refused even in a claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from build_tools.calls import Call, parse_call
from build_tools.source import CALL, CODE, OBJECT, Prose, Source, Written
from py_core.errors import LessonError

if TYPE_CHECKING:
    from py_core.quantity import Quantity
    from py_core.units import Unit

FIGURE, SCENARIO, NUMBER, COUNT = "figure", "scenario", "number", "count"
LIT, COMPARE, CLAIM, FRONT_MATTER = "lit", "compare", "claim", "front-matter"


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """Something an author must mend: where it stands, what it is, what to write instead."""

    line: int
    column: int
    text: str
    rule: str
    says: str

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {' '.join(self.text.split())}: {self.says}"


def check(source: Source) -> list[Finding]:
    """All findings of one file, in its order."""
    findings = [Finding(*fault.position, fault.text, CLAIM, fault.says) for fault in source.faults]
    used = frozenset(_names_called(source))
    for prose in source.prose:
        findings += _typed(prose, used)
        findings += _front_matter(prose)
        findings += _without_braces(prose)
        findings += _doubled_units(prose)
        for sentence in prose.sentences():
            findings += _compared(sentence)
    for written in source.calls:
        findings += _literal(written)
    return sorted(findings)


# ── what a figure looks like ────────────────────────────────────────────────────────────

_NAME = "\ue004"  # stands for names, dates and versions, whose digits count nothing
_CARD = "\ue005"  # stands for names of cards: 8 × H100
_OPERAND = rf"0-9A-Za-z(（{CALL}{CODE}{OBJECT}{_NAME}"
# Full-width letters and digits are read like others; there are two micro signs.
_SAME = {0xFF01 + i: 0x21 + i for i in range(94) if chr(0x21 + i).isalnum()}
_SAME |= str.maketrans("．％μ", ".%µ")

_GAP = r"[ \t\n\u00a0\u2009\u202f$]*"  # $97.2$ GB: there is no maths on this site
_POWER = r"[eE][+\-−]?[0-9]{1,3}(?![0-9A-Za-z.])"  # 3e-4
_PLAIN = rf"[0-9]+(?:,[0-9]{{3}})*(?:\.[0-9]+)?(?![0-9])(?:{_POWER})?"
_ARABIC = rf"(?<![0-9A-Za-z_^])(?<![0-9]\.){_PLAIN}"
_DIGITS, _SIZES = "〇零一二两三四五六七八九十半", "百千万亿"
_CHINESE = (
    rf"(?<![{_DIGITS}{_SIZES}])[{_DIGITS}{_SIZES}]+(?:点[〇零一二三四五六七八九]+)?"
    rf"(?![{_DIGITS}{_SIZES}])"
)
_NUMBER = rf"(?P<n>{_ARABIC}|{_CHINESE})"
_BIG = r"(?P<big>万亿|千万|百万|[万亿]|千(?!兆)|[KkM](?![A-Za-z0-9]))?"
_MORE = r"(?P<more>[多余来几])?"
_HEAD = rf"{_NUMBER}{_GAP}{_BIG}{_MORE}{_GAP}"
_END = r"(?![A-Za-z0-9])"
_SYMBOL_END = r"(?![A-Za-z0-9·_^'’])"  # behind a unit of one letter

# What 张 counts besides cards.
_SHEET = "图表纸照截榜脸嘴网幻海试卷量力开贴清桌床地票唱"
_NAMED = f"[{_NAME}{_CARD}]"
_NO_TIME = rf"(?!-?{_GAP}(?:(?:GPU|卡)?-?{_GAP}(?:小时|机时|hours?)))"
_CARDS = (
    rf"(?:[张块片个]{_GAP})?(?:{_NAMED}+{_GAP})?"
    rf"(?:(?:显|加速)?卡(?![片顿死住车牌])|GPUs?{_END}{_NO_TIME})"
    rf"|张(?!{_GAP}[{_SHEET}])(?:{_GAP}{_NAMED}+)?"
    rf"|(?:[块片个台]{_GAP})?(?:[×xX*]{_GAP})?{_CARD}++{_NO_TIME}"
    rf"|(?:个{_GAP})?(?:ranks?{_END}|进程)"
)
_NODES = rf"个{_GAP}(?:计算)?节点|台{_GAP}(?:机器|服务器|主机|节点|{_NAMED}+)|nodes?{_END}"
_WAYS = (
    rf"路{_GAP}(?:张量|流水线?|数据|上下文|专家|序列)?{_GAP}并行|级{_GAP}流水"
    rf"|个?{_GAP}(?:微批|micro-?batch(?:es)?{_END})"
)
_RATES = (
    rf"MiB{_END}(?!/)|(?:[kKMGT]i?B|字节|B)/[s秒]{_END}|[KMGT](?:bps|b(?:it)?/s){_END}"
    rf"|[kKMGTPEZ]?FLOP(?:s/s|/s|S){_END}"
)
_BYTES = (
    rf"(?:[kKMGTPE]i?B{_END}|B{_SYMBOL_END}"
    rf"|(?:个{_GAP})?[kKMGTPE千兆吉太]?(?:字节|[Bb]ytes?{_END}))"
)
_TIME = (
    rf"(?:[mµun]s|min){_END}|[sh]{_SYMBOL_END}|[毫微纳]?秒(?!杀)|分钟|天(?![空上下生然])"
    rf"|(?:个{_GAP})?(?:{_NAMED}+{_GAP})?(?:GPU{_GAP}|卡)?(?:小时(?!制)|机时)"
    rf"|(?:{_NAMED}+{_GAP})?GPU-?hours?{_END}"
    rf"|周(?![期围边])|(?:个{_GAP})?星期|个{_GAP}月|年(?![代级度底初末份轮龄])"
)
_FLOP = rf"[kKMGTPEZ]?FLOPs?{_END}|次{_GAP}浮点"
_TOKENS = rf"(?:个{_GAP})?(?:tokens?{_END}|词元)"
_WAY = r"(?<![A-Za-z0-9_])(?P<field>[TPCED]P)"
_FIELD = r"(?<![A-Za-z0-9_])(?P<field>[A-Za-z]|[TPCED]P)"
_MEASURES = "个条层次步块台种项行列级份组段对路头轮批页站篇维件格档类颗根套门句题处支只片"


class _Kind(NamedTuple):
    rule: str
    what: str
    pattern: re.Pattern[str]


def _kind(rule: str, what: str, pattern: str) -> _Kind:
    return _Kind(rule, what, re.compile(pattern))


# The first kind that fits a place has it.
_KINDS = (
    _kind(SCENARIO, "cards", rf"{_HEAD}(?P<u>{_CARDS})"),
    _kind(SCENARIO, "nodes", rf"{_HEAD}(?P<u>{_NODES})"),
    _kind(SCENARIO, "ways", rf"{_HEAD}(?P<u>{_WAYS})"),
    _kind(SCENARIO, "tokens", rf"{_HEAD}(?P<u>{_TOKENS})"),
    _kind(SCENARIO, "rate", rf"{_HEAD}(?P<u>{_RATES})"),
    _kind(
        SCENARIO,
        "rate",
        rf"每秒钟?[约能可传发收走送搬读写算出到只有要过]*{_GAP}{_HEAD}(?P<u>{_BYTES})",
    ),
    _kind(SCENARIO, "field", rf"{_FIELD}{_GAP}[=＝]{_GAP}(?P<n>{_PLAIN})(?P<u>)"),
    _kind(SCENARIO, "field", rf"{_WAY}{_GAP}(?P<n>{_PLAIN})(?P<u>)"),
    _kind(FIGURE, "percent", rf"百分之{_GAP}(?P<n>{_ARABIC}|[{_DIGITS}{_SIZES}]+)(?P<u>)"),
    _kind(FIGURE, "fraction", rf"{_NUMBER}{_GAP}分之{_GAP}(?:{_PLAIN}|{_CHINESE})(?P<u>)"),
    _kind(FIGURE, "fraction", rf"(?<![/.]){_NUMBER}/[0-9]+(?![/0-9A-Za-z.])(?P<u>)"),
    _kind(FIGURE, "fraction", r"(?P<n>[½⅓⅔¼¾⅕⅛])(?P<u>)"),
    _kind(FIGURE, "percent", rf"{_HEAD}(?P<u>%|‰|个?百分点)"),
    _kind(FIGURE, "percent", rf"(?P<n>{_CHINESE})(?P<u>成)(?![员本为了就分立功果熟长交绩型品])"),
    _kind(
        FIGURE,
        "percent",
        rf"(?:[MH]FU|利用率)[约是为有达到只才＝=:：]*{_GAP}{_NUMBER}(?P<u>)(?![%‰])",
    ),
    _kind(FIGURE, "times", rf"{_HEAD}(?P<u>倍)(?P<over>多(?!少))?"),
    _kind(FIGURE, "times", rf"翻了?{_GAP}{_NUMBER}{_GAP}(?P<u>番)"),
    _kind(FIGURE, "product", rf"{_NUMBER}{_GAP}×{_GAP}{_PLAIN}[⁰¹²³⁴-⁹⁻]*(?P<u>)"),
    _kind(FIGURE, "times", rf"(?P<n>{_ARABIC})(?P<u>[×xX])(?!{_GAP}[{_OPERAND}])"),
    _kind(FIGURE, "times", rf"(?<![{_OPERAND})）])(?<![{_OPERAND})）]\s)×(?P<n>{_PLAIN})(?P<u>)"),
    _kind(FIGURE, "time", rf"{_HEAD}(?P<u>{_TIME})"),
    _kind(FIGURE, "bytes", rf"{_HEAD}(?P<u>{_BYTES})"),
    _kind(FIGURE, "flop", rf"{_HEAD}(?P<u>{_FLOP})"),
    _kind(FIGURE, "parameters", rf"{_HEAD}(?P<u>(?:个{_GAP})?参数)"),
    _kind(FIGURE, "ratio", rf"{_NUMBER}(?:(?: : |{_GAP}∶{_GAP})[0-9.]+)+(?P<u>)"),
    _kind(NUMBER, "power", rf"(?<![0-9A-Za-z_^.])(?P<n>[0-9]+(?:\.[0-9]+)?{_POWER})(?P<u>)"),
    _kind(
        NUMBER,
        "large",
        rf"(?P<n>{_ARABIC}){_GAP}(?P<big>万亿|千万|百万|[万亿千]|[KkM]{_END})(?P<u>)",
    ),
    _kind(NUMBER, "spelled", rf"(?P<n>{_CHINESE})(?P<u>)"),
    _kind(NUMBER, "grouped", rf"(?P<n>{_ARABIC})(?P<u>)(?<=,[0-9]{{3}})"),
    _kind(NUMBER, "decimal", rf"(?P<n>{_ARABIC})(?P<u>)(?<=[0-9.])"),
    _kind(COUNT, "count", rf"{_HEAD}(?P<u>[{_MEASURES}])(?!方|(?<=页)面)"),
)

_CARD_NAMES = re.compile(
    r"(?:(?<![A-Za-z0-9-])|(?<=[0-9][xX]))(?:NVIDIA )?"
    r"(?:[ABHPV][0-9]{2}0|A10|A40|H20|L4|L40S?|T4|GB[23]00|MI[0-9]{3}X?)"
    r"(?:[ -](?:[0-9]+GB|PCIe|SXM[0-9]?|NVL))*(?![A-Za-z0-9])"
)
_NAMES = re.compile(
    r"(?<![0-9])[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?(?![0-9])"  # dates
    r"|(?<![0-9])[0-9]{4}/[0-9]{1,2}/[0-9]{1,2}(?![0-9])"
    r"|(?<![0-9])10\.[0-9]{4,9}/[^\s，。；、）]+"  # a DOI
    r"|(?<![0-9.])[0-9]{4}\.[0-9]{4,5}(?:v[0-9]+)?(?![0-9])"  # arXiv
    r"|(?<![0-9.])[0-9]+(?:\.[0-9]+){2,}"  # a version
    r"|(?<![A-Za-z0-9])(?=[A-Z][A-Za-z.-]*[a-z0-9])[A-Z][A-Za-z0-9.-]*"  # Llama 3 405B
    r"(?: [0-9][0-9.]*)? [0-9]+(?:\.[0-9]+)?B(?![A-Za-z0-9])(?!\s*个?参数)"
    r"|(?<![A-Za-z0-9])(?![TPCED]P[0-9=-])[A-Za-z](?=[A-Za-z0-9_.+/–-]*[0-9])"  # ZeRO-1/2/3, bf16
    r"[A-Za-z0-9]*(?:[-_.+/–][A-Za-z0-9]+)*"
    rf"|(?<![A-Za-z0-9])(?![0-9]+{_POWER})[0-9]+[A-Za-z]+[0-9]+[A-Za-z0-9]*"  # 1F1B, 8x7B
    r"|(?<![A-Za-z0-9.])[0-9]+×[0-9]+(?:\.[0-9]+)?B(?![A-Za-z0-9])(?!\s*个?参数)"
)
_RUN = re.compile(  # "8、16 和 64 张卡" is one figure
    rf"(?:{_ARABIC}{_GAP}(?:[A-Za-z%]{{1,5}}{_GAP})?(?:[–—~～\-→、,或和与到至]){_GAP})+$"
)
_ORDINAL = re.compile(rf"第{_GAP}(?:[0-9{_DIGITS}]+{_GAP}[、,–~～到至和与-]{_GAP})*$")
_SYMBOLIC = re.compile(rf"(?:(?:^|[^A-Za-z0-9\s])\s*[A-Za-z]|[)）]){_GAP}[−+\-–/÷]{_GAP}$")
_REFERENCE = re.compile(
    r"(?:[图表式节章例§]|附录|版本?|公式|实验|阶段|步骤|端口|[Ff]ig(?:ure|\.)|[Tt]able|[Ss]ec(?:tion|\.)|"
    r"[Ee]q\.?)\s*[(（]?$"
)
_VERSIONED = re.compile(r"(?<![A-Za-z])(?:[A-Z][A-Za-z-]*[a-z][A-Za-z-]*|[A-Z-]{4,}) ?$")
_NUMBERED = re.compile(r"(?<![A-Za-z])[A-Za-z]{2,} ?$")  # RFC 9110
_YEAR = re.compile(r"(?:19|20)[0-9]{2}|[一二][〇零一二三四五六七八九]{3}")
_PAIR = re.compile(r"(?:每|任意|任何|这|那|哪|某|另|另外|相邻的?|[前后]|最后|同样|随便)$")


def _typed(prose: Prose, used: frozenset[str]) -> Iterator[Finding]:
    """The figures typed in one piece of prose."""
    for typed in _figures(prose.text):
        if typed.kind.rule != SCENARIO and prose.claim_at(typed.at):
            continue
        sentence = _sentence_around(prose, typed.at)
        text = prose.written(typed.start, typed.stop)
        says = _instead(typed, text, _Around(sentence, used))
        if prose.kind.startswith("page "):
            says = "nothing is computed in front matter: say it without the figure"
        yield Finding(*prose.position(typed.start), text, typed.kind.rule, says)


@dataclass(frozen=True, slots=True)
class _Typed:
    """A figure found in a text: ``number`` is what its digits say, None where vague."""

    kind: _Kind
    start: int
    stop: int
    at: int  # where its last number starts
    digits: str
    unit: str
    number: Fraction | None
    size: Fraction  # of 万, 亿, K
    field: str = ""


def _figures(text: str) -> list[_Typed]:
    text = _CARD_NAMES.sub(lambda m: _CARD * len(m.group()), text.translate(_SAME))
    text = _NAMES.sub(lambda m: _NAME * len(m.group()), text)
    found: list[_Typed] = []
    taken = bytearray(len(text))
    for kind in _KINDS:
        for m in kind.pattern.finditer(text):
            if any(taken[m.start() : m.end()]):
                continue
            if _innocent(kind, m, text):
                continue
            run = _RUN.search(text[: m.start()])
            start = run.start() if run and not any(taken[run.start() : run.end()]) else m.start()
            taken[start : m.end()] = b"\x01" * (m.end() - start)
            if _ORDINAL.search(text[:start]):
                continue  # 第 3、4 张
            groups = m.groupdict()
            found.append(
                _Typed(
                    kind,
                    start,
                    m.end(),
                    m.start("n"),
                    _expanded(m["n"]),
                    re.sub(r"\s|^个", "", m["u"]),
                    None if groups.get("more") or groups.get("over") else _value(m["n"]),
                    _SIZE_OF[groups.get("big") or ""],
                    groups.get("field") or "",
                )
            )
    return sorted(found, key=lambda typed: typed.start)


def _innocent(kind: _Kind, m: re.Match[str], text: str) -> bool:
    """Whether what looks like a figure is an ordinal, a word, a formula or a small count."""
    n, unit, before = m["n"], m["u"], text[: m.start("n")]
    more = m.groupdict().get("more")
    if _ORDINAL.search(before):
        return True
    if more == "几":
        return not (kind.what in ("cards", "nodes") and n.endswith("十"))  # 十几张卡
    if kind.what == "time" and unit == "年" and not more and _YEAR.fullmatch(n):
        return True
    if kind.what == "spelled" and not (set(n) & set(_SIZES) and set(n) & set(_DIGITS)):
        return True
    if n[0].isascii():
        return _innocent_digits(kind, m, before, text[m.end() :])
    if m.groupdict().get("over"):
        return False  # 慢一倍多
    return _innocent_words(kind, n, unit, before, text[m.end() :])


def _innocent_digits(kind: _Kind, m: re.Match[str], before: str, after: str) -> bool:
    n = m["n"]
    if "." not in n and _SYMBOLIC.search(before):
        return True
    match kind.what:
        case "field":
            return _symbol_field(m["field"]) is None
        case "decimal":
            if "." in n:
                named = _REFERENCE.search(before) or _VERSIONED.search(before)
                return bool(named) or bool(re.match(r"\s*[节章版号]", after))
            if len(n) < 4 or "," in n or (after[:1].isascii() and after[:1].isalnum()):
                return True
            if _REFERENCE.search(before.rstrip(" ")):
                return True
            return bool(_YEAR.fullmatch(n)) or bool(_NUMBERED.search(before))
        case "count":
            return not m["big"] and (_value(n) or 0) <= 10
    return False


def _innocent_words(kind: _Kind, n: str, unit: str, before: str, after: str) -> bool:
    if n[0] == "一" and before[-1:] and before[-1] in "统唯单同专归划逐惟":
        n = n[1:]  # 统一, 唯一
    vague = before.endswith(("几", "数", "上", "下", "好", "成", "近", "万"))
    if not n or n in ("一两", "几") or (vague and set(n) <= set("十半" + _SIZES)):
        return True
    match kind.what:
        case "percent":
            return n == "百" or (n == "一" and unit == "成")
        case "fraction":
            return n == "百"  # that was a percentage
        case "times" if n == "一":
            return unit == "番" or bool(re.search(r"[加多翻大增涨快慢少长高重]了?$", before))
        case "times":
            return set(n) <= set(_SIZES)
        case "spelled" if n == "万一":
            return True
        case "count":
            return set(n) <= set(_SIZES) or (_value(n) or 0) <= 10
        case "cards" | "nodes" if n in ("两", "三"):
            return bool(_PAIR.search(before)) or bool(re.match(r"\s*(?:之间|互)", after))
        case "time" if unit == "年" and after.startswith("前"):
            return True  # 五年前
        case "time" if unit == "天" and after.startswith("两头"):
            return True
        case "time" if (n, unit) in (("半", "天"), ("四", "周")):
            return True
        case "time" if n == "半":
            return False
        case "tokens" | "parameters" if len(n) == 1 and unit.startswith("个"):
            return True  # 两个 token: no Scenario has so few
    return n == "一" or n.endswith("半") or set(n) <= set(_SIZES)


_SIZE_OF = {
    "": Fraction(1),
    "K": Fraction(10**3),
    "k": Fraction(10**3),
    "千": Fraction(10**3),
    "万": Fraction(10**4),
    "M": Fraction(10**6),
    "百万": Fraction(10**6),
    "千万": Fraction(10**7),
    "亿": Fraction(10**8),
    "万亿": Fraction(10**12),
}
_DIGIT_OF = dict(zip("〇零一二两三四五六七八九", (0, 0, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9), strict=True))
_POWER_OF = {"十": 10, "百": 100, "千": 1000}


def _value(n: str) -> Fraction | None:
    """What a number says, in digits or in words; None for 两三 and the like."""
    if n[0].isascii():
        return Fraction(n.replace(",", "").replace("−", "-"))
    if n == "半":
        return Fraction(1, 2)
    whole, point, decimals = n.partition("点")
    total = section = digit = 0
    for previous, c in zip(" " + whole, whole, strict=False):
        if c in _DIGIT_OF:
            if previous in _DIGIT_OF and previous not in "〇零":
                return None
            digit = _DIGIT_OF[c]
        elif c in _POWER_OF:
            section += (digit or 1) * _POWER_OF[c]
            digit = 0
        elif c in "万亿":
            total = (total + section + digit or 1) * (10**4 if c == "万" else 10**8)
            section = digit = 0
        else:
            return None
    value = Fraction(total + section + digit)
    if point:
        value += Fraction(sum(_DIGIT_OF[c] * 10**-i for i, c in enumerate(decimals, 1)))
    return value


def _expanded(n: str) -> str:
    """``1.5e9`` with all its digits; other numbers as they are."""
    if not re.search(r"[0-9][eE]", n):
        return n
    return format(Decimal(n.replace(",", "").replace("−", "-")), "f")


# ── what to write instead ───────────────────────────────────────────────────────────────

_UNITS_OF = {
    "字节": ("B",),
    "KB": ("kB",),
    "兆字节": ("MB",),
    "吉字节": ("GB",),
    "太字节": ("TB",),
    "小时": ("h",),
    "GPU小时": ("h",),
    "GPU-hours": ("h",),
    "h": ("h",),
    "秒": ("s",),
    "毫秒": ("ms",),
    "微秒": ("µs",),
    "us": ("µs",),
    "天": ("days",),
    "年": ("years",),
    "B": ("B params",),
    "TFLOP/s": ("TFLOPS",),
    "倍": ("×", "ratio"),
    "×": ("×", "ratio"),
    "x": ("×", "ratio"),
    "参数": ("params",),
    "token": ("tokens",),
    "tokens": ("tokens",),
    "词元": ("tokens",),
}
_WAY_FIELDS = {
    "微批": "micro_batches",
    "micro": "micro_batches",
    "流水": "pipeline_stages",
    "张量": "tensor_parallel",
    "上下文": "context_parallel",
    "专家": "expert_parallel",
    "TP": "tensor_parallel",
    "PP": "pipeline_stages",
    "CP": "context_parallel",
    "EP": "expert_parallel",
    "DP": "cards",
}
# Of all quantities that show the same figure, the lesson's own come first.
_OURS = ("ring.sent_per_card", "state.", "ring.", "gradient.", "model.")
_ELSEWHERE = (64, 1024)  # numbers of cards that the lesson speaks of besides its own


class _Around(NamedTuple):
    """What stands around a figure: its sentence, and the quantities that its page shows."""

    sentence: str = ""
    used: frozenset[str] = frozenset()


_NOTHING = _Around()


def _instead(typed: _Typed, text: str, around: _Around) -> str:
    """What an author should write: a quantity that shows the same figure, if there is one."""
    reader = typed.number
    if typed.kind.rule == SCENARIO and reader is not None:
        value = reader * typed.size
        if typed.kind.what == "cards":
            return _pinned("cards", value, " 张卡")
        if typed.kind.what == "nodes":
            return 'a Scenario has them: write {{ q("cluster.nodes") }}, or say it in words'
        if typed.kind.what == "field":
            field = _symbol_field(typed.field)
            return _pinned(field or "cards", value, "", f"{typed.field} = ")
        if typed.kind.what == "ways":
            field = next((f for w, f in _WAY_FIELDS.items() if w in typed.unit), "")
            if field:
                return _pinned(field, value, "")
        if typed.kind.what == "tokens" and not _matches(typed, around):
            return _pinned("tokens", value, "")
    close = _matches(typed, around)[:3]
    if close:
        return f"write {' or '.join(close)}"
    shown = " ".join(text.split())
    what = "a count above ten" if typed.kind.rule == COUNT else "a figure typed by hand"
    return (
        f"{what}: write a quantity {{{{ q(…) }}}} or a fact {{{{ fact(…) }}}}, put the sentence "
        f'into a claim that vouches for it, or say why: {{{{ lit("{shown}", why="…") }}}}'
    )


def _pinned(field: str, value: Fraction, behind: str, before: str = "") -> str:
    from py_core.scenario import SPECS, decimal

    shown = decimal(value)
    pinned = shown if SPECS[field].integer else f'"{shown}"'
    if not SPECS[field].low <= value <= SPECS[field].high:
        return f'a Scenario field: write {{{{ q("{field}") }}}}{behind}, or say it in words'
    return (
        f'a Scenario field: write {before}{{{{ q("{field}", {field}={pinned}) }}}}{behind}, '
        f'or {{{{ q("{field}") }}}} to follow the reader\'s choice'
    )


@cache
def _symbols() -> dict[str, str]:
    from py_core.scenario import SPECS

    symbols = {spec.symbol: name for name, spec in SPECS.items() if not spec.choices}
    return symbols | {way: field for way, field in _WAY_FIELDS.items() if way.isupper()}


def _symbol_field(symbol: str) -> str | None:
    return _symbols().get(symbol)


class _Shown(NamedTuple):
    """A figure that a call would show; ``cards`` is pinned where its value depends on them."""

    name: str
    quantity: Quantity
    cards: int | None
    number: str  # of its display, without commas

    def call(self, more: str = "") -> str:
        pinned = f", cards={self.cards}" if self.cards else ""
        return f'{{{{ q("{self.name}"{pinned}{more}) }}}}'


@cache
def _all_shown() -> list[_Shown]:
    """Every quantity for the lesson's Scenario, then those that differ on more cards."""
    from py_core.quantity import evaluate, names
    from py_core.scenario import DEFAULT

    def every(cards: int) -> dict[str, Quantity]:
        made = {}
        scenario = DEFAULT.with_fields({"cards": cards})
        for name in names():
            try:
                made[name] = evaluate(name, scenario)
            except LessonError:  # not for this model
                continue
        return made

    def shown(name: str, q: Quantity, cards: int | None) -> _Shown:
        number = re.match(r"[0-9,]+(?:\.[0-9]+)?", q.display())
        return _Shown(name, q, cards, number.group().replace(",", "") if number else "")

    here = every(DEFAULT.cards)
    others = {cards: every(cards) for cards in _ELSEWHERE}
    moving = {n for o in others.values() for n, q in o.items() if q.value != here[n].value}
    listed = [shown(n, q, DEFAULT.cards if n in moving else None) for n, q in here.items()]
    listed += [
        shown(n, q, cards) for cards, o in others.items() for n, q in o.items() if n in moving
    ]
    return listed


def _units_of(typed: _Typed) -> tuple[str, ...]:
    """The core's units that a typed unit may mean; none for a bare number."""
    from py_core.units import UNITS

    if typed.kind.what == "percent":
        return ("%",)
    if typed.kind.what == "times":
        return ("×", "ratio")
    return _UNITS_OF.get(typed.unit, (typed.unit,) if typed.unit in UNITS else ())


def _significant(digits: str) -> int:
    bare = digits.replace(",", "").lstrip("0.")
    return len((bare if "." in digits else bare.rstrip("0")).replace(".", ""))


def _matches(typed: _Typed, around: _Around = _NOTHING, exact: bool = False) -> list[str]:
    """Calls that show the typed figure; the likeliest first.

    Those the page uses already come before others, then those that share words with the
    sentence, then the lesson's own, then short names.

    ``exact``: only figures that look the same without options.
    """
    if typed.number is None or typed.kind.what in ("fraction", "product", "ratio"):
        return []
    units = _units_of(typed)
    if typed.unit and not units:
        return []
    ranked: list[tuple[int, bool, int, int, int, int, str]] = []
    for order, shown in enumerate(_all_shown()):
        rank = _rank(typed, units, shown)
        if rank is None or (exact and rank[0]):
            continue
        name = shown.name
        alike = _alike(around.sentence, shown.quantity.says) + _named(around.sentence, name)
        other = next((i for i, ours in enumerate(_OURS) if name.startswith(ours)), len(_OURS))
        fit = (rank[0], name not in around.used, -alike, other, len(name), order)
        ranked.append((*fit, shown.call(rank[1])))
    best = min((r[0] for r in ranked), default=0)
    calls = [r[-1] for r in sorted(ranked) if r[0] == best]
    return calls if exact else calls + _matching_facts(typed, units)


def _rank(typed: _Typed, units: tuple[str, ...], shown: _Shown) -> tuple[int, str] | None:
    """How well a quantity fits: 0 as it shows itself, 1 with options; and those options."""
    from py_core.units import UNITS, display

    q, digits = shown.quantity, typed.digits.replace(",", "")
    if not digits.isascii():
        digits = str(typed.number)
    decimals = len(digits.partition(".")[2])
    if q.unit.name == "B/param" and typed.unit == "字节" and typed.size == 1:
        # "每个参数占 16 字节" has said what each of them is
        return (0, ', unit="bytes each"') if digits == shown.number else None
    if typed.size == 1 and digits == shown.number and (not units or q.unit.name in units):
        bare = not units and not q.unit.label
        if units or bare or _significant(digits) >= 3:
            return 0, ""
    if typed.number is None or _significant(digits) < 3:
        return None
    for name in units:
        unit: Unit = UNITS[name]
        if unit.dimension != q.term.dimension:
            continue
        if round(q.value / unit.scale / typed.size * 10**decimals) == typed.number * 10**decimals:
            if typed.size != 1:
                return (2 if unit == q.unit else 3), ""
            options = "" if unit == q.unit else f', unit="{name}"'
            if display(q.value, unit) != display(q.value, unit, decimals):
                options += f", digits={decimals}"
            return 1, options
    return None


def _alike(sentence: str, says: str) -> int:
    """How many pairs of neighbouring characters two texts share."""

    def pairs(text: str) -> set[str]:
        return {text[i : i + 2] for i in range(len(text) - 1) if text[i : i + 2].isalnum()}

    return len(pairs(sentence) & pairs(says))


def _named(sentence: str, name: str) -> int:
    """How many words of a quantity's name a sentence has: ZeRO-1 has zero1."""
    said = re.sub(r"[^a-z0-9]", "", sentence.lower())
    return sum(len(word) > 2 and word in said for word in re.split(r"[._-]", name))


def _matching_facts(typed: _Typed, units: tuple[str, ...]) -> list[str]:
    from py_core import facts

    if typed.number is None or not (units or _significant(typed.digits) >= 3):
        return []
    calls = []
    for fact_id in facts.ids():
        fact = facts.fact(fact_id)
        if not fact.quotable or fact.unit == "year":
            continue
        try:
            same = fact.number == typed.number * typed.size
            unit = fact.stated_in.name
        except LessonError:
            continue
        if same and (not units or unit in units):
            calls.append(f'{{{{ fact("{fact_id}") }}}}')
    return calls


def _sentence_around(prose: Prose, index: int) -> str:
    start = 0
    for sentence in prose.sentences():
        found = prose.text.find(sentence.text, start)
        start = found + len(sentence.text)
        if found <= index < start:
            return sentence.text
    return prose.text


# ── calls ───────────────────────────────────────────────────────────────────────────────


def _called(written: Written) -> Call | None:
    """None where it is no call: the figures themselves are checked when the page is built."""
    try:
        return parse_call(written.inner)
    except (ValueError, TypeError, RecursionError, MemoryError):  # the page reports it
        return None


def _names_called(source: Source) -> Iterator[str]:
    for written in source.calls:
        call = _called(written)
        if call and call.name == "q" and call.args and isinstance(call.args[0], str):
            yield call.args[0]


def _literal(written: Written) -> Iterator[Finding]:
    call = _called(written)
    if call is None or call.name != "lit" or not call.args or not isinstance(call.args[0], str):
        return
    text, why = call.args[0], call.options.get("why")
    place = (*written.position, written.text, LIT)
    if not isinstance(why, str) or not why.strip(" .…"):
        yield Finding(*place, f'say why it may be typed: {{{{ lit("{text}", why="…") }}}}')
    for typed in _figures(text):
        same = _matches(typed, exact=True) if typed.kind.rule != SCENARIO else []
        if same:
            yield Finding(*place, f"that figure is computed: write {' or '.join(same[:3])}")


def _front_matter(prose: Prose) -> Iterator[Finding]:
    if prose.kind.startswith("page "):
        for m in re.finditer(r"\{\{.*?\}\}|\{%.*?%\}", prose.text):
            says = "nothing is computed in front matter: say it without the figure"
            yield Finding(*prose.position(m.start()), m.group(), FRONT_MATTER, says)


def _without_braces(prose: Prose) -> Iterator[Finding]:
    """What was meant to be a call: ``{ { q("…") }}``."""
    for m in re.finditer(
        r"(?:\{[\s{]*)?(?<![A-Za-z0-9_.])(?:q|fact|cite|lit)\([\"'“‘]", prose.text
    ):
        text = prose.written(m.start(), m.end())
        says = "it is read as text: a call stands between {{ and }}, code between backticks"
        yield Finding(*prose.position(m.start()), text, FIGURE, says)


_UNIT_BEHIND = re.compile(
    rf"{_GAP}(?P<u>{_RATES}|{_BYTES}|{_TIME}|{_FLOP}|倍|[%％]|(?:B{_GAP})?参数(?=[^\w]|$))"
)


def _doubled_units(prose: Prose) -> Iterator[Finding]:
    """Units typed behind a figure that shows its own."""
    for at, written in prose.calls:
        behind = _UNIT_BEHIND.match(prose.text.translate(_SAME), at + 1)
        call = _called(written) if behind else None
        text = _text_of(call) if call else ""
        label = re.fullmatch(r"(?s).*?[0-9](?P<label> ?[^0-9.,]*)", text)
        if behind and label and (own := label["label"].strip()):
            says = f"the figure shows its own unit ({own}): leave this one out"
            unit = prose.written(*behind.span("u"))
            yield Finding(*prose.position(behind.start("u")), unit, FIGURE, says)


def _text_of(call: Call) -> str:
    """What a call shows; nothing where it is wrong, which the page reports."""
    from py_core import facts

    try:
        if call.name == "fact":
            cited = facts.fact(call.one_name("fact"))
            return cited.display(call.text_option("unit"), call.whole_option("item", 0, 99))
        if call.name == "q":
            q, unit, digits = _asked(call)
            return q.display(unit, digits)
    except (ValueError, TypeError):
        pass
    return ""


def _asked(call: Call) -> tuple[Quantity, str | None, int | None]:
    """The quantity that ``q`` asks for, its unit and digits. Raises LessonError."""
    from py_core.quantity import evaluate
    from py_core.scenario import DEFAULT

    unit, digits = call.text_option("unit"), call.whole_option("digits", 0, 12)
    pins = {k: str(v) for k, v in call.options.items() if k not in ("unit", "digits")}
    return evaluate(call.one_name("quantity"), DEFAULT.with_fields(pins)), unit, digits


def _compared(sentence: Prose) -> Iterator[Finding]:
    """Figures of one sentence that do not look alike."""
    figures = [(w, c) for _, w in sentence.calls if (c := _called(w)) and c.name == "q"]
    if len(figures) < 2:
        return
    from py_core.units import dimension_name

    shown = [(w, c, view) for w, c in figures if (view := _view(c))]
    for i, (written, _, view) in enumerate(shown):
        for other, _, before in shown[:i]:
            if view.dimension != before.dimension:
                continue
            differ = view.differs_from(before)
            if differ:
                says = (
                    f"it stands beside {other.text} and is shown {differ}: "
                    f"figures of one sentence ({dimension_name(view.dimension)}) must look alike"
                )
                yield Finding(*written.position, written.text, COMPARE, says)
                break


class _View(NamedTuple):
    """How a figure is shown."""

    dimension: tuple[int, ...]
    value: Fraction
    own: str  # the quantity's own unit
    unit: str
    digits: int | None  # as overridden
    decimals: int

    def differs_from(self, other: _View) -> str:
        from py_core.units import COUNT as PLAIN

        if self.unit != other.unit:
            # 304 years and 54.2 days are told apart by size, 2,664,000 hours are the same
            # time as 304 years, and 8 cards are not compared with 1.75.
            low, high = sorted((abs(self.value), abs(other.value)))
            same_size = low and 1 < high / low < 1000
            if self.own == other.own or (self.dimension != PLAIN and same_size):
                return f"in {self.unit}, not in {other.unit}"
        elif self.digits != other.digits and self.decimals != other.decimals:
            return f"with {self.decimals} decimals, not {other.decimals}"
        return ""


def _view(call: Call) -> _View | None:
    try:
        q, unit, digits = _asked(call)
        text = q.display(unit, digits)
    except (ValueError, TypeError):  # LessonError too; the page reports it
        return None
    number = re.match(r"−?[0-9,]+(?:\.([0-9]+))?", text)
    decimals = len(number[1] or "") if number else 0
    return _View(q.term.dimension, q.value, q.unit.name, unit or q.unit.name, digits, decimals)
