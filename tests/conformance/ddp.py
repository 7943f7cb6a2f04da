"""Runs in the conformance environment: what does real DistributedDataParallel do?

Small models of real architectures, two gloo processes on 127.0.0.1. A comm hook and one
hook per parameter keep a log: which gradient was ready, and which bucket left after it.
From that log come, per iteration, the order of arrival, the parameters of each bucket in
order of launch, and after how many arrivals each left. ``fixtures/ddp.json`` keeps them;
the ordinary tests compare the project's timeline with it.

The same assignment is asked of ``dist._compute_bucket_assignment_by_size`` with meta
tensors for the lesson's model and Qwen3-8B at full size, in the order in which gradients
arrive in a twin of as many layers, a few numbers wide.

``docs/data/ddp.json`` is what the page shows as measured: whether all ranks hold the same
bits after five AdamW steps, how far that is from one process with the whole batch, and how
many all-reduces gradient accumulation takes.

``--record`` writes both files anew; otherwise they are compared.
"""

from __future__ import annotations

import copy
import datetime
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import cases
import compare
import record
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import transformers
from torch.nn.parallel import DistributedDataParallel as DDP

FIXTURE = record.FIXTURES / "ddp.json"
MEASURED = cases.DATA / "ddp.json"
WORLD = 2
MIB = 1 << 20
DEFAULT_LIMITS = [MIB, 25 * MIB]
TOKENS = (1, 32)

Log = list[dict[str, Any]]


# ── the models ──────────────────────────────────────────────────────────────────────────

# Wide enough that buckets of 25 MiB fill, narrow enough for two processes.
_WIDE: cases.Config = {"hidden_size": 384, "intermediate_size": 1280, "vocab_size": 12_000}
_SEEING: cases.Config = {
    "text_config": {**_WIDE, "num_hidden_layers": 4},
    "vision_config": {"hidden_size": 192, "intermediate_size": 512, "out_hidden_size": 384},
}
_OWN_DTYPE = ("A_log", "dt_bias", "norm")  # kept in fp32 beside bf16 matrices

# name: model_type, change to its tiny config, arguments of DDP
CONFIGURATIONS: dict[str, tuple[str, cases.Config, dict[str, Any]]] = {
    "plain": ("qwen3", _WIDE, {}),
    "layer-norms": ("gpt2", {"n_embd": 384, "vocab_size": 16_000}, {}),
    "biases": ("starcoder2", _WIDE, {"bucket_cap_mb": 4}),
    "tied": ("qwen2", _WIDE, {}),
    "custom-cap": ("llama", _WIDE, {"bucket_cap_mb": 2}),
    "hybrid": ("qwen3_5_text", _SEEING["text_config"], {"bucket_cap_mb": 1}),
    "experts": ("qwen3_5_moe_text", _WIDE, {"bucket_cap_mb": 1}),
    "two-dtypes": ("qwen3_5_text", _SEEING["text_config"], {}),
    "two-dtypes-cap": ("qwen3_5_text", _SEEING["text_config"], {"bucket_cap_mb": 0.25}),
    "find-unused": ("qwen3_5", _SEEING, {"find_unused_parameters": True}),
    "find-unused-cap": (
        "qwen3_5",
        _SEEING,
        {"find_unused_parameters": True, "bucket_cap_mb": 2},
    ),
    "static-graph": ("qwen3_5", _SEEING, {"static_graph": True}),
    "static-graph-cap": ("qwen3_5", _SEEING, {"static_graph": True, "bucket_cap_mb": 2}),
    "unused": ("qwen3_5", _SEEING, {}),
    "flipped": ("qwen3", {**_WIDE, "num_hidden_layers": 6}, {"bucket_cap_mb": 2}),
}


