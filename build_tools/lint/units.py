"""Units and counters behind numbers, as patterns; what the core calls them."""

from __future__ import annotations

import re
from fractions import Fraction

from build_tools.lint.numerals import GAP

NAME = "\ue004"  # stands for names, dates and versions, whose digits count nothing
CARD = "\ue005"  # stands for names of cards: 8 × H100
END = r"(?![A-Za-z0-9])"
_SYMBOL_END = r"(?![A-Za-z0-9·_^'’])"  # behind a unit of one letter

# What 张 counts besides cards.
_SHEET = "图表纸照截榜脸嘴网幻海试卷量力开贴清桌床地票唱"
_NAMED = f"[{NAME}{CARD}]"
_NO_TIME = rf"(?!-?{GAP}(?:(?:GPU|卡)?-?{GAP}(?:小时|机时|hours?)))"
CARDS = (
    rf"(?:[张块片个]{GAP})?(?:{_NAMED}+{GAP})?"
    rf"(?:(?:显|加速|计算)?卡(?![片顿死住车牌])|(?i:GPUs?){END}{_NO_TIME})"
    rf"|张(?!{GAP}[{_SHEET}])(?:{GAP}{_NAMED}+)?"
    rf"|(?:[块片个台]{GAP})?(?:[×xX*]{GAP})?{CARD}++{_NO_TIME}"
    rf"|(?:个{GAP})?(?:(?i:ranks?|workers?|cards?|devices?|accelerators?|process(?:es)?){END}|进程)"
)
NODES = (
    rf"个{GAP}(?:计算)?节点|台{GAP}(?:机器|服务器|主机|节点|{_NAMED}+)"
    rf"|(?i:nodes?|machines?|servers?){END}"
)
WAYS = (
    rf"路{GAP}(?:张量|流水线?|数据|上下文|专家|序列)?{GAP}并行|级{GAP}流水|(?i:way){END}"
    rf"|个?{GAP}(?:微批|(?i:micro-?batch(?:es)?){END})"
)
_BITS = r"(?i:[kmgtpe]?i?(?:b|bits?|bytes?))"
_FLOPS = r"(?:[kKMGTPEZ]|(?i:kilo|mega|giga|tera|peta|exa)-?)?"
RATES = (
    rf"(?i:mi(?:b|bytes?)){END}(?!{GAP}/)"
    rf"|(?:{_BITS}|[千兆吉太]?(?:字节|比特))(?:{GAP}/{GAP}|每)(?:(?i:s|sec|second){END}|秒)"
    rf"|(?i:[kmgtp]i?bps){END}|(?i:[kmgtp]/s){END}"
    rf"|{_FLOPS}(?:(?i:flops?/s(?:ec)?)|(?!FLOPs)(?i:flops)){END}"
    r"|T(?=[ ]?(?:的)?[ ]?(?:有效)?算力)"
)
BYTES = (
    rf"(?:(?i:[kmgtpe]i?b){END}|B{_SYMBOL_END}|(?i:[kmg]?bits?){END}"
    rf"|(?:个{GAP})?[kKMGTPE千兆吉太]?(?:字节|比特|(?i:(?:kilo|mega|giga|tera)?bytes?){END})"
    r"|兆(?![赫瓦头])|吉(?![他普祥利林姆布尔瓦赫])|[GT](?=[ ]?(?:的)?[ ]?(?:显存|内存|缓存|流量)))"
)
TIME = (
    rf"(?:[mµun]s|min){END}|[sh]{_SYMBOL_END}|[毫微纳]?秒(?!杀)|分钟|天(?![空上下生然])"
    rf"|(?:个{GAP})?半?(?:{_NAMED}+{GAP})?(?:GPU{GAP}|卡)?(?:小时(?!制)|机时)"
    rf"|(?:{_NAMED}+{GAP})?GPU-?hours?{END}"
    r"|(?i:(?:milli|micro)?seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?)"
    rf"{END}|周(?![期围边])|(?:个{GAP})?半?星期|个{GAP}半?{GAP}月|年(?![代级度底初末份轮龄])"
)
FLOP = rf"{_FLOPS}(?i:flops?){END}|次{GAP}浮点"
TOKENS = rf"(?:个{GAP})?(?:(?i:tokens?){END}|词元)"
SHARE = rf"%|‰|个?百分点|(?i:percent|per cent|pct){END}"
MULTIPLE = rf"倍|(?<!\\)(?i:times|fold){END}"
# What a machine's data sheet has besides.
SHEET = (
    rf"[kM]?Wh?{_SYMBOL_END}|[千兆]?瓦(?![解片砾斯])|[kMGT]?(?i:hz){END}|[千兆吉]?赫兹?"
    r"|°C|℃|摄氏度|度电|美元|美金|人民币|块钱"
)
LETTER = rf"[GTJ]{_SYMBOL_END}"
MEASURES = "个条层次步块台种项行列级份组段对路头轮批页站篇维件格档类颗根套门句题处支只片"
# Of these, more than one copy is a multiple.
OF_COPIES = rf"份{GAP}(?:完整的?|同样的?)?{GAP}(?:梯度|参数|权重|状态|模型|激活|优化器|数据量)"

