"""Classifies groups of rows as lines of a bill, excluded rows or rejected rows: each group is exactly one of them."""

from __future__ import annotations

import json
import math
import re
from calendar import monthrange
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from datetime import date, datetime, timedelta
from typing import Any, cast

from planner.inputs.bills.accelerator_matching import AcceleratorMatch, AcceleratorMatcher, block_size, hours_per_unit
from planner.inputs.bills.bill import (
    Bill,
    BilledUsageLine,
    CurrencyTotal,
    ExcludedRows,
    ExclusionReason,
    LineKind,
    RejectedRows,
    sum_or_none,
)
from planner.inputs.bills.duckdb_scan import EXAMPLES, BillScan, RowGroup
from planner.inputs.bills.export_detection import DetectedExport
from planner.inputs.catalog_regions import region_of_zone
from pricing.counted_nouns import format_count
from pricing.frozen_values import dataclass

SUMS = ("rows", "hours_used", "hours_unused", "billed", "effective")
NAMES = tuple(field.name for field in fields(BilledUsageLine) if field.name not in SUMS)
TIME = re.compile("hour|hrs|hora|heure|stunde|uur|小时", re.IGNORECASE)
COMMITMENT_CHARGES: dict[str, LineKind] = {"fee": "commitment", "unused": "commitment", "upfront": "upfront"}
"""Charges for a commitment itself, and their kind of line."""
PLAUSIBLE_PRICE_FRACTION = 0.2
"""Of the lowest known price of a type: an hour that costs less is in another unit, not at a discount."""
Hours = dict[str, float | None]
"""Hours in one of each unit of a file; None for a unit that is not a time."""
MatchedGroup = tuple[RowGroup, AcceleratorMatch | None]
EXCLUDED_CHARGES = ("credit", "refund", "tax", "support", "adjustment")


@dataclass(frozen=True, slots=True)
class CostView:
    """The views that the amounts of a file have: cash, amortised cost or both."""

    billed: bool = True
    effective: bool = True
    note: str = ""

    def amounts_of(self, group: RowGroup) -> tuple[float | None, float | None]:
        return group.billed if self.billed else None, group.effective if self.effective else None


def build_bill(tables: Sequence[DetectedExport], scan: BillScan, finder: AcceleratorMatcher, name: str) -> Bill:
    """The bill of the scanned files of one export."""
    table = tables[0]
    days, order_note = _parse_dates({group.day for group in scan.groups})
    dated = [group for group in scan.groups if group.day in days]
    undated = [group for group in scan.groups if group.day not in days]
    view = _detect_view(dated) if table.export.fields(table.columns).one_view else CostView()
    matched = [(group, finder.find(group.provider, group.texts) if group.named else None) for group in dated]
    hours, block_notes = hours_by_unit(matched, finder)
    ended = finder.describe_ended(match for _, match in matched if match is not None)
    parts = f"{len(tables)} files of it were read together" if len(tables) > 1 else ""
    notes = (parts, scan.note, order_note, view.note, *block_notes, *ended, *_cost_warnings(dated, view))
    lines, excluded = _classify_groups(matched, hours, days, view)
    refused = list(scan.refused)
    if undated:
        examples = tuple(sorted({group.day for group in undated})[:EXAMPLES])
        refused.append(RejectedRows("an invalid date", sum(group.rows for group in undated), examples))
    details: dict[str, set[str]] = defaultdict(set)
    for group in dated:
        if group.commitment and group.details:
            details[group.commitment].add(json.dumps(group.details, sort_keys=True))
    return Bill(
        name, table.export.TITLE, table.recognised_by, scan.rows_in, lines, excluded, tuple(refused),
        totals=_currency_totals(dated, view),
        days=frozenset(day.isoformat() for group in dated if group.charge in ("usage", "unused")
                       for day in (days[group.day], _last_day(group, days[group.day]))),
        details={key: tuple(json.loads(text) for text in sorted(texts)) for key, texts in sorted(details.items())},
        notes=tuple(note for note in notes if note),
    )  # fmt: skip


