"""Runs in the conformance environment: builds models with transformers, compares with fixtures.

``parameters.json``: for every config the total (each shared tensor once) and the named
shapes in registration order. ``arrival.json``: the order in which gradients really arrive
in a small backward on the CPU.

``--record`` writes the fixtures anew; otherwise only one that is absent is written.

What the classes leave out is left out here too: Qwen3.5 and Qwen3-Next are built without
their MTP modules. DeepSeek-V3's and GLM-4.5's are built by transformers' own ``MtpModel``
and recorded apart, as ``mtp``.
"""

from __future__ import annotations

import datetime
import hashlib
import platform
import re
import sys
from pathlib import Path
from typing import Any

import cases
import compare
import torch
import transformers
from transformers import CONFIG_MAPPING
from transformers.modeling_layers import MtpModel

FIXTURES = Path(__file__).resolve().parent / "fixtures"
SAME_CLASS = {"kimi_k2": "deepseek_v3"}  # Kimi K2's checkpoint names this class
IGNORED = ("model_type", "auto_map", "quantization_config", "transformers_version")


def build(config: cases.Config, device: str) -> Any:
    """The class that the config names, untrained, with shared tensors shared."""
    model_type = config["model_type"]
    kind = CONFIG_MAPPING[SAME_CLASS.get(model_type, model_type)]
    told = kind(**{key: value for key, value in config.items() if key not in IGNORED})
    with torch.device(device):
        model = getattr(transformers, config["architectures"][0])(told)
    model.tie_weights()
    return model


def count(config: cases.Config) -> dict[str, Any]:
    """Total, named shapes and digest of a model on the meta device."""
    model = build(config, "meta")
    named = [(name, list(tensor.shape)) for name, tensor in model.named_parameters()]
    lines = "\n".join(f"{name} {shape}" for name, shape in named)
    head, table = model.get_output_embeddings(), model.get_input_embeddings()
    return {
        "class": type(model).__name__,
        "total": sum(tensor.numel() for tensor in model.parameters()),
        "tied": head.weight is table.weight,
        "tensors": len(named),
        "ordered_sha256": hashlib.sha256(lines.encode()).hexdigest(),
        "shapes": patterns(named),
    }


def patterns(named: list[tuple[str, list[int]]]) -> list[list[Any]]:
    """``[name with {} for the layer, shape, how many layers have it]``, first seen first."""
    seen: dict[str, list[Any]] = {}
    for name, shape in named:
        general = re.sub(r"\.(layers|h|blocks)\.\d+\.", r".\1.{}.", name)
        entry = seen.setdefault(f"{general} {shape}", [general, shape, 0])
        entry[2] += 1
    return list(seen.values())


def mtp(config: cases.Config) -> int | None:
    """Parameters of the MTP modules as transformers' MtpModel builds them, without the
    embedding and head it borrows; None where it cannot."""
    modules = config.get("num_nextn_predict_layers")
    if not modules:
        return None
    with torch.device("meta"):
        built = MtpModel(build(config, "meta"), modules)
    return sum(int(tensor.numel()) for tensor in built.layers.parameters())


def arrival(config: cases.Config) -> list[str]:
    """Names of the parameters in the order in which one backward finishes their gradients."""
    torch.manual_seed(0)
    model = build(config, "cpu").train()
    order: list[str] = []
    for name, tensor in model.named_parameters():
        tensor.register_post_accumulate_grad_hook(lambda _, name=name: order.append(name))
    ids = torch.randint(1, 100, (1, 32))
    model(input_ids=ids, labels=ids).loss.backward()
    return order


def recorded() -> dict[str, str]:
    return {
        "date": datetime.date.today().isoformat(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "by": "make conformance",
    }


def settle(name: str, content: dict[str, Any], record: bool) -> int:
    """Compares with the fixture, or writes it; an exit status."""
    path = FIXTURES / name
    if record or not path.exists():
        compare.write(path, {"recorded": recorded(), **content})
        return 0
    committed = compare.read(path)
    about = committed.pop("recorded")
    found = list(compare.differences(committed, content))
    then = f"transformers {about['transformers']}, torch {about['torch']} of {about['date']}"
    return compare.verdict(path, found, f"now against {then}")


def main() -> int:
    record = compare.RECORD in sys.argv[1:]
    published = cases.published()
    models = {}
    for slug, config in published.items():
        models[slug] = {"model_type": config["model_type"], **count(config), "mtp": mtp(config)}
        print(f"{slug:24} {models[slug]['total']:>20,}", flush=True)
    examples = {kind: published[slug] for kind, slug in cases.EXAMPLES.items()}
    bare = {}
    for kind, config in examples.items():
        stripped = cases.bare(config)
        bare[kind] = {"config": stripped, **count(stripped)}
    variants = []
    for kind, changes in cases.VARIANTS.items():
        for change in changes:
            config = cases.varied(cases.tiny(examples[kind]), change)
            variants.append({"change": change, "config": config, **count(config)})
    counted = {"models": models, "bare": bare, "variants": variants}
    failed = settle("parameters.json", counted, record)
    small = [cases.tiny(config) for config in examples.values()] + [v["config"] for v in variants]
    orders = [{"config": config, "order": arrival(config)} for config in small]
    return settle("arrival.json", {"models": orders}, record) or failed


if __name__ == "__main__":
    sys.exit(main())
