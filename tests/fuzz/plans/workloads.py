"""Draws workloads of every kind that a request may hold, from a seed. Valid by construction."""

from __future__ import annotations

import random
from typing import Any

Document = dict[str, Any]

RATES = {
    "T4": 300.0, "L4": 700.0, "A10G": 800.0, "V100-16GB": 900.0, "L40S": 2100.0, "A100-40GB": 3000.0,
    "A100-80GB": 3800.0, "H100": 8000.0, "H200": 9300.0, "B200": 15000.0,
}  # fmt: skip
"""Units a second on one accelerator: of the size of published benchmarks, not from any of them."""
OTHERS = ("MI300X-192GB", "TPU-v5e", "TPU-v6e", "Gaudi-32GB", "Trainium1", "RTX-PRO-6000-Blackwell-96GB-SE")
MEASURED_EACH = ("device", "job")
SHAPES = ("flat", "business_hours", "day_and_evening")
SCALINGS = ("weak", "strong", "time_to_train", "replicas", "stream")
SECONDS = 730 * 3600.0
DATA_REGIONS = ("aws us-east-1", "aws eu-west-1", "azure eastus", "gcp us-central1")


def month_name(number: int) -> str:
    """The name of a month of the plan: 1 is 2026-12."""
    return f"{2026 + (number + 10) // 12}-{(number + 10) % 12 + 1:02}"


def draw_workload(chance: random.Random, name: str, months: int) -> Document:
    """One workload of one of ten kinds of work, with permissions, data and memory of its own."""
    kind = chance.choice(KINDS)
    model = chance.choice(sorted(RATES))
    made = {"name": name, "team": chance.choice(["research", "product", ""]), "interruptible": chance.random() < 0.45}
    made |= kind(chance, model, months)
    made |= _permissions(chance)
    if chance.random() < 0.25:
        made |= {"storage_gb": _size(chance, 10, 1e5), "egress_gb_per_month": _size(chance, 1, 2e4)}
    if chance.random() < 0.1:
        made |= {"data_region": chance.choice(DATA_REGIONS), "transfer_gb_per_month": _size(chance, 1, 5e3)}
    if chance.random() < 0.15:
        made |= {"checkpoint_minutes": chance.choice([0, 1, 30]), "restart_minutes": chance.choice([0, 5, 60])}
    if chance.random() < 0.15 and "network" not in made:
        made |= chance.choice([
            {"memory_gib_per_accelerator": chance.choice([8, 15, 22, 45, 79])}, {"memory_gib_total": 60},
            {"cpus_per_accelerator": chance.choice([4, 12])}, {"host_memory_gib_per_accelerator": 32},
        ])  # fmt: skip
    if chance.random() < 0.1:
        made |= {"budget_per_month": _size(chance, 100, 1e5), "notes": "drawn"}
    return made


def _permissions(chance: random.Random) -> Document:
    made: Document = {}
    if chance.random() < 0.12:
        made["residency"] = chance.choice([["EU"], ["DE", "FR"], ["US"], ["JP"]])
    if chance.random() < 0.15:
        made["providers"] = sorted(chance.sample(["aws", "azure", "gcp"], 2))
    if chance.random() < 0.06:
        made["regions"] = chance.choice([["us-east-1"], ["us-east-1", "eastus", "us-central1"], ["eu-west-1"]])
    if chance.random() < 0.12:
        made["may_be_owned"] = False
    if chance.random() < 0.15:
        made["spot_fraction_max"] = chance.choice([0, 0.3, 0.5, 0.75])
    if chance.random() < 0.06:
        made["fabric"] = "any"
    if chance.random() < 0.15:
        made["shares_nodes"] = True
    return made


def _size(chance: random.Random, least: float, most: float) -> float:
    """A number between the two, as likely small as large."""
    return float(f"{least * (most / least) ** chance.random():.4g}")


def _by_month(chance: random.Random, value: float, months: int, whole: bool = False) -> Document | list | float:
    """A value for every month: one, a list, or by name of the month; some months may have none."""
    amounts = [float(f"{value * chance.choice([0, 0.3, 0.7, 1, 1, 1.2]):.4g}") for _ in range(months)]
    amounts[-1] = amounts[-1] or value
    form = chance.choice(["one", "one", "list", "names"])
    if form == "one" or whole:
        return value
    return amounts if form == "list" else {month_name(n): amount for n, amount in enumerate(amounts, 1)}