def _parse_dates(written: Iterable[str]) -> tuple[dict[str, date], str]:
    """Every text as a date, with a note on the order where it was ambiguous; invalid dates are left out."""
    dates: dict[str, date] = {}
    slashed: dict[str, tuple[int, int, int]] = {}
    for text in written:
        if iso := re.fullmatch(r"(\d{4})[-/]?(\d\d)[-/]?(\d\d)", text):
            _add_date(dates, text, int(iso[1]), int(iso[2]), int(iso[3]))
        elif other := re.fullmatch(r"(\d{1,2})[/.](\d{1,2})[/.](\d{4})", text):
            slashed[text] = (int(other[1]), int(other[2]), int(other[3]))
    day_first = any(first > 12 for first, _, _ in slashed.values()) or any("." in text for text in slashed)
    for text, (first, second, year) in slashed.items():
        _add_date(dates, text, year, *((second, first) if day_first else (first, second)))
    certain = day_first or any(second > 12 for _, second, _ in slashed.values())
    order = "day/month/year" if day_first else "month/day/year"
    note = "" if not slashed else f"dates read as {order}" + ("" if certain else ", as Azure writes them")
    return dates, note


def _last_day(group: RowGroup, first: date) -> date:
    """The last day of the group's charge periods, whose end is exclusive."""
    try:
        return max(first, (datetime.fromisoformat(group.end.replace(" UTC", "")[:19]) - timedelta(seconds=1)).date())
    except (ValueError, OverflowError):
        return first


def _add_date(dates: dict[str, date], text: str, year: int, month: int, day: int) -> None:
    try:
        dates[text] = date(year, month, day)
    except ValueError:
        return


def _detect_view(groups: list[RowGroup]) -> CostView:
    """The view of an export with one cost column, by rows that only one of the two views has."""
    if any(group.charge == "unused" for group in groups):
        return CostView(
            billed=False, note="amortised costs, because it has rows of unused commitments; there is no cash view"
        )
    covered = [group for group in groups if group.commitment and group.charge == "usage"]
    has_purchases = any(group.charge in ("fee", "upfront") and group.commitment for group in groups)
    if has_purchases or any(group.billed == 0 and group.rows for group in covered):
        return CostView(
            effective=False, note="actual costs, because commitments are purchases; there is no amortised view"
        )
    if covered:
        return CostView(
            billed=False, note="amortised costs, because usage under commitments has a cost; there is no cash view"
        )
    return CostView(note="no commitments: cash and amortised cost are the same")


def _classify_groups(
    groups: list[MatchedGroup], hours_in: Hours, days: dict[str, date], view: CostView
) -> tuple[tuple[BilledUsageLine, ...], tuple[ExcludedRows, ...]]:
    """All groups as lines or excluded rows. A commitment's own rows take missing names from the usage it covered."""
    covers = _covered_usage(groups)
    lines: dict[tuple[Any, ...], list[tuple[Any, ...]]] = defaultdict(list)
    excluded: dict[tuple[ExclusionReason, str, str], list[tuple[int, float | None, float | None]]] = defaultdict(list)
    for group, each in groups:
        billed, effective = view.amounts_of(group)
        if group.credit:
            excluded["credit", "", group.currency].append((0, group.credit, group.credit))
        why, name = _exclusion_reason(group, each, covers, hours_in)
        if why:
            excluded[why, name, group.currency].append((group.rows, billed, effective))
            continue
        key, hours = _line_key(group, each or covers[group.commitment][0], hours_in, days[group.day])  # type: ignore[arg-type]  # covers has it: _exclusion_reason checks it
        lines[key].append((group.rows, *hours, billed, effective))
    return tuple(_sum_lines(lines)), tuple(
        ExcludedRows(*key, sum(rows), sum_or_none(billed), sum_or_none(effective))
        for key, parts in sorted(excluded.items())
        for rows, billed, effective in [zip(*parts, strict=True)]
    )


