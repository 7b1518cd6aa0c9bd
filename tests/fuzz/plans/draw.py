"""Draws whole requests: workloads, and everything of the schema around them. A share has one fault on purpose."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.fuzz.plans.served import serve_model
from tests.fuzz.plans.workloads import DATA_REGIONS, RATES, Document, add_details, draw_workload

AS_OF = "2026-11-21"
RATES_FILE = "rates.csv"
EXCHANGE_RATES = "date,from,to,rate,source\n2026-11-02,EUR,USD,1.25,drawn\n2026-11-03,GBP,USD,1.5,drawn\n"
FAULTY_SHARE, SERVED_SHARE = 0.04, 0.08
PLACES = {
    "aws": ("us-east-1", "us-west-2", "eu-west-1", "eu-central-1", "ap-northeast-1"),
    "azure": ("eastus", "westeurope", "swedencentral", "southcentralus"),
    "gcp": ("us-central1", "europe-west4", "us-east4"),
}
OPTIONS = ("on_demand", "spot", "reserved", "committed_use", "savings_plan", "capacity_block", "calendar", "flex_start")


@dataclass(frozen=True)
class Drawn:
    """A request, and where it has a fault on purpose, a piece of text that the refusal must name."""

    document: Document
    fault: str = ""

    @property
    def arguments(self) -> tuple[str, ...]:
        return ("--exchange-rates", RATES_FILE) if self.document.get("currency", "USD") != "USD" else ()


def draw(seed: int) -> Drawn:
    """The request of a seed."""
    chance = random.Random(f"plans {seed}")
    months = chance.choice([1, 1, 2, 2, 3, 3, 4, 6, 6, 12, 12, 14, 24, 36])
    count = 1 if months > 12 else chance.choice([1, 1, 2, 2, 3]) if months > 6 else chance.choice([1, 1, 2, 2, 3, 4])
    document: Document = {"as_of": AS_OF, "months": months}
    document["workloads"] = [draw_workload(chance, f"job {number}", months) for number in range(1, count + 1)]
    document |= _where(chance, many=count * months > 12)
    for chapter, share in (
        (_owning, 0.4), (_existing, 0.15), (_limits, 0.35), (_quotas, 0.1), (_money, 0.2), (_rules, 0.3), (_risk, 0.02),
        (_uncertainty, 0.01),
    ):  # fmt: skip
        if chance.random() < share:
            _join(document, chapter(chance, document))
    if "residency" in document:  # a workload elsewhere contradicts it
        for row in document["workloads"]:
            row.pop("residency", None)
    if chance.random() < 0.25:
        _add_details(chance, document)
    served = random.Random(f"served {seed}")  # draws of its own: the other parts of a seed stay
    if served.random() < SERVED_SHARE:
        document["workloads"][-1] = serve_model(served, document["workloads"][-1])
    _limit_carbon(random.Random(f"carbon {seed}"), document)
    _compare(random.Random(f"compare {seed}"), document)
    _spread_services(random.Random(f"spread {seed}"), document)
    if chance.random() < FAULTY_SHARE:
        change, named = chance.choice(FAULTS)
        return Drawn(change(document), named)
    return Drawn(document)


def _join(document: Document, more: Document) -> None:
    """`more` beside what is there; tables are joined."""
    for name, value in more.items():
        before = document.get(name)
        document[name] = before | value if isinstance(before, dict) else value


def _where(chance: random.Random, *, many: bool) -> Document:
    made: Document = {}
    if many or chance.random() < 0.45:
        chosen = sorted(chance.sample(sorted(PLACES), chance.choice([1, 1, 2])))
        made["providers"] = chosen
        if many or chance.random() < 0.4:
            made["regions"] = sorted(region for each in chosen for region in chance.sample(PLACES[each], 2))
    elif chance.random() < 0.08:
        made["providers"] = ["aws", "lambda", "nebius"]
    if chance.random() < 0.08:
        made["residency"] = chance.choice([["EU"], ["US"], ["US", "CA"]])
    return made


def _owning(chance: random.Random, _: Document) -> Document:
    """Systems at own quotes, a site, a way to finance, and the times of owning."""
    model = chance.choice([each for each in sorted(RATES) if each != "B200"])
    system = {"name": "rack server", "accelerator": model, "accelerators": chance.choice([1, 4, 8])}
    system |= {"price": chance.choice([4_000, 21_000, 60_000, 150_000]), "source": "quote 17"}
    if chance.random() < 0.7:
        system |= {"max_power_kw": chance.choice([0.9, 2.2, 6.5]), "rack_units": chance.choice([2, 4, 8])}
    made: Document = {"systems": [system]} if chance.random() < 0.7 else {}
    if chance.random() < 0.5:
        made["site"] = {
            "facility": chance.choice(["colocation_per_kw", "colocation_per_rack", "own_room"]),
            "staff": chance.choice(["shared", "shared", "whole"]),
            "energy_included": chance.random() < 0.3,
        }
    if chance.random() < 0.4:
        made["finance"] = {
            "hardware": chance.choice(["cash", "loan", "lease"]),
            "tax": chance.choice(["none", "straight_line", "macrs"]),
        }
    made["assumptions"] = {
        "lead_time_months": chance.choice([0, 0, 1, 2, 8]), "staff_cost_annual": chance.choice([9_000, 130_000]),
        "migration_months": chance.choice([0, 0, 0, 1]), "useful_life_months": chance.choice([5, 36, 60]),
        "idle_draw_fraction": chance.choice([1, 0.4]), "deposit_fraction": chance.choice([1, 0.3]),
        "loan_months": chance.choice([6, 36]), "lease_months": chance.choice([4, 24]),
        "hardware_discount_fraction": chance.choice([0, 0.1]), "installation_fraction": chance.choice([0, 0.04]),
        "hardware_tax_fraction": chance.choice([0, 0.19]), "spares_fraction": chance.choice([0, 0.05]),
        "electricity_demand_charge_per_kw_month": chance.choice([0, 12]),
        "software_licence_per_accelerator_annual": chance.choice([0, 4500]),
        "disaster_recovery_fraction": chance.choice([0, 0.5]),
    }  # fmt: skip
    return made


def _existing(chance: random.Random, _: Document) -> Document:
    made: Document = {}
    if chance.random() < 0.6:
        bought = chance.choice(["2022-06", "2025-03", "2026-12"])
        system = chance.choice(["4x L40S server", "8x H100 server", "DGX A100 640GB"])
        made["nodes"] = [{"system": system, "count": chance.choice([1, 2, 3]), "bought": bought}]
    if chance.random() < 0.6 or not made:
        made["commitments"] = [{
            "provider": "aws", "region": "us-east-1", "count": chance.choice([1, 2, 5]),
            "instance_type": chance.choice(["g6e.xlarge", "g6.xlarge", "p4d.24xlarge", "p5.48xlarge", "g5.12xlarge"]),
            "purchase_option": chance.choice(["reserved_1y_no_upfront", "reserved_3y_all_upfront"]),
            "ends": chance.choice(["2026-12", "2027-03", "2029-11"]), "fee_per_month": chance.choice([0, 860, 20_000]),
        }]  # fmt: skip
    return {"existing": made, "existing_value": chance.choice(["none", "market"])}


def _limits(chance: random.Random, document: Document) -> Document:
    years = -(-document["months"] // 12)
    made: Document = {}
    if chance.random() < 0.35:
        made["opex_per_year"] = _yearly(chance, years, [100, 3_000, 40_000, 500_000, 5_000_000])
    if chance.random() < 0.25:
        made["capex_per_year"] = _yearly(chance, years, [0, 50_000, 400_000, 3_000_000])
    if chance.random() < 0.25:
        made["spot_fraction_max"] = chance.choice([0, 0.2, 0.5, 0.8])
    if chance.random() < 0.2:
        made["owned_power_kw"] = chance.choice([1.5, 8, 40, 200])
    if chance.random() < 0.15:
        made["owned_racks"] = chance.choice([0.1, 0.5, 3])
    if chance.random() < 0.3 or not made:
        made["purchase_options"] = sorted(chance.sample(OPTIONS, chance.choice([1, 2, 3, 5])))
        if chance.random() < 0.8:
            made["purchase_options"] = sorted({*made["purchase_options"], "on_demand"})
    return {"limits": made | _commitment_targets(random.Random(repr(made)))}  # later draws stay as they were


def _commitment_targets(chance: random.Random) -> Document:
    choices = {
        "commitment_coverage_min": [0.1, 0.5, 0.9],
        "commitment_utilisation_min": [0.5, 0.8, 1],
        "commitment_ending_per_quarter_max": [0.25, 0.5],
    }
    return {name: chance.choice(values) for name, values in choices.items() if chance.random() < 0.08}


def _limit_carbon(chance: random.Random, document: Document) -> None:
    """A limit on carbon, with grids of the asker's own."""
    if chance.random() > 0.08:
        return
    years = -(-document["months"] // 12)
    _join(document, {"limits": {"carbon_kg_per_year": _yearly(chance, years, [100, 2_000, 30_000, 400_000])}})
    if chance.random() < 0.7 or document.get("existing", {}).get("nodes"):
        _join(document, {"site": {"grid_gco2e_per_kwh": chance.choice([0, 40, 450])}})
    if chance.random() < 0.4:
        document["grid_gco2e_per_kwh"] = {"aws us-east-1": 500, "aws eu-south-2": 120}


def _compare(chance: random.Random, document: Document) -> None:
    """A second place without nodes or data, which the checker need not know, and a price of calls."""
    row = chance.choice(document["workloads"])
    places = [
        place
        for place in DATA_REGIONS
        if place.split()[0] in document.get("providers", place) and place.split()[1] in document.get("regions", place)
    ]
    if chance.random() < 0.02 and places and "storage_gb" not in row:
        row["recovery"] = {
            "level": "pilot_light", "place": chance.choice(places), "replicated_gb_per_month": 0,
        }  # fmt: skip
    if chance.random() < 0.02:
        tokens = {"input_tokens_per_unit": chance.choice([0, 700]), "output_tokens_per_unit": chance.choice([1, 90])}
        prices = {"input_per_million": chance.choice([0, 0.4]), "output_per_million": chance.choice([0.2, 3, 60])}
        named = {"workload": row["name"], "name": "a vendor", "as_of": AS_OF, "source": "a price list"}
        document["call_prices"] = [named | tokens | prices]


def _spread_services(chance: random.Random, document: Document) -> None:
    """Work that nodes stand ready for, over several places, some of it where no place alone suffices."""
    for row in document["workloads"]:
        demand = row.get("demand", {})
        stands = row.get("kind") in ("inference", "interactive") or demand.get("daily_shape", "flat") != "flat"
        if not stands or chance.random() > 0.2:
            continue
        row["spread"] = True
        if document.get("providers") == ["aws"] and "quotas" not in document and chance.random() < 0.5:
            document["quotas"] = [{
                "provider": "aws", "region": region, "code": "L-1", "title": "nodes", "unit": "node", "used": 0,
                "limit": chance.choice([1, 2, 5, 40]), "types": "*", "kinds": "on_demand spot reserved savings_plan",
                "as_of": "2026-11-20", "source_id": "drawn",
            } for region in document.get("regions", PLACES["aws"])]  # fmt: skip
            _join(document, {"limits": {"quotas": "hold"}})


def _yearly(chance: random.Random, years: int, amounts: list[int]) -> float | list[int]:
    return chance.choice(amounts) if chance.random() < 0.7 else [chance.choice(amounts) for _ in range(years)]


def _quotas(chance: random.Random, _: Document) -> Document:
    rows = [{
        "provider": "aws", "region": "us-east-1", "code": code, "title": "running instances", "unit": unit,
        "limit": chance.choice([0, 16, 192, 1000]), "used": chance.choice([None, 0, 16]), "types": types,
        "kinds": kinds, "as_of": "2026-11-20", "source_id": "drawn",
    } for code, unit, types, kinds in (
        ("L-1", "vcpu", "g[0-9]* gr[0-9]*", "on_demand reserved savings_plan"),
        ("L-2", chance.choice(["vcpu", "accelerator"]), "p[0-9]*", "on_demand reserved savings_plan"),
        ("L-3", chance.choice(["vcpu", "node"]), "g[0-9]* p[0-9]*", "spot"),
    )]  # fmt: skip
    made = {"quotas": rows, "limits": {"quotas": chance.choice(["ask", "hold", "hold"])}}
    return made | {"providers": ["aws"], "regions": ["us-east-1"]}


def _money(chance: random.Random, _: Document) -> Document:
    made: Document = {"assumptions": {
        "enterprise_discount_fraction": chance.choice([0, 0.07]), "cloud_tax_fraction": chance.choice([0, 0.19]),
        "cloud_support_fraction": chance.choice([0, 0.03]),
        "cloud_price_change_annual": chance.choice([0, -0.15, 0.08]),
        "cloud_support_minimum_per_month": chance.choice([0, 0, 100, 15_000]),
        "commitment_price_change_annual": chance.choice([0, -0.1]), "spot_price_change_annual": chance.choice([0, 0.1]),
        "partial_upfront_fraction": chance.choice([0.5, 0.4]),
    }}  # fmt: skip
    if chance.random() < 0.3:
        made["currency"] = chance.choice(["EUR", "GBP"])
    if chance.random() < 0.5:
        made["discount_rate_annual"] = chance.choice([0, 0.05, 0.14, -0.02])
    return made | {"commitments_beyond_horizon": chance.choice(["full", "pro_rata"])}


def _rules(chance: random.Random, _: Document) -> Document:
    made: Document = {"materiality_fraction": chance.choice([0, 0.02, 0.2])}
    made["strategies"] = chance.choice([["cloud"], ["onprem"], ["hybrid"], ["cloud", "hybrid"], ["onprem", "cloud"]])
    if chance.random() < 0.3:
        made["allow_estimates"] = False
    if chance.random() < 0.15:
        made["measured_only"] = True
    if chance.random() < 0.3:
        made["assumptions"] = {"capacity_blocks_beyond_window": 1}
    if chance.random() < 0.2:
        made["start"] = "2026-12"
    made["effort"] = chance.choice(["quick", "standard"])
    return made


def _risk(chance: random.Random, _: Document) -> Document:
    return {"risk": {"draws": 100, "seed": chance.randint(0, 99), "waits": [0, 3]}}


def _uncertainty(chance: random.Random, _: Document) -> Document:
    made: Document = {
        "scenarios": 3,
        "draws": 100,
        "seed": chance.randint(0, 99),
        "decide_months": chance.choice([1, 3]),
    }
    made["ranges"] = {"demand_change_annual": {"low": -0.2, "high": chance.choice([0.3, 1.0])}}
    return {"uncertainty": made | {"tail_weight": chance.choice([0, 0.3]), "tail_level": 0.8}}


def _add_details(chance: random.Random, document: Document) -> None:
    for row in document["workloads"]:
        add_details(chance, row)
    for system in document.get("systems", ()):
        system["price_as_of"] = "2026-06-01"
    if "risk" in document:
        document["risk"]["reoptimise"] = 1


def _in_first(field: str, value: object):
    def change(document: Document) -> Document:
        first = document["workloads"][0] | {field: value}
        if field == "demand":
            first.pop("sweep", None)  # a demand by itself: one beside it is a fault of its own
        return document | {"workloads": [first, *document["workloads"][1:]]}

    return change


FAULTS = (
    (lambda d: d | {"months": 0}, "months"),
    (lambda d: d | {"workloads": []}, "workloads"),
    (lambda d: d | {"mnths": 3}, "mnths"),
    (lambda d: d | {"providers": ["aws", "amazing"]}, "amazing"),
    (lambda d: d | {"currency": "SEK"}, "SEK"),
    (lambda d: d | {"assumptions": {"pue": 0.5}}, "pue"),
    (lambda d: d | {"workloads": [d["workloads"][0], d["workloads"][0]]}, "two workloads of one name"),
    (lambda d: d | {"existing": {"nodes": [{"system": "8x H900 server", "count": 1}]}}, "8x H900 server"),
    (_in_first("demand", {"units_per_month": -1}), "units_per_month"),
    (_in_first("demand", {"accelerator_hours_per_month": 10, "accelerator": "H999"}), "H999"),
    (_in_first("residency", ["ZZ"]), "ZZ"),
    (_in_first("data_region", "aws atlantis"), "atlantis"),
    (_in_first("spot_fraction_max", 1.5), "spot_fraction_max"),
)
"""A fault, and what the refusal must say of it."""