def config_of(kind: str, change: cases.Config) -> cases.Config:
    published = cases.published()
    if kind in cases.EXAMPLES:
        return cases.varied(cases.tiny(published[cases.EXAMPLES[kind]]), change)
    # The text part of a model that sees, by itself.
    whole = cases.tiny(published[cases.EXAMPLES[kind.removesuffix("_text")]])
    text = {**whole["text_config"], "model_type": kind, "pad_token_id": 0}
    named = whole["architectures"][0].replace("ForConditionalGeneration", "ForCausalLM")
    return cases.varied({**text, "architectures": [named]}, change)


def built(name: str, config: cases.Config) -> Any:
    torch.manual_seed(0)
    model = record.build(config, "cpu").train()
    model.config.use_cache = False
    if name.startswith("two-dtypes"):
        model.to(torch.bfloat16)
        for called, tensor in model.named_parameters():
            if any(part in called for part in _OWN_DTYPE):
                tensor.data = tensor.data.float()
    return model


def loss(model: Any, step: int, shape: tuple[int, int] = TOKENS, rank: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(1000 * step + rank)
    ids = torch.randint(1, 100, shape, generator=generator)
    result: torch.Tensor = model(input_ids=ids, labels=ids).loss
    return result


# ── buckets and launches of real DDP ────────────────────────────────────────────────────


class Watch:
    """Logs gradients as they become ready and buckets as they leave."""

    def __init__(self, ddp: Any) -> None:
        self.arrived: list[int] = []
        self.launches: Log = []
        named = [tensor for _, tensor in ddp.module.named_parameters()]
        self.index = {tensor: i for i, tensor in enumerate(named)}
        for i, tensor in enumerate(named):
            tensor.register_post_accumulate_grad_hook(lambda _, i=i: self.arrived.append(i))

        def hook(state: object, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
            members = [self.index[tensor] for tensor in bucket.parameters()]
            buffer = bucket.buffer()
            self.launches.append(
                {
                    "after": len(self.arrived),
                    "bytes": buffer.numel() * buffer.element_size(),
                    "parameters": members,
                }
            )
            work = dist.all_reduce(buffer.div_(WORLD), async_op=True)
            return work.get_future().then(lambda done: done.value()[0])

        # DDP compares the annotations themselves, and here they are text.
        hook.__annotations__ = {
            "bucket": dist.GradBucket,
            "return": torch.futures.Future[torch.Tensor],
        }
        ddp.register_comm_hook(None, hook)

    def take(self) -> dict[str, Any]:
        """The log of the iteration that is over."""
        taken = {"arrived": self.arrived[:], "launches": self.launches[:]}
        self.arrived.clear()
        self.launches.clear()
        return taken


def flip(model: Any) -> None:
    """From now on the layers run in the opposite order; DDP is not told."""
    layers = model.model.layers
    turned = list(layers)[::-1]
    for i, layer in enumerate(turned):
        layers._modules[str(i)] = layer


def watched(name: str, kind: str, change: cases.Config, options: dict[str, Any]) -> Any:
    """Four iterations of one configuration."""
    config = config_of(kind, change)
    model = built(name, config)
    names = [called for called, _ in model.named_parameters()]
    ddp = DDP(model, **options)
    watch = Watch(ddp)
    iterations, raised = [], None
    for step in range(4):
        if name == "flipped" and step == 3:
            flip(model)
        try:
            loss(ddp, step, rank=dist.get_rank()).backward()
        except RuntimeError as error:
            raised = str(error).partition(".")[0]
            break
        iterations.append(watch.take())
        ddp.zero_grad()
    logged = ddp._get_ddp_logging_data() if raised is None else {}
    if raised is None:
        agree(name, model, iterations, logged, options)
    return {
        "name": name,
        "config": config,
        "options": options,
        "parameters": len(names),
        "names_sha256": hashlib.sha256("\n".join(names).encode()).hexdigest(),
        "fp32": [i for i, t in enumerate(model.parameters()) if t.dtype == torch.float32],
        "rebuilt": bool(int(logged.get("has_rebuilt_buckets", 0))),
        "raised": raised,
        "first": iterations[0],
        "steady": iterations[-1] if len(iterations) > 1 else None,
    }


def agree(name: str, model: Any, found: Log, logged: Any, options: dict[str, Any]) -> None:
    """What the hooks saw, DDP's own log and its assignment function must say the same."""
    launches = found[2]["launches"]
    sizes = [launch["bytes"] for launch in launches]
    members = [launch["parameters"] for launch in launches]
    rebuilt = bool(int(logged["has_rebuilt_buckets"]))
    by_ddp = logged["rebuilt_bucket_sizes" if rebuilt else "bucket_sizes"]
    assert numbers(by_ddp, ",") == sizes, (name, by_ddp, sizes)
    tensors = list(model.parameters())
    cap = options.get("bucket_cap_mb")
    limits = DEFAULT_LIMITS if cap is None else [int(cap * MIB)]
    if rebuilt:
        listed = logged["rebuilt_per_bucket_param_indices"].split(",")
        assert [numbers(bucket, " ") for bucket in listed] == members, (name, listed, members)
        order = numbers(logged["prev_iteration_grad_ready_order_indices"].replace(",", " "), " ")
        if name != "flipped" and not options:
            assert order == found[2]["arrived"], (name, order)
        order = found[1]["arrived"]
        order += sorted(set(range(len(tensors))) - set(order))
        assert assignment([tensors[i] for i in order], limits, order) == members, name
    else:
        assert assignment(tensors, limits, [])[::-1] == members, name


def numbers(text: str, separator: str) -> list[int]:
    return [int(part) for part in text.split(separator) if part.strip()]


def assignment(tensors: list[Any], limits: list[int], order: list[int]) -> list[list[int]]:
    """DDP's own function; ``order`` names the tensors, [] for as they are given."""
    # No list of which are sparse: it would be read at the places that ``order`` names.
    indices, _ = dist._compute_bucket_assignment_by_size(tensors, limits, [], order)
    return [list(bucket) for bucket in indices]


# ── full size, on the meta device ───────────────────────────────────────────────────────

FULL_SIZE = {"anchor": "with its vision tower, unused", "qwen3-8b": "text only"}


def narrow(config: cases.Config) -> cases.Config:
    """As many layers as the real model, each tiny: gradients arrive in the same order."""
    small = cases.tiny(config)
    deep = copy.deepcopy(small)
    if "text_config" in config:
        text, vision = config["text_config"], config["vision_config"]
        deep["text_config"]["num_hidden_layers"] = text["num_hidden_layers"]
        deep["text_config"]["layer_types"] = text["layer_types"]
        deep["vision_config"]["depth"] = vision["depth"]
    else:
        deep["num_hidden_layers"] = config["num_hidden_layers"]
    return deep


def full_size() -> Iterator[dict[str, Any]]:
    """Every way to cut the two models: real order of arrival, and reverse registration."""
    for slug, says in FULL_SIZE.items():
        config = cases.published()[slug]
        model = record.build(config, "meta").to(torch.bfloat16)
        named = list(model.named_parameters())
        index = {name: i for i, (name, _) in enumerate(named)}
        order = [index[name] for name in record.arrival(narrow(config))]
        unused = sorted(set(range(len(named))) - set(order))
        walks = {
            "text by arrival": order,
            "text by registration": sorted(order, reverse=True),
            "all by arrival": order + unused,
        }
        tensors = [tensor for _, tensor in named]
        cuts = {
            walk: assignment([tensors[i] for i in listed], DEFAULT_LIMITS, listed)
            for walk, listed in walks.items()
            if unused or walk != "all by arrival"
        }
        cuts["find unused"] = assignment(tensors, DEFAULT_LIMITS, [])[::-1]
        cuts["first iteration"] = assignment(tensors, [sys.maxsize], [])[::-1]
        names = "\n".join(name for name, _ in named)
        print(f"{slug}: { ({walk: len(cut) for walk, cut in cuts.items()}) }", flush=True)
        yield {
            "model": slug,
            "says": says,
            "names_sha256": hashlib.sha256(names.encode()).hexdigest(),
            "arrival": order,
            "cuts": cuts,
        }


# ── what the page shows as measured ─────────────────────────────────────────────────────

STEPS = 5
SEQUENCES = 8  # in all, whatever the number of ranks
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}
AT_MOST = {"fp32": 1e-4, "bf16": 0.05}  # a difference larger than that is no rounding
RANKS = (2, 4)
MICRO_BATCHES, ACCUMULATED_STEPS = 4, 2


def trained(model: Any, shares: list[tuple[int, int]]) -> torch.Tensor:
    """All parameters after five AdamW steps on sequences ``low … high`` of each step's eight."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(STEPS):
        generator = torch.Generator().manual_seed(step)
        ids = torch.randint(1, 100, (SEQUENCES, 32), generator=generator)
        (low, high) = shares[0]
        model(input_ids=ids[low:high], labels=ids[low:high]).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return torch.cat([tensor.detach().flatten() for tensor in model.parameters()])


def identity(rank: int, ranks: int, dtype: str) -> dict[str, Any] | None:
    config = config_of("qwen3", {})
    torch.manual_seed(0)
    model = record.build(config, "cpu").train().to(DTYPES[dtype])
    alone = copy.deepcopy(model)
    each = SEQUENCES // ranks
    together = trained(DDP(model), [(rank * each, (rank + 1) * each)])
    everybody = [torch.empty_like(together) for _ in range(ranks)]
    dist.all_gather(everybody, together)
    if rank:
        return None
    one = trained(alone, [(0, SEQUENCES)])
    bits = {hashlib.sha256(p.float().numpy().tobytes()).hexdigest() for p in everybody}
    difference = (together.double() - one.double()).abs().max().item()
    return {
        "dtype": dtype,
        "ranks": ranks,
        "steps": STEPS,
        "parameters": together.numel(),
        "ranks_identical": len(bits) == 1,
        "equals_one_process": bool(torch.equal(together, one)),
        "largest_difference": difference,
    }


def accumulation(rank: int, no_sync: str) -> dict[str, Any] | None:
    """All-reduces of two steps of four micro-batches, and whether the ranks end alike."""
    torch.manual_seed(0)
    ddp = DDP(record.build(config_of("qwen3", {}), "cpu").train())
    watch = Watch(ddp)
    optimizer = torch.optim.AdamW(ddp.parameters(), lr=1e-3)
    for step in range(ACCUMULATED_STEPS):
        for micro in range(MICRO_BATCHES):
            last = micro == MICRO_BATCHES - 1
            with ExitStack() as stack:
                if no_sync == "trap" or (no_sync == "on" and not last):
                    stack.enter_context(ddp.no_sync())
                value = loss(ddp, step * MICRO_BATCHES + micro, rank=rank)
                if no_sync == "trap" and last:
                    stack.close()  # the backward runs outside, too late
                value.backward()
        optimizer.step()
        optimizer.zero_grad()
    mine = torch.cat([tensor.detach().flatten() for tensor in ddp.parameters()])
    everybody = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(everybody, mine)
    if rank:
        return None
    return {
        "no_sync": no_sync,
        "steps": ACCUMULATED_STEPS,
        "micro_batches": MICRO_BATCHES,
        "all_reduces": len(watch.launches),
        "ranks_identical": all(torch.equal(mine, other) for other in everybody),
    }


# ── processes ───────────────────────────────────────────────────────────────────────────


def process(rank: int, ranks: int, folder: str) -> None:
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo",
        init_method=f"file://{folder}/store",
        rank=rank,
        world_size=ranks,
        timeout=datetime.timedelta(seconds=120),
    )
    found: dict[str, list[Any]] = {"configurations": [], "identity": [], "no_sync": []}
    if ranks == WORLD:
        for name, configuration in CONFIGURATIONS.items():
            found["configurations"].append(watched(name, *configuration))
            if not rank:
                print(f"{name}: {summary(found['configurations'][-1])}", flush=True)
        found["no_sync"] = [accumulation(rank, way) for way in ("off", "on", "trap")]
    found["identity"] = [identity(rank, ranks, dtype) for dtype in DTYPES]
    if not rank:
        Path(folder, f"{ranks}.json").write_text(json.dumps(found))
    dist.barrier()
    dist.destroy_process_group()


def summary(found: dict[str, Any]) -> str:
    if found["raised"]:
        return f"raises: {found['raised']}"
    first, steady = (len(found[key]["launches"]) for key in ("first", "steady"))
    return f"{found['parameters']} parameters, {first} bucket(s) at first, then {steady}"


def spawned(ranks: int) -> Any:
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(process, args=(ranks, folder), nprocs=ranks)
        return json.loads(Path(folder, f"{ranks}.json").read_text())


HOW = (
    "A tiny Qwen3 of {parameters:,} parameters, gloo processes on 127.0.0.1, one thread each. "
    "Identity: {steps} AdamW steps on {sequences} sequences a step, split over the ranks; then "
    "the bits of all ranks are compared, and rank 0's parameters with those of one process "
    "given all sequences. no_sync: {accumulated} steps of {micro} micro-batches on 2 ranks; "
    "all-reduces are calls of DDP's communication hook."
)
HOW_ZH = (
    "一个只有 {parameters:,} 个参数的 Qwen3，127.0.0.1 上的 gloo 进程，每个进程一个线程。"
    "一致性：{steps} 个 AdamW 训练步，每步 {sequences} 个序列平分给各个进程；"
    "然后比较所有进程的每一位，再拿 0 号进程的参数与一个进程算完全部序列的结果比较。"
    "no_sync：2 个进程，{accumulated} 个训练步，每步 {micro} 个微批；"
    "all-reduce 的次数是 DDP 通信钩子被调用的次数。"
)


def far(committed: Any, now: Any) -> Iterator[str]:
    """Differences that matter: how large a rounding error is depends on the machine."""
    for entry in now["identity"]:
        at = f"identity of {entry['dtype']} on {entry['ranks']} ranks"
        if not 0 < entry["largest_difference"] < AT_MOST[entry["dtype"]]:
            yield f"{at}: largest difference {entry['largest_difference']}"
    ours, theirs = (
        [{**entry, "largest_difference": 0} for entry in file["identity"]]
        for file in (now, committed)
    )
    yield from compare.differences(theirs, ours, "/identity")
    yield from compare.differences(committed["no_sync"], now["no_sync"], "/no_sync")


def main() -> int:
    found = {ranks: spawned(ranks) for ranks in RANKS}
    fixture = {
        "world": WORLD,
        "configurations": found[WORLD]["configurations"],
        "full_size": list(full_size()),
    }
    writing = compare.RECORD in sys.argv[1:]
    failed = record.settle(FIXTURE.name, fixture, writing)
    measured = {
        "identity": [entry for ranks in RANKS for entry in found[ranks]["identity"]],
        "no_sync": found[WORLD]["no_sync"],
    }
    if MEASURED.exists() and not writing:
        differing = list(far(compare.read(MEASURED), measured))
        return compare.verdict(MEASURED, differing, "now against committed") or failed
    told = {
        "parameters": measured["identity"][0]["parameters"],
        "steps": STEPS,
        "sequences": SEQUENCES,
        "accumulated": ACCUMULATED_STEPS,
        "micro": MICRO_BATCHES,
    }
    content = {
        "recorded": {
            "date": datetime.date.today().isoformat(),
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            "backend": "gloo",
            "by": "make conformance",
        },
        "how": HOW.format(**told),
        "how_zh": HOW_ZH.format(**told),
        **measured,
    }
    compare.write(MEASURED, content)
    return failed


if __name__ == "__main__":
    sys.exit(main())
