"""What a plan counts by: conventions (time, prices, data, placement of work, owned nodes, quotas), the throughputs and
prices in use, the workloads as they were understood, the settings of the request and the identifier of the plan."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date

from planner.optimization.solution import PlanningContext
from planner.optimization.strategy import SolvedStrategy
from planner.performance.throughput.plug_in_models import BASIS as PREDICTED
from planner.performance.throughput.plug_in_models import PLUG_IN_GROUP as THROUGHPUT_MODELS
from planner.request.assumptions import DEFAULTS_CURRENCY
from planner.request.models import Request
from planner.result import InputProvenance, PriceUsed, RequestedWorkload, RequestSetting, ThroughputUsed
from planner.result.message import Message, message
from planner.supply import onprem, quotas
from planner.supply.limits import COMMITMENT_TARGETS
from planner.workloads.eligibility import gang_size, written_accelerators
from pricing.catalog.adjusted_prices import AdjustedCatalog, list_rates_used
from pricing.catalog.price_catalog import Catalog
from pricing.catalog.quotes import Quote
from pricing.installed_plugins import find_plugins
from pricing.price import PLUG_IN_GROUP as PURCHASE_OPTIONS
from pricing.price import AdjustedPrice, parse_purchase_option
from pricing.providers import PLUG_IN_GROUP as PROVIDERS

DECIDING = (PURCHASE_OPTIONS, THROUGHPUT_MODELS)
"""Groups of plug-ins that may change a decision; prices of plug-ins are in the digest of the catalogue."""


def list_conventions(
    request: Request,
    context: PlanningContext,
    prices: Sequence[PriceUsed],
    catalog: Catalog,
    throughputs: Sequence[ThroughputUsed],
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
        message("carbon_of_grids"),
        *_placement_conventions(request),
        *quotas.quota_conventions(request),
        *_plug_in_conventions(prices, throughputs),
    )


def _plug_in_conventions(prices: Sequence[PriceUsed], throughputs: Sequence[ThroughputUsed]) -> Iterator[Message]:
    """The plug-ins that took part: a plan without them is another one."""
    models = {each.parameters["name"] for used in throughputs for each in used.explanation if each.code == PREDICTED}
    took_part: Mapping[str, Callable[[str], bool]] = {
        PURCHASE_OPTIONS: lambda name: any(_is_kind(each.purchase_option, name) for each in prices),
        PROVIDERS: lambda name: any(each.provider == name for each in prices),
        THROUGHPUT_MODELS: lambda name: name in models,
    }
    for group, is_used in took_part.items():
        for plugin in find_plugins(group):
            if is_used(plugin.name):
                yield message("plug_in_took_part", group=group, name=plugin.name, source=plugin.source)


def _is_kind(purchase_option: str, kind: str) -> bool:
    parsed = parse_purchase_option(purchase_option)
    return parsed is not None and parsed.kind == kind


NARROWING_FIELDS = (
    "providers", "regions", "residency", "measured_only", "allow_estimates", "commitments_beyond_horizon", "effort",
    "materiality_fraction", "existing_value",
)  # fmt: skip
"""Fields of a request, besides its limits, that narrow what may be decided or how far it is searched."""


def list_request_settings(request: Request) -> tuple[RequestSetting, ...]:
    """The limits and settings of a request that are not the default."""
    fields = [(name.replace("_", " "), name, request) for name in NARROWING_FIELDS]
    limits = [(f"limits: {name.replace('_', ' ')}", name, request.limits) for name in type(request.limits).model_fields]
    return tuple(
        RequestSetting(title, _value_texts(getattr(part, name)))
        for title, name, part in (*fields, *limits)
        if getattr(part, name) != type(part).model_fields[name].default
    )


def _value_texts(value: object) -> tuple[str, ...]:
    """A value of a request in words, for people who compare two requests."""
    if isinstance(value, bool):
        return ("yes" if value else "no",)
    if isinstance(value, dict):
        return tuple(f"{name}: {amount:,g}" for name, amount in value.items())
    if isinstance(value, int | float):
        return (f"{value:,.10g}",)
    return tuple(text for each in value for text in _value_texts(each)) if isinstance(value, tuple) else (str(value),)


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


def list_throughputs(context: PlanningContext, solved: Sequence[SolvedStrategy]) -> tuple[ThroughputUsed, ...]:
    """Each throughput of a workload on an accelerator that a strategy counts with, once."""
    rows = {}
    for candidate in (c for s in solved for c in s.candidates):
        rate = candidate.throughput
        name = context.demands.needs[candidate.need].workload.name
        part = context.market.resources[candidate.resource].accelerator
        rows[name, part, candidate.gang, rate.explanation] = ThroughputUsed(
            name, part, candidate.gang, rate.units_per_hour, rate.low, rate.high, rate.basis, rate.explanation
        )
    return tuple(rows[key] for key in sorted(rows, key=lambda key: (*key[:3], *map(str, key[3]))))


def list_prices(
    solved: Iterable[SolvedStrategy], compared: Iterable[Quote], catalog: Catalog, start: date
) -> tuple[PriceUsed, ...]:
    """The listed prices that a strategy pays, and those that break-evens compare with."""
    paid = [r.quote for s in solved for r in s.resources if r.quote is not None and r.is_listed]
    used = {quote.price.key: quote for quote in (*paid, *compared)}
    return tuple(_price_used(quote, catalog, start) for _, quote in sorted(used.items()))


def _price_used(quote: Quote, catalog: Catalog, start: date) -> PriceUsed:
    price = quote.price
    used = PriceUsed(
        price.provider,
        price.region,
        price.instance_type,
        price.purchase_option,
        price.price_per_hour,
        price.currency,
        price.as_of,
        price.source_id,
        catalog.sources[price.source_id].reference,
        price.method,
        sale=quote.sale_state(start),
    )
    if not isinstance(price, AdjustedPrice):
        return used
    return replace(
        used,
        list_price_per_hour=price.list_price_per_hour,
        list_currency=price.list_currency,
        adjustment=price.adjustment,
    )


def describe_workloads(
    request: Request, context: PlanningContext, inputs: InputProvenance
) -> tuple[RequestedWorkload, ...]:
    """The workloads as they were understood, each with the place of its row in the input."""
    needs = {need.workload.name: need for need in context.demands.needs}
    places = {reading.path: reading.place for reading in inputs.readings}
    rows = []
    for index, workload in enumerate(request.workloads):
        need = needs[workload.name]
        accelerators = workload.accelerators or tuple(dict.fromkeys(written_accelerators(workload)))
        rows.append(
            RequestedWorkload(
                name=workload.name,
                team=workload.team,
                kind=workload.kind,
                unit=need.unit,
                demand=need.monthly,
                accelerators=accelerators,
                gang=gang_size(workload),
                interruptible=workload.interruptible,
                place=places.get(f"workloads[{index}].name", f"workloads[{index}]"),
                budget_per_month=workload.budget_per_month,
                notes=workload.notes,
                fabric=workload.fabric,
            )
        )
    return tuple(rows)


def identify_plan(request: Request, catalog: Catalog) -> str:
    """A short digest of the request, the prices and the plug-ins that may decide: equal inputs, equal name."""
    limits = {name for name in COMMITMENT_TARGETS if getattr(request.limits, name) is None}
    unset: dict[str, bool | set[str]] = {"limits": limits, **({} if request.uncertainty else {"uncertainty": True})}
    unset |= {"fiscal_year_starts": True} if request.fiscal_year_starts == 1 else {}
    plugins = [f"{each.group} {each.name} {each.source}" for group in DECIDING for each in find_plugins(group)]
    text = request.model_dump_json(exclude=unset) + catalog.digest + "".join(plugins)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
