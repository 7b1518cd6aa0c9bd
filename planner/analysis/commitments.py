"""Commitments as FinOps teams read them: effective savings rate, coverage, utilisation, ends by quarter, exits."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import cast, get_args

from planner.optimization.solution import PlanningContext, ResourceOrder, purchase_payments
from planner.optimization.strategy import SolvedStrategy
from planner.request.assumptions import DEFAULTS_CURRENCY
from planner.request.calendar import name_quarter
from planner.request.models import Request
from planner.result.strategies import (
    CommitmentEnd,
    CommitmentExit,
    CommitmentReport,
    ExitKind,
    PlannedCommitment,
    SavingsRate,
)
from planner.supply.payments import covered_months, quoted_payments, resource_use_payments
from pricing.catalog.price_catalog import Catalog
from pricing.catalog.quotes import Quote
from pricing.csv_tables import read_rows
from pricing.errors import InvalidSnapshot
from pricing.frozen_values import dataclass
from pricing.price import Price
from pricing.units import HOURS_PER_DAY

TABLE = Path(__file__).parent / "commitment_exits.csv"
COLUMNS = ("provider", "kind", "offering_class", "exit", "limit_usd", "fee_fraction", "note", "source", "as_of")
ANY_CLASS = "*"


@dataclass(frozen=True, slots=True)
class ExitTerms:
    """How commitments of a kind can be left. `limit_usd` is the most that is refunded in twelve months, `fee_fraction`
    the fee on a resale or refund; None where there is none or it is unknown."""

    exit: ExitKind
    limit_usd: float | None = None
    fee_fraction: float | None = None
    note: str = ""
    source: str = ""
    as_of: date | None = None


UNKNOWN_EXIT = ExitTerms("unknown")


def find_exit_terms(price: Price) -> ExitTerms:
    """The terms of a commitment at a price; unknown where no source tells them."""
    known = read_exit_terms()
    kinds = ((price.provider, price.kind, price.offering_class), (price.provider, price.kind, ANY_CLASS))
    return next((known[kind] for kind in kinds if kind in known), UNKNOWN_EXIT)


@cache
def read_exit_terms() -> Mapping[tuple[str, str, str], ExitTerms]:
    """By provider, kind of price and class of offer."""
    faults: list[str] = []
    terms = {
        (row.text("provider"), row.text("kind"), row.text("offering_class")): ExitTerms(
            cast("ExitKind", row.one_of("exit", get_args(ExitKind))),
            row.number("limit_usd"),
            row.number("fee_fraction"),
            row.text("note", empty=True),
            row.text("source"),
            row.day("as_of"),
        )
        for row in read_rows(TABLE, COLUMNS, faults)
    }
    if faults:
        raise InvalidSnapshot(tuple(faults))
    return terms


@dataclass(slots=True)
class _Sums:
    """Of a provider, in money: cost on demand of all use but spot, of use on demand, of use in commitments for a term;
    effective cost; cost of commitments for a term, and its used part."""

    on_demand_equivalent: float = 0.0
    on_demand: float = 0.0
    covered: float = 0.0
    effective: float = 0.0
    committed: float = 0.0
    used: float = 0.0


def report_commitments(
    chosen: SolvedStrategy, setting: PlanningContext, catalog: Catalog, request: Request
) -> CommitmentReport:
    """The commitments of a strategy, and its savings against on demand."""
    used = _measure_utilisation(chosen, setting)
    orders = [order for order in chosen.decisions.bought if order.resource.is_term_commitment]
    made = [order for order in orders if order.resource.held is None]
    usd = _convert_usd(request, catalog)
    planned = tuple(_describe_commitment(order, setting, used[order.resource.key], usd) for order in made)
    savings = tuple(_list_savings(chosen, setting, catalog, used))
    return CommitmentReport(planned, savings, tuple(_list_ends(planned, setting)))


def _convert_usd(request: Request, catalog: Catalog) -> float:
    """The plan's currency for a US dollar."""
    if request.currency == DEFAULTS_CURRENCY:
        return 1.0
    return catalog.exchange.rate(DEFAULTS_CURRENCY, request.currency, request.as_of).value


def _measure_utilisation(chosen: SolvedStrategy, setting: PlanningContext) -> Mapping[tuple[str, ...], float]:
    """Of each commitment, by its key, the part of its hours (or of its money) in the plan that is used."""
    used: dict[tuple[str, ...], float] = defaultdict(float)
    for share in chosen.decisions.shares:
        resource = setting.market.resources[share.candidate.resource]
        if resource.what == "covered" and resource.quote is not None:
            used[resource.pool] += share.node_hours * resource.quote.price.price_per_hour
        else:
            used[resource.key] += share.node_hours
    committed: dict[tuple[str, ...], float] = defaultdict(float)
    for order in chosen.decisions.bought:
        months = covered_months(order.resource, order.month, setting.assumptions, setting.terms)
        hours = HOURS_PER_DAY if order.resource.unit == "node_day" else setting.terms.hours_per_month * len(months)
        committed[order.resource.key] += order.quantity * hours
    return {key: min(1.0, used[key] / amount) if amount else 1.0 for key, amount in committed.items()}


