"""Scenario fields by the names and symbols that authors give them: 卡数取 64, N → 64, TP8."""

from __future__ import annotations

import re
from functools import cache

from build_tools.lint.numerals import ARABIC, CHINESE, GAP, PLAIN

# Names of fields; the first that fits is meant. None where the core has no such field.
_NAMED: tuple[tuple[str, str | None], ...] = (
    (r"卡的?(?:总?数量?|个数)|GPU[ ]?的?(?:数量?|个数)|进程数|(?i:world size)", "cards"),
    (r"数据并行(?:的?(?:卡数|路数|大小)|度)?", "cards"),
    (r"(?:节点|机器|服务器)的?(?:总?数量?|台数|个数)", None),
    (r"每台机器的?卡数|每机卡数", "cards_per_node"),
    (r"张量并行(?:的?(?:卡数|路数|大小)|度)?", "tensor_parallel"),
    (r"流水线?(?:并行)?的?(?:级数|度)|流水线?并行|级数", "pipeline_stages"),
    (r"(?:上下文|序列)并行(?:的?(?:卡数|路数|大小)|度)?", "context_parallel"),
    (r"专家并行(?:的?(?:卡数|路数|大小)|度)?", "expert_parallel"),
    (r"并行度|并行路数", None),
    (r"(?i:tokens?)[ ]?的?(?:总?数量?|个数)|词元数", "tokens"),
    (r"序列的?长度?|(?i:sequence length)", "sequence"),
    (r"微批的?(?:大小|尺寸)|(?i:micro-?[ ]?batch size)", "micro_batch"),
    (r"微批的?(?:总?数量?|个数)|(?i:micro-?batches)", "micro_batches"),
    (r"(?:全局|总)?批量?的?大小|全局批量?|批量|(?i:(?:global )?batch(?:[ -]size)?)", None),
    (r"桶的?(?:大小|上限|尺寸|容量)|分桶上限|(?i:bucket (?:size|cap))", "bucket_cap"),
    (r"(?:机内|机器之内|NVLink[ ]?)的?带宽", "node_bandwidth"),
    (r"带宽|(?i:bandwidth)", "bandwidth"),
    (r"算力|(?i:flops)(?=[^A-Za-z/])", "flops"),
    (r"显存(?:容量|大小)?", "card_memory"),
    (r"延迟|时延", "latency"),
    (r"段数", "interleave"),
)
_NAMES = "|".join(f"(?:{pattern})" for pattern, _ in _NAMED)
WAYS = {
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

# What stands between a field and its value. A character class does it: 改成, 降到了, 只有.
_VERBS = (
    "从由自约为是有到成至达取填选设定调改变换降升涨增减加只才就仅都也已即等于大小超过要占用剩了按给"
)
_SIGNS = "=＝≥≤><＞＜≈→≫≪:："
_BETWEEN = rf"(?:[{_VERBS}{_SIGNS}]|默认|一共|总共|最多|至少|最少|{GAP[:-1]}){{0,12}}"
# It is a value unless something counts behind it, but for what counts the field itself.
_COUNTS = (
    r"(?![0-9A-Za-z.×/]|[ ]?[年月日号章节课页位个条层次步块台种项行列份组段对头轮批倍分比和与])"
)
_BEHIND_WORD = r"(?=[^\u4e00-\u9fff]|$|[加变升增减涨降到至时的改换路级])"

CUE = (
    rf"(?:{_NAMES})(?:的)?(?P<between>{_BETWEEN})"
    rf"(?P<n>{ARABIC}{_COUNTS}|(?<=[{_VERBS}{_SIGNS}]){CHINESE}{_BEHIND_WORD})"
    rf"(?:{GAP}[{_VERBS}→]+{GAP}(?:{ARABIC}|{CHINESE}{_BEHIND_WORD}))?(?P<u>)"
)
SYMBOL = (
    r"(?<![A-Za-z0-9_])(?P<field>[TPCED]P|[A-Za-z])"
    rf"(?P<between>{GAP}(?:[=＝≥≤><＞＜≈→≫≪]|[{_VERBS}]+){GAP})(?P<n>{PLAIN}|{CHINESE}{_BEHIND_WORD})"
    rf"(?:{GAP}[{_VERBS}→]+{GAP}{PLAIN})?(?P<u>)"
)
GLUED = rf"(?<![A-Za-z0-9_])(?P<field>[TPCED]P){GAP}(?P<n>{PLAIN})(?P<u>)"
_COUNTED = re.compile(rf"{GAP}[个条层次步块种项行列份组段对头轮批倍年月]")


def counts_something(after: str) -> bool:
    return bool(_COUNTED.match(after))


@cache
def _symbols() -> dict[str, str]:
    from py_core.scenario import SPECS

    symbols = {spec.symbol: name for name, spec in SPECS.items() if not spec.choices}
    return symbols | {way: field for way, field in WAYS.items() if way.isupper()}


def of_symbol(symbol: str) -> str | None:
    return _symbols().get(symbol)


def of_name(text: str) -> str | None:
    """The field whose name ``text`` starts with, if the core has it."""
    return next((field for pattern, field in _NAMED if re.match(pattern, text)), None)


def names_one(text: str) -> bool:
    """Whether a table's head names a field: 卡数, 每张卡 token 数."""
    return bool(re.search(rf"(?:{_NAMES})|^(?:N|[TPCED]P)$", text))
