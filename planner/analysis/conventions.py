"""The conventions that a plan counts by: time, prices, data, placement of work, owned nodes and quotas."""

from __future__ import annotations

from collections.abc import Sequence

from planner.optimization.solution import PlanningContext
from planner.request.assumptions import DEFAULTS_CURRENCY
from planner.request.models import Request
from planner.result import PriceUsed
from planner.result.message import Message, message
from planner.supply import onprem, quotas
from pricing.catalog.adjusted_prices import AdjustedCatalog, list_rates_used
from pricing.catalog.price_catalog import Catalog


def list_conventions(
    request: Request, context: PlanningContext, prices: Sequence[PriceUsed], catalog: Catalog
) -> tuple[Message, ...]:
    """The conventions of a plan in the order in which they are read: time, prices, owned nodes, work, quotas."""
    terms = context.terms
    used = list_rates_used(catalog, DEFAULTS_CURRENCY, request.currency, request.as_of)
    rates = [rate.words for rate in used]
    in_full = terms.charge_beyond_horizon
    return (
        message("hours_per_month", hours=terms.hours_per_month),
        message("payment_timing"),
        _price_basis(request, prices, catalog),
        *([message("converted_at", rates=rates)] if rates else []),
        message("commitments_charged_in_full") if in_full else message("commitments_charged_pro_rata"),
        *onprem.owned_conventions(request, context.assumptions),
        message("data_charged_where_work_runs"),
        message("work_timing"),
        *_placement_conventions(request),
        *quotas.quota_conventions(request),
    )


def _placement_conventions(request: Request) -> tuple[Message, ...]:
    """Where workloads live, what exceeds their home, and what is billed whole."""
    owns = request.strategies != ("cloud",) or bool(request.existing.nodes)
    return (
        message("workloads_have_homes"),
        *([message("owned_homes_overflow")] if owns else []),
        *([message("work_may_spread")] if any(workload.spread for workload in request.workloads) else []),
        message("standing_work_has_whole_nodes"),
        message("other_work_takes_node_hours"),
        message("purchases_are_whole"),
        message("jobs_keep_their_gang"),
    )


def _price_basis(request: Request, prices: Sequence[PriceUsed], catalog: Catalog) -> Message:
    if not isinstance(catalog, AdjustedCatalog) or not catalog.card.in_force(request.as_of):
        return message("list_prices", currency=request.currency)
    return message(
        "negotiated_prices",
        currency=request.currency,
        negotiated=sum(bool(price.adjustment) for price in prices),
        prices=len(prices),
        rate_card=catalog.card.name,
        as_of=request.as_of,
    )
