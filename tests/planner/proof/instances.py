"""Random small questions that touch every kind of constraint, some of them impossible. A seed names a question."""

from __future__ import annotations

import random

PLACE = ("aws", "us-east-1")
OTHER = ("aws", "us-west-2")
L40S = {"g6e.xlarge": 1, "g6e.12xlarge": 4, "g6e.48xlarge": 8}
T4 = {"g4dn.xlarge": 1, "g4dn.12xlarge": 4}
COMMITMENTS = (
    "reserved_1y_no_upfront", "reserved_1y_partial_upfront", "reserved_1y_all_upfront", "reserved_3y_no_upfront",
    "reserved_3y_partial_upfront", "reserved_3y_all_upfront",
)  # fmt: skip
PLANS = ("savings_plan_1y_compute_no_upfront", "savings_plan_1y_instance_all_upfront")
SERVER = "price_of_4x_l40s_server"


def prices(chance: random.Random, few: int) -> dict[tuple[str, str, str, str], float]:
    """An hourly price of a type or two near 1 an accelerator-hour, and at most `few` other ways of paying."""
    found = {}
    types = {**L40S, **T4}
    chosen = chance.sample(sorted(L40S), chance.choice([1, 1, 2])) + chance.sample(sorted(T4), chance.choice([0, 0, 1]))
    for name in chosen:
        base = types[name] * chance.uniform(0.7, 1.3) * (0.5 if name in T4 else 1.0)
        if chance.random() < 0.93:
            found[*PLACE, name, "on_demand"] = base
        if chance.random() < 0.3:
            found[*OTHER, name, "on_demand"] = base * chance.uniform(0.8, 1.2)
        if chance.random() < 0.4:
            found[*PLACE, name, "spot"] = base * chance.uniform(0.2, 0.9)
        ways = [*COMMITMENTS, "capacity_block", *PLANS]
        for option in chance.sample(ways, chance.randint(0, few)):
            found[*PLACE, name, option] = base * chance.uniform(0.02, 0.9)
    if not found:
        found[*PLACE, chosen[0], "on_demand"] = base
    return found


def job(chance: random.Random, name: str, months: int) -> dict:
    kind = chance.choice(["hours", "gang", "service", "deadline", "night", "parallel", "batch"])
    common = {"name": name, "interruptible": chance.random() < 0.5, "may_be_owned": chance.random() < 0.7}
    if chance.random() < 0.2:
        common |= {"storage_gb": chance.choice([100, 5000]), "egress_gb_per_month": chance.choice([0, 300])}
    measurement = {"accelerator": "L40S", "units_per_second": 2.0, "per": "job"}
    parts = {"measurements": [measurement], "accelerators": ["L40S", *chance.sample(["T4"], chance.choice([0, 1]))]}
    second = 730 * 3600.0
    if kind in ("hours", "gang", "night"):
        most = chance.choice([300, 1400, 2900])
        values = [round(chance.uniform(0, most), 1) * (chance.random() < 0.9) for _ in range(months)]
        values[-1] = max(values[-1], 5.0)
        demand = {"accelerator_hours_per_month": values, "accelerator": "L40S"}
        made = {**common, "kind": "interactive" if kind == "night" else "training", "demand": demand}
        if kind == "night":
            demand["daily_shape"] = chance.choice(["business_hours", "day_and_evening"])
        if kind == "gang":
            made["gang"] = chance.choice([2, 4, 8, 16])
        return made
    if kind == "service":
        demand = {
            "requests_per_second": [chance.uniform(0.3, 5) for _ in range(months)],
            "daily_shape": chance.choice(["flat", "flat", "business_hours", "day_and_evening"]),
        }
        spare = chance.choice([0, 0, 1, 2])
        made = {"kind": "inference", "demand": demand, **parts, "spare_replicas": spare}
        return {**common, **made}
    if kind in ("deadline", "parallel"):
        due = chance.randint(1, months)
        at_once = chance.choice([None, None, 2]) if kind == "deadline" else chance.choice([1, 2])
        size = chance.uniform(0.1, 0.95) * (at_once or 1) * second * 2.0
        demand = {"total_units": size * due, "deadline_month": due}
        if kind == "parallel":
            demand = {"units_per_month": [size * chance.uniform(0.3, 1) for _ in range(months)]}
        measurement["count"] = chance.choice([1, 1, 2])
        made = {"kind": chance.choice(["training", "batch"]), "demand": demand, **parts}
        if at_once is not None:
            made["parallel_jobs"] = at_once
        return {**common, **made, "gang": measurement["count"]}
    demand = {"units_per_month": [chance.uniform(0, 3) * second for _ in range(months)]}
    return {**common, "kind": "batch", "demand": demand, **parts}


