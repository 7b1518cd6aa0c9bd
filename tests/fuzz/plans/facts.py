"""The tables of the package, read as they lie on disk, and the formulas that the documents state for them.

Nothing of the product is imported: this is the ground on which plans are checked.
"""

from __future__ import annotations

import csv
import functools
import math
import re
import tomllib
from collections import defaultdict
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).parents[3]
HOURS = 730.0
Row = dict[str, str]
Key = tuple[str, str, str, str]
"""Provider, region, instance type, purchase option."""


def read_table(path: str) -> list[Row]:
    with (ROOT / path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def of_providers(name: str) -> dict[str, list[Row]]:
    """The table of that name of every provider."""
    folders = sorted((ROOT / "pricing/providers").iterdir())
    return {each.name: read_table(str(each.relative_to(ROOT) / name)) for each in folders if (each / name).is_file()}


@functools.cache
def prices() -> dict[Key, Row]:
    return {
        (provider, row["region"], row["instance_type"], row["purchase_option"]): row
        for provider, rows in of_providers("prices.csv").items()
        for row in rows
    }


@functools.cache
def prices_by_type() -> dict[tuple[str, str], list[tuple[Key, Row]]]:
    found: dict[tuple[str, str], list[tuple[Key, Row]]] = defaultdict(list)
    for key, row in prices().items():
        found[key[0], key[2]].append((key, row))
    return found


@functools.cache
def offerings() -> dict[tuple[str, str], Row]:
    return {(p, row["instance_type"]): row for p, rows in of_providers("offerings.csv").items() for row in rows}


@functools.cache
def regions() -> dict[tuple[str, str], Row]:
    return {(p, row["region"]): row for p, rows in of_providers("regions.csv").items() for row in rows}


@functools.cache
def systems() -> dict[str, Row]:
    return {row["name"]: row for row in read_table("pricing/data/systems.csv")}


@functools.cache
def accelerators() -> dict[str, Row]:
    return {row["name"]: row for row in read_table("pricing/data/accelerators.csv")}


@functools.cache
def fabrics() -> dict[tuple[str, str], Row]:
    return {(row["provider"], row["instance_type"]): row for row in read_table("pricing/data/fabric.csv")}


@functools.cache
def grids() -> dict[tuple[str, str], float]:
    """Grams of CO2e for each kWh."""
    rows = read_table("pricing/data/grid_carbon.csv")
    return {(row["provider"], row["region"]): float(row["grid_gco2e_per_kwh"]) for row in rows}


@functools.cache
def defaults() -> dict[str, Row]:
    return {row["name"]: row for row in read_table("planner/request/assumptions.csv")}


@functools.cache
def provider_facts() -> dict[str, dict[str, Any]]:
    files = sorted((ROOT / "pricing/providers").glob("*/provider.toml"))
    return {path.parent.name: tomllib.loads(path.read_text(encoding="utf-8")) for path in files}


@functools.cache
def _sale_rows() -> dict[tuple[str, str], list[Row]]:
    found: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in read_table("pricing/data/sale.csv"):
        found[row["provider"], row["instance_type"]].append(row)
    return found


@functools.cache
def sale(key: Key) -> Row | None:
    """How it is sold: the row for the region before one for everywhere, then the one that names most of the way of
    paying; without an end of its own, the end of the type. None where no row speaks of it."""
    provider, region, instance_type, option = key
    covering = [
        row
        for row in _sale_rows().get((provider, instance_type), ())
        if (not row["purchase_option"] or f"{option}_".startswith(f"{row['purchase_option']}_"))
        and row["region"] in ("", region)
    ]
    if not covering:
        return None
    closest = max(covering, key=lambda row: (row["region"] != "", len(row["purchase_option"])))
    ends = [row for row in covering if not row["purchase_option"] and row["ends"]]
    if ends and not closest["ends"]:
        return closest | {"ends": max(ends, key=lambda row: row["region"] != "")["ends"]}
    return closest


def kind_of(option: str) -> str:
    return re.sub(r"_[135]y.*", "", option)


def term_months(option: str) -> int:
    found = re.search(r"_([135])y", option)
    return 12 * int(found[1]) if found else 0


def upfront_part(option: str, partial: float) -> float:
    return 1.0 if option.endswith("all_upfront") else partial if option.endswith("partial_upfront") else 0.0


def pool_of(key: Key) -> Key:
    """The committed money that a savings plan's price is set against: of one family in one region, or of everything."""
    if "_instance" in key[3]:
        return (key[0], key[1], key[2].partition(".")[0], key[3])
    return (key[0], "all-regions", "any-type", key[3])


def spot_counted_at(key: Key, as_of: date, old_days: float) -> float:
    """What a spot price decides at, in its list currency: decision 0028."""
    rows = prices_by_type()[key[0], key[2]]
    spot = {k: row for k, row in rows if k[3] == "spot"}
    on_demand = {k[1]: float(row["price_per_hour"]) for k, row in rows if k[3] == "on_demand"}
    fresh = [float(r["price_per_hour"]) for r in spot.values() if _age(r, as_of) <= old_days]
    known = fresh or [float(r["price_per_hour"]) for r in spot.values()]
    level = median(known) if fresh or len(known) >= 3 else None
    listed, is_old = float(spot[key]["price_per_hour"]), _age(spot[key], as_of) > old_days
    if not is_old and (level is None or listed >= level / 2):
        return listed
    beside = on_demand.get(key[1]) or (median(on_demand.values()) if on_demand else None)
    least = min((amount for amount in (level, beside) if amount is not None), default=listed)
    return max(listed, least)


def _age(row: Row, as_of: date) -> int:
    return (as_of - date.fromisoformat(row["as_of"])).days


@functools.cache
def _tiers() -> dict[tuple[str, str, str], list[tuple[float, float, str]]]:
    found: dict[tuple[str, str, str], list[tuple[float, float, str]]] = defaultdict(list)
    for provider, rows in of_providers("tiers.csv").items():
        for row in rows:
            step = (float(row["from_gb"]), float(row["price_per_gb"]), row["currency"])
            found[provider, row["region"], row["item"]].append(step)
    return {key: sorted(steps) for key, steps in found.items()}


def volume_cost(provider: str, region: str, item: str, volume_gb: float) -> float:
    """A month's volume in the list currency: each step prices its own part; a region without steps has those of the
    provider's reference region."""
    if not volume_gb:
        return 0.0
    steps = _tiers().get((provider, region, item))
    if steps is None:
        other = provider_facts()[provider].get("reference_regions", {}).get(item, "")
        steps = _tiers()[provider, other, item]
    ends = [each[0] for each in steps[1:]] + [math.inf]
    parts = zip(steps, ends, strict=True)
    return math.fsum(max(0.0, min(volume_gb, end) - start) * price for (start, price, _), end in parts)


def billed_per_useful_hour(checkpoint_hours: float, restart_hours: float, failures_per_hour: float) -> float:
    """Daly (2006): W / Ts = M / t x exp(R / M) x (exp((t + d) / M) - 1) at the best t, found by bisection."""
    if failures_per_hour == 0:
        return 1.0
    mean = 1 / failures_per_hour
    if checkpoint_hours == 0:
        return math.exp(restart_hours / mean)
    low, high = 1e-12, 1.0  # of t / M; (1 - u) exp(u + d / M) falls from above 1 to 0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if (1 - middle) * math.exp(middle + checkpoint_hours / mean) > 1 else (low, middle)
    t = low * mean
    return mean / t * math.exp(restart_hours / mean) * math.expm1((t + checkpoint_hours) / mean)