def _covered_usage(groups: Iterable[MatchedGroup]) -> dict[str, tuple[AcceleratorMatch | None, ...]]:
    """By commitment, the usage that it covered, most hours first; None is usage without an accelerator."""
    hours: dict[str, dict[AcceleratorMatch | None, float]] = defaultdict(lambda: defaultdict(float))
    for group, match in groups:
        if group.commitment and group.charge == "usage":
            known = match if match and match.accelerator else None
            hours[group.commitment][known] += group.quantity or 0.0
    return {
        key: tuple(sorted(parts, key=lambda each: (each is None, -parts[each], each.name if each else "")))
        for key, parts in hours.items()
    }


def _exclusion_reason(
    group: RowGroup,
    match: AcceleratorMatch | None,
    covers: dict[str, tuple[AcceleratorMatch | None, ...]],
    hours_in: Hours,
) -> tuple[ExclusionReason | None, str]:
    """The reason to exclude a group, with the name of its subject; None for a line."""
    if group.charge in EXCLUDED_CHARGES:
        return cast(ExclusionReason, group.charge), ""
    if match is None:
        covered = covers.get(group.commitment, ()) if group.charge in COMMITMENT_CHARGES else ()
        if covered and covered[0] is not None:
            return ("shared commitment", group.commitment) if None in covered else (None, "")
        return "not accelerators", ""
    if not match.accelerator:
        return "not matched", match.name
    has_hours = group.charge == "usage" and not match.beside
    if has_hours and hours_in[group.unit] is None and (not group.unit or TIME.search(group.unit)):
        return "not matched", f"{match.name}: hours in {group.unit or 'an unknown unit'}"
    return None, ""


def _line_key(
    group: RowGroup, match: AcceleratorMatch, hours_in: Hours, day: date
) -> tuple[tuple[Any, ...], tuple[float, float]]:
    """The key of a line, and its used and unused accelerator-hours."""
    factor = (hours_in[group.unit] or 0.0) * match.accelerators
    used, unused = (group.quantity or 0.0) * factor, (group.unused or 0.0) * factor
    kind = COMMITMENT_CHARGES.get(group.charge, "used")
    if group.charge == "discount" or match.beside or (kind == "used" and hours_in[group.unit] is None):
        kind, used, unused = "beside", 0.0, 0.0
    option, region = _purchase_option(group), region_of_zone(group.provider, group.region)
    tags = () if group.charge in COMMITMENT_CHARGES else parse_tags(group.tags)
    key = (
        kind, day.isoformat()[:7], group.provider, group.account, region, match.instance_type, match.accelerator,
        match.per_node, option, group.commitment, group.currency, tags,
    )  # fmt: skip
    return key, (used if kind == "used" else 0.0, unused)


def _purchase_option(group: RowGroup) -> str:
    """The purchase option. Exports call hours of a capacity block on demand, though they are prepaid."""
    if group.option == "on_demand" and any("capacity block" in text.casefold() for text in group.texts):
        return "capacity_block"
    return group.option or "not told"


def _sum_lines(lines: dict[tuple[Any, ...], list[tuple[Any, ...]]]) -> Iterator[BilledUsageLine]:
    for key, parts in sorted(lines.items(), key=lambda item: tuple(map(str, item[0]))):
        rows, used, unused, billed, effective = zip(*parts, strict=True)
        yield BilledUsageLine(
            **dict(zip(NAMES, key, strict=True)),
            rows=sum(rows),
            hours_used=math.fsum(used),
            hours_unused=math.fsum(unused),
            billed=sum_or_none(billed),
            effective=sum_or_none(effective),
        )


def _currency_totals(groups: list[RowGroup], view: CostView) -> tuple[CurrencyTotal, ...]:
    totals = []
    for currency in sorted({group.currency for group in groups}):
        own = [group for group in groups if group.currency == currency]
        parts = [view.amounts_of(group) for group in own]
        credit = math.fsum(group.credit for group in own)
        billed, effective = sum_or_none([*(b for b, _ in parts), credit]), sum_or_none([*(e for _, e in parts), credit])
        totals.append(CurrencyTotal(currency, sum(group.rows for group in own), billed, effective))
    return tuple(totals)


