"""Draws varied small requests from a seed: one theme each, with one to three workloads that suit it.

`requests.jsonl` holds those that were kept, so that what is drawn here may change without changing what is recorded.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

Request = dict[str, Any]

RATES = {"T4": 300.0, "L4": 700.0, "A10G": 800.0, "L40S": 2100.0, "A100-80GB": 3800.0, "H100": 8000.0, "H200": 9300.0}
"""Units a second on one accelerator: of the size of published benchmarks, not from any of them."""
PLACES = {
    "aws": ("us-east-1", "us-west-2", "eu-west-1", "eu-central-1"),
    "gcp": ("us-central1", "europe-west4", "us-east4"),
    "azure": ("eastus", "westeurope", "swedencentral"),
}
SECONDS = 730 * 3600.0
SYSTEM = {"name": "rack server", "accelerators": 4, "max_power_kw": 2.2, "rack_units": 4, "source": "quote 17"}


def job(chance: random.Random, name: str, months: int, kind: str = "") -> Request:
    """One workload of the kind: hours, gang, night, service, units, deadline, parallel."""
    kind = kind or chance.choice(["hours", "gang", "night", "service", "units", "deadline", "parallel"])
    model = chance.choice(sorted(RATES))
    made: Request = {
        "name": name,
        "team": chance.choice(["research", "product", ""]),
        "interruptible": chance.random() < 0.5,
        "memory_gib_per_accelerator": chance.choice([8, 14, 15]),
    }
    if chance.random() < 0.3:
        made |= {"storage_gb": chance.choice([100, 2500]), "egress_gb_per_month": chance.choice([0, 40, 700])}
    if kind in ("hours", "gang", "night"):
        return made | _hours(chance, kind, model, months)
    measured = {"accelerator": model, "units_per_second": RATES[model], "per": "device", "scaling": "replicas"}
    made |= {"unit": chance.choice(["tokens", "samples", "images"]), "measurements": [measured]}
    busy = chance.uniform(0.2, 3) * RATES[model]
    if kind == "service":
        shape = chance.choice(["flat", "business_hours", "day_and_evening", [1.0] * 8 + [3.0] * 10 + [2.0] * 6])
        demand = {"requests_per_second": round(busy / 50, 3), "units_per_request": 50, "daily_shape": shape}
        if chance.random() < 0.5:
            demand["growth_per_month"] = chance.choice([0.02, -0.05])
        return made | {"kind": "inference", "demand": demand, "spare_replicas": chance.choice([0, 0, 1])}
    if kind == "deadline":
        due = chance.randint(1, months)
        demand = {
            "total_units": round(0.6 * due * RATES[model] * SECONDS),
            "deadline_month": chance.choice([due, month_name(due)]),
        }
        return made | {"kind": "training", "demand": demand}
    if kind == "parallel":
        demand = {"units_per_month": round(busy * SECONDS)}
        return made | {"kind": "batch", "demand": demand, "parallel_jobs": chance.choice([4, 6])}
    volumes = [round(busy * SECONDS * chance.uniform(0, 1)) for _ in range(months)]
    return made | {"kind": "batch", "demand": {"units_per_month": [*volumes[:-1], max(volumes[-1], 1000)]}}


def _hours(chance: random.Random, kind: str, model: str, months: int) -> Request:
    """Accelerator-hours: of a gang, of an interactive workload with a daily shape, or of batch work."""
    most = chance.choice([200, 730, 1460, 5840])
    demand: Request = {"accelerator_hours_per_month": most, "accelerator": model}
    if chance.random() < 0.4:
        demand["accelerator_hours_per_month"] = [round(most * chance.uniform(0.1, 1)) for _ in range(months)]
    elif chance.random() < 0.2:
        demand["accelerator_hours_per_month"] = {month_name(n): most - 5 * n for n in range(1, months + 1)}
    if kind == "night":
        demand["daily_shape"] = chance.choice(["business_hours", "day_and_evening"])
        return {"kind": "interactive", "demand": demand}
    made: Request = {"kind": chance.choice(["training", "batch"]), "demand": demand}
    if kind == "gang":
        made["gang"] = chance.choice([2, 4, 8, 16])
    return made | {"substitution": chance.random() < 0.3}


def month_name(number: int) -> str:
    """The name of a month of the plan: 1 is 2026-12."""
    return f"{2026 + (number + 10) // 12}-{(number + 10) % 12 + 1:02}"


def base(chance: random.Random, *kinds: str, months: int = 0) -> Request:
    """A request with a job of each of the kinds, or one or two of any kind, in a few places."""
    months = months or chance.choice([1, 2, 3, 4, 6])
    kinds = kinds or ("",) * chance.choice([1, 1, 2])
    provider = chance.choice(sorted(PLACES))
    made: Request = {
        "months": months,
        "providers": [provider],
        "workloads": [job(chance, f"{kind or 'job'}-{n}", months, kind) for n, kind in enumerate(kinds, 1)],
    }
    if chance.random() < 0.5:
        made["providers"] = sorted({provider, chance.choice(sorted(PLACES))})
    if chance.random() < 0.4:
        made["assumptions"] = {"lead_time_months": 1, "electricity_price_per_kwh": 0.22, "pue": 1.3}
    if chance.random() < 0.4:
        made["regions"] = sorted(region for each in made["providers"] for region in PLACES[each][:2])
    return made


def any_demand(chance: random.Random) -> Request:
    return base(chance)


def gangs(chance: random.Random) -> Request:
    return base(chance, "gang", chance.choice(["gang", "deadline"]))


def services(chance: random.Random) -> Request:
    return base(chance, "service", chance.choice(["night", "units"]))


def deadlines(chance: random.Random) -> Request:
    return base(chance, "deadline", "parallel", months=chance.choice([3, 6]))


def spot(chance: random.Random) -> Request:
    made = base(chance, "units", "hours")
    for workload in made["workloads"]:
        workload |= {"interruptible": True, "checkpoint_minutes": chance.choice([1, 15, 60]), "restart_minutes": 20}
    made["workloads"][0]["spot_fraction_max"] = chance.choice([0.25, 0.7])
    made["limits"] = {"spot_fraction_max": 0.5}
    made["assumptions"] = {"spot_hours_to_interruption": chance.choice([3, 100]), "spot_price_change_annual": 0.1}
    return made


def commitments(chance: random.Random) -> Request:
    made = base(chance, "hours", chance.choice(["hours", "units"]), months=chance.choice([12, 18]))
    made["workloads"][0]["demand"] = {"accelerator_hours_per_month": 2920, "accelerator": chance.choice(["L4", "H100"])}
    made |= {"strategies": ["cloud"], "providers": ["aws"], "regions": ["us-east-1", "us-west-2"]}
    made["limits"] = {"purchase_options": chance.choice([["on_demand", "savings_plan"], ["on_demand", "reserved"], []])}
    made["commitments_beyond_horizon"] = chance.choice(["full", "pro_rata"])
    made["assumptions"] = {"commitment_price_change_annual": -0.1, "partial_upfront_fraction": 0.45}
    return made


def savings_plans(chance: random.Random) -> Request:
    """Planned with `negotiated-prices.csv`, which has the ways of paying that no list has."""
    made = base(chance, "hours", "hours", months=chance.choice([12, 14]))
    for workload, model in zip(made["workloads"], ("L4", "L40S"), strict=True):
        demand = {"accelerator_hours_per_month": chance.choice([1000, 2190, 2900]), "accelerator": model}
        workload |= {"demand": demand, "interruptible": False, "gang": 1, "substitution": False}
    options = [["on_demand", "savings_plan"], ["on_demand", "reserved", "savings_plan"], []]
    made |= {"strategies": ["cloud"], "providers": ["aws"], "regions": ["us-east-1"]}
    made["limits"] = {"purchase_options": chance.choice(options)}
    return made | {"commitments_beyond_horizon": chance.choice(["full", "pro_rata"])}


def owned(chance: random.Random) -> Request:
    made = base(chance, "hours", chance.choice(["units", "night"]), months=chance.choice([12, 24]))
    model = chance.choice(["L40S", "H100"])
    made["workloads"][0]["demand"] = {"accelerator_hours_per_month": 4 * 730, "accelerator": model}
    made["systems"] = [{**SYSTEM, "accelerator": model, "price": chance.choice([21_000, 60_000])}]
    made["site"] = {
        "facility": chance.choice(["colocation_per_kw", "colocation_per_rack", "own_room"]),
        "staff": chance.choice(["shared", "whole"]),
        "energy_included": chance.random() < 0.3,
    }
    made["assumptions"] = {
        "lead_time_months": chance.choice([0, 2]), "migration_months": chance.choice([0, 1]), "staff_cost_annual": 9000,
        "useful_life_months": chance.choice([9, 60]), "idle_draw_fraction": chance.choice([1, 0.4]),
        "deposit_fraction": chance.choice([1, 0.3]), "electricity_demand_charge_per_kw_month": 12,
    }  # fmt: skip
    return made


def financed(chance: random.Random) -> Request:
    made = owned(chance)
    made["finance"] = {
        "hardware": chance.choice(["loan", "lease"]),
        "tax": chance.choice(["none", "straight_line", "macrs"]),
    }
    made["assumptions"] |= {"loan_months": 12, "lease_months": chance.choice([6, 24]), "hardware_tax_fraction": 0.19}
    made["discount_rate_annual"] = chance.choice([0.05, 0.12])
    return made


def existing(chance: random.Random) -> Request:
    made = base(chance, "hours", "units", months=chance.choice([6, 12]))
    made["workloads"][0]["demand"] = {"accelerator_hours_per_month": 6 * 730, "accelerator": "L40S"}
    made["providers"] = ["aws"]
    made["existing"] = {
        "nodes": [{"system": "4x L40S server", "count": 1, "bought": chance.choice(["2023-06", "2026-12"])}],
        "commitments": [{
            "provider": "aws", "region": "us-east-1", "instance_type": "g6e.xlarge", "count": chance.choice([1, 3]),
            "purchase_option": "reserved_1y_no_upfront", "ends": chance.choice(["2027-02", "2027-11"]),
            "fee_per_month": chance.choice([0, 860]),
        }],
    }  # fmt: skip
    return made


def limited(chance: random.Random) -> Request:
    made = owned(chance)
    made["limits"] = chance.choice([
        {"capex_per_year": chance.choice([40_000, 90_000])},
        {"opex_per_year": [200_000, 150_000], "owned_power_kw": 4.5},
        {"owned_racks": 0.2, "purchase_options": ["on_demand", "spot"]},
        {"purchase_options": ["on_demand", "reserved", "savings_plan"], "spot_fraction_max": 0.1},
    ])  # fmt: skip
    return made


def quotas(chance: random.Random) -> Request:
    made = base(chance, "hours", "units", months=3)
    made |= {"providers": ["aws"], "regions": ["us-east-1"], "strategies": ["cloud"]}
    demand = {"accelerator_hours_per_month": chance.choice([6, 20]) * 730, "accelerator": "L4"}
    made["workloads"][0] |= {"demand": demand, "interruptible": False, "substitution": False}
    made["limits"] = {"quotas": chance.choice(["ask", "hold"])}
    made["quotas"] = [{
        "provider": "aws", "region": "us-east-1", "code": code, "title": "running instances", "unit": "vcpu",
        "limit": chance.choice([0, 16, 192]), "used": chance.choice([None, 0, 16]), "types": types, "kinds": kinds,
        "as_of": "2026-11-20", "source_id": "drawn",
    } for code, types, kinds in (
        ("L-1", "g[0-9]* gr[0-9]*", "on_demand reserved savings_plan"), ("L-2", "p[0-9]*", "on_demand"),
        ("L-3", "g[0-9]* p[0-9]*", "spot"),
    )]  # fmt: skip
    return made


def residency(chance: random.Random) -> Request:
    made = base(chance, "units", "service")
    made.pop("regions", None)
    made["residency"] = chance.choice([["EU"], ["US", "CA"], ["DE", "FR", "NL", "SE"]])
    made["workloads"][0] |= {"data_region": "aws us-east-1", "transfer_gb_per_month": 300, "storage_gb": 1000}
    made["workloads"][1]["residency"] = chance.choice([["EU"], []])
    return made


def money(chance: random.Random) -> Request:
    made = base(chance, "hours", "units")
    made["currency"] = chance.choice(["EUR", "GBP", "JPY"])
    made["assumptions"] = {
        "enterprise_discount_fraction": 0.07, "cloud_tax_fraction": 0.19, "cloud_support_fraction": 0.03,
        "cloud_support_minimum_per_month": 100, "cloud_price_change_annual": chance.choice([-0.15, 0.08]),
    }  # fmt: skip
    return made


def budgets(chance: random.Random) -> Request:
    made = base(chance, "hours", "units", "night", months=4)
    for workload in made["workloads"]:
        workload["budget_per_month"] = chance.choice([50, 900, 20_000])
    made["materiality_fraction"] = chance.choice([0.0, 0.2])
    made["strategies"] = chance.choice([["cloud"], ["cloud", "hybrid"], ["onprem", "cloud"]])
    return made


def risk(chance: random.Random) -> Request:
    made = chance.choice([owned, any_demand, spot])(chance)
    made["months"] = min(made["months"], 12)
    made["risk"] = {"draws": chance.choice([100, 300]), "seed": chance.randint(0, 99), "waits": [0, 3]}
    if chance.random() < 0.5:
        made["risk"]["reoptimise"] = 2
    return made


def sweeps(chance: random.Random) -> Request:
    made = base(chance, "hours", months=3)
    share = chance.choice(["none", "time", "slice"])
    each = {"none": 1.0, "time": 0.5, "slice": 0.142857}[share]
    sweep: Request = {"units_each": 4_000_000, "accelerators_each": each if share != "slice" else "1/7", "share": share}
    sweep |= {"experiments_per_month": 60} if chance.random() < 0.5 else {"experiments": 150, "deadline_month": 2}
    if share == "time":
        sweep["sharing_efficiency"] = 0.9
    if chance.random() < 0.6:
        sweep["at_once"] = 14
    measured = {"accelerator": "A100-80GB", "count": each, "units_per_second": 210 if each < 1 else 1200, "per": "job"}
    swept = {"name": "sweep", "kind": "training", "unit": "samples", "sweep": sweep, "measurements": [measured]}
    return made | {"workloads": [*made["workloads"], {**swept, "memory_gib_per_accelerator": 8}]}


def networks(chance: random.Random) -> Request:
    made = base(chance, "hours", months=chance.choice([1, 3]))
    network: Request = chance.choice([
        {"model": "llama-2-7b", "run": "pretraining", "sequence_length": 4096, "batch_per_device": 2},
        {"model": "llama-2-13b", "run": "finetuning", "checkpointing": "full", "optimizer": "adamw_8bit"},
        {"parameters": "13B", "run": "lora", "lora_rank": 32, "lora_targets": "query_value"},
        {"model": "llama-2-7b", "run": "pretraining", "parallelism": {"tensor": 2, "pipeline": 2, "zero_stage": 1}},
    ])  # fmt: skip
    gang = chance.choice([4, 8, 16])
    demand = {"units_per_month": 1e9} if chance.random() < 0.6 else {"total_units": 2e9, "deadline_month": 1}
    described = {"name": "network", "kind": "training", "unit": "tokens", "network": network, "gang": gang}
    return made | {"workloads": [*made["workloads"], {**described, "demand": demand}]}


def served_networks(chance: random.Random) -> Request:
    made = base(chance, "units", months=2)
    network = {"model": "llama-2-7b", "run": "inference", "precision": chance.choice(["bf16", "int8", "int4"])}
    network |= {"batch_per_device": chance.choice([1, 8]), "sequence_length": 2048}
    demand = {"requests_per_second": 0.5, "units_per_request": 200, "daily_shape": "day_and_evening"}
    served = {"name": "served", "kind": "inference", "unit": "tokens", "family": "decode", "network": network}
    return made | {"workloads": [*made["workloads"], {**served, "demand": demand}]}


def bounds_of_data(chance: random.Random) -> Request:
    made = base(chance, "gang", "units")
    made |= {"measured_only": chance.random() < 0.5, "allow_estimates": False}
    made["workloads"][0] |= {"accelerators": ["A100-80GB", "H100"], "substitution": True, "may_be_owned": False}
    made["workloads"][1]["accelerators"] = ["L4", "T4", "A10G"]
    return made


def impossible(chance: random.Random) -> Request:
    made = base(chance, "hours", "deadline")
    fault: Request = chance.choice([
        {"memory_gib_per_accelerator": 500},
        {"regions": ["eu-west-1"], "residency": ["US"]},
        {"demand": {"accelerator_hours_per_month": 99_000, "accelerator": "T4"}, "parallel_jobs": 1},
        {"gang": 64, "accelerators_per_node": 64},
    ])  # fmt: skip
    made["workloads"][0] |= fault
    if chance.random() < 0.4:
        made["limits"] = {"opex_per_year": 10}
    return made


Theme = Callable[[random.Random], Request]

THEMES: tuple[Theme, ...] = (
    any_demand, gangs, services, deadlines, spot, commitments, savings_plans, owned, financed, existing, limited,
    quotas, residency, money, budgets, risk, sweeps, networks, served_networks, bounds_of_data, impossible,
)  # fmt: skip


def draw(theme: Theme, seed: int) -> Request:
    """The request of a theme and a seed."""
    return theme(random.Random(f"{theme.__name__} {seed}"))