def limits(chance: random.Random) -> dict:
    found: dict = {}
    if chance.random() < 0.3:
        found["spot_fraction_max"] = round(chance.random(), 2)
    if chance.random() < 0.3:
        found["opex_per_year"] = chance.uniform(100, 20_000)
    if chance.random() < 0.3:
        found["capex_per_year"] = chance.uniform(0, 8_000)
    if chance.random() < 0.2:
        found["owned_power_kw"] = chance.uniform(1, 6)
    if chance.random() < 0.2:
        found["owned_racks"] = chance.uniform(0.02, 0.3)
    if chance.random() < 0.4:
        found["quotas"] = "hold"
    return found


def quota(chance: random.Random) -> dict:
    unit, limit = chance.choice(
        [("vcpu", 4), ("vcpu", 20), ("vcpu", 200), ("node", 1), ("node", 3), ("accelerator", 4)]
    )
    kinds = chance.choice(["on_demand", "on_demand reserved savings_plan", "spot", "capacity_block on_demand"])
    return {
        "provider": "aws", "region": chance.choice(["us-east-1", "us-west-2"]), "code": "L-1", "title": "nodes",
        "unit": unit, "limit": limit, "used": chance.choice([None, 0, 1]), "types": chance.choice(["g*", "g6e.*"]),
        "as_of": "2026-11-20", "source_id": "test", "kinds": kinds,
    }  # fmt: skip


def assumed(chance: random.Random, months: int) -> dict:
    found = {
        SERVER: chance.uniform(500, 8000),
        "lead_time_months": chance.choice([0, 0, 1, months]),
        "useful_life_months": chance.choice([1, 2, 60]),
        "colocation_per_kw_month": chance.uniform(5, 100),
        "cloud_price_change_annual": chance.choice([0, -0.3, 0.09]),
        "commitment_price_change_annual": chance.choice([0, -0.3]),
        "spot_hours_to_interruption": chance.choice([3, 24, 500]),
    }
    if chance.random() < 0.2:
        found |= {
            "enterprise_discount_fraction": 0.1, "cloud_support_fraction": 0.05, "cloud_tax_fraction": 0.2,
        }  # fmt: skip
    return found


def commitment(chance: random.Random) -> dict:
    return {
        "provider": "aws", "region": "us-east-1", "instance_type": chance.choice(sorted(L40S)),
        "purchase_option": chance.choice(COMMITMENTS), "count": chance.choice([1, 2]),
        "ends": chance.choice(["2026-12", "2027-01", "2027-06"]), "fee_per_month": chance.choice([0, 250]),
    }  # fmt: skip


def question(seed: int) -> tuple[dict, dict, str]:
    """Prices, what to ask (without its date) and the strategy."""
    chance = random.Random(seed)
    months = chance.choice([1, 2, 2, 3, 4])
    jobs = [job(chance, f"job {n}", months) for n in range(chance.choice([1, 2, 2, 3]))]
    asked = {
        "workloads": jobs,
        "months": months,
        "providers": ["aws"],
        "commitments_beyond_horizon": chance.choice(["full", "pro_rata", "pro_rata"]),
        "assumptions": assumed(chance, months),
        "limits": limits(chance),
        "quotas": [quota(chance)],
    }
    existing = {}
    if chance.random() < 0.2:
        existing["commitments"] = [commitment(chance)]
    if chance.random() < 0.2:
        bought = chance.choice(["2024-06", "2026-12"])
        existing["nodes"] = [{"system": "4x L40S server", "count": chance.choice([1, 2]), "bought": bought}]
    if existing:
        asked["existing"] = existing
    if chance.random() < 0.3:
        asked["systems"] = [{
            "name": "workstation", "accelerator": "L40S", "accelerators": chance.choice([1, 2]),
            "price": chance.uniform(100, 3000), "max_power_kw": 0.8, "rack_units": 4,
        }]  # fmt: skip
    if chance.random() < 0.3:
        facility = chance.choice(["colocation_per_kw", "colocation_per_rack", "own_room"])
        asked["site"] = {"facility": facility, "staff": chance.choice(["shared", "whole"])}
        asked["assumptions"] |= {"staff_cost_annual": chance.uniform(100, 9000), "accelerators_per_staff": 6}
    if chance.random() < 0.2:
        asked["finance"] = {"hardware": chance.choice(["loan", "lease"])}
        asked["assumptions"] |= {"lease_months": chance.choice([1, 2, 36]), "loan_months": chance.choice([2, 36])}
    if chance.random() < 0.2:
        idle = {"idle_draw_fraction": 0.4, "migration_months": chance.choice([0, 1])}
        asked["assumptions"] |= idle
    return prices(chance, 3 if months < 3 else 2), asked, chance.choice(["cloud", "hybrid", "hybrid", "onprem"])