def _list_savings(
    chosen: SolvedStrategy, setting: PlanningContext, catalog: Catalog, used: Mapping[tuple[str, ...], float]
) -> Iterator[SavingsRate]:
    """Of each provider in use, and of all together."""
    sums: dict[str, _Sums] = defaultdict(_Sums)
    unpriced: dict[str, set[str]] = defaultdict(set)
    terms = setting.terms
    for share in chosen.decisions.shares:
        resource = setting.market.resources[share.candidate.resource]
        if resource.quote is None or resource.interrupts:
            continue
        of = sums[resource.provider]
        paid = resource_use_payments(resource, share.month, share.node_hours, setting.assumptions, terms)
        of.effective += math.fsum(payment.amount for payment in paid)
        quote = _quote_on_demand(resource.quote, catalog)
        if quote is None:
            unpriced[resource.provider].add(" ".join(resource.place))
            continue
        rows = quoted_payments(quote.price, share.month, share.node_hours, terms)
        equivalent = math.fsum(payment.amount for payment in rows)
        of.on_demand_equivalent += equivalent
        if resource.is_term_commitment:
            of.covered += equivalent
        elif resource.what == "hourly":
            of.on_demand += equivalent
    for order in chosen.decisions.bought:
        if order.resource.quote is not None:
            of = sums[order.resource.provider]
            effective = _effective_cost(order, setting)
            of.effective += effective
            if order.resource.is_term_commitment and order.resource.held is None:
                of.committed += effective
                of.used += effective * used[order.resource.key]
    every = _Sums(*(math.fsum(getattr(each, name) for each in sums.values()) for name in _Sums.__slots__))
    for provider, each in (*sorted(sums.items()), ("", every)):
        names = unpriced[provider] if provider else set().union(*unpriced.values())
        yield _build_rate(provider, each, tuple(sorted(names)))


def _build_rate(provider: str, sums: _Sums, unpriced: tuple[str, ...]) -> SavingsRate:
    eligible = sums.covered + sums.on_demand
    known = not unpriced and sums.on_demand_equivalent > 0
    return SavingsRate(
        provider=provider,
        on_demand_equivalent=sums.on_demand_equivalent,
        effective_cost=sums.effective,
        effective_savings_rate=1 - sums.effective / sums.on_demand_equivalent if known else None,
        coverage=sums.covered / eligible if known and eligible else None,
        utilisation=sums.used / sums.committed if sums.committed else None,
        unpriced=unpriced,
    )


def _quote_on_demand(quote: Quote, catalog: Catalog) -> Quote | None:
    """The price on demand of the same type in the same region."""
    listed = catalog.by_option(quote.offering).get("on_demand", ())
    return next((each for each in listed if each.price.region == quote.price.region), None)


def _effective_cost(order: ResourceOrder, setting: PlanningContext) -> float:
    """Payments for the months within the plan, the upfront part spread over the term (FOCUS, EffectiveCost)."""
    paid = math.fsum(payment.amount for payment in purchase_payments(setting, order))
    quote = order.resource.quote
    covered = covered_months(order.resource, order.month, setting.assumptions, setting.terms)
    if order.resource.held is not None or quote is None or not quote.price.term_months:
        return paid
    return paid * len(covered) / (quote.price.term_months if setting.terms.charge_beyond_horizon else len(covered))


def _describe_commitment(
    order: ResourceOrder, setting: PlanningContext, utilisation: float, usd: float
) -> PlannedCommitment:
    resource, quote = order.resource, order.resource.quote
    assert quote is not None
    price = quote.price
    leaving = find_exit_terms(price)
    in_full = replace(setting, terms=replace(setting.terms, charge_beyond_horizon=True))
    paid = purchase_payments(in_full, order)
    upfront = math.fsum(payment.amount for payment in paid if payment.at == "start")
    in_all = math.fsum(payment.amount for payment in paid)
    last = order.month + price.term_months - 1
    months = range(order.month, min(last - 1, setting.terms.months) + 1)
    return PlannedCommitment(
        month=order.month,
        last_month=last,
        provider=resource.provider,
        region=resource.region,
        name=resource.name,
        purchase_option=resource.purchase_option,
        amount=order.quantity,
        unit=resource.unit,
        in_all=in_all,
        utilisation=utilisation,
        exit=leaving.exit,
        fee_fraction=leaving.fee_fraction,
        exit_note=leaving.note,
        exit_source=f"{leaving.source}, {leaving.as_of}" if leaving.source else "",
        exits=tuple(
            _cost_exit(month, (last - month) / price.term_months, in_all, upfront, leaving, usd) for month in months
        ),
    )


def _cost_exit(
    month: int, rest: float, in_all: float, upfront: float, leaving: ExitTerms, usd: float
) -> CommitmentExit:
    """Leaving with a fraction `rest` of the term to come."""
    remaining, lost = (in_all - upfront) * rest, upfront * rest
    cost: float | None = None
    if leaving.exit == "none":
        cost = remaining + lost
    elif leaving.exit == "refund" and leaving.fee_fraction == 0:
        cost = max(0.0, remaining + lost - (leaving.limit_usd or math.inf) * usd)
    return CommitmentExit(month, remaining, lost, cost)


def _list_ends(planned: Sequence[PlannedCommitment], setting: PlanningContext) -> Iterator[CommitmentEnd]:
    per_month: dict[str, float] = defaultdict(float)
    first = setting.demands.month_names[0]
    for each in planned:
        per_month[name_quarter(first, each.last_month)] += each.in_all / (each.last_month - each.month + 1)
    total = math.fsum(per_month.values())
    for quarter, amount in sorted(per_month.items()):
        yield CommitmentEnd(quarter, amount, amount / total if total else 0.0)
