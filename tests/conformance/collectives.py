"""Runs in the conformance environment: how many bytes do real collectives send?

Starts 2, 4 and 8 gloo processes on 127.0.0.1. Each runs torch's own ``all_reduce``, then
every scheme of ``py_core.schedules`` over isend and irecv: the very schedules the stepper
shows, exported by the project's Python. Each must come within 2 % of the schedule's ledger,
and what is committed in ``docs/data/measured.json`` too; ``--record`` writes that file anew.

Bytes sent are the growth of ``wchar`` in each process's own /proc/self/io, which counts
what gloo writes to its sockets; the total is what the loopback interface transmitted.
"""

from __future__ import annotations

import datetime
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import compare
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

CHECKOUT = Path(__file__).resolve().parents[2]
MEASURED = CHECKOUT / "docs" / "data" / "measured.json"
CARDS = (2, 4, 8)
ELEMENTS = 1 << 22  # divisible by every N, so that sent/S is the same for any such payload
DTYPE = torch.int32  # sums are exact
REPETITIONS = 9
TORCHS_OWN = "all_reduce"
LIKE = {TORCHS_OWN: "ring"}  # what torch's own sends is what a ring sends
ALLOWED = 0.02

Plan = dict[str, Any]

HOW = (
    "One process per rank in a gloo group on 127.0.0.1; bytes sent by a rank are the growth of "
    "wchar in its own /proc/self/io around one collective; total bytes are what the loopback "
    "interface transmitted meanwhile, with packet headers, acknowledgements, two barriers and "
    "whatever other programs sent; each the median of {repetitions} repetitions, whose results "
    "all equalled the direct sum. all_reduce is torch's own; every other scheme carried out the "
    "project's schedule by isend and irecv."
)
HOW_ZH = (
    "每张卡由 127.0.0.1 上 gloo 组的一个进程代替；每个进程发出的字节，是一次集合通信前后它自己的 "
    "/proc/self/io 中 wchar 的增量；总字节是同一时段回环接口发出的字节，含包头、确认、两次 "
    "barrier，以及当时别的程序所发；都取 {repetitions} 次的中位数，每次的结果都与直接求和相等。"
    "all_reduce 是 torch 自带的；其余各方案用 isend 和 irecv 照本站的调度执行。"
)

_EXPORT = """
import dataclasses, json, sys
from py_core import executor, schedules
elements, *sizes = map(int, sys.argv[1:])
plans = [
    dataclasses.asdict(schedules.schedule(scheme, n))
    | {"bounds": executor.block_bounds(elements, n)}
    | {"ledger": [s / n for s in
        executor.run(schedules.schedule(scheme, n), n, seed=0).finish().ledger.sent]}
    | {"starts": [schedules.ring_owner(card, n) for card in range(n)]}
    for n in sizes
    for scheme in schedules.SCHEMES
]
json.dump(plans, sys.stdout)
"""


