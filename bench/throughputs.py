"""Predictions of ten thousand workloads on every accelerator in one call, against one prediction after another."""

from __future__ import annotations

import random
from collections.abc import Iterator

from measure import Figure, medians

from planner.performance.throughput import MeasuredRate, predict_throughput
from pricing.catalog.price_catalog import Catalog
from tools.throughput.batch_prediction import predict_many

WORKLOADS, SINGLE, RUNS = 10_000, 50, 5
FAMILIES = ("training", "llm_training", "inference", "decode")


def throughputs() -> Iterator[Figure]:
    """10,000 measured workloads on all accelerators, with intervals, against `predict` for each pair (of a sample)."""
    parts = list(Catalog.embedded().names.by_name.values())
    usual = [part for part in parts if part.fp16_tflops and part.memory_bandwidth_gbs]
    chance = random.Random(1)
    known = [
        MeasuredRate(chance.choice(usual), 8, chance.uniform(1, 1e6), "bf16", "weak", chance.choice(FAMILIES))
        for _ in range(WORKLOADS)
    ]
    gangs = [chance.choice([8.0, 16.0, 64.0]) for _ in known]

    def one_by_one() -> None:
        for one, gang in zip(known[:SINGLE], gangs, strict=False):
            for part in parts:
                predict_throughput([one], part, gang)

    together, single = medians([lambda: predict_many(known, parts, gangs), one_by_one], RUNS)
    each = single * WORKLOADS / SINGLE
    yield Figure(f"{WORKLOADS:,} workloads x {len(parts)} accelerators, one by one, from {SINGLE}", each)
    yield Figure("the same in one call", together, each / together, "faster")