def _cost_warnings(groups: list[RowGroup], view: CostView) -> Iterator[str]:
    """Notes on amounts of the file that limit the use of its sums."""
    both = [group for group in groups if group.effective is not None] if view.billed and view.effective else []
    plain = [
        g for g in both if g.charge == "usage" and not g.commitment and _purchase_option(g) in ("on_demand", "spot")
    ]
    billed = math.fsum(group.billed for group in plain)
    effective = math.fsum(group.effective or 0.0 for group in plain)
    if abs(billed - effective) > max(0.01, 0.01 * abs(billed)):
        yield (
            f"usage without a commitment costs {billed:,.2f} billed and {effective:,.2f} effective: the two should "
            "be equal, so one of them is not exact in this file"
        )
    if any(group.effective is None for group in groups) and view.effective:
        yield "some rows have no effective cost: sums that include them have none either"


def parse_tags(text: str) -> tuple[tuple[str, str], ...]:
    """Tags in any form of the exports: an object, an object without braces, a list of keys and values; else empty."""
    if not text:
        return ()
    for written in (text, f"{{{text}}}"):
        try:
            tags = json.loads(written)
        except (ValueError, RecursionError):  # not JSON, or a number with too many digits
            continue
        if isinstance(tags, list):
            tags = {each.get("key"): each.get("value") for each in tags if isinstance(each, dict)}
        if isinstance(tags, dict):
            named = {_tag_name(str(key)): value for key, value in tags.items()}
            return tuple(sorted((key, str(value)) for key, value in named.items() if value not in (None, "")))
    return ()


def _tag_name(key: str) -> str:
    """The key without its owner: user:team, user_team and team are the same."""
    return re.sub(r"^(?:user|aws)[:_]", "", key)


def full_months(days: Iterable[str]) -> tuple[str, ...]:
    """The months with usage on their first and last day, in order."""
    known = {date.fromisoformat(day) for day in days}
    months = sorted({(day.year, day.month) for day in known})
    complete = []
    for year, month in months:
        last = date(year, month, monthrange(year, month)[1])
        if date(year, month, 1) in known and last in known:
            complete.append(f"{year:04d}-{month:02d}")
    return tuple(complete)


def hours_by_unit(groups: Iterable[MatchedGroup], finder: AcceleratorMatcher) -> tuple[Hours, tuple[str, ...]]:
    """Hours in each unit of the groups (None: not a time), with a note on each unit that is a block (100 Hours).

    Exports count in blocks or in hours, each file consistently. Prices are for a block, and so are quantities, unless
    a node would then cost much less than any known price.
    """
    priced: dict[str, list[tuple[float, float]]] = defaultdict(list)
    rows: dict[str, int] = defaultdict(int)
    hours: Hours = {}
    for group, match in groups:
        hours[group.unit] = hours_per_unit(group.unit)
        if match is None or not match.accelerator or block_size(group.unit) == 1.0 or hours[group.unit] is None:
            continue
        rows[group.unit] += group.rows
        lowest = finder.lowest_price(group.provider, match, spot=group.option == "spot")
        if lowest is not None and group.billed > 0 and (group.quantity or 0.0) > 0:
            priced[group.unit].append((group.billed, (group.quantity or 0.0) * lowest))
    notes = []
    for unit in sorted(rows):
        block = block_size(unit)
        paid, lowest = (math.fsum(parts) for parts in zip(*priced[unit], strict=True)) if priced[unit] else (0.0, 0.0)
        counts_hours = paid > 0 and paid < PLAUSIBLE_PRICE_FRACTION * lowest * block
        if counts_hours:
            hours[unit] = (hours[unit] or 0.0) / block
            basis = f"hours: as blocks they would cost under {PLAUSIBLE_PRICE_FRACTION:.0%} of the lowest known price"
        else:
            basis = f"blocks of {block:g}" + ("" if paid > 0 else ", without a price to verify that")
        counted = f"{format_count(rows[unit], 'row')} of accelerators counted in {unit}"
        notes.append(f"{counted}; their quantities are {basis}")
    return hours, tuple(notes)