def exported_plans() -> list[Plan]:
    """The project's own schedules, asked of a Python that can run py_core (3.13)."""
    arguments = ["-c", _EXPORT, str(ELEMENTS), *map(str, CARDS)]
    names = [str(CHECKOUT / ".venv/bin/python"), "python3.13", "python3", "python"]
    said = "none found"
    for python in filter(None, map(shutil.which, names)):
        done = subprocess.run(
            [python, *arguments], cwd=CHECKOUT, capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            plans: list[Plan] = json.loads(done.stdout)
            return plans
        if said == "none found":
            said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
    sys.exit(
        "collectives: no Python could export the schedules of py_core, which needs Python 3.13 "
        f"({said}). Run `make setup`, then `make conformance` again."
    )


def written() -> int:
    """Bytes this process, all its threads, has handed to write calls."""
    fields = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(fields["wchar"])


def loopback() -> int:
    """Bytes the loopback interface has transmitted."""
    for line in Path("/proc/net/dev").read_text().splitlines():
        name, _, counters = line.partition(":")
        if name.strip() == "lo":
            return int(counters.split()[8])
    raise LookupError("lo")


def why_not() -> str | None:
    """Why bytes cannot be counted here, or None: sends 1 MiB to itself and looks."""
    size = 1 << 20
    try:
        before = written(), loopback()
        with socket.create_server(("127.0.0.1", 0)) as server:
            out = socket.create_connection(server.getsockname())
            into, _ = server.accept()
            with out, into:
                reader = threading.Thread(target=into.recv, args=(size, socket.MSG_WAITALL))
                reader.start()
                # Not send(): like gloo's, this write is one that wchar counts.
                rest = memoryview(bytes(size))
                while rest:
                    rest = rest[os.write(out.fileno(), rest) :]
                reader.join()
        grown = written() - before[0], loopback() - before[1]
    except (OSError, LookupError, ValueError) as error:
        return f"this system shows no /proc/self/io with wchar, or no counters of lo ({error})"
    if min(grown) < size:
        return f"of {size:,} bytes sent, wchar counted {grown[0]:,} and lo {grown[1]:,}"
    return None


def vector(card: int) -> torch.Tensor:
    """Test data of one card: whole numbers from 1 to 9."""
    generator = torch.Generator().manual_seed(card)
    return torch.randint(1, 10, (ELEMENTS,), generator=generator, dtype=DTYPE)


def carry_out(plan: Plan, card: int, data: torch.Tensor) -> None:
    """One card's part of a schedule, in place: a step's messages all fly before any lands."""
    blocks = [data[low:high] for low, high in plan["bounds"]]
    for number, step in enumerate(plan["steps"]):
        works, landing = [], []
        for t in step["transfers"]:
            if t["target"] == card:
                size = sum(blocks[b].numel() for b in t["blocks"])
                buffer = torch.empty(size, dtype=DTYPE)
                works.append(dist.irecv(buffer, src=t["source"], tag=number))
                landing.append((t, buffer))
        for t in step["transfers"]:
            if t["source"] == card:
                message = torch.cat([blocks[b] for b in t["blocks"]])
                works.append(dist.isend(message, dst=t["target"], tag=number))
        for work in works:
            work.wait()
        for t, buffer in landing:
            parts = buffer.split([blocks[b].numel() for b in t["blocks"]])
            for b, part in zip(t["blocks"], parts):  # noqa: B905 (torch's splits are as many)
                if t["op"] == "add":
                    blocks[b].add_(part)
                else:
                    blocks[b].copy_(part)


def repetition(
    plan: Plan | None, card: int, own: torch.Tensor, total: torch.Tensor
) -> tuple[int, int]:
    """One collective: bytes this process wrote, bytes lo transmitted. Checks the result."""
    data = own.clone()
    if plan and plan["starts_reduced"]:
        low, high = plan["bounds"][plan["starts"][card]]
        data.zero_()[low:high] = total[low:high]
    dist.barrier()
    lo = loopback()
    dist.barrier()  # nobody begins before everybody has read lo
    before = written()
    if plan:
        carry_out(plan, card, data)
    else:
        dist.all_reduce(data)
    sent = written() - before
    dist.barrier()
    lo = loopback() - lo
    dist.barrier()  # nobody goes on before everybody has read lo again
    for low, high in [plan["bounds"][b] for b in plan["owned"][card]] if plan else [(0, ELEMENTS)]:
        if not torch.equal(data[low:high], total[low:high]):
            scheme = plan["scheme"] if plan else TORCHS_OWN
            raise AssertionError(f"{scheme}: card {card} does not hold the direct sum")
    return sent, lo


def process(card: int, cards: int, plans: list[Plan], folder: str) -> None:
    """One rank: all schemes, one after another; rank 0 writes what all have counted."""
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo",
        init_method=f"file://{folder}/store-{cards}",
        rank=card,
        world_size=cards,
        timeout=datetime.timedelta(seconds=120),
    )
    own = vector(card)
    total = sum((vector(other) for other in range(1, cards)), start=vector(0))
    counts = []
    for plan in (None, *plans):
        repetition(plan, card, own, total)  # warms up, is not counted
        counts.append([repetition(plan, card, own, total) for _ in range(REPETITIONS)])
    everybody: list[Any] = [None] * cards
    dist.all_gather_object(everybody, counts)
    if card == 0:
        Path(folder, f"{cards}.json").write_text(json.dumps(everybody))
    dist.barrier()
    dist.destroy_process_group()


