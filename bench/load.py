"""The service at half, once, twice and five times the rate that it can plan at: what it answers, refuses and takes."""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory

import httpx
from measure import SCRIPT, Figure, server_process

from planner.application import plan_document
from pricing.catalog.price_catalog import Catalog

SECONDS = float(os.environ.get("PLANNER_LOAD_SECONDS", "30"))
"""How long each rate is kept up."""
RATES = (0.5, 1.0, 2.0, 5.0)
CLIENTS = 8
"""Who ask at once while the capacity is found: enough that no worker waits."""
COMPARED = 5
"""Answers of each rate that are planned again here and compared."""
SERVE = (SCRIPT, "serve", "--port", "PORT", "--remembered-bytes", "4000000")
"""With the answers in memory bounded tightly, what else grows is seen."""
HOURS = count(100)
REFUSED = 503


@dataclass
class Load:
    """What came of the questions of one rate: milliseconds of the plans, statuses, and plans by their hours."""

    took: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    plans: dict[int, tuple[float, str]] = field(default_factory=dict)
    refusals_without_advice: int = 0
    unanswered: int = 0
    """Connections that were closed without an answer."""

    def count_wrong(self) -> int:
        """Answers to another question, and those of a sample that differ from a plan made here."""
        wrong = sum(demand != hours for hours, (demand, _) in self.plans.items())
        for hours in random.Random(1).sample(sorted(self.plans), min(COMPARED, len(self.plans))):
            wrong += plan_document(question(hours), Catalog.current()).content_digest != self.plans[hours][1]
        return wrong


def question(hours: int) -> dict[str, object]:
    demand = {"accelerator_hours_per_month": hours, "accelerator": "L4"}
    return {"as_of": "2026-11-21", "months": 2, "strategies": ["cloud"], "workloads": [{"name": "w", "demand": demand}]}


async def ask(client: httpx.AsyncClient, load: Load) -> None:
    hours, began = next(HOURS), time.perf_counter()
    try:
        answer = await client.post("/plan", json=question(hours))
    except httpx.TransportError:
        load.unanswered += 1
        return
    load.statuses[answer.status_code] += 1
    if answer.status_code == 200:
        load.took.append(1000 * (time.perf_counter() - began))
        plan = json.loads(answer.content)
        load.plans[hours] = (plan["workloads"][0]["demand"][0], plan["content_digest"])
    elif "retry-after" not in answer.headers:
        load.refusals_without_advice += 1


async def find_capacity(client: httpx.AsyncClient) -> float:
    """Plans a second with enough clients that ask one after the other."""
    load, end = Load(), time.perf_counter() + SECONDS / 2

    async def ask_on() -> None:
        while time.perf_counter() < end:
            await ask(client, load)

    await asyncio.gather(*(ask_on() for _ in range(CLIENTS)))
    return len(load.took) / (SECONDS / 2)


async def keep_up(client: httpx.AsyncClient, rate: float) -> Load:
    """Questions that come by chance at a rate, whether or not earlier ones are answered."""
    load, chance, tasks = Load(), random.Random(rate), list[asyncio.Task[None]]()
    due = time.perf_counter()
    end = due + SECONDS
    while (due := due + chance.expovariate(rate)) < end:
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        tasks.append(asyncio.create_task(ask(client, load)))
    await asyncio.gather(*tasks)
    return load


def load() -> Iterator[Figure]:
    """The service at half, once, twice and five times its capacity, with questions that nobody asked before."""
    with (
        TemporaryDirectory() as folder,
        server_process(*SERVE, "--store", f"sqlite:///{folder}/store") as (
            at,
            process,
        ),
        asyncio.Runner() as runner,
    ):
        client = httpx.AsyncClient(base_url=at, timeout=600, limits=httpx.Limits(max_connections=None))
        runner.run(find_capacity(client))  # every worker is warm
        capacity = runner.run(find_capacity(client))
        before = measure_memory(process)
        yield Figure(f"capacity with {CLIENTS} clients, small plans", capacity, unit="/s")
        for multiple in RATES:
            found = runner.run(keep_up(client, multiple * capacity))
            yield from describe_load(multiple, found)
            after = measure_memory(process)
            yield Figure("  memory of all processes, MiB", after, unit="")
        yield Figure(
            "memory of all processes after it", after, after / before, f"{before:.0f} MiB before it", 1.25, unit="MiB"
        )
        runner.run(client.aclose())


def describe_load(multiple: float, found: Load) -> Iterator[Figure]:
    asked, made = found.statuses.total() + found.unanswered, len(found.took)
    other = {status: number for status, number in found.statuses.items() if status not in (200, REFUSED)}
    p99 = quantiles(found.took, n=100)[98]
    yield Figure(f"{multiple:g} x capacity: {asked} asked, {made} planned, p99", p99)
    yield Figure("  wrong answers", found.count_wrong(), unit="")
    yield Figure("  closed without an answer", found.unanswered, unit="")
    told = f"503 with Retry-After, {found.refusals_without_advice} without; others {other or 'none'}"
    yield Figure(f"  refused: {told}", found.statuses[REFUSED], unit="")


def measure_memory(process: int) -> float:
    """Resident MiB of a process and those below it; pages that they share count for each."""
    tasks = Path(f"/proc/{process}/task").iterdir()  # each thread has the processes that it started
    children = [child for task in tasks for child in (task / "children").read_text().split()]
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20 + sum(measure_memory(int(child)) for child in children)
