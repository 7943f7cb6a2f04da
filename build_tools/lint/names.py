"""What has digits and is no figure: names, dates, versions, set phrases, definitions of units."""

from __future__ import annotations

import re

from build_tools.lint import units
from build_tools.lint.numerals import ARABIC, CHINESE, EXPONENT, GAP, POWER, normalised, value
from build_tools.lint.units import CARD, END, NAME

PHRASE = "\ue006"  # stands for set phrases

_CARD_NAMES = re.compile(
    r"(?:(?<![A-Za-z0-9-])|(?<=[0-9][xX]))(?:NVIDIA )?"
    r"(?:[ABHPV][0-9]{2}0|A10|A40|H20|L4|L40S?|T4|GB[23]00|MI[0-9]{3}X?)"
    r"(?:-[0-9]+GB|[ -](?:PCIe|SXM[0-9]?|NVL))*(?![A-Za-z0-9])"
)
# NVLink900GB/s: the name ends where the figure starts.
_GLUED = re.compile(
    r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z-]*?"
    rf"(?=[0-9]+(?:\.[0-9]+)?(?:(?i:[kmgt]i?b(?:ps|its?|ytes?)?|[kmgtp]?flops?|[kmg]hz)|[mµu]s){END})"
)
# Models that are named with their size: Llama 3 405B.
_FAMILY = (
    r"(?:Llama|LLaMA|Qwen|GPT|OPT|PaLM|BLOOM|Mixtral|Mistral|Gemma|DeepSeek|Falcon|Gopher|Chinchilla"
    r"|MT-NLG|Nemotron|Pythia|Phi|Yi|GLM|ChatGLM|InternLM|Baichuan|Kimi|Grok|MiniMax|BERT|T5)"
)
_NO_SIZE = r"(?![A-Za-z0-9])(?![ ]?的?[ ]?(?:个?参数|字节|显存|内存|流量|梯度|通信|带宽))"
_NAMES = re.compile(
    r"(?<![0-9])[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?(?![0-9])"  # dates
    r"|(?<![0-9])[0-9]{4}/[0-9]{1,2}/[0-9]{1,2}(?![0-9])"
    r"|(?<![0-9])10\.[0-9]{4,9}/[^\s，。；、）]+"  # a DOI
    r"|(?<![0-9.])[0-9]{4}\.[0-9]{4,5}(?:v[0-9]+)?(?![0-9])"  # arXiv
    r"|(?<![0-9.])[0-9]+(?:\.[0-9]+){2,}"  # a version
    rf"|(?<![A-Za-z0-9]){_FAMILY}[A-Za-z0-9.-]*(?: [0-9][0-9.]*)? [0-9]+(?:\.[0-9]+)?B{_NO_SIZE}"
    r"|(?<![A-Za-z0-9])(?![TPCED]P[0-9=-])[A-Za-z](?=[A-Za-z0-9_.+/–-]*[0-9])"  # ZeRO-1/2/3, bf16
    r"[A-Za-z0-9]*(?:[-_.+/–][A-Za-z0-9]+)*"
    rf"|(?<![A-Za-z0-9])(?![0-9]+{EXPONENT})[0-9]+[A-Za-z]+[0-9]+[A-Za-z0-9]*"  # 1F1B, 8x7B
    rf"|(?<![A-Za-z0-9.])[0-9]+×[0-9]+(?:\.[0-9]+)?B{_NO_SIZE}"
)
_PHRASES = re.compile(
    rf"{CHINESE}[多余]?{GAP}年前"  # 五年前, 两千年前
    rf"|{CHINESE}倍(?=行距|镜|字距)"
    rf"|{CHINESE}分之{CHINESE}次方"
    r"|(?<![0-9./])(?:24/7|50/50)(?![0-9./])"
    rf"|(?:{CHINESE}|{ARABIC}){GAP}[个位名]?{GAP}(?:人(?![参工])|同学|读者|作者|朋友)"
    r"|(?<![0-9.])(?:[2-9]|10)[ ]?[×xX][ ]?(?:[2-9]|10)(?=[ ]?的?[ ]?"
    r"(?:矩阵|网格|方阵|方格|格子|棋盘|卷积|表格))"
)
_DEFINITION = re.compile(
    rf"(?<![0-9.,])(?:1|一){GAP}(?P<one>[A-Za-z]{{1,8}}|[\u4e00-\u9fff]{{1,3}}?){GAP}"
    rf"(?:是|等于|就是|即|为|有|=|＝){GAP}(?P<n>{POWER}|{ARABIC}|{CHINESE}){GAP}"
    rf"(?P<of>个?(?:[A-Za-z]{{1,8}}(?![A-Za-z0-9])|[兆吉千太]?字节|比特|[毫微]?秒|分钟|小时|天|月))"
)


def without_names(text: str) -> str:
    """``text``, normalised, with one character repeated over what is no figure."""
    text = normalised(text)
    text = _DEFINITION.sub(lambda m: PHRASE * len(m[0]) if _is_true(m) else m[0], text)
    text = _CARD_NAMES.sub(lambda m: CARD * len(m[0]), text)
    text = _GLUED.sub(lambda m: NAME * len(m[0]), text)
    text = _NAMES.sub(lambda m: NAME * len(m[0]), text)
    return _PHRASES.sub(lambda m: PHRASE * len(m[0]), text)


def _is_true(definition: re.Match[str]) -> bool:
    """1 GB 是 10⁹ 字节, but not 1 s = 97.2 GB."""
    one, of = units.exact(definition["one"]), units.exact(definition["of"].removeprefix("个"))
    number = value(definition["n"])
    if one is None or of is None or number is None:
        return False
    return one == (of[0], of[1] * number)
