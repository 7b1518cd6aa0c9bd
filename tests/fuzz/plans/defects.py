"""Plans with a defect each: what the checker must find in a plan that is sound but for it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

Plan = dict[str, Any]
Row = dict[str, Any]

SMALL: dict[str, Row] = {
    "rented": {
        "months": 3,
        "providers": ["aws"],
        "regions": ["us-east-1", "eu-west-1", "eu-south-2", "ap-northeast-1"],
        "strategies": ["cloud"],
        "limits": {"opex_per_year": 400_000, "carbon_kg_per_year": 400_000},
        "grid_gco2e_per_kwh": {"aws eu-south-2": 100},
        "workloads": [
            {"name": "service", "kind": "inference", "unit": "tokens", "spare_replicas": 1, "residency": ["EU"],
             "demand": {"requests_per_second": 90, "units_per_request": 50, "daily_shape": "business_hours"},
             "measurements": [{"accelerator": "L4", "units_per_second": 700, "per": "device"}], "storage_gb": 500},
            {"name": "batch", "interruptible": True, "spot_fraction_max": 0.5,
             "demand": {"accelerator_hours_per_month": 900, "accelerator": "L4"}},
            {"name": "due", "kind": "training", "unit": "samples",
             "demand": {"total_units": 2e9, "deadline_month": 2},
             "measurements": [{"accelerator": "L4", "count": 1, "units_per_second": 700, "per": "device"}]},
            {"name": "blocks", "kind": "training", "gang": 16,
             "demand": {"accelerator_hours_per_month": [3000, 3000, 0], "accelerator": "H200"}},
        ],
    },
    "spread": {
        "months": 1,
        "strategies": ["cloud"],
        "providers": ["aws"],
        "regions": ["us-east-1", "us-west-2"],
        "limits": {"quotas": "hold", "purchase_options": ["on_demand"]},
        "quotas": [{
            "provider": "aws", "region": region, "code": "L-1", "title": "nodes", "unit": "node", "limit": 3,
            "used": 0, "types": "*", "kinds": "on_demand", "as_of": "2026-11-20", "source_id": "drawn",
        } for region in ("us-east-1", "us-west-2")],
        "workloads": [{"name": "chat", "kind": "inference", "spread": True, "accelerators": ["L4"],
                       "accelerators_per_node": 8, "gang": 8,
                       "demand": {"accelerator_hours_per_month": 29_200, "accelerator": "L4"}}],
    },
    "committed": {
        "months": 12,
        "strategies": ["cloud"],
        "providers": ["aws"],
        "regions": ["us-east-1"],
        "limits": {"quotas": "hold", "purchase_options": ["on_demand", "reserved"]},
        "quotas": [{
            "provider": "aws", "region": "us-east-1", "code": "L-1", "title": "vCPUs", "unit": "vcpu", "limit": 12,
            "used": 4, "types": "g*", "kinds": "on_demand reserved", "as_of": "2026-11-20", "source_id": "drawn",
        }],
        "workloads": [{"name": "chat", "kind": "inference",
                       "demand": {"accelerator_hours_per_month": 730, "accelerator": "L4"}}],
    },
    "owned": {
        "months": 24,
        "providers": ["aws"],
        "regions": ["us-east-1"],
        "systems": [{"name": "rack server", "accelerator": "L4", "accelerators": 4, "price": 9_000,
                     "max_power_kw": 1, "rack_units": 2}],
        "assumptions": {"lead_time_months": 2, "staff_cost_annual": 9_000},
        "limits": {"owned_power_kw": 2, "capex_per_year": 60_000},
        "workloads": [{"name": "night", "kind": "batch", "parallel_jobs": 8,
                       "demand": {"accelerator_hours_per_month": 5_000, "accelerator": "L4"}}],
    },
}  # fmt: skip
"""Requests whose plans have something of each kind; `as_of` is added."""

Change = Callable[[Row], object]


def uses(strategy: Row, workload: str = "", **like: object) -> list[Row]:
    rows = [row for row in strategy["uses"] if workload in ("", row["workload"])]
    return [row for row in rows if all(row[name] == value for name, value in like.items())]


def first(rows: list[Row], **changes: object) -> None:
    """Changes the first of the rows; there must be one, or the defect is none."""
    rows[0].update(changes)


def times(rows: list[Row], field: str, factor: float) -> None:
    rows[0][field] *= factor


def move_uses(strategy: Row, workload: str, **place: object) -> None:
    for row in uses(strategy, workload)[:1]:
        row.update(place)


def swap_costs(strategy: Row) -> None:
    strategy["present_cost"] *= 0.9
    strategy["total_cost"] *= 0.9


DEFECTS: dict[str, tuple[str, str, Change, str]] = {
    "hours deleted": ("rented", "cloud", lambda s: s["uses"].remove(uses(s, "batch")[0]), "work done"),
    "work done twice": ("rented", "cloud", lambda s: s["uses"].append(dict(uses(s, "batch")[0])), "work done"),
    "hours too few for the work": ("rented", "cloud", lambda s: times(uses(s, "batch"), "node_hours", 0.9),
                                   "hours of the work"),
    "a node halved": ("rented", "cloud", lambda s: times(uses(s, "service"), "node_hours", 0.5), "standing nodes"),
    "a spare left out": ("rented", "cloud", lambda s: times(uses(s, "service"), "node_hours", 2 / 3), "standing nodes"),
    "work after the deadline": ("rented", "cloud", lambda s: first(uses(s, "due")[-1:], month=3), "after the deadline"),
    "a second home": ("rented", "cloud", lambda s: move_uses(s, "batch", region="us-west-2"), "one home"),
    "a home outside the residency": ("rented", "cloud", lambda s: move_uses(s, "service", region="us-east-1"),
                                     "not permitted there"),
    "another provider": ("rented", "cloud", lambda s: move_uses(
        s, "batch", provider="gcp", region="us-central1", name="g2-standard-4"), "not permitted there"),
    "spot beyond its share": ("rented", "cloud", lambda s: [
        row.update(purchase_option="spot") for row in uses(s, "batch")], "spot share"),
    "spot though it may not be interrupted": ("rented", "cloud", lambda s: first(
        uses(s, "due"), **uses(s, "batch")[0] | {"workload": "due", "purchase_option": "spot"}), "interrupted"),
    "two jobs where one may run": ("rented", "cloud", lambda s: times(uses(s, "due"), "node_hours", 40),
                                   "hours of the work"),
    "a gang without a fabric": ("rented", "cloud", lambda s: first(
        uses(s, "blocks"), name="p3.16xlarge", purchase_option="on_demand", what="hourly", region="us-east-1",
        ), "fabric"),
    "a type that does not exist": ("rented", "cloud", lambda s: first(uses(s), name="p9.large"),
                                   "not in the catalogue"),
    "days that nobody bought": ("rented", "cloud", lambda s: times(
        [row for row in s["purchases"] if row["unit"] == "node_day"], "count", 0.5), "hours bought"),
    "days beyond the window": ("rented", "cloud", lambda s: first(
        [row for row in s["purchases"] if row["unit"] == "node_day"], month=3, usable_from=3, usable_to=3),
        "days beyond the window"),
    "a block of 15 days": ("rented", "cloud", lambda s: first(
        [row for row in s["purchases"] if row["unit"] == "node_day"],
        orders=[{"nodes": 1, "first_day": 1, "days": 15}]), "an order of days"),
    "part of a gang's days": ("rented", "cloud", lambda s: s["purchases"][0].update(
        count=s["purchases"][0]["count"] + 1), "whole days of a gang"),
    "a payment altered": ("rented", "cloud", lambda s: times(s["cash"], "amount", 1.01), "payment"),
    "a payment left out": ("rented", "cloud", lambda s: s["cash"].pop(), "payment"),
    "a payment moved to another month": ("rented", "cloud", lambda s: first(s["cash"], month=2), "payment"),
    "a total that is not the sum": ("rented", "cloud", swap_costs, "total cost"),
    "a present cost without discount": ("rented", "cloud", lambda s: s.update(present_cost=s["total_cost"]),
                                        "present cost"),
    "a workload's cost left out": ("rented", "cloud", lambda s: first(s["workloads"], cost=0.0), "costs of workloads"),
    "a use that costs nothing": ("rented", "cloud", lambda s: first(uses(s, "batch"), cost=0.0), "cost of a use"),
    "a bound above the cost": ("rented", "cloud", lambda s: s.update(bound=s["present_cost"] * 1.1), "bound"),
    "a budget passed": ("rented", "cloud", lambda s: times(s["cash"], "amount", 1e6), "opex_per_year"),
    "energy left out": ("rented", "cloud", lambda s: s["emissions"].pop(), "energy"),
    "carbon passed": ("rented", "cloud", lambda s: times(s["uses"], "node_hours", 1e7), "carbon_kg_per_year"),
    "half a node in one of several places": ("spread", "cloud", lambda s: times(s["uses"], "node_hours", 0.75),
                                             "parts of nodes in a place"),
    "replicas missing in all places": ("spread", "cloud", lambda s: first(s["uses"], node_hours=730),
                                       "too few replicas in all places"),
    "a commitment that nobody bought": ("committed", "cloud", lambda s: s["purchases"].clear(), "hours bought"),
    "half a node bought": ("committed", "cloud", lambda s: first(s["purchases"], count=0.5), "unsound purchase"),
    "a quota passed": ("committed", "cloud", lambda s: first(s["purchases"], count=3), "quota"),
    "a term that is over": ("committed", "cloud", lambda s: first(s["purchases"], usable_to=6), "months of use"),
    "upfront not as paid": ("committed", "cloud", lambda s: first(s["purchases"], upfront=1.0), "upfront"),
    "a way of paying that is not allowed": ("committed", "cloud", lambda s: first(
        s["uses"], purchase_option="spot", what="hourly"), "way of paying"),
    "owned before it is delivered": ("owned", "onprem", lambda s: s["uses"].append(
        next(row for row in s["uses"] if row["what"] == "owned") | {"month": 1}), "hours bought"),
    "rented after delivery": ("owned", "onprem", lambda s: s["uses"].append(
        uses(s, what="hourly")[0] | {"month": 20}), "rented though it can be owned"),
    "power beyond the site's": ("owned", "onprem", lambda s: times(
        [row for row in s["purchases"] if row["what"] == "owned"], "count", 5), "owned_power_kw"),
    "hardware in the cloud": ("owned", "cloud", lambda s: s["purchases"].append(
        {"month": 1, "what": "owned", "name": "rack server", "provider": "", "region": "", "purchase_option": "owned",
         "accelerator": "L4-24GB", "accelerators_per_node": 4, "count": 1, "usable_from": 3, "usable_to": 24,
         "term_months": 60, "upfront": 0, "per_month": 0, "present_cost": 0, "unit": "node", "money_per_hour": 0}),
        "hardware in the cloud"),
    "resale that is not received": ("owned", "onprem", lambda s: s["cash"].remove(
        next(row for row in s["cash"] if row["category"] == "resale")), "payment"),
    "too many jobs at once": ("owned", "onprem", lambda s: [
        row.update(node_hours=row["node_hours"] * 3, units=row["units"] * 3) for row in s["uses"]], "jobs at once"),
    "a hybrid dearer than cloud": ("owned", "hybrid", lambda s: s.update(present_cost=1e9, total_cost=1e9), "hybrid"),
}  # fmt: skip
"""By defect: the request, the strategy, the change of it, and the rule that must be named."""

IN_THE_PLAN: dict[str, tuple[str, Change, str]] = {
    "a price of the future": ("rented", lambda p: first(p["prices"], as_of="2027-01-01"), "price's date"),
    "a price that nobody lists": ("rented", lambda p: times(p["prices"], "price_per_hour", 0.9), "price"),
    "an assumption changed": ("rented", lambda p: first(p["assumptions"], value=0.01), "assumption"),
    "the dearer strategy advised": ("owned", lambda p: p["recommendation"].update(
        strategy=max(p["strategies"], key=lambda s: s["present_cost"])["name"]), "advice"),
    "another runner-up": ("owned", lambda p: p["recommendation"].update(worth=-5.0), "runner-up"),
    "a rival within what the proofs leave open": ("owned", lambda p: times(
        p["strategies"], "bound", 0.01), "runner-up"),
    "work that costs less than nothing": ("rented", lambda p: first(
        p["strategies"][0]["workloads"], cost_per_unit=-0.1), "unit cost"),
    "a month more": ("rented", lambda p: p["month_names"].append("2027-03"), "months and strategies"),
    "the oldest price hidden": ("rented", lambda p: p.update(oldest_price="2026-11-21"), "oldest price"),
}  # fmt: skip
"""Defects of a plan as a whole."""


def plant(plan: Plan, strategy: str, change: Change) -> Plan:
    """A copy of the plan with the change in one strategy, or in the whole where that is empty."""
    copied = copy.deepcopy(plan)
    change(next(s for s in copied["strategies"] if s["name"] == strategy) if strategy else copied)
    return copied