def entry(plan: Plan | None, cards: int, counts: list[list[tuple[int, int]]]) -> dict[str, Any]:
    """What is recorded of one scheme: ``counts[card][repetition]`` is (sent, lo)."""
    payload = ELEMENTS * DTYPE.itemsize
    sent = [statistics.median_low(s for s, _ in card) for card in counts]
    total = statistics.median_low(lo for _, lo in counts[0])
    return {
        "scheme": plan["scheme"] if plan else TORCHS_OWN,
        "cards": cards,
        "cards_per_node": plan["cards_per_node"] if plan else None,
        "payload_bytes": payload,
        "sent_bytes": sent,
        "total_bytes": total,
        "sent_per_payload": [round(s / payload, 4) for s in sent],
        "total_per_payload": round(total / payload, 4),
    }


def far(entries: list[dict[str, Any]], exported: list[Plan], whose: str) -> list[str]:
    """Where bytes sent are farther than ``ALLOWED`` from the ledger, or an entry is not there."""
    ledgers = {(plan["scheme"], plan["cards"]): plan["ledger"] for plan in exported}
    wanted = [(scheme, n) for n in CARDS for scheme in (TORCHS_OWN, *_schemes(exported))]
    by_key = {(e["scheme"], e["cards"]): e for e in entries}
    lines = [f"{s}, {n} cards: {whose} has none" for s, n in wanted if (s, n) not in by_key]
    lines += [f"{s}, {n} cards: no such schedule" for s, n in by_key if (s, n) not in wanted]
    for scheme, n in filter(by_key.__contains__, wanted):
        e, ledger = by_key[scheme, n], ledgers[LIKE.get(scheme, scheme), n]
        sent = [(f"card {card}", b, c) for card, (b, c) in enumerate(zip(e["sent_bytes"], ledger))]  # noqa: B905
        if len(e["sent_bytes"]) != n:
            lines.append(f"{scheme}, {n} cards: {whose} has {len(e['sent_bytes'])} cards")
        for what, count, ratio in [*sent, ("all of lo", e["total_bytes"], sum(ledger))]:
            by_ledger = ratio * e["payload_bytes"]
            if abs(count - by_ledger) > ALLOWED * by_ledger:
                told = f"{whose} {count:,} bytes, ledger {by_ledger:,.0f}"
                hint = " (do other programs use the loopback interface?)" * (what[0] == "a")
                lines.append(f"{scheme}, {n} cards, {what}: {told}{hint}")
    return lines


def _schemes(exported: list[Plan]) -> list[str]:
    return list(dict.fromkeys(plan["scheme"] for plan in exported))


def measure(exported: list[Plan]) -> list[dict[str, Any]]:
    """All schemes in groups of 2, 4 and 8 processes; one line printed for each."""
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    entries = []
    for cards in CARDS:
        plans = [plan for plan in exported if plan["cards"] == cards]
        with tempfile.TemporaryDirectory() as folder:
            mp.spawn(process, args=(cards, plans, folder), nprocs=cards)
            everybody = json.loads(Path(folder, f"{cards}.json").read_text())
        for index, plan in enumerate((None, *plans)):
            found = entry(plan, cards, [counts[index] for counts in everybody])
            entries.append(found)
            ranks = " ".join(f"{ratio:.4f}" for ratio in found["sent_per_payload"])
            total = found["total_per_payload"]
            print(
                f"N={cards} {found['scheme']:17} total/S {total:8.4f}  sent/S {ranks}", flush=True
            )
    return entries


def main() -> int:
    reason = why_not()
    if reason:
        print(
            f"collectives: bytes cannot be counted here: {reason}. This needs Linux; "
            f"{MEASURED.name} stays as it was recorded."
        )
        return 0
    exported = exported_plans()
    entries = measure(exported)
    found = far(entries, exported, "measured")
    if MEASURED.exists() and compare.RECORD not in sys.argv[1:]:
        found += far(compare.read(MEASURED)["entries"], exported, "committed")
        return compare.verdict(
            MEASURED, found, "measured and committed against the ledger", "within 2 %"
        )
    if found:  # what contradicts the ledger is not worth recording
        return compare.verdict(MEASURED, found, "measured against the ledger")
    content = {
        "recorded": {
            "date": datetime.date.today().isoformat(),
            "torch": torch.__version__,
            "backend": "gloo",
            "dtype": str(DTYPE).removeprefix("torch."),
            "repetitions": REPETITIONS,
            "by": "make conformance",
        },
        "how": HOW.format(repetitions=REPETITIONS),
        "how_zh": HOW_ZH.format(repetitions=REPETITIONS),
        "entries": entries,
    }
    compare.write(MEASURED, content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
