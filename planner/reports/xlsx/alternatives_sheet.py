"""The sheet Offers considered: every offer of the catalogue, its outcome, and the reasons of refusals.

A row is an offering with one purchase option; options that were dominated or refused together share a row.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from planner.reports._content.evidence import offer_counts_text
from planner.reports._content.number_format import in_words
from planner.reports.xlsx.workbook import HEADER_ROW, Cell, PlanWorkbook
from planner.result import Plan
from planner.result.alternatives import OfferOutcome
from pricing.counted_nouns import format_count
from pricing.price import parse_purchase_option

OUTCOMES = {"chosen": "chosen", "not_chosen": "compared", "outdone": "dominated", "refused": "refused"}
NOTE = (
    "Compared: available to the solver and not chosen. Dominated: left out before solving, since another offer is"
    " proven to do all of its work at no higher cost. Purchase options that were dominated or refused together share"
    " a row with the values of the one nearest to being chosen. Reasons have the number of workloads in brackets."
)
RELATIVE_PRICE_NOTE = (
    "A unit of work against the chosen: the price of a unit of work at full use, relative to the nodes of the"
    " recommended strategy for the workload. A value below 1 is cheaper only while busy, after delivery and within"
    " limits: idle hours of a term, data and tax are not included. Owned systems: level cost over life at full use."
)
COLUMNS = (
    ("outcome", 11, "text"), ("provider", 9, "text"), ("instance type or system", 22, "wrap"),
    ("accelerator", 17, "wrap"), ("per node", 7, "figure"), ("purchase option", 20, "wrap"),
    ("workloads it can serve", 10, "count"), ("regions with a price", 9, "count"),
    ("least price per hour", 11, "figure"), ("where", 14, "wrap"), ("as of", 12, "date"), ("source", 18, "wrap"),
    ("a unit of work against the chosen", 11, "figure"), ("of the workload", 20, "wrap"),
    ("users, or reason of refusal", 46, "wrap"),
)  # fmt: skip
FROZEN_COLUMNS = 3


def write(book: PlanWorkbook, plan: Plan) -> None:
    """Writes the sheet; none for a plan without offers compared."""
    if not plan.considered:
        return
    sheet = book.sheet("Offers considered")
    users = _offer_users(plan)
    sheet.list("Offers compared", "", COLUMNS, [_offer_row(one, users) for one in _sort_offers(plan)])
    sheet.put_across(1, len(COLUMNS), f"{offer_counts_text(plan)} Prices in {plan.currency}. {NOTE}", "wrap")
    sheet.put_across(2, len(COLUMNS), RELATIVE_PRICE_NOTE, "wrap")
    sheet.freeze(HEADER_ROW + 1, FROZEN_COLUMNS)


def _sort_offers(plan: Plan) -> list[OfferOutcome]:
    """Chosen offers, then those nearest to them, then refused ones by reason."""
    order = list(OUTCOMES)

    def key(one: OfferOutcome) -> tuple[object, ...]:
        against = one.against_chosen if one.against_chosen is not None else math.inf
        reason = one.refusals_text if one.outcome == "refused" else ""
        rank = 1 if one.outcome == "outdone" else order.index(one.outcome)
        return (rank, reason, against, one.provider, one.accelerator, one.name, one.purchase_options)

    return sorted(plan.considered, key=key)


Users = dict[tuple[str, str, str], dict[str, dict[str, None]]]


def _offer_users(plan: Plan) -> Users:
    """By provider, name and purchase option: the workloads on it, by strategy."""
    users: Users = {}
    for strategy in plan.strategies:
        for use in strategy.uses:
            row = users.setdefault((use.provider, use.name, use.purchase_option), {})
            row.setdefault(strategy.name, {})[use.workload] = None
        for item in strategy.purchases:
            users.setdefault((item.provider, item.name, item.purchase_option), {}).setdefault(strategy.name, {})
    return users


def _offer_row(one: OfferOutcome, users: Users) -> tuple[Cell, ...]:
    first, *others = one.purchase_options.split() or [""]
    notes = "; ".join(_offer_notes(one, users.get((one.provider, one.name, first), {}), others))
    return (
        OUTCOMES[one.outcome], one.provider or "own", one.name, one.accelerator, one.accelerators_per_node,
        purchase_options_text([first]), one.serves, one.regions or None, one.price_per_hour, one.region, one.as_of,
        one.source_id, one.against_chosen, one.best_for, notes,
    )  # fmt: skip


def _offer_notes(one: OfferOutcome, users: dict[str, dict[str, None]], others: list[str]) -> Iterator[str]:
    if one.outcome == "chosen":
        strategies_by_use: dict[str, list[str]] = {}
        for strategy, workloads in users.items():
            strategies_by_use.setdefault(", ".join(sorted(workloads)) or "no workload", []).append(strategy)
        for works, strategies in strategies_by_use.items():
            yield f"{', '.join(strategies)}: {works}"
    if one.outcome == "refused":
        yield one.refusals_text
    if others:
        yield f"the same for: {purchase_options_text(others)}"


def purchase_options_text(names: Iterable[str]) -> str:
    """Purchase options in words, those of one kind and term together.

    >>> purchase_options_text(["on_demand", "reserved_3y_no_upfront", "reserved_3y_all_upfront"])
    'on demand, reserved 3 years (no, all upfront)'
    """
    upfronts_by_kind: dict[str, list[str]] = {}
    for name in names:
        parts = parse_purchase_option(name)
        kind = name if parts is None else f"{parts.kind} {parts.offering_class}"
        if parts is not None and parts.term_months:
            years = parts.term_months // 12
            kind = f"{kind.replace('standard', '').strip()} {format_count(years, 'year')}"
        upfronts = upfronts_by_kind.setdefault(in_words(kind).strip(), [])
        if parts is not None and parts.upfront:
            upfronts.append("no" if parts.upfront == "none" else parts.upfront)
    return ", ".join(
        f"{kind} ({', '.join(upfronts)} upfront)" if upfronts else kind for kind, upfronts in upfronts_by_kind.items()
    )
