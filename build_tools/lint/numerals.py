"""Numbers as people type them, in digits, in Chinese and in English, and what they say."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from fractions import Fraction

# Blanks, and what stands for one: $97.2$ GB, 64\ 张卡. There is no maths on this site.
GAP = r"[ \t\n\u00a0\u2000-\u200a\u202f\u205f\u3000$\\]*"
EXPONENT = r"[eE][+\-−]?[0-9]{1,3}(?![0-9A-Za-z.])"  # 3e-4
PLAIN = rf"(?:[0-9]+(?:,[0-9]{{3}})*(?:\.[0-9]+)?|\.[0-9]+)(?![0-9])(?:{EXPONENT})?"
ARABIC = rf"(?<![0-9A-Za-z_^.])(?<![0-9]\.){PLAIN}"

_CIRCLED = "".join(
    chr(i)
    for first, last in ((0x2460, 0x2473), (0x24F5, 0x24FE), (0x2776, 0x2793))
    for i in range(first, last + 1)
)
DIGITS, SIZES = f"〇零一二两三四五六七八九十半{_CIRCLED}", "百千万亿"
CHINESE = (
    rf"(?<![{DIGITS}{SIZES}])[{DIGITS}{SIZES}]+(?:点[〇零一二三四五六七八九]+)?"
    rf"(?![{DIGITS}{SIZES}])"
)

_UNITS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
_UNITS += " sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ENGLISH_OF = {word: i for i, word in enumerate(_UNITS.split(), 1)}
_ENGLISH_OF |= {word: 10 * i for i, word in enumerate(_TENS.split(), 2)}
_ENGLISH_OF |= {"hundred": 100, "thousand": 1000}
_WORD = f"(?:{'|'.join(sorted(_ENGLISH_OF, key=len, reverse=True))})"
ENGLISH = rf"(?<![A-Za-z0-9-])(?i:{_WORD}(?:[- ]{_WORD}){{0,5}})(?![A-Za-z])"

_MOST = 300  # digits
PARTS = "½⅓⅔¼¾⅕⅛"
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
# Short ones: 9^999999 would take a while.
POWER = (
    r"(?<![0-9A-Za-z_^.])(?:[0-9]{1,4}[ ]?\^[ ]?[0-9]{1,2}(?![0-9])"
    rf"|[0-9]{{1,4}}[{_RAISED}]{{1,2}}|[0-9]{{1,4}}[ ]?的[ ]?[0-9]{{1,2}}[ ]?次方)"
)

NUMBER = rf"(?P<n>{ARABIC}|{CHINESE}|{ENGLISH})"
_BIG = r"(?P<big>万亿|千万|百万|[万亿]|千(?![兆瓦])|[KkM](?![A-Za-z0-9]))?"
_MORE = r"(?P<more>[多余来几])?"
HEAD = rf"{NUMBER}{GAP}{_BIG}{_MORE}{GAP}[-\u2011]?"  # 64-GPU
POWER_HEAD = rf"(?P<n>{POWER}){GAP}"

_STARTS = re.compile(rf"{POWER}|{ARABIC}|{CHINESE}|{ENGLISH}|[{PARTS}]")
RUN = re.compile(  # "8、16 和 64 张卡" is one figure
    rf"(?:{ARABIC}{GAP}(?:[A-Za-z%]{{1,5}}{GAP})?(?:[–—~～\-→、,或和与到至]){GAP})+$"
)
YEAR = re.compile(r"(?:19|20)[0-9]{2}|[一二][〇零一二三四五六七八九]{3}")

SIZE_OF = {
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
_DIGIT_OF |= {c: int(unicodedata.numeric(c)) for c in _CIRCLED}
_POWER_OF = {"十": 10, "百": 100, "千": 1000}

# One character for one: full-width letters and digits are read like others, there are two
# micro signs, and numerals of cheques.
_SAME = {0xFF01 + i: 0x21 + i for i in range(94) if chr(0x21 + i).isalnum()}
_SAME |= str.maketrans("．％μ張萬億壹贰貳叁參柒捌玖", ".%µ张万亿一二二三三七八九")
_CHEQUE = str.maketrans("肆伍陆陸拾佰仟", "四五六六十百千")
_CHEQUE_RUN = re.compile(
    rf"[肆伍陆陸拾佰仟{DIGITS}{SIZES}]*[佰仟拾][肆伍陆陸拾佰仟{DIGITS}{SIZES}]*"
)
_WRAPPED = re.compile(
    rf"[「『“‘\"'(（【\[]({GAP}(?:{PLAIN}|[{DIGITS}{SIZES}]+){GAP})[」』”’\"')）】\]]"
)


def normalised(text: str) -> str:
    """``text`` as long as it was, its numbers typed in one way: 「６４」張卡 is  64 张卡."""
    text = text.translate(_SAME)
    text = _CHEQUE_RUN.sub(lambda m: m[0].translate(_CHEQUE) if len(m[0]) > 1 else m[0], text)
    return _WRAPPED.sub(lambda m: f" {m[1]} ", text)


def starts(text: str) -> list[int]:
    """Where numbers start."""
    return [m.start() for m in _STARTS.finditer(text)]


def in_digits(n: str) -> bool:
    return n[0].isascii() and not n[0].isalpha()


def value(n: str) -> Fraction | None:
    """What a number says, in digits or in words; None for 两三 and the like."""
    if not in_digits(n):
        return _english(n) if n[0].isascii() else _chinese(n)
    power = re.match(rf"([0-9]+)\D*?([0-9{_RAISED}]+)\D*$", n) if re.search(POWER, n) else None
    if power:
        return Fraction(int(power[1]) ** int(unicodedata.normalize("NFKC", power[2])))
    # Nobody types as many digits as Python refuses to read.
    return Fraction(n.replace(",", "").replace("−", "-")[:_MOST].rstrip(".eE+-"))


def _english(n: str) -> Fraction:
    total = part = 0
    for word in re.split(r"[- ]", n.lower()):
        if word == "thousand":
            total, part = total + 1000 * (part or 1), 0
        elif word == "hundred":
            part = 100 * (part or 1)
        else:
            part += _ENGLISH_OF[word]
    return Fraction(total + part)


def _chinese(n: str) -> Fraction | None:
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
    number = Fraction(total + section + digit)
    if point:
        number += sum(Fraction(_DIGIT_OF[c], 10**i) for i, c in enumerate(decimals, 1))
    return number


def expanded(n: str) -> str:
    """``1.5e9`` with all its digits; other numbers as they are."""
    if not re.search(r"[0-9][eE]", n):
        return n
    return format(Decimal(n.replace(",", "").replace("−", "-")), "f")
