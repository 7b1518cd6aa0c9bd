"""Converts transfer and storage prices: items and step names of the facts, as mapped in each provider.toml."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import Any

from pricing.csv_tables import TableRow
from pricing.transfer_storage_prices import Tier

GB_PER_STEP_UNIT = {"TB": 1024.0, "TiB": 1024.0}
"""Billed GB, which every cloud counts as 2^30 bytes: AWS and Azure write TB for 1,024 of them (the lists begin ranges
at 10240), Google writes TiB and prices the GiB. A request's GB are those that are billed."""

UNITS = {
    "block_storage": "gb_month",
    "object_storage": "gb_month",
    "egress_internet": "gb",
    "transfer_inter_region": "gb",
}


@dataclass(frozen=True, slots=True)
class _TierStep:
    rule: Mapping[str, Any]
    row: TableRow
    region: str
    start: float


def build_tiers(
    provider: str, facts: Mapping[str, Any], rows: Iterable[TableRow], regions: Iterable[TableRow], left: Counter[str]
) -> list[Tier]:
    """The provider's tiers; rows that are not used are counted in `left` by reason, unknown texts are faults."""
    rules = {rule["fact"]: rule for rule in facts["import"].get("tiers", [])}
    groups = facts["import"].get("region_groups", {})
    by_country: dict[str, list[str]] = {}
    for region in regions:
        by_country.setdefault(region.values["country"], []).append(region.values["region"])
    unit = GB_PER_STEP_UNIT[facts["import"]["step_unit"]]
    steps: dict[tuple[str, str], list[_TierStep]] = {}
    for row in rows:
        rule = rules.get(row.text("item"))
        if rule is None:
            left["an item that no plan uses"] += 1
        elif row.text("tier", empty=True) in rule.get("ignore", ()):
            left["a narrower price than the one plans use"] += 1
        elif _is_usable_row(row, rule):
            start = rule["steps"][row.values["tier"]] * unit
            places = _row_regions(row, groups, by_country)
            for region_name in places:
                steps.setdefault((region_name, rule["item"]), []).append(_TierStep(rule, row, region_name, start))
    return [
        tier for _, rows in sorted(steps.items()) for tier in _select_source_tiers(provider, facts, rows, unit, left)
    ]


def _is_usable_row(row: TableRow, rule: Mapping[str, Any]) -> bool:
    if row.values["tier"] not in rule["steps"]:
        row.fault(f"tier {row.values['tier']!r} of {row.values['item']} has no step in provider.toml")
    if row.values["unit"] != UNITS[rule["item"]]:
        row.fault(f"unit is {row.values['unit']!r}, expected {UNITS[rule['item']]}")
    row.positive("price_usd")
    row.day("as_of")
    return not row.bad


def _row_regions(row: TableRow, groups: Mapping[str, list[str]], by_country: Mapping[str, list[str]]) -> list[str]:
    """The regions that a row speaks of: itself, or those of the countries of a continent."""
    written = row.text("region")
    known = {name for names in by_country.values() for name in names}
    if written in groups:
        return [name for country in groups[written] for name in by_country.get(country, [])]
    if written not in known:
        row.fault(f"region {written!r} is not in regions.csv and no group in provider.toml")
    return [written]


def _select_source_tiers(
    provider: str, facts: Mapping[str, Any], steps: list[_TierStep], unit: float, left: Counter[str]
) -> list[Tier]:
    """One source's steps for one region and item: the source with the most steps, of these the newest."""
    by_source: dict[tuple[str, str], list[_TierStep]] = {}
    for step in steps:
        by_source.setdefault((step.row.values["source_id"], step.row.values["as_of"]), []).append(step)
    chosen = max(by_source, key=lambda source: (len(by_source[source]), source[1], source[0]))
    left["another source has more steps"] += len(steps) - len(by_source[chosen])
    selected_steps = sorted(by_source[chosen], key=lambda s: s.start)
    for before, after in pairwise(selected_steps):
        if before.start == after.start:
            after.row.fault(f"the same step is listed in {before.row.place}")
    if selected_steps[0].start:
        selected_steps[0].row.fault(
            f"{selected_steps[0].rule['item']} of {selected_steps[0].region} has no step from 0 on"
        )
    tiers: list[Tier] = []
    for step in reversed(selected_steps):
        listed = float(step.row.values["price_usd"])
        # No cloud charges more for more: a step below the next is an error of the source, and the next price holds.
        amount = max(listed, tiers[-1].price_per_gb if tiers else 0.0)
        raised = f"the source lists {listed:g}, less than for more: the next step's price" if amount > listed else ""
        tiers.append(
            Tier(
                provider=provider,
                region=step.region,
                item=step.rule["item"],
                from_gb=step.start,
                price_per_gb=amount,
                currency=facts["currency"],
                as_of=date.fromisoformat(step.row.values["as_of"]),
                source_id=step.row.values["source_id"],
                kind=step.rule["kind"],
                note=raised or _coverage_note(step, selected_steps, unit),
            )
        )
    return tiers[::-1]


def _coverage_note(step: _TierStep, selected_steps: list[_TierStep], unit: float) -> str:
    """A note if the source has fewer steps than the provider's list."""
    end = step.rule.get("last_step", 0) * unit
    if step is selected_steps[-1] and step.start < end:
        return f"the source has no price from {_next_step_gb(step, unit):g} GB on: this one goes on"
    return ""


def _next_step_gb(step: _TierStep, unit: float) -> float:
    later: list[float] = [
        s * unit for s in (*step.rule["steps"].values(), step.rule["last_step"]) if s * unit > step.start
    ]
    return min(later)
