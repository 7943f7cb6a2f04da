"""What looks like a figure and is an ordinal, a reference, a word, a formula or a small count."""

from __future__ import annotations

import re

from build_tools.lint import fields
from build_tools.lint.kinds import Kind
from build_tools.lint.numerals import DIGITS, GAP, SIZES, YEAR, in_digits, value

_ORDINAL = re.compile(rf"第{GAP}(?:[0-9{DIGITS}]+{GAP}[、,–~～到至和与-]{GAP})*$")
_SYMBOLIC = re.compile(rf"(?:(?:^|[^A-Za-z0-9\s])\s*[A-Za-z]|[)）]){GAP}[−+\-–/÷]{GAP}$")

# 图 1, §3.1: the sign is a word of its own, as it is not in 词表, 比例, 模式, 环节.
_HAN = "\u4e00-\u9fff"
_SIGN = rf"(?:(?<![{_HAN}])|(?<=[见如在和与据看按照到是从由及或即该本下上此用的至]))[图表式节章例]"
_PLACE = re.compile(
    rf"(?:{_SIGN}|§|附录|公式|实验|阶段|步骤|[Ff]ig(?:ure|\.)|[Tt]able|[Ss]ec(?:tion|\.)|[Ee]q\.?)"
    r"[ ]?[(（]?[ ]?$"
)
_PLACE_NUMBER = re.compile(r"[1-4]?[0-9](?:\.[1-9][0-9]?)?")
_BEHIND_PLACE = re.compile(r"\s*[节章版]")
# A version stands behind a product, an address behind what numbers things.
_PRODUCT = re.compile(
    r"(?<![A-Za-z])(?:PyTorch|torch|Python|CUDA|cuDNN|NCCL|Pyodide|MkDocs|Material|Linux|Ubuntu|Debian"
    r"|Chrome|Chromium|Firefox|Safari|Node(?:\.js)?|NumPy|JAX|[Tt]ransformers|Llama|Qwen|GPT|DeepSeek"
    r"|Mixtral|Mistral|Gemma|Gemini|Claude|Phi|DeepSpeed|Horovod|vLLM|Triton|NVLink|PCIe|HTML|CSS|HTTP"
    r"|TLS|WCAG|Unicode|MPI|OpenMPI|CC BY(?:-[A-Z]+)*|GPL|Apache|TypeScript|版本?|[Vv]ersion)[ ]?$"
)
_VERSION = re.compile(r"[0-9]{1,2}\.[0-9]{1,2}")
_NUMBERED = re.compile(
    r"(?:(?<![A-Za-z])(?:RFC|HTTP|ISO|IEEE|PEP|ACM|CVE|GB/T)|端口|版本?|编号) ?$"
)
# Items that are numbered, not counted: 卡 12, 块 40, 第 64.
_ITEM = re.compile(
    r"(?:[卡块层桶步号页行列课站题第章节]|专家|进程|节点|机器|端口|版本?|阶段|步骤"
    r"|种子|标签|编号)[ ]?$"
)
_NEAR = 60  # characters on both sides that tell what a number is
_PAIR = re.compile(r"(?:[每任][隔意何]?|[这那哪某另隔]|另外|相邻的?|[前后]|最后|同样|随便)$")
_MANY = ("几", "数", "上", "下", "好", "成", "近", "万")
# Words of size say too much of these: 几十倍, 上百 GB.
_MEASURED = ("times", "bytes", "rate", "flop", "percent", "copies", "ratio")
_STORAGE = re.compile(r"[ ]?的?[ ]?(?:显存|内存|缓存|流量|算力|带宽|参数|词|tokens?)")


def is_innocent(kind: Kind, m: re.Match[str], text: str) -> bool:
    """Whether the match ``m`` of ``kind`` in ``text`` says nothing that could be computed."""
    groups = m.groupdict()
    n, before = m["n"], text[max(0, m.start("n") - _NEAR) : m.start("n")]
    after = text[m.end() : m.end() + _NEAR]
    if is_ordinal(text[max(0, m.start() - _NEAR) : m.start()]) or is_ordinal(before):
        return True
    if kind.what == "change":
        return _is_small_change(m)
    if m[0] == "一比一":
        return True
    if groups.get("more") == "几":
        return kind.what == "spelled"  # 十几张卡 is none
    if kind.what == "time" and m["u"] == "年" and not groups.get("more") and YEAR.fullmatch(n):
        return True
    if kind.what == "spelled" and not (set(n) & set(SIZES) and set(n) & set(DIGITS)):
        return True
    if kind.what in ("field", "named"):
        return _names_no_field(kind, m, before, after)
    if in_digits(n):
        return _innocent_digits(kind, m, before, after)
    if groups.get("over"):
        return False  # 慢一倍多
    if n[0].isascii():
        return value(n) == 1 or kind.what == "count"
    return _innocent_words(kind, n, m["u"], before, after)