def _growing(chance: random.Random, demand: Document, field: str) -> Document:
    if isinstance(demand[field], float) and chance.random() < 0.25:
        demand["growth_per_month"] = chance.choice([0.02, 0.1, -0.05])
    return demand


def _measured(chance: random.Random, model: str, least: int = 1) -> list[Document]:
    """One measurement, or two: on another accelerator or another count."""
    count = chance.choice([each for each in (1, 1, 2, 4, 8) if each >= least])
    per = chance.choice(MEASURED_EACH)
    rate = RATES[model] * (count if per == "job" else 1)
    first: Document = {"accelerator": model, "count": count, "per": per}
    first |= {"units_per_second": rate} if chance.random() < 0.8 else {"units_per_hour": rate * 3600}
    if chance.random() < 0.3:
        first |= {"scaling": chance.choice(SCALINGS), "precision": chance.choice(["bf16", "fp16", "fp32"])}
    if chance.random() < 0.2:
        other = chance.choice([each for each in sorted(RATES) if each != model])
        return [first, {"accelerator": other, "count": count, "units_per_second": RATES[other], "per": "device"}]
    return [first]


def _hours(chance: random.Random, model: str, months: int) -> Document:
    named = chance.choice(OTHERS) if chance.random() < 0.08 else model
    value = _size(chance, 5, 6000)
    demand = {"accelerator_hours_per_month": _by_month(chance, value, months), "accelerator": named}
    return {"demand": _growing(chance, demand, "accelerator_hours_per_month"), "substitution": chance.random() < 0.3}


def batch_hours(chance: random.Random, model: str, months: int) -> Document:
    made = _hours(chance, model, months) | {"kind": chance.choice(["training", "batch"])}
    if chance.random() < 0.2:
        made["spread"] = True
    if chance.random() < 0.25:
        made["parallel_jobs"] = chance.choice([1, 2, 4, 12])
    return made


def gang_hours(chance: random.Random, model: str, months: int) -> Document:
    made = _hours(chance, model, months) | {"kind": "training", "gang": chance.choice([2, 4, 8, 8, 16, 16, 32, 64])}
    if chance.random() < 0.15:
        made["accelerators_per_node"] = chance.choice([1, min(made["gang"], 4)])
    if chance.random() < 0.2:
        made["parallel_jobs"] = chance.choice([1, 2, 3])
    return made


def standing_hours(chance: random.Random, model: str, months: int) -> Document:
    made = _hours(chance, model, months) | {"kind": chance.choice(["inference", "interactive"])}
    made["demand"]["daily_shape"] = _shape(chance)
    return made


def _shape(chance: random.Random) -> str | list[float]:
    if chance.random() < 0.6:
        return chance.choice(SHAPES)
    hours, levels = chance.choice([24, 168]), chance.choice([(0, 1), (1, 2, 3.5), tuple(range(1, 21))])
    return [float(chance.choice(levels)) for _ in range(hours - 1)] + [1.0]


def service(chance: random.Random, model: str, months: int) -> Document:
    rate = _size(chance, 0.02, 6) * RATES[model] / 50
    demand = {"requests_per_second": _by_month(chance, float(f"{rate:.4g}"), months), "units_per_request": 50}
    demand["daily_shape"] = _shape(chance)
    made = {"kind": chance.choice(["inference", "inference", "interactive", "batch"]), "unit": "tokens"}
    made |= {"demand": _growing(chance, demand, "requests_per_second"), "measurements": _measured(chance, model)}
    if chance.random() < 0.4:
        made["spare_replicas"] = chance.choice([1, 1, 2, 3])
    return made


def units(chance: random.Random, model: str, months: int) -> Document:
    volume = float(f"{_size(chance, 0.005, 4) * RATES[model] * SECONDS:.4g}")
    demand = _growing(chance, {"units_per_month": _by_month(chance, volume, months)}, "units_per_month")
    made = {"kind": "batch", "unit": "samples", "demand": demand, "measurements": _measured(chance, model)}
    if chance.random() < 0.2:
        made["accelerators"] = sorted(chance.sample(sorted(RATES), 4))
    if chance.random() < 0.2:
        made["spread"] = True
    if chance.random() < 0.2:
        made["parallel_jobs"] = chance.choice([1, 2, 6])
    if chance.random() < 0.2:
        made["gang"] = chance.choice([1, 2, 4, 8])
    return made


