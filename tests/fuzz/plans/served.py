"""Served models: drawn as workloads, and how many replicas their arrivals need, by the rule of the guide."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from typing import Any

Document = dict[str, Any]
KEPT = ("name", "team", "interruptible", "providers", "regions", "residency", "may_be_owned", "spot_fraction_max",
        "shares_nodes", "storage_gb", "egress_gb_per_month", "data_region", "transfer_gb_per_month",
        "budget_per_month", "notes")  # fmt: skip
"""Of the workload whose place a served model takes."""
ACCELERATORS = ("A100-80GB", "H100", "H200", "B200", "MI300X", "L40S", "L4", "T4")


def serve_model(chance: random.Random, row: Document) -> Document:
    """A served model with the name and permissions of `row`."""
    model = chance.choice(["llama-3-8b", "llama-3-8b", "llama-3-70b", "mixtral-8x7b"])
    serving: Document = {"input_tokens": chance.choice([120, 900, 4000]), "output_tokens": chance.choice([40, 400])}
    for field, values in (
        ("ttft_ms", [600, 2000, 9000]), ("tpot_ms", [15, 40, 120]), ("percentile", [50, 90, 99.5]),
        ("burstiness", [1, 4, 30]), ("engine", ["vllm", "sglang", "trtllm"]), ("concurrency_max", [1, 16, 256]),
        ("input_variation", [0, 0.7]), ("output_variation", [0, 1.6]), ("prefix_cached_fraction", [0.3, 0.9]),
        ("speculation", [{"tokens_per_step": 2.2, "step_time_ratio": 1.3}]),
    ):  # fmt: skip
        if chance.random() < 0.4:
            serving[field] = chance.choice(values)
    if chance.random() < 0.3:
        rate = {"accelerator": chance.choice(ACCELERATORS), "count": chance.choice([1, 2, 8]),
                "concurrency": chance.choice([1, 32, 200]), "output_tokens_per_s": chance.choice([80, 1500, 20000]),
                "input_tokens": 500, "output_tokens": 200, "ttft_ms": chance.choice([90, 900]),
                "estimated": chance.random() < 0.3, "source": "our own"}  # fmt: skip
        serving["measured"] = [rate]
    rate = float(f"{0.05 * 4000 ** chance.random():.3g}")
    shape = chance.choice(["flat", "business_hours", "day_and_evening", [chance.choice([0, 1, 3]) for _ in range(23)]
                           + [2]])  # fmt: skip
    made = {
        "kind": "inference",
        "network": {"model": model, "run": "inference", "precision": chance.choice(["bf16", "fp8", "int8"])},
        "serving": serving,
        "demand": {"requests_per_second": rate, "daily_shape": shape},
        "accelerators": sorted(chance.sample(ACCELERATORS, 2)),
        "spare_replicas": chance.choice([0, 0, 1, 3]),
    }
    kept = {name: row[name] for name in KEPT if name in row}
    if kept.get("shares_nodes") or chance.random() < 0.3:
        made["gang"] = chance.choice([1, 2, 4])
    if made.get("gang", 1) > 1 and model == "mixtral-8x7b":
        serving["expert_parallel"] = True
    if made.get("gang", 1) > 1 and chance.random() < 0.5:
        serving["disaggregation"] = {
            "prefill_accelerators": 1,
            "ttft_ratio": chance.choice([0.6, 1.4]),
            "tpot_ratio": chance.choice([0.7, 1.2]),
        }
    return kept | made


def count_replicas(serving: Mapping[str, Any], estimate: Mapping[str, Any], due: float, rate: float) -> int:
    """The fewest replicas with which no more requests wait too long than the percentile allows. `estimate` is that of
    the plan (places, time to first token); `due` and `rate`, of a replica with all places taken, are per hour."""
    if due <= 0:
        return 0
    places, percentile = estimate["concurrency"], serving.get("percentile", 95)
    service = places / (rate / 3600)
    load = due / 3600 * service
    wait = service if serving.get("ttft_ms") is None else (serving["ttft_ms"] - estimate["ttft_ms"]) / 1000
    peak = max(1.0, serving.get("burstiness", 1))
    spread = max(1.0, (serving.get("burstiness", 1) + serving.get("output_variation", 1.0) ** 2) / 2)
    count = max(1, math.ceil(load / places - 1e-9))
    while True:
        spare = count * places - load
        if spare > 0:
            beta = spare / math.sqrt(load * peak)
            if beta > 30:
                return count
            below = 0.5 * math.erfc(-beta / math.sqrt(2))
            density = math.exp(-beta * beta / 2) / math.sqrt(2 * math.pi)
            late = math.exp(-spare * wait / (service * spread)) / (1 + beta * below / density)
            if late <= 1 - percentile / 100:
                return count
        count += 1
