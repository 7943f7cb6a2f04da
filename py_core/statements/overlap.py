"""Communication against the backward pass, and unequal sample lengths."""

from __future__ import annotations

from py_core.claims import claim, line, multiplied
from py_core.quantity import At
from py_core.terms import Comparison


@claim(
    "comm_exceeds_backward",
    "通信比反向计算久",
    "每张卡 {tokens} 个 token 时，通信 {communication.seconds}，反向 {backward.seconds}："
    "通信并不更久",
)
def _(at: At) -> list[Comparison]:
    return [at("communication.seconds") > at("backward.seconds")]


@claim(
    "backward_covers_comm",
    "反向计算比通信久，通信有可能藏得住",
    "反向 {backward.seconds}，通信 {communication.seconds}：通信藏不住，"
    "要每张卡 {communication.break_even_tokens} 个 token 起才有可能",
)
def _(at: At) -> list[Comparison]:
    return [at("backward.seconds") > at("communication.seconds")]


@claim("comm_ignores_tokens", "每张卡的 token 变成四倍，通信一点不变，反向也变成四倍")
def _(at: At) -> list[Comparison]:
    few, many = multiplied(at, "tokens", 4)
    return [
        many("communication.seconds").equals(few("communication.seconds")),
        many("backward.seconds").equals(4 * few("backward.seconds")),
    ]


@claim(
    "one_node_hides_comm",
    "同样的卡放进一台机器、走机内带宽，反向就盖得住通信",
    "就算走 {node_bandwidth} 的机内带宽，通信也要 {communication.seconds_in_node}，"
    "不短于 {backward.seconds} 的反向",
)
def _(at: At) -> list[Comparison]:
    return [at("communication.seconds_in_node") < at("backward.seconds")]


@claim(
    "embedding_tail_outweighs_unused",
    "反向结束后还要传的，输入嵌入的梯度比没用到的视觉塔和 MTP 的零更费时",
    "同步没用到的视觉塔和 MTP 的零要 {communication.unused_seconds}，"
    "不短于输入嵌入的 {communication.embedding_seconds}",
)
def _(at: At) -> list[Comparison]:
    return [at("communication.embedding_seconds") > at("communication.unused_seconds")]


@claim(
    "buckets_hide_some",
    "边算边传，藏住了一部分通信",
    "一点也没藏住：{timeline.exposed} 的通信都露在反向后面",
)
def _(at: At) -> list[Comparison]:
    return [at("timeline.exposed") < at("timeline.communication")]


@claim(
    "buckets_hide_most",
    "边算边传，十分之九以上的通信藏在反向下面",
    "藏住的只有 {timeline.hidden_share}，还有 {timeline.exposed} 露在外面",
)
def _(at: At) -> list[Comparison]:
    return [at("timeline.hidden_share") > line(at, "9/10", "十分之九")]


@claim("embedding_never_hidden", "输入嵌入的梯度最后才算好，它的通信总露在外面")
def _(at: At) -> list[Comparison]:
    return [at("timeline.exposed") >= at("communication.embedding_seconds")]


@claim(
    "absent_leaves_embedding",
    "没有视觉塔和 MTP 时，露在外面的几乎只剩输入嵌入那一截",
    "没有视觉塔和 MTP 时，露在外面的有 {timeline.absent.exposed}，"
    "输入嵌入只占 {communication.embedding_seconds}",
)
def _(at: At) -> list[Comparison]:
    few = line(at, "11/10", "多不到一成")
    return [at("timeline.absent.exposed") < few * at("communication.embedding_seconds")]


@claim(
    "cap_barely_acts",
    "一半以上的桶是上限的两倍多：权重矩阵一个就超过上限，又从不拆开",
    "{bucket_cap} 的上限真在起作用：中等大小的桶是 {timeline.median_bucket}",
)
def _(at: At) -> list[Comparison]:
    return [at("timeline.median_bucket") > 2 * at.bucket_cap]


@claim("first_iteration_hides_nothing", "第一个训练步只有一个桶，通信一点也藏不住")
def _(at: At) -> list[Comparison]:
    everything = at("timeline.first-iteration.communication")
    return [at("timeline.first-iteration.exposed").equals(everything)]


@claim(
    "flipped_order_exposes_more",
    "重建之后各层倒过来执行，露在外面的通信更多",
    "各层倒过来执行，露在外面 {timeline.flipped.exposed}，没有变多",
)
def _(at: At) -> list[Comparison]:
    return [at("timeline.flipped.exposed") > at("timeline.exposed")]


@claim(
    "order_in_layers_hardly_matters",
    "梯度按真实到达的先后，还是按注册的倒序，露在外面的通信相差不到百分之五",
)
def _(at: At) -> list[Comparison]:
    few = line(at, "1/20", "百分之五") * at("timeline.exposed")
    here, real = at("timeline.exposed"), at("timeline.rebuilt.exposed")
    return [real - here < few, here - real < few]


@claim("ranks_are_bitwise_identical", "走了几步以后，各个进程的参数每一位都相同（实测）")
def _(at: At) -> list[Comparison]:
    return [at("ddp.identical_runs").equals(at("ddp.runs"))]


@claim("one_process_differs", "与一个进程算整个批量相比，参数差一点点：浮点加法讲究先后（实测）")
def _(at: At) -> list[Comparison]:
    return [at("ddp.difference_fp32") > 0, at("ddp.difference_bf16") > at("ddp.difference_fp32")]


@claim("no_sync_saves_all_reduces", "no_sync 让一个训练步只同步一次，而不是每个微批一次（实测）")
def _(at: At) -> list[Comparison]:
    return [at("ddp.all_reduces_on") < at("ddp.all_reduces_off")]


@claim(
    "no_sync_trap_sends_nothing",
    "用对了 no_sync，一个训练步同步一次；连最后一个微批的前向也在里面，就一次也不同步（实测）",
)
def _(at: At) -> list[Comparison]:
    right, trap = at("ddp.all_reduces_on"), at("ddp.all_reduces_trap")
    return [right.equals(at("ddp.accumulated_steps")), trap.equals(0)]


@claim(
    "means_of_means_are_skewed",
    "两张卡有效 token 数不同，先各自平均、再平均，token 少的卡每个 token 权重更大",
)
def _(at: At) -> list[Comparison]:
    return [at("averaging.overweight") > line(at, "1", "一样重")]


@claim(
    "weighting_by_tokens_is_exact",
    "各卡的平均梯度按有效 token 数加权，就是把所有 token 放在一起算的梯度",
)
def _(at: At) -> list[Comparison]:
    first = at("averaging.share_of_card0") * at("averaging.gradient_card0")
    second = at("averaging.share_of_card1") * at("averaging.gradient_card1")
    return [(first + second).equals(at("averaging.weighted"))]