def due(chance: random.Random, model: str, months: int) -> Document:
    last = chance.randint(1, months)
    work = float(f"{_size(chance, 0.02, 3) * last * RATES[model] * SECONDS:.4g}")
    demand = {"total_units": work, "deadline_month": chance.choice([last, month_name(last)])}
    made = {"kind": chance.choice(["training", "training", "batch"]), "unit": "samples", "demand": demand}
    made |= {"measurements": _measured(chance, model)}
    if chance.random() < 0.3:
        made["parallel_jobs"] = chance.choice([1, 2, 8])
    if chance.random() < 0.3:
        made["gang"] = chance.choice([1, 4, 8, 16])
    return made


def sweep(chance: random.Random, model: str, months: int) -> Document:
    share = chance.choice(["none", "none", "time", "slice"])
    each: float = {"none": chance.choice([1.0, 1.0, 2.0]), "time": 0.5, "slice": 0.25}[share]
    made: Document = {"units_each": float(f"{_size(chance, 1, 60) * RATES[model] * 3600:.4g}"), "share": share}
    made["accelerators_each"] = each
    number = chance.randint(2, 120)
    if chance.random() < 0.5:
        made |= {"experiments_per_month": number}
    else:
        made |= {"experiments": number, "deadline_month": chance.randint(1, months)}
    if share == "time":
        made["sharing_efficiency"] = 0.9
    if chance.random() < 0.6:
        made["at_once"] = chance.randint(1, 20)
    measured = {"accelerator": model, "count": max(each, 1.0), "units_per_second": RATES[model], "per": "device"}
    return {"kind": chance.choice(["training", "batch"]), "unit": "samples", "sweep": made, "measurements": [measured]}


def trained_network(chance: random.Random, _: str, months: int) -> Document:
    network = chance.choice([
        {"model": "llama-2-7b", "run": "pretraining", "sequence_length": 4096, "batch_per_device": 2},
        {"model": "llama-2-13b", "run": "finetuning", "checkpointing": "full", "optimizer": "adamw_8bit"},
        {"parameters": "7B", "run": "lora", "lora_rank": 32, "lora_targets": "query_value"},
        {"model": "llama-2-7b", "run": "pretraining", "parallelism": {"tensor": 2, "pipeline": 2, "zero_stage": 1}},
    ])  # fmt: skip
    demand: Document = {"units_per_month": _size(chance, 1e8, 2e10)}
    if chance.random() < 0.4:
        demand = {"total_units": _size(chance, 1e8, 2e10), "deadline_month": chance.randint(1, months)}
    made = {"kind": "training", "unit": "tokens", "network": dict(network), "demand": demand}
    if chance.random() < 0.7:
        made["gang"] = chance.choice([4, 8, 16])
    return made


def served_network(chance: random.Random, _: str, __: int) -> Document:
    network = {"model": "llama-2-7b", "run": "inference", "precision": chance.choice(["bf16", "int8"])}
    network |= {"batch_per_device": chance.choice([1, 8]), "sequence_length": 2048}
    demand = {"requests_per_second": _size(chance, 0.1, 10), "units_per_request": 200, "daily_shape": _shape(chance)}
    return {"kind": "inference", "unit": "tokens", "family": "decode", "network": network, "demand": demand}


KINDS = (
    batch_hours, batch_hours, gang_hours, standing_hours, standing_hours, service, service, units, units, due, due,
    sweep, trained_network, served_network,
)  # fmt: skip

SHAPE = {
    "layers": 32, "hidden_size": 4096, "attention_heads": 32, "kv_heads": 8, "head_size": 128,
    "feed_forward_size": 11008, "vocabulary": 32000,
}  # fmt: skip
"""Of a network of 7 billion weights."""


def add_details(chance: random.Random, row: Document) -> None:
    """What few requests say: more of a measurement, of the shape of a network, of how it is split."""
    for measured in row.get("measurements", ()):
        measured |= {"batch": chance.choice([8, 64]), "measured_on": "2026-05-02", "source": "our own"}
        measured["utilisation"] = 0.34
    if (network := row.get("network")) is None:
        return
    network |= {"flash_attention": chance.random() < 0.5, "kv_cache_precision": chance.choice(["bf16", "fp8"])}
    if "parameters" in network:
        network |= {**SHAPE, "master_weights": chance.random() < 0.5}
        if chance.random() < 0.5:
            network["active_parameters"] = "2B"
    if "parallelism" in network:
        split = {"exchange": chance.choice(["all_reduce", "parameter_server"]), "sequence": chance.random() < 0.5}
        network["parallelism"] = network["parallelism"] | split