UNIT_OF_PARAMETERS = rf"(?:个{GAP})?(?:参数|(?i:parameters?|params?){END})"

UNITS_OF = {
    "字节": ("B",),
    "KB": ("kB",),
    "兆字节": ("MB",),
    "吉字节": ("GB",),
    "太字节": ("TB",),
    "兆": ("MB",),
    "吉": ("GB",),
    "G": ("GB", "GB/s"),
    "GBps": ("GB/s",),
    "G/s": ("GB/s",),
    "T": ("TFLOPS", "TB"),
    "小时": ("h",),
    "GPU小时": ("h",),
    "GPU-hours": ("h",),
    "h": ("h",),
    "hours": ("h",),
    "秒": ("s",),
    "seconds": ("s",),
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


def units_named(unit: str) -> tuple[str, ...]:
    """The core's units that a typed unit may mean; none where the core has none."""
    from py_core.units import UNITS

    if unit in UNITS_OF:
        return UNITS_OF[unit]
    if unit in UNITS:
        return (unit,)
    alike = (
        unit.lower().replace("tera", "t").replace("flop/s", "flops").replace("tflops/s", "tflops")
    )
    return tuple(name for name in UNITS if name.lower() == alike)


# What one of each is in the first of its kind, for "1 KB 等于 1000 字节" and "两个月".
_BIT, _BYTE = Fraction(1, 8), Fraction(1)
_EXACT: tuple[tuple[str, str, Fraction], ...] = (
    ("byte", r"(?i:bits?)|比特|位", _BIT),
    ("byte", r"B|(?i:bytes?)|字节", _BYTE),
    *(
        ("byte", rf"{k}B|{word}字节", Fraction(1000**i))
        for i, (k, word) in enumerate((("[kK]", "千"), ("M", "兆"), ("G", "吉"), ("T", "太")), 1)
    ),
    *(("byte", f"{k}iB", Fraction(1024**i)) for i, k in enumerate("KMGT", 1)),
    ("second", r"s|秒|seconds?", Fraction(1)),
    ("second", "ms|毫秒", Fraction(1, 1000)),
    ("second", "[µu]s|微秒", Fraction(1, 10**6)),
    ("second", "min|分钟|minutes?", Fraction(60)),
    ("second", "h|小时|hours?", Fraction(3600)),
    ("second", "天|days?", Fraction(86400)),
    ("second", "周|星期|weeks?", Fraction(7 * 86400)),
    ("second", "月|个月|months?", Fraction(30 * 86400)),
    ("second", "年|years?", Fraction(365 * 86400)),
)


def exact(unit: str) -> tuple[str, Fraction] | None:
    """What a unit measures, and how much of it is one; None for those without a fixed size."""
    for measures, pattern, one in _EXACT:
        if re.fullmatch(pattern, unit):
            return measures, one
    return None