def scale(demand: dict, factor: float) -> None:
    """So many times the work."""
    for kind in ("units_per_month", "accelerator_hours_per_month", "requests_per_second"):
        if kind in demand:
            demand[kind] = [factor * value for value in demand[kind]]
    if "total_units" in demand:
        demand["total_units"] *= factor


def apart(seed: int) -> tuple[dict, dict, str]:
    """A question of two workloads or more whose sizes lie up to a factor of a million apart."""
    chance = random.Random(f"apart {seed}")
    asked: dict = {"workloads": []}
    while len(asked["workloads"]) < 2:
        prices_, asked, name = question(chance.randrange(10**6))
    small = [10**-6, *(10 ** -chance.uniform(0, 6) for _ in asked["workloads"][2:])]
    for one, factor in zip(asked["workloads"][1:], small, strict=True):
        scale(one["demand"], factor)
    chance.shuffle(asked["workloads"])
    return prices_, asked, name


def larger(seed: int) -> tuple[dict, dict, str]:
    """Two or three workloads over one to two years with dozens of offers: too many plans to try, few enough to
    solve."""
    chance = random.Random(f"larger {seed}")
    months = chance.choice([12, 18, 24])
    jobs = [job(chance, f"job {n}", months) for n in range(chance.choice([2, 3]))]
    for one in jobs:
        one["spare_replicas"] = 0
    found = {}
    for types, base in ((L40S, 1.0), (T4, 0.5)):
        for name, count in types.items():
            price = base * count * chance.uniform(0.7, 1.3)
            found[*PLACE, name, "on_demand"] = price
            found[*OTHER, name, "on_demand"] = price * chance.uniform(0.8, 1.2)
            found[*PLACE, name, "spot"] = price * chance.uniform(0.3, 0.9)
            for option in (*COMMITMENTS, "capacity_block", *PLANS):
                if chance.random() < 0.5:
                    found[*PLACE, name, option] = price * chance.uniform(0.4, 0.95)
    asked = {
        "workloads": jobs,
        "months": months,
        "providers": ["aws"],
        "commitments_beyond_horizon": chance.choice(["full", "pro_rata"]),
        "assumptions": {
            SERVER: chance.uniform(15_000, 60_000),
            "lead_time_months": chance.choice([0, 3]),
            "useful_life_months": chance.choice([9, 60]),
        },
        "limits": {
            "spot_fraction_max": chance.choice([None, 0.5]),
            "opex_per_year": chance.choice([None, 200_000]),
            "capex_per_year": chance.choice([None, 60_000]),
            "owned_power_kw": chance.choice([None, 8]),
        },
    }
    return found, asked, chance.choice(["cloud", "hybrid", "hybrid"])


