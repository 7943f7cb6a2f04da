"""The model: how many parameters, how many of them work on a token, and its dimensions."""

from __future__ import annotations

from py_core.inventory import PARTS
from py_core.model import STATED, NoInventory
from py_core.quantity import At, quantity
from py_core.terms import Term, total

_PARTS = {
    "embedding": ("P_emb", "输入嵌入的参数"),
    "position": ("P_pos", "位置嵌入的参数"),
    "layers": ("P_layers", "全部 Transformer 层的参数"),
    "norm": ("P_norm", "最后一个归一化的参数"),
    "lm_head": ("P_head", "输出头 lm_head 的参数"),
    "vision": ("P_vis", "视觉塔的参数"),
    "mtp": ("P_mtp", "多 token 预测模块（MTP）的参数"),
}

_DIMENSIONS = {
    "layers": ("L", "层数"),
    "hidden": ("h", "隐藏维度"),
    "heads": ("a", "注意力头数"),
    "kv_heads": ("n_kv", "K、V 的头数"),
    "head_dim": ("d", "每个注意力头的维度"),
    "v_head_dim": ("d_v", "每个 V 头的维度"),
    "vocab": ("V", "词表大小"),
    "intermediate": ("f", "前馈层的中间维度"),
    "full_attention_layers": ("L_full", "全注意力层的层数"),
    "experts": ("E", "每个 MoE 层的路由专家数"),
    "top_k": ("k", "每个 token 选中的专家数"),
}


def _part(part: str) -> None:
    symbol, says = _PARTS[part]

    @quantity(f"model.{part}_parameters", "params", says, symbol)
    def _(at: At) -> Term:
        return at.counted(symbol, at.inventory.parts[part], says)


def _dimension(name: str) -> None:
    symbol, says = _DIMENSIONS[name]

    @quantity(f"model.{name}", "count", says, symbol)
    def _(at: At) -> Term:
        dims = at.inventory.dims
        value, pointer = getattr(dims, name), dims.pointers.get(name)
        if pointer is None:  # no field of its own: it follows from the others
            return at.counted(symbol, value, f"{says}（由配置推出）", "count")
        left_out = "（配置没有写，取参考实现的默认值）" if name in dims.defaults else ""
        return at.config(symbol, value, "count", pointer, says + left_out)


for _name in PARTS:
    _part(_name)
for _name in _DIMENSIONS:
    _dimension(_name)


def _sum_of_parts(at: At, *left_out: str) -> Term:
    present = [p for p, count in at.inventory.parts.items() if count and p not in left_out]
    return total([at(f"model.{part}_parameters") for part in present])


@quantity("model.parameters", "params", "参数总数：文本、视觉与 MTP，共享的张量只算一次", "P")
def _(at: At) -> Term:
    model = at.scenario.model
    return _stated(at, "P", "total", model.counts.total) if model.stated else _sum_of_parts(at)


@quantity("model.trained_parameters", "params", "要训练的参数：有梯度、有优化器状态", "P_train")
def _(at: At) -> Term:
    model = at.scenario.model
    if model.counts.trained == model.counts.total:
        return at("model.parameters")
    return _stated(at, "P_train", "trained", model.counts.trained)


@quantity("model.largest_tensor", "params", "最大的一个张量有多少参数", "P_max")
def _(at: At) -> Term:
    model = at.scenario.model
    if not model.stated:
        return at.counted("P_max", at.inventory.largest.numel, "最大的一个张量")
    if model.counts.largest is None:
        raise NoInventory(model.name)
    return _stated(at, "P_max", "largest_tensor", model.counts.largest)


def _stated(at: At, symbol: str, key: str, value: int) -> Term:
    """What a reader has said of a model that cannot be counted here."""
    return at.config(symbol, value, "params", f"/{STATED}/{key}", "你填的参数个数")


@quantity("model.text_parameters", "params", "文本模型的参数：不含视觉塔与 MTP", "P_text")
def _(at: At) -> Term:
    return _sum_of_parts(at, "vision", "mtp")


@quantity("model.main_parameters", "params", "主模型的参数：不含 MTP", "P_main")
def _(at: At) -> Term:
    return _sum_of_parts(at, "mtp")


@quantity("model.unused_parameters", "params", "纯文本的一步用不到的参数：视觉塔与 MTP", "P_unused")
def _(at: At) -> Term:
    return at("model.vision_parameters") + at("model.mtp_parameters")


@quantity(
    "model.compute_parameters",
    "params",
    "对每个文本 token 做乘法的参数：不含查表的嵌入、视觉塔与 MTP；路由专家按选中的比例计",
    "P_c",
)
def _(at: At) -> Term:
    says = "对每个文本 token 做乘法的参数"
    return at.counted("P_c", at.inventory.compute_parameters, says)


@quantity("model.routed_expert_parameters", "params", "路由专家的参数（不含 MTP 里的）", "P_exp")
def _(at: At) -> Term:
    return at.counted("P_exp", at.inventory.routed_expert_parameters, "路由专家的参数")