def is_ordinal(before: str) -> bool:
    return bool(_ORDINAL.search(before))


def _is_small_change(m: re.Match[str]) -> bool:
    """从 1 到 10, but not 从 97 涨到 109."""
    if YEAR.fullmatch(m["n"]) and YEAR.fullmatch(m["to"]):
        return True
    ends = [value(n) for n in (m["n"], m["to"])]
    if re.search(r"[涨升降跌增减长缩变]", m[0]):
        return not (in_digits(m["n"]) or in_digits(m["to"])) and None in ends
    return all(end is None or end <= 10 for end in ends) or not in_digits(m["n"])


def _names_no_field(kind: Kind, m: re.Match[str], before: str, after: str) -> bool:
    n, between = m["n"], m.groupdict().get("between") or ""
    if value(n) is None or n in ("一", "半"):
        return True
    if kind.what == "named":
        # 序列并行（2020）
        return bool(YEAR.fullmatch(n)) and not between.strip() and "并行" in m[0]
    if fields.of_symbol(m["field"]) is None:
        return True
    if value(n) == 0 or re.match(r"[ ]?的[ ]?(?:幂|倍数|整数|次)", after):
        return True  # t = 0, N 为 2 的幂
    sign = re.fullmatch(rf"{GAP}([=＝])?{GAP}", between)
    if sign:
        return "." not in n and bool(_SYMBOLIC.search(before))
    if re.match(r"[ ]?[A-Za-z0-9秒字毫微天小分%倍]", after) or fields.counts_something(after):
        return True  # C 是 3 步
    return (value(n) or 0) <= 1  # N > 1


def _innocent_digits(kind: Kind, m: re.Match[str], before: str, after: str) -> bool:
    n = m["n"]
    if "." not in n and _SYMBOLIC.search(before):
        return True
    number = value(n) or 0
    match kind.what:
        case "decimal":
            return _is_place(n, before) or _is_no_result(n, before, after)
        case "bare":
            small = number <= 10 or "." in n or bool(YEAR.fullmatch(n))
            return small or bool(_ITEM.search(before)) or _is_place(n, before)
        case "letter":
            return "." not in n and number < 10 and not _STORAGE.match(after)  # 2G: G is a symbol
        case "fraction":
            return m.groupdict().get("under") == n  # 8/8 of them
        case "count":
            return not m["big"] and number <= 10
    return False


def _is_place(n: str, before: str) -> bool:
    at_place = _PLACE.search(before) and _PLACE_NUMBER.fullmatch(n)
    return bool(at_place or _NUMBERED.search(before))


def _is_no_result(n: str, before: str, after: str) -> bool:
    """Whether a number by itself is a version, a year, or not large."""
    if "." in n:
        version = _VERSION.fullmatch(n) and _PRODUCT.search(before)
        return bool(version) or bool(_PLACE_NUMBER.fullmatch(n) and _BEHIND_PLACE.match(after))
    if len(n) < 4 or "," in n or (after[:1].isascii() and after[:1].isalnum()):
        return True
    return bool(YEAR.fullmatch(n))


def _innocent_words(kind: Kind, n: str, unit: str, before: str, after: str) -> bool:
    if n[0] == "一" and before[-1:] and before[-1] in "统唯单同专归划逐惟":
        n = n[1:]  # 统一, 唯一
    if not n or n in ("一两", "几"):
        return True
    if before.endswith(_MANY) and set(n) <= set("十半" + SIZES) and kind.what not in _MEASURED:
        return True
    match kind.what:
        case "percent":
            return n == "百" or (n == "一" and unit == "成")
        case "fraction":
            return n == "百"  # that was a percentage
        case "times" if n == "一":
            return unit == "番" or bool(re.search(r"[加多翻大增涨快慢少长高重]了?$", before))
        case "times":
            return False
        case "spelled" if n == "万一":
            return True
        case "count":
            return set(n) <= set(SIZES) or (value(n) or 0) <= 10
        case "cards" | "nodes" if n in ("两", "三"):
            return bool(_PAIR.search(before)) or bool(re.match(r"\s*(?:之间|互)", after))
        case "ways" if n == "两":
            return unit.startswith("级")  # 前后两级流水
        case "time" if "半" in unit:
            return False
        case "time" if unit == "天" and after.startswith("两头"):
            return True
        case "time" if (n, unit) in (("半", "天"), ("四", "周")):
            return True
        case "time" if n == "半":
            return False
        case "bytes" if unit in ("兆", "吉"):
            return set(n) <= set(SIZES)  # 千兆网
        case "tokens" | "parameters" if len(n) == 1 and unit.startswith("个"):
            return True  # 两个 token: no Scenario has so few
    return n == "一" or n.endswith("半") or (set(n) <= set(SIZES) and kind.what not in _MEASURED)