def homes(seed: int) -> tuple[dict, dict, str, tuple[str, ...]]:
    """A question on where work lives and what stands for it: gangs and shared nodes of services, work that may be
    spread, gangs over owned nodes old and new, days of gangs, short months, types that end; with terms of sale."""
    chance = random.Random(f"homes {seed}")
    prices_, asked, name = question(chance.randrange(10**6))
    for one in asked["workloads"]:
        _alter(chance, one)
    if chance.random() < 0.4:
        kind = chance.choice(sorted({key[2] for key in prices_}))
        prices_[*PLACE, kind, "capacity_block"] = L40S.get(kind, 4) * chance.uniform(0.1, 0.8)
    if chance.random() < 0.4:
        other = chance.choice(sorted(L40S))
        prices_[*OTHER, other, "on_demand"] = L40S[other] * chance.uniform(0.7, 1.3)
        prices_[*OTHER, other, chance.choice([*COMMITMENTS, "spot"])] = L40S[other] * chance.uniform(0.2, 0.9)
    if chance.random() < 0.3:
        asked["start"] = "2027-02"
        asked["assumptions"]["capacity_blocks_beyond_window"] = chance.choice([0, 1])
    if chance.random() < 0.3:
        node = {"system": "4x L40S server", "count": 1, "bought": "2026-12"}
        asked["existing"] = {**asked.get("existing", {}), "nodes": [node]}
        asked["assumptions"]["lead_time_months"] = 0
        name = "hybrid"
    terms: tuple[str, ...] = ()
    if chance.random() < 0.3:
        kind = chance.choice(sorted({key[2] for key in prices_}))
        ends = chance.choice(["2027-01-01", "2027-02-10", "2027-03-31"])
        terms = (f"aws,{kind},,,,yes,,,,,no,no,{ends},,a page,2026-11-20,vendor page",)
    return prices_, asked, name, terms


def _alter(chance: random.Random, one: dict) -> None:
    rate = "requests_per_second" in one["demand"]
    if rate or "daily_shape" in one["demand"]:
        one["shares_nodes"] = chance.random() < 0.5
        if chance.random() < 0.3:
            one["parallel_jobs"] = chance.choice([1, 2, 4, 8])
        if rate and chance.random() < 0.3:
            one["gang"] = one["measurements"][0]["count"] = chance.choice([2, 3, 8])
        if not rate and chance.random() < 0.4:
            one["gang"] = chance.choice([2, 8])
    else:
        one["spread"] = chance.random() < 0.3
        if chance.random() < 0.3 and "measurements" not in one:
            one["gang"] = chance.choice([8, 16])
            one["parallel_jobs"] = chance.choice([1, 2])


def spread(seed: int) -> tuple[dict, dict, str]:
    """A service or two whose replicas may stand in several places: quotas that hold in each of two regions, nodes of
    other sizes and speeds, spot for a part, commitments, committed money, spares, shared nodes, nodes that are
    there."""
    chance = random.Random(f"spread {seed}")
    months = chance.choice([1, 1, 2])
    types = {**L40S, **T4}
    kinds = chance.sample(sorted(L40S), 1) + chance.sample(sorted(types), 1)
    found = {}
    for place, name in sorted({(PLACE, kinds[0]), (OTHER, kinds[0]), (OTHER, kinds[1])}):
        base = types[name] * chance.uniform(0.7, 1.3) * (0.5 if name in T4 else 1.0)
        found[*place, name, "on_demand"] = base
        for option in chance.sample(["spot", COMMITMENTS[0], *PLANS], chance.choice([0, 1, 2])):
            found[*place, name, option] = base * chance.uniform(0.1, 0.9)
    quotas = [
        {**quota(chance), "region": place[1], "unit": "node", "limit": chance.choice([1, 2, 3])}
        for place in (PLACE, OTHER)
    ]
    asked = {
        "workloads": [_service(chance, f"job {number}", months) for number in range(chance.choice([1, 1, 2]))],
        "months": months,
        "providers": ["aws"],
        "quotas": quotas,
        "commitments_beyond_horizon": "pro_rata",
        "assumptions": assumed(chance, months),
        "limits": {"quotas": chance.choice(["hold", "hold", "ask"])},
    }
    if chance.random() < 0.3:
        asked["existing"] = {"nodes": [{"system": "4x L40S server", "count": 1, "bought": "2024-06"}]}
    return found, asked, chance.choice(["cloud", "hybrid"])


def _service(chance: random.Random, name: str, months: int) -> dict:
    one = job(chance, name, months)
    while one["kind"] not in ("inference", "interactive"):
        one = job(chance, name, months)
    more = {
        "spread": chance.random() < 0.8, "may_be_owned": True, "shares_nodes": chance.random() < 0.25,
        "spot_fraction_max": chance.choice([0.4, 0.5, 1]), "spare_replicas": chance.choice([0, 0, 1]),
    }  # fmt: skip
    if chance.random() < 0.2:
        more["parallel_jobs"] = chance.choice([2, 4, 8])
    return one | more
