"""The linter: what counts as a figure typed by hand, what does not, and where it stands."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from build_tools import cli
from build_tools.lint import COMPARE, COUNT, FIGURE, LIT, NUMBER, SCENARIO, Finding, check
from build_tools.pages import convert_text
from build_tools.problems import find
from build_tools.source import Source
from py_core import quantity
from py_core.errors import LessonError
from tests import bench

ROOT = Path(__file__).resolve().parents[2]


def found(text: str) -> list[Finding]:
    return check(Source(text))


REFUSED = [
    # sizes
    ("每张卡发出 97.2 GB。", "97.2 GB", FIGURE),
    ("每张卡发出97.2GB。", "97.2GB", FIGURE),
    ("每张卡发出 **97.2** GB。", "97.2** GB", FIGURE),
    ("一共 ９７．２ ＧＢ", "９７．２ ＧＢ", FIGURE),
    ("每个参数占 16 字节。", "16 字节", FIGURE),
    ("每个参数占十六字节。", "十六字节", FIGURE),
    ("每个参数要两个字节。", "两个字节", FIGURE),
    ("梯度有 51.75 GiB", "51.75 GiB", FIGURE),
    ("一块 20 kB", "20 kB", FIGURE),
    ("三百多 GB 的状态", "三百多 GB", FIGURE),
    ("一张卡有 80&nbsp;GB 显存", "80&nbsp;GB", FIGURE),
    ("一张卡有 <b>80</b> GB 显存", "80</b> GB", FIGURE),
    ("[80](x.md) GB", "80](x.md) GB", FIGURE),
    # times
    ("通信要 1.94 s。", "1.94 s", FIGURE),
    ("要 1.94 秒", "1.94 秒", FIGURE),
    ("要 0.20 毫秒", "0.20 毫秒", FIGURE),
    ("要 14 µs", "14 µs", FIGURE),
    ("要 14 μs", "14 μs", FIGURE),
    ("大约 35 分钟", "35 分钟", FIGURE),
    ("三十五分钟读完", "三十五分钟", FIGURE),
    ("等半小时", "半小时", FIGURE),
    ("等半个月", "半个月", FIGURE),
    ("一张卡要算 304 年。", "304 年", FIGURE),
    ("一张卡要算三百多年。", "三百多年", FIGURE),
    ("两个月不到", "两个月", FIGURE),
    ("不到 2 个月", "2 个月", FIGURE),
    ("用了 54.2 天", "54.2 天", FIGURE),
    ("三天就够", "三天", FIGURE),
    ("用了 266 万 H800 GPU 小时", "266 万 H800 GPU 小时", FIGURE),
    ("2,664K H800 GPU-hours", "2,664K H800 GPU-hours", FIGURE),
    ("要 30～40 天", "30～40 天", FIGURE),
    # shares and multiples
    ("藏住了 92.1%", "92.1%", FIGURE),
    ("藏住了 92.1 ％", "92.1 ％", FIGURE),
    ("藏住了百分之九十二", "百分之九十二", FIGURE),
    ("气泡占百分之 22", "百分之 22", FIGURE),
    ("高了 3 个百分点", "3 个百分点", FIGURE),
    ("快了三成", "三成", FIGURE),
    ("是显存的 5.6 倍。", "5.6 倍", FIGURE),
    ("约两倍梯度", "两倍", FIGURE),
    ("是它的一倍", "一倍", FIGURE),
    ("涨到 146 倍", "146 倍", FIGURE),
    ("涨到 ×146", "×146", FIGURE),
    ("约 2× 的梯度", "2×", FIGURE),
    ("通信量是 1.5x", "1.5x", FIGURE),
    ("各算八分之一的数据", "八分之一", FIGURE),
    ("只有 1/3 的气泡", "1/3", FIGURE),
    ("系数是 14/8", "14/8", FIGURE),
    ("只剩 ½", "½", FIGURE),
    ("负载是 10 : 26 : 42 : 58", "10 : 26 : 42 : 58", FIGURE),
    ("计算比通信约 1 : 1", "1 : 1", FIGURE),
    ("一共 8 × 1 × 16 × 128 张", "8 × 1", FIGURE),
    # work and parameters
    ("反向 419.8 TFLOP", "419.8 TFLOP", FIGURE),
    ("共 3.3 × 10²⁴ FLOP", "3.3 × 10²⁴", FIGURE),
    ("专家有 653.9B 参数", "653.9B", FIGURE),
    ("一个 8B 模型", "8B", FIGURE),
    ("Llama 3 405B 参数", "405B", FIGURE),
    ("有 270 亿参数", "270 亿参数", FIGURE),
    ("有 270 亿", "270 亿", NUMBER),
    ("有二百七十亿", "二百七十亿", NUMBER),
    ("上千万，准确说三万", "三万", NUMBER),
    ("上下文 128K", "128K", NUMBER),
    # numbers that look computed
    ("共 27,781,427,952 个参数", "27,781,427,952 个参数", FIGURE),
    ("共 27,781,427,952", "27,781,427,952", NUMBER),
    ("比值是 1.85，大于 1", "1.85", NUMBER),
    ("从 7590 起", "7590", NUMBER),
    ("256 个专家", "256 个", COUNT),
    ("模型有 64 层", "64 层", COUNT),
    ("十六个专家", "十六个", COUNT),
    ("一共 14 步", "14 步", COUNT),
    ("共 338 条", "338 条", COUNT),
    # the Scenario
    ("8 张卡时", "8 张卡", SCENARIO),
    ("八张卡时", "八张卡", SCENARIO),
    ("有８张卡", "８张卡", SCENARIO),
    ("64 卡", "64 卡", SCENARIO),
    ("八卡训练", "八卡", SCENARIO),
    ("两张卡怎么分", "两张卡", SCENARIO),
    ("一千零二十四张卡", "一千零二十四张卡", SCENARIO),
    ("一张卡不够，就用八张", "八张", SCENARIO),
    ("其余七张卡都在等", "七张卡", SCENARIO),
    ("这八张卡", "八张卡", SCENARIO),
    ("剩下的 7 张", "7 张", SCENARIO),
    ("8、16 和 64 张卡", "8、16 和 64 张卡", SCENARIO),
    ("8 → 1,024 张卡", "8 → 1,024 张卡", SCENARIO),
    ("用了 2,048 张 H800", "2,048 张 H800", SCENARIO),
    ("用了 2,048 块 H800 GPU", "2,048 块 H800 GPU", SCENARIO),
    ("用 8 个 GPU", "8 个 GPU", SCENARIO),
    ("用 8 GPUs", "8 GPUs", SCENARIO),
    ("每张卡 4,096 个 token", "4,096 个 token", SCENARIO),
    ("每卡 16K tokens", "16K tokens", SCENARIO),
    ("默认 25 MiB", "25 MiB", SCENARIO),
    ("机器间 50 GB/s", "50 GB/s", SCENARIO),
    ("网卡 400 Gbps", "400 Gbps", SCENARIO),
    ("按 400 TFLOPS 算", "400 TFLOPS", SCENARIO),
    ("按 400 TFLOP/s 算", "400 TFLOP/s", SCENARIO),
    ("32 个微批", "32 个微批", SCENARIO),
    ("四个微批", "四个微批", SCENARIO),
    ("8 路张量并行", "8 路张量并行", SCENARIO),
    ("8 级流水线", "8 级流水", SCENARIO),
    ("N = 8 时", "N = 8", SCENARIO),
    ("（N=64）", "N=64", SCENARIO),
    ("p = 8，气泡大", "p = 8", SCENARIO),
    ("TP8 × DP", "TP8", SCENARIO),
    ("EP 64", "EP 64", SCENARIO),
    ("用 8 块 H800 训练", "8 块 H800", SCENARIO),
    ("八块 A100", "八块 A100", SCENARIO),
    ("8xH100", "8xH100", SCENARIO),
    ("8×A100", "8×A100", SCENARIO),
    ("8 × A100-80GB", "8 × A100-80GB", SCENARIO),
    ("8 个 rank", "8 个 rank", SCENARIO),
    ("8 个进程", "8 个进程", SCENARIO),
    ("四个节点", "四个节点", SCENARIO),
    ("8 台机器", "8 台机器", SCENARIO),
    ("共 4 台服务器", "4 台服务器", SCENARIO),
    ("十几张卡", "十几张卡", SCENARIO),
    ("用三张卡训练", "三张卡", SCENARIO),
    ("每秒 50 吉字节", "每秒 50 吉字节", SCENARIO),
    ("每秒能传 50 GB", "每秒能传 50 GB", SCENARIO),
    # other ways to write a figure
    ("学习率 3e-4", "3e-4", NUMBER),
    ("1e9 个参数", "1e9 个参数", FIGURE),
    ("MFU 41", "MFU 41", FIGURE),
    ("MFU 是 41%", "41%", FIGURE),
    ("翻了两番", "翻了两番", FIGURE),
    ("慢一倍多", "一倍多", FIGURE),
    ("一共 50 吉字节", "50 吉字节", FIGURE),
    ("$97.2$ GB", "97.2$ GB", FIGURE),
    ("$2 \\times 16$ GB", "16$ GB", FIGURE),
    ("\\(97.2\\) GB", "97.2\\) GB", FIGURE),
    # a call's own unit once more, and what was to be a call
    ('{{ q("ring.sent_per_card") }} GB', "GB", FIGURE),
    ('{{ q("ring.sent_per_card") }} **GB**。', "GB", FIGURE),
    ('{{ q("ring.sent_per_card", digits=0) }}字节', "字节", FIGURE),
    ('{{ q("dsv3.years_on_one_card") }} 年', "年", FIGURE),
    ('{{ q("naive.growth_8_to_1024") }} 倍', "倍", FIGURE),
    ('{{ fact("ddp.bucket_cap_mib") }} MiB', "MiB", FIGURE),
    ('{ { q("ring.limit") }}', '{ { q("', FIGURE),
    ('{ q("ring.limit") }', '{ q("', FIGURE),
    ('即 q("ring.limit")', 'q("', FIGURE),
]


SCENARIO_BY_NAME = [
    # a field by its name, without anything that counts behind the number
    ("卡数是 64。", "卡数是 64"),
    ("卡数：64。", "卡数：64"),
    ("卡数变成 64。", "卡数变成 64"),
    ("把卡数改成 8，再走", "卡数改成 8"),
    ("卡数（64）", "卡数（64"),
    ("卡的数量是 64", "卡的数量是 64"),
    ("把卡数从八加到六十四", "卡数从八加到六十四"),
    ("卡数从 8 加到 64", "卡数从 8 加到 64"),
    ("卡数 → 64", "卡数 → 64"),
    ("GPU 数量为 64", "GPU 数量为 64"),
    ("数据并行度为 64", "数据并行度为 64"),
    ("张量并行 8 路", "张量并行 8"),
    ("张量并行度 8", "张量并行度 8"),
    ("并行度取 8", "并行度取 8"),
    ("流水线级数 16", "流水线级数 16"),
    ("专家并行取 64，", "专家并行取 64"),
    ("token 数取 512", "token 数取 512"),
    ("全局批量 512", "全局批量 512"),
    ("批量大小为五百一十二。", "批量大小为五百一十二"),
    ("batch size 4096", "batch size 4096"),
    ("微批数取 64", "微批数取 64"),
    ("序列长 8192", "序列长 8192"),
    ("桶大小为 25", "桶大小为 25"),
    ("桶的上限是 25，", "桶的上限是 25"),
    ("带宽降到 25", "带宽降到 25"),
    ("带宽只有 25 时", "带宽只有 25"),
    ("算力按 400 算", "算力按 400"),
    ("显存要 444", "显存要 444"),
    ("节点数为 4", "节点数为 4"),
    # by its symbol
    ("N 取 64", "N 取 64"),
    ("当 N 为 64", "N 为 64"),
    ("N 从 8 到 64", "N 从 8 到 64"),
    ("N ≥ 64 时", "N ≥ 64"),
    ("N→64", "N→64"),
    ("N 变成六十四时", "N 变成六十四"),
    ("DP 取 64", "DP 取 64"),
    ("TP 取 8，PP 取 16", "TP 取 8"),
    # other spellings of counters and rates
    ("64 cards", "64 cards"),
    ("eight cards", "eight cards"),
    ("sixty-four workers", "sixty-four workers"),
    ("64 workers", "64 workers"),
    ("64-GPU 集群", "64-GPU"),
    ("8-way 并行", "8-way"),
    ("50 GBps", "50 GBps"),
    ("50 G/s", "50 G/s"),
    ("50 gb/s", "50 gb/s"),
    ("400 TFlops", "400 TFlops"),
    ("400 Tflop/s", "400 Tflop/s"),
    ("400 teraFLOPS", "400 teraFLOPS"),
    ("400T 算力", "400T"),
    ("25 mib", "25 mib"),
    ("NVLink900GB/s", "900GB/s"),
    ("IB400Gbps", "400Gbps"),
    # dressed up
    ("「64」张卡", "64」张卡"),
    ('"64" 张卡', '64" 张卡'),
    ("（64）张卡", "64）张卡"),
    ("`64` 张卡", "`64` 张卡"),
    ("<code>64</code> 张卡", "<code>64</code> 张卡"),
    ("64\\ 张卡", "64\\ 张卡"),
    ("6\u200b4\u200b 张卡", "6\u200b4\u200b 张卡"),
    ("64 張卡", "64 張卡"),
    ("⑧ 张卡", "⑧ 张卡"),
    ("⑯ 张卡", "⑯ 张卡"),
    ("壹佰张卡", "壹佰张卡"),
    ("陆拾肆张卡", "陆拾肆张卡"),
    ("2^6 张卡", "2^6 张卡"),
    ("2<sup>6</sup> 张卡", "2<sup>6</sup> 张卡"),
    ("2⁶ 张卡", "2⁶ 张卡"),
    ("2 的 6 次方张卡", "2 的 6 次方张卡"),
    ("0 卡", "0 卡"),
]
OTHER_SPELLINGS = [
    ("444G 显存", "444G"),
    ("一共 444G。", "444G"),
    ("444 吉", "444 吉"),
    ("桶是二十五兆", "二十五兆"),
    ("桶是 25 兆", "25 兆"),
    ("97.2 gb", "97.2 gb"),
    ("97.2 gigabytes", "97.2 gigabytes"),
    ("97 bytes", "97 bytes"),
    ("700W", "700W"),
    ("700 瓦", "700 瓦"),
    ("1980 MHz", "1980 MHz"),
    ("80 °C", "80 °C"),
    ("54 days", "54 days"),
    ("304 years", "304 years"),
    ("two months", "two months"),
    ("30 percent", "30 percent"),
    ("快 3 times", "3 times"),
    ("快一倍半", "一倍半"),
    ("十几倍", "十几倍"),
    ("快二十几倍", "二十几倍"),
    ("快几十倍", "十倍"),
    ("快十倍", "十倍"),
    ("上百 GB", "百 GB"),
    ("十几 GB", "十几 GB"),
    ("3 比 1", "3 比 1"),
    ("八比一", "八比一"),
    ("1:8 的收敛比", "1:8"),
    ("两份梯度", "两份梯度"),
    ("两个半月", "两个半月"),
    ("一小时半", "一小时半"),
    ("一个半小时", "一个半小时"),
    ("一天半", "一天半"),
    ("五分钟就能读完", "五分钟"),
    ("`97.2` GB", "`97.2` GB"),
    ("从 97 涨到 109", "从 97 涨到 109"),
    ("从十六降到四", "从十六降到四"),
    # names swallow no units
    ("H100 80GB 装不下", "80GB"),
    ("H100 SXM 80GB 的显存", "80GB"),
    ("Transformer 444B 显存", "444B"),
    ("Adam 32B 字节", "32B"),
    ("Ring 97B 的流量", "97B"),
    ("ZeRO-3 97B 的流量", "97B"),
]
BY_NOTHING = [
    # no reference, no version
    ("比例 0.31", "0.31"),
    ("模式 1.75 更省", "1.75"),
    ("方式 97.2", "97.2"),
    ("环节 97.2", "97.2"),
    ("词表 151936", "151936"),
    ("图 97.2", "97.2"),
    ("系数：Ring 1.75", "1.75"),
    ("Naive 7.25", "7.25"),
    ("Megatron 0.52", "0.52"),
    ("AdamW 97.2", "97.2"),
    ("RING 7590", "7590"),
    ("占比 .9", ".9"),
    # nothing counts behind them
    ("只有 55", "55"),
    ("发 97，收 97", "97"),
    ("一共 338。", "338"),
]
REFUSED += [(text, figure, NUMBER) for text, figure in BY_NOTHING]
REFUSED += [(text, figure, SCENARIO) for text, figure in SCENARIO_BY_NAME]
REFUSED += [(text, figure, FIGURE) for text, figure in OTHER_SPELLINGS]


@pytest.mark.parametrize(("text", "figure", "rule"), REFUSED)
def test_refused(text: str, figure: str, rule: str) -> None:
    first = found(text)[0]
    assert (first.text, first.rule) == (figure, rule)


ALLOWED = [
    # ordinals, references, ids
    "第 2 课讲 ZeRO，第 3 步也一样。",
    "第 8 张卡、第 3、4 张卡、第三秒、第 2 倍",
    "第一课，第二段，第十六步",
    "见图 1 和表 4 第 2 行，§3.1，第 3.1 节，表 2.1",
    "都发给 0 号卡，1–7 号卡在等；卡 0 和卡 1",
    "3 号卡把它加到自己的块 0 上",
    "ZeRO-1/2/3 与 ZeRO-3",
    # years, dates, versions
    "环形来自高性能计算（2009），2017 年进入深度学习",
    "2009–2018 年；2017—2018；2026 年 8 月 14 日；二〇一七年",
    "快照 2026-11-30，arXiv 2407.21783v3，doi 10.1145/3695053.3731412",
    "torch 2.13.0、Python 3.13、PyTorch 2.13、RFC 9110、CC BY-SA 4.0",
    "20 世纪 60 年代",
    # names
    "Qwen3-8B、Qwen3.8-27B、H800、A100-80GB、bf16、fp32、DeepSeek-V3",
    "Llama 3 405B 与 Llama 3.1，GPT-3 175B，Mixtral 8x7B",
    "C10 第 1 课、1F1B、3D 并行、4D/5D、ZB-H1、DGX-2、v3",
    "16 位浮点，NVLink4",
    # symbols
    "N − 1 步之后，每块是 N 分之一，即 1/N",
    "2(N−1)/N，(N − 1)·S，2 × (N−1) ÷ N × G，C ≈ 6ND",
    "N − 1 张卡，(N−1) 倍，N 张卡，34·s·b·h·L，m → p，F = B = W",
    "GB 一律是 10⁹ 字节，MiB 是 2²⁰ 字节，10<sup>9</sup> 字节",
    "2 的 20 次方；2 × 梯度；从来不过 2G",
    # words
    "一张卡不够，每张卡、另一张卡、同一张卡、下一张卡、多张卡、几张卡、一张卡一份",
    "单卡、双卡、万卡集群、上百张卡、成千上万张卡、几十张卡",
    "每两张卡都直接相连，任意两张卡之间，相邻的两张卡",
    "一秒、一天、一年、一个月、半天、上半年、百年",
    "加一倍，翻一倍，翻倍，成倍，几倍，多少倍",
    "一半，减半，两半，大半，百分之百，百分之几",
    "统一字节序，唯一字节，万一",
    "一两天，十分清楚，四周都是卡，统一千兆网",
    "万亿参数模型，百万级",
    "两个 token 之间，三个参数，一个参数，每个 token",
    "多卡片、三卡片",
    "这三张卡，这两张卡，两张卡之间，任意两张卡，三张卡之间，两个进程互相等，这两台机器",
    "一个节点，一台机器，每个进程，rank 0，0 号进程",
    "五年前，三天两头，翻一番，快一倍",
    "端口 8000，HTTP 404 页面，8×7B，Mixtral 8×7B，步骤 3.1",
    "H800 与 A100 两种卡，A100-80GB，H100 SXM5",
    # small counts
    "三个问题，两段，四步，3 个问题，8 条序列，十个站，切成 4 块",
    "两张图、三张表、8 张图、两张幻灯片",
    "块 7 先走，块 40 后走",
    "五类，七种，一共 3 处",
    # names of fields beside what is no value of theirs
    "卡数翻倍，卡数一多，卡数是一个数，带宽有两种，这里只用两个带宽，批量一大",
    "全局批量有八条序列，流水线的两级，序列并行（2020），数据并行 2012 年就有",
    "N 为 2 的幂，t = 0 时，N > 1，N − 1，C 是 3 步，N 是卡数，从 1 到 10，从 0 到 7 号卡",
    "从 2009 到 2017，卡 12、层 40 与第 64，种子 42。",
    # set phrases
    "1 GB 是 10⁹ 字节，1 GiB 是 2³⁰ 字节",
    "1 B = 8 bit，1 KB 等于 1000 字节，1 小时等于 3600 秒",
    "十二个人围成一圈，16 个同学",
    "4×4 的矩阵，2×2 的网格",
    "每隔两张卡连一条线，50/50，24/7 运行，两千年前，三倍行距，二分之一次方，两级流水线",
    "计算和通信一比一",
    "5G 网络，2G 之内，收拾，大陆，吉他，前兆",
    # tables
    "| 步 | 卡 |\n|---|---|\n| 12 | 7 |\n| 13 | `64` |",
    "| 论文 | 年 |\n|---|---|\n| Megatron | 2019 |",
    # calls and code
    '{{ q("cards", cards=8) }} 张卡发出 {{ q("ring.sent_per_card", cards=8) }}',
    '{{ q("ring.coefficient") }} 倍',
    '{{ q("ring.sent_per_card") }} 参数量，{{ q("model.parameters") }} 个参数',
    '{{ q("ring.sent_per_card") }} 字，{{ q("no.such") }} GB，`q("x")`',
    '{{ lit("25 MB", why="别人常说的说法") }} 其实是 MiB',
    "`97.2 GB` 与 ``8 ` 张卡``，<code>8 张卡</code>",
    "```\n8 张卡发出 97.2 GB\n```",
    "~~~text\n8 张卡\n~~~",
    "    8 张卡",
    "<!-- 8 张卡发出\n\n97.2 GB -->",
    '[链接](https://example.org/8/97.2GB "题") 与 <https://example.org/1.85>',
    "见 https://example.org/1.85/12345 。",
    "{ width=300 }",
    "## 标题 {#section-1024 .x}",
    '段落\n{: data-n="8 张卡" }',
    "[^1]: 见原文\n\n[ref]: https://example.org/1.85",
    # the lesson's sentences as they should be written
    '我们用 {{ q("cards", cards=8) }} 张卡训练同一个模型：每张卡放一份完整的模型，算 1/N 的数据。',
    "[TP, CP, PP, DP] 是 Llama 3 的顺序",
    "第 3 步：2 号卡把块 0 发给 3 号卡，3 号卡把它加到自己的块 0 上",
    "Patarasuk 和 Yuan 在 2009 年证明了它；百度 2017 年把它带进深度学习；Horovod（2018）让它流行",
    "ZeRO-1/2/3 · FSDP（2019；2023）",
    "有三件事可以试：(a) 走到最后；(b) 一步步走；(c) 换成真实大小。",
    "五个已知的阶段，一个新的；两个半步，正好各是 ZeRO 的一个动作",
    "梯度的平均等于大批次的梯度：∇L = (1/N)Σ∇Lᵢ，L = (1/B)Σℓ",
    "S* = N·α·B；2(N−1)α",
    "小明把苹果给了小王",
]


@pytest.mark.parametrize("text", ALLOWED)
def test_allowed(text: str) -> None:
    assert [str(f) for f in found(text)] == []


def _figures_of(text: str) -> list[str]:
    """Figures in a row, a blank between two; a blank within one stands before its unit."""
    return re.findall(r"\S+(?: (?![0-9一两三四五六十百几])\S+)*", text)


CLAIMS = [  # what each may say, and what not
    (
        "ring_below_twice_gradient",
        "两倍 2 倍 2× 两份梯度",
        "12.5 秒 9.9 倍 333.3 GB 三倍 百分之五 三份梯度 8 张卡 50 GB/s",
    ),
    ("ring_below_twice_gradient", "97.2 GB", "97.3 GB 97.2 GiB 304 年 1.85"),
    ("naive_grows_hundredfold", "一百多倍 一百倍", "两百多倍 十几倍 几百倍"),
    ("ring_hardly_grows", "两成 1.2 倍", "三成 1.3 倍"),
    ("zb_h1_is_a_third", "三分之一 1/3", "四分之一 1/4 三分之二"),
    ("ib_is_a_third_of_nvlink", "三分之一 0.32", "五分之一 0.5"),
    ("tensor_parallel_failed_across_nodes", "百分之五 5%", "百分之六 6%"),
    ("zero3_costs_half_more", "1.5 倍", "1.6 倍"),
    ("buckets_hide_most", "十分之九 90%", "十分之八"),
    ("dsv3_took_under_two_months", "两个月 60 天 54.2 天", "两个半月 三个月 61 天 54.3 天"),
    ("dsv3_takes_centuries_on_one_card", "304 年 200 年", "305 年 三百多年"),
    ("comm_ignores_tokens", "四倍", "五倍"),
    ("ring_coefficient_above_1_9", "1.9", "1.8"),
    ('comm_exceeds_backward", tokens=2048', "1.94 秒 1.94 s", "1.05 秒 4.20 秒"),
    ('ring_below_twice_gradient", cards=64', "109.4 GB", "97.2 GB"),
    ("no_such", "一张卡", "两倍 97.2 GB"),
    ('ring_below_twice_gradient", cards=1', "一张卡", "两倍 97.2 GB"),
]


def claiming(name: str, figure: str) -> str:
    closed = name if '"' in name.partition(",")[0] else f'{name}"'
    return f'{{% claim "{closed} %}}共{figure}，{{% endclaim %}}'


@pytest.mark.parametrize(
    ("name", "figure"), [(name, f) for name, held, _ in CLAIMS for f in _figures_of(held)]
)
def test_a_claim_vouches_for_what_it_compares(name: str, figure: str) -> None:
    assert [str(f) for f in found(claiming(name, figure))] == []


@pytest.mark.parametrize(
    ("name", "figure"), [(name, f) for name, _, typed in CLAIMS for f in _figures_of(typed)]
)
def test_a_claim_vouches_for_nothing_else(name: str, figure: str) -> None:
    assert [f.text for f in found(claiming(name, figure))] != []


TABLES = [
    ("| 卡数 | 发出（GB） |", "| 64 | 109 |", [("64", SCENARIO), ("109", FIGURE)]),
    ("| 卡数 N | 用时 / s |", "| 8 → 64 | 7 |", [("8 → 64", SCENARIO), ("7", FIGURE)]),
    ("| 做法 | 利用率（%） |", "| 环形 | 约 41 |", [("约 41", FIGURE)]),
    ("| 做法 | 倍数 | 层数 |", "| 甲 | 12 | 64 |", [("12", FIGURE), ("64", FIGURE)]),
    ("|  | 甲 | 乙 |", "| **卡数** | **8** | 64 |", [("8", SCENARIO), ("64", SCENARIO)]),
    ("| GB | 说 |", "| 109 | 好 |", [("109", FIGURE)]),
]


@pytest.mark.parametrize(("head", "row", "figures"), TABLES)
def test_cells_are_read_with_their_heads(
    head: str, row: str, figures: list[tuple[str, str]]
) -> None:
    rule = "|---" * (head.count("|") - 1) + "|"
    assert [(f.text, f.rule) for f in found(f"{head}\n{rule}\n{row}\n")] == figures


def test_attribute_lists_are_read() -> None:
    (finding,) = found('段\n{: title="共 97.2 GB" data-n="8 张卡" }')
    assert (finding.line, finding.column, finding.text) == (2, 13, "97.2 GB")


LESSON = [  # sentences of the lesson as they must not be typed
    ("27,781,427,952 个参数 × 16 B = 444.5 GB 模型状态", 3),
    ("DeepSeek-V3 报告 2,664K H800 GPU 小时：一张卡 304 年；2,048 张卡，不到两个月（54.2 天）", 5),
    ("388.9 GB → 3,500 GB，即 7.8 → 70 s", 3),
    ("N = 8：14/8 = 1.75 → 97.2 GB；N = 64：1.97 → 109.4 GB；不超过 2G = 111.1 GB", 6),
    ("每张卡 4,096 个 token，通信 ÷ 反向 = 1.85 > 1", 2),
    ("0.153 s = 嵌入 0.089 + 零 0.062 + 其余 0.002", 4),
    ("0 号卡 8 条序列有 30,000 个有效 token，1 号卡 20,000 个", 2),
    ("444.5 → 152.8 → 104.2 → 55.6 GB", 1),
    ('{% claim "x" %}8 张卡时 97.2 GB，50 GB/s{% endclaim %}', 3),
]


@pytest.mark.parametrize(("text", "count"), LESSON)
def test_the_lesson_typed_by_hand(text: str, count: int) -> None:
    assert len(found(text)) == count, [str(f) for f in found(text)]


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("97.2 GB", 'write {{ q("ring.sent_per_card", cards=8) }}'),
        ("109.4 GB", 'write {{ q("ring.sent_per_card", cards=64) }}'),
        ("模型状态是 444.5 GB", 'write {{ q("state.bytes") }}'),
        ("要收进 388.9 GB", '{{ q("naive.received_by_card0", cards=8) }}'),
        ("涨到 146 倍", 'write {{ q("naive.growth_8_to_1024") }}'),
        ("55.563 GB", 'write {{ q("gradient.bytes", digits=3) }}'),
        ("51.75 GiB", '{{ q("gradient.bytes", unit="GiB", digits=2) }}'),
        ("278 亿参数", 'write {{ q("model.parameters") }}'),
        ("27,781,427,952", 'write {{ q("model.parameters") }}'),
        ("默认 25 MiB", '{{ fact("ddp.bucket_cap_mib") }}'),
        ("8 张卡", '{{ q("cards", cards=8) }} 张卡, or {{ q("cards") }} to follow'),
        ("八张", '{{ q("cards", cards=8) }} 张卡'),
        ("N = 64", 'N = {{ q("cards", cards=64) }}'),
        ("16,384 个 token", '{{ q("tokens", tokens=16384) }}'),
        ("16 路专家并行", '{{ q("expert_parallel", expert_parallel=16) }}'),
        ("每个参数占 16 字节", 'write {{ q("state.bytes_each", unit="bytes each") }}'),
        ("8 台机器", '{{ q("cluster.nodes") }}'),
        ("卡数取 64", '{{ q("cards", cards=64) }}'),
        ("带宽降到 25", '{{ q("bandwidth", bandwidth="25") }}'),
        ("64 cards", '{{ q("cards", cards=64) }} 张卡'),
        ("2^6 张卡", '{{ q("cards", cards=64) }} 张卡'),
        ("97.2 gb", 'write {{ q("ring.sent_per_card", cards=8) }}'),
        ("0 卡", "0 号卡"),
        ("0 张卡", "0 号卡"),
        ("这一课大约要读二十分钟", '{{ lesson_head("…", n) }}'),
        ("五分钟就能读完", '{{ lesson_head("…", n) }}'),
        ("12.34 秒", '{{ lit("12.34 秒", why="…") }}'),
    ],
)
def test_what_to_write_instead(text: str, instead: str) -> None:
    (finding,) = found(text)
    assert instead in finding.says


def test_words_around_a_figure_choose_among_its_names() -> None:
    (finding,) = found("ZeRO-1 每张卡发出 97.2 GB")
    assert finding.says.startswith('write {{ q("zero1.sent_per_card", cards=8) }} or')


def test_what_the_page_shows_already_comes_first() -> None:
    text = '{{ q("tree.sent_in_total", cards=8) }}\n\n'
    value = quantity.evaluate("tree.sent_in_total").display()
    (finding,) = found(f"{text}一共 {value}")
    assert finding.says.startswith('write {{ q("tree.sent_in_total", cards=8) }}')


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{{ lit("25 MB") }}', "say why"),
        ('{{ lit("25 MB", why=" ") }}', "say why"),
        ('{{ lit("25 MB", why="…") }}', "say why"),
        ('{{ lit("97.2 GB", why="x y") }}', 'write {{ q("ring.sent_per_card", cards=8) }}'),
        ('{{ lit("约 1.85 倍", why="x y") }}', 'q("communication.over_backward"'),
    ],
)
def test_literals(text: str, says: str) -> None:
    (finding,) = found(f"大家常说 {text}。")
    assert (finding.rule, finding.column, finding.text) == (LIT, 6, text)
    assert says in finding.says


RING, LIMIT = '{{ q("ring.sent_per_card") }}', '{{ q("ring.limit") }}'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f'{RING} 与 {{{{ q("ring.limit", digits=2) }}}}', "with 2 decimals, not 1"),
        (f'{RING} 与 {{{{ q("ring.limit", unit="GiB") }}}}', "in GiB, not in GB"),
        (
            '{{ q("communication.seconds", unit="ms") }}，反向 {{ q("backward.seconds") }}',
            "in s, not in ms",
        ),
        (
            '{{ q("model.parameters") }} 里 {{ q("model.compute_parameters", unit="B params") }}',
            "in B params, not in params",
        ),
    ],
)
def test_figures_of_one_sentence_look_alike(text: str, says: str) -> None:
    (finding,) = found(f"前。{text}，后。")
    assert finding.rule == COMPARE
    assert says in finding.says


@pytest.mark.parametrize(
    "text",
    [
        f"{RING} 不过 {LIMIT}",
        f'{RING}。{{{{ q("ring.limit", digits=2) }}}}',
        f'{RING} 是 {{{{ q("ring.coefficient", digits=3) }}}} 倍',
        f'{{{{ q("gradient.bytes", digits=1) }}}} 与 {LIMIT}',
        '{{ q("dsv3.gpu_hours") }}：一张卡 {{ q("dsv3.years_on_one_card") }}，'
        '实际 {{ q("dsv3.days_on_its_cards") }}',
        '{{ q("gradient.bytes") }}，也就是 {{ q("gradient.bytes", unit="GiB") }}',
        '{{ q("bucket_cap") }} 的桶，{{ q("gradient.bytes") }} 的梯度',
        '{{ q("cards", cards=8) }} 张卡，{{ q("ring.coefficient") }} 倍',
        '{{ q("no.such") }} 与 {{ q("ring.limit", digits="x") }} 与 {{ q() }}',
        '{{ q("ring.limit", unit="s") }} 与 {{ q(ring) }}',
    ],
)
def test_figures_that_may_differ(text: str) -> None:
    assert found(text) == []


BAD_CALLS = [
    'q("ring.sent_per_card", digits=-1)',
    'q("ring.sent_per_card", digits=10**9)',
    'q("ring.sent_per_card", digits=999999)',
    'q("ring.sent_per_card", digits=True)',
    'q("ring.sent_per_card", digits=1.5)',
    'q("ring.sent_per_card", unit=3)',
    f'q("ring.sent_per_card", cards=0x{"f" * 5000})',
    'q("ring.sent_per_card", cards={[]: 1})',
    'q("ring.sent_per_card", **{})',
    'q(["ring"])',
    f"q({'(' * 500})",
    "\0",
    'fact("ddp.bucket_cap_mib", item=-1)',
    'fact("ddp.bucket_cap_mib", unit=[])',
    'fact("no")',
    "lit(3, why=3)",
]


@pytest.mark.parametrize("call", BAD_CALLS)
def test_bad_calls_are_left_to_the_page(call: str) -> None:
    found(f'{{{{ {call} }}}} GB 与 {{{{ q("gradient.bytes") }}}}')


@pytest.mark.parametrize("digits", [-1, 101, 10**9, True, 1.5, "2"])
def test_digits_that_are_none(digits: Any) -> None:
    with pytest.raises(LessonError, match="from 0 to 100"):
        quantity.evaluate("gradient.bytes").display(digits=digits)


NAMES = st.sampled_from(["ring.sent_per_card", "gradient.bytes", "ddp.bucket_cap_mib", "cards"])
LITERALS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | NAMES,
    lambda inner: st.lists(inner, max_size=2) | st.tuples(inner),
    max_leaves=3,
).map(repr)
OPTIONS = st.sampled_from(["unit", "digits", "cards", "item", "why", "tokens", "gradient", "x"])
CALLS = st.builds(
    lambda name, args, options: f"{name}({', '.join([*args, *(f'{k}={v}' for k, v in options)])})",
    st.sampled_from(["q", "fact", "lit", "cite", "widget", "no"]),
    st.lists(NAMES.map(repr) | LITERALS, max_size=2),
    st.lists(st.tuples(OPTIONS, LITERALS), max_size=3),
)


@settings(max_examples=300, deadline=None)
@given(CALLS | st.text(max_size=40), st.sampled_from(["", " GB", " 年", "倍"]))
def test_no_call_whatsoever_stops_the_linter(call: str, behind: str) -> None:
    found(f'{{{{ {call} }}}}{behind} 与 {{{{ q("gradient.bytes") }}}}')


@settings(max_examples=300, deadline=None)
@given(
    st.text(
        st.sampled_from(
            list("一两三十百万几半点多0189.,eE+-−×xX 张块个台卡倍番成%/GBH年前每秒翻了")
        ),
        max_size=24,
    )
)
def test_no_figure_whatsoever_stops_the_linter(text: str) -> None:
    found(text)


@pytest.mark.parametrize(
    "text", ["一", "9", "1,", "1 ", "two ", "Llama 3 ", "卡数", "为", "从", "「", "`1`", "N = "]
)
def test_however_long_a_text_is_it_is_read_quickly(text: str) -> None:
    begin = time.perf_counter()
    found(text * 1500 + " 张卡")
    assert time.perf_counter() - begin < 10


def test_the_longest_page_of_the_bench_is_clean(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "mkdocs.yml").write_text("not_in_nav: |\n", encoding="utf-8")
    assert bench._write_longest_page(tmp_path) > 200
    text = (tmp_path / "docs/longest.md").read_text(encoding="utf-8")
    assert find(convert_text(text, "longest.md"), Source(text)) == []


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("\ufeff97.2 GB\r\n\r\n是 1.85\r\n", [(1, 1), (3, 3)]),
        (
            "---\r\ntitle: 一张卡\r\ndescription: 用 8 张卡\r\n---\r\n\r\n# 97.2 GB\r\n",
            [(3, 16), (6, 3)],
        ),
        ('---\ntitle: "用 {{ q(\\"cards\\") }} 张卡"\n---\n', [(2, 11)]),
        ("| 卡 | 字节 |\n|---|---|\n| `8` | 97.2 GB |\n| 8 张卡 | x |\n", [(3, 9), (4, 3)]),
        (
            '!!! note "共 97.2 GB"\n\n    ??? tip "x"\n\n        - 共 8 张卡\n\n'
            "            ```\n            8 张卡\n            ```\n\n        是 **1.85**\n",
            [(1, 13), (5, 13), (11, 13)],
        ),
        ("![图里有 8 张卡](a.png){ width=8 } 与 [共 97.2 GB](b.md)", [(1, 7), (1, 36)]),
        ("> 共 8 张卡\n> 是 1.85\n", [(1, 5), (2, 5)]),
        ('=== "8 张卡"\n\n    是 1.85\n', [(1, 6), (3, 7)]),
        ("一共\n97.2 GB，再\n是 8\n张卡", [(2, 1), (4 - 1, 3)]),
        (
            "<figure>\n\n    <figcaption>8 张卡</figcaption>\n\n</figure>\n\n    code 8 张卡\n",
            [(3, 17)],
        ),
        ('[^a]: 共 97.2 GB\n\n[x]: y.md "共 8 张卡"\n', [(1, 9), (3, 14)]),
    ],
)
def test_places(text: str, places: list[tuple[int, int]]) -> None:
    assert [(f.line, f.column) for f in found(text)] == places, [str(f) for f in found(text)]


def test_claims_are_checked_for_their_ends() -> None:
    text = '前 {% claim "a" %}97.2 GB\n\n{% endclaim %} 后 {% if x %}'
    assert [(f.line, f.column, f.rule) for f in found(text)] == [
        (1, 3, "claim"),
        (1, 18, FIGURE),
        (3, 1, "claim"),
        (3, 18, "claim"),
    ]


# ── lesson check ────────────────────────────────────────────────────────────────────────


def test_the_command(tmp_path: Path) -> None:
    page = tmp_path / "页.md"
    page.write_bytes("---\ntitle: x\n---\n\n共 97.2 GB\n".encode())
    (tmp_path / "good.md").write_text("好\n", encoding="utf-8")
    told = CliRunner().invoke(cli.app, ["check", str(tmp_path)])
    assert told.exit_code == 1
    assert told.stdout.splitlines() == [
        f'{page}:5:3: 97.2 GB: write {{{{ q("ring.sent_per_card", cards=8) }}}} or '
        + told.stdout.splitlines()[0].partition(" or ")[2],
        "2 files checked, 1 to mend in 1",
    ]
    listed = json.loads(CliRunner().invoke(cli.app, ["check", str(page), "--json"]).stdout)
    assert listed["files"] == 1
    (finding,) = listed["findings"]
    assert {**finding, "says": ""} == {
        "path": str(page),
        "line": 5,
        "column": 3,
        "text": "97.2 GB",
        "rule": "figure",
        "says": "",
    }
    clean = CliRunner().invoke(cli.app, ["check", str(tmp_path / "good.md")])
    assert (clean.exit_code, clean.stdout) == (0, "1 file checked, nothing to mend\n")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "bad.md").write_bytes(b"\xff\xfe")
    for name in ("bad.md", "none.md"):
        told = CliRunner().invoke(cli.app, ["check", str(tmp_path / name)])
        assert told.exit_code == 2
        assert told.stderr.startswith("lesson: ")


def test_the_docs_are_clean() -> None:
    told = CliRunner().invoke(cli.app, ["check", str(ROOT / "docs")])
    assert told.exit_code == 0, told.stdout
