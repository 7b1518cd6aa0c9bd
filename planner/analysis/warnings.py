"""Warnings: everything that a plan lacked, estimated or read differently, each with its effect."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import date

from planner.analysis.emissions import find_emission_gaps
from planner.analysis.ways_of_paying import find_sale_gaps
from planner.optimization.solution import PlanningContext
from planner.optimization.strategy import SolvedStrategy, ownable_workloads
from planner.request import assumptions as figures
from planner.request.assumptions import Assumptions
from planner.request.models import Request
from planner.result import Gap, Strategy
from planner.result.message import Message, message
from planner.supply import quotas as quota
from planner.supply.price_rules import plan_start, plans_beyond_window
from planner.supply.purchase_options import load_purchase_options
from planner.supply.resources import Resource
from planner.workloads.demand import PortfolioDemand
from planner.workloads.eligibility import allowed_accelerators, written_accelerators
from planner.workloads.load_levels import EXCESS_MAX
from pricing.accelerator import AcceleratorNames
from pricing.catalog.adjusted_prices import AdjustedCatalog, count_newer, find_inactive_rules, list_rates_used
from pricing.catalog.price_catalog import Catalog
from pricing.catalog.quotes import Quote
from pricing.counted_nouns import format_count
from pricing.errors import UnknownName
from pricing.price import AdjustedPrice
from pricing.private_prices import SOURCE_ID
from pricing.transfer_storage_prices import Tier

PREDICTED, DESCRIBED, SERVED = "predicted_", "described", "served"
TYPES_NAMED_MAX = 5
"""Most types of one accelerator that are named one by one."""
FAR_MONTHS = 12
"""A plan that starts later than so long after its newest price is warned of."""
BOOT_DISK_GB = 200
"""Of a rented node, as the Terraform modules create it."""
DATA_DISKS = ("ultra",)
"""Kinds of block storage that cannot hold the system of a node."""
NO_QUOTAS = Gap("no_capacity_figure", "quotas and capacity", message("capacity_unknown"))


def collect_gaps(
    request: Request,
    setting: PlanningContext,
    catalog: Catalog,
    solved: Sequence[SolvedStrategy],
    chosen: Strategy | None,
) -> tuple[Gap, ...]:
    """All gaps of a plan, each once, in a fixed order."""
    paid = {r.key: r for s in solved for r in s.resources}.values()
    quotes = [r.quote for r in paid if r.quote is not None and r.is_listed]
    all_gaps = [
        *_find_renamed_accelerators(request, catalog.names),
        *_find_unpriced_offerings(setting.demands, catalog),
        *_find_unplanned_options(request, catalog),
        *_find_quota_gaps(request, setting, catalog, solved, chosen),
        *_merge_market_gaps(setting, quotes),
        *_find_missing_commitments(catalog, paid),
        *_find_boot_disks(request, setting, catalog, chosen),
        *_find_dated_capacity(quotes, setting.assumptions),
        *_find_unconfirmed_sales(quotes, request),
        *find_sale_gaps(request, setting, catalog, solved),
        *(gap for each in solved for gap in find_emission_gaps(each, setting)),
        *_find_grouped_levels(setting.demands),
        *_find_predicted_throughputs(setting, solved),
        *_find_doubtful_prices(quotes, setting.assumptions, request.as_of),
        *_find_currency_gaps(request, setting, catalog),
        *_find_unownable_workloads(request, setting),
        *_find_budget_overruns(setting, chosen),
    ]
    return tuple(dict.fromkeys(all_gaps))


def list_doubts(
    request: Request, setting: PlanningContext, solved: Sequence[SolvedStrategy], catalog: Catalog
) -> Iterable[Message]:
    """What makes the advice as a whole doubtful: its dates, and services that are sized for one request at a time."""
    yield from _list_date_warnings(request, solved, catalog)
    yield from _list_serving_warnings(setting, solved)


def _list_date_warnings(request: Request, solved: Sequence[SolvedStrategy], catalog: Catalog) -> Iterable[Message]:
    """What the dates of a plan leave doubtful: a start in the past, or long after its prices; prices newer than it."""
    start, as_of = plan_start(request), request.as_of
    if (start.year, start.month) < (as_of.year, as_of.month):
        yield message("start_in_past", start=f"{start:%Y-%m}", as_of=as_of)
    quotes = [r.quote for s in solved for r in s.resources if r.quote is not None and r.is_listed]
    newest = max((quote.price.as_of for quote in quotes), default=None)
    if newest is not None:
        months = 12 * (start.year - newest.year) + start.month - newest.month
        if months > FAR_MONTHS:
            yield message("prices_far_from_start", months=months, newest=newest)
    if newer := count_newer(catalog, as_of):
        yield message("prices_newer_than_plan", prices=newer, as_of=as_of)


def _list_serving_warnings(setting: PlanningContext, solved: Sequence[SolvedStrategy]) -> Iterable[Message]:
    """Services that are sized by an estimate for one request at a time, while servers do many at once."""
    fastest: dict[str, float] = {}
    for candidate in (c for s in solved for c in s.candidates):
        need, rate = setting.demands.needs[candidate.need], candidate.throughput
        network = need.workload.network
        if need.serving and network is not None and network.batch_per_device == 1 and rate.basis == DESCRIBED:
            name = need.workload.name
            fastest[name] = max(fastest.get(name, 0.0), rate.units_per_hour / candidate.gang)
    for name, units_per_hour in sorted(fastest.items()):
        yield message("sized_for_one_stream", workload=name, units_per_second=units_per_hour / 3600)


def _find_quota_gaps(
    request: Request,
    setting: PlanningContext,
    catalog: Catalog,
    solved: Sequence[SolvedStrategy],
    chosen: Strategy | None,
) -> Iterable[Gap]:
    if not request.quotas:
        return (NO_QUOTAS,)
    strategies = [s.strategy for s in solved]
    return quota.find_quota_gaps(request, catalog, strategies, chosen, setting.demands.month_names)


def _find_renamed_accelerators(request: Request, names: AcceleratorNames) -> Iterable[Gap]:
    for workload in request.workloads:
        for written in dict.fromkeys(written_accelerators(workload)):
            part = names.resolve(written)
            others = [other.name for other in names.siblings(part)]
            if _is_tpu_slice(written, names):
                yield Gap("renamed", written, message("slice_read_as_chips", accelerator=part.name), workload.name)
            elif written != part.name and others:
                effect = message("accelerator_read_as", accelerator=part.name, other_variants=others)
                yield Gap("renamed", written, effect, workload.name)


def _is_tpu_slice(written: str, names: AcceleratorNames) -> bool:
    try:
        return names.tpu_slice(written)[1] > 0
    except UnknownName:
        return False


def _usable_accelerators(demands: PortfolioDemand, names: AcceleratorNames) -> set[str] | None:
    """Accelerators that some workload could use; None when any could."""
    usable: set[str] = set()
    for need in demands.needs:
        allowed = allowed_accelerators(need.workload, names)
        if allowed is None:
            return None
        usable |= allowed
    return usable


def _find_unpriced_offerings(demands: PortfolioDemand, catalog: Catalog) -> Iterable[Gap]:
    """One gap for each type, or one for all types of an accelerator at a provider where they are many."""
    usable = _usable_accelerators(demands, catalog.names)
    types: dict[tuple[str, str], list[str]] = {}
    for offering in catalog.unpriced():
        if usable is None or offering.accelerator in usable:
            types.setdefault((offering.provider, offering.accelerator), []).append(offering.instance_type)
    for (provider, accelerator), names in types.items():
        several = [format_count(len(names), "type")] if len(names) > TYPES_NAMED_MAX else names
        for name in several:
            yield Gap("no_price", f"{provider} {name} ({accelerator})", message("unpriced_offering"))


def _find_unplanned_options(request: Request, catalog: Catalog) -> Iterable[Gap]:
    """Purchase options that the catalogue prices and this planner does not plan."""
    for provider in sorted(request.providers or catalog.providers):
        facts = catalog.provider_facts.get(provider)
        for sold in facts.not_priced if facts is not None else ():
            yield Gap("no_price", f"{provider}: {sold}", message("price_unpublished"))
    kinds = {kind for provider in request.providers or catalog.providers for kind in catalog.kinds[provider]}
    for kind in sorted(kinds - set(load_purchase_options())):
        yield Gap("not_planned", kind, message("purchase_option_unplanned"))


def _merge_market_gaps(setting: PlanningContext, quotes: Sequence[Quote]) -> Iterable[Gap]:
    """The gaps of the market, once for all workloads: estimated prices of data only where the plan pays for nodes or
    for copies of data."""
    places = {(q.price.provider, q.price.region) for q in quotes}
    second = (need.workload.recovery for need in setting.demands.needs)
    places |= {(each.place.partition(" ")[0], each.place.partition(" ")[2]) for each in second if each is not None}
    merged: dict[tuple[str, str, Message], list[str]] = {}
    for gap in setting.market.gaps:
        if gap.kind == "estimated" and _estimated_place(gap.effect) not in places:
            continue
        merged.setdefault((gap.kind, gap.subject, gap.effect), []).append(gap.workload)
    for (kind, subject, effect), workloads in sorted(merged.items(), key=lambda item: (*item[0][:2], str(item[0][2]))):
        concerned = [w for w in workloads if w]
        yield Gap(kind, subject, effect, concerned[0] if len(concerned) == 1 else ", ".join(concerned[:3]))


def _estimated_place(effect: Message) -> tuple[object, object]:
    """The provider and the region whose price of data is estimated."""
    return effect.parameters["provider"], effect.parameters["unpriced_region"]


def _find_missing_commitments(catalog: Catalog, paid: Iterable[Resource]) -> Iterable[Gap]:
    """Types that the plan rents by the hour and for which no commitment is priced at all."""
    hourly = sorted({r.quote.offering.key for r in paid if r.what == "hourly" and r.quote is not None})
    committed = {
        q.offering.key
        for q in catalog.quotes(instance_types=[name for _, name in hourly])
        if (option := load_purchase_options().get(q.price.kind)) is not None and option.COMMITS
    }
    for provider, instance_type in hourly:
        if (provider, instance_type) not in committed:
            yield Gap("no_price", f"{provider} {instance_type} commitments", message("commitments_unpriced"))


def _find_boot_disks(
    request: Request, setting: PlanningContext, catalog: Catalog, chosen: Strategy | None
) -> Iterable[Gap]:
    """The boot disks of rented nodes, which no cost of a plan has in it: once, with what they would cost where a price
    of block storage is known."""
    node_months: dict[tuple[str, str], float] = {}
    for use in chosen.uses if chosen is not None else ():
        if use.provider:
            place = (use.provider, use.region)
            node_months[place] = node_months.get(place, 0.0) + use.node_hours / setting.terms.hours_per_month
    steps = {place: _boot_disk_price(catalog, request, *place) for place in node_months}
    priced = {place: step for place, step in steps.items() if step is not None}
    if node_months:
        effect = message(
            "boot_disks_not_counted",
            disk_gb=BOOT_DISK_GB,
            cost=math.fsum(node_months[place] * BOOT_DISK_GB * step.price_per_gb for place, step in priced.items()),
            currency=request.currency,
            prices=sorted({_describe_disk_price(step) for step in priced.values()}, key=str),
            unpriced=sorted({provider for provider, region in node_months if (provider, region) not in priced}),
        )
        yield Gap("no_price", "boot disks of rented nodes", effect)


def _boot_disk_price(catalog: Catalog, request: Request, provider: str, region: str) -> Tier | None:
    """The first step of block storage in a region, else in the provider's reference region where estimates are
    allowed; None for kinds that hold data only."""
    steps = catalog.tiers(provider, region, "block_storage")
    if not steps and request.allow_estimates:
        steps = catalog.reference_tiers(provider, "block_storage")
    return next((step for step in steps if step.kind not in DATA_DISKS), None)


def _describe_disk_price(step: Tier) -> Message:
    return message(
        "disk_price",
        disk=step.kind,
        price_per_gb_month=step.price_per_gb,
        currency=step.currency,
        provider=step.provider,
        region=step.region,
        as_of=str(step.as_of),
        source_id=step.source_id,
    )


def _find_dated_capacity(quotes: Sequence[Quote], assumptions: Assumptions) -> Iterable[Gap]:
    """Node-days, which providers sell for dates in the near future only."""
    beyond = plans_beyond_window(assumptions)
    for quote in quotes:
        option = load_purchase_options()[quote.price.kind]
        if option.UNIT == "node_day":
            ahead = quote.sale.order_ahead_days if quote.sale is not None else None
            subject = f"{quote.price.provider} {quote.price.instance_type} {option.TITLE}"
            yield Gap(
                "no_capacity_figure", subject, message("dated_capacity_not_assured", ahead_days=ahead, beyond=beyond)
            )


def _find_unconfirmed_sales(quotes: Sequence[Quote], request: Request) -> Iterable[Gap]:
    """Ways of paying that are priced and of which no dated source says that the type is sold so."""
    start = plan_start(request)
    for quote in quotes:
        if quote.sale_state(start) == "not_confirmed":
            price = quote.price
            subject = f"{price.provider} {price.instance_type} {price.purchase_option}"
            yield Gap("sale_not_confirmed", subject, message("sale_not_confirmed"))


def _find_grouped_levels(demands: PortfolioDemand) -> Iterable[Gap]:
    """Weekly shapes of more levels than the plan keeps apart."""
    for need in demands.needs:
        if (excess := need.excess_fraction(demands.block_hours)) > EXCESS_MAX:
            effect = message("levels_grouped", excess_fraction=excess)
            yield Gap("estimated", f"weekly shape of {need.workload.name}", effect, need.workload.name)


def _find_predicted_throughputs(setting: PlanningContext, solved: Sequence[SolvedStrategy]) -> Iterable[Gap]:
    for candidate in dict.fromkeys(c for s in solved for c in s.candidates):
        rate = candidate.throughput
        if rate.basis.startswith(PREDICTED) or rate.basis in (DESCRIBED, SERVED):
            part = setting.market.resources[candidate.resource].accelerator
            effect = message(
                "throughput_not_measured",
                basis=rate.basis,
                low_fraction=rate.low / rate.units_per_hour,
                high_fraction=rate.high / rate.units_per_hour,
            )
            name = setting.demands.needs[candidate.need].workload.name
            yield Gap("predicted", f"{candidate.gang:g} x {part}", effect, name)


def _find_doubtful_prices(quotes: Sequence[Quote], assumptions: Assumptions, as_of: date) -> Iterable[Gap]:
    limits = {"spot": assumptions["old_spot_price_days"].value}
    for price in sorted((q.price for q in quotes), key=lambda p: p.key):
        limit = limits.get(price.kind, assumptions["old_price_days"].value)
        subject = " ".join(price.key)
        agreed = price.source_id == SOURCE_ID  # as old as the agreement, and in force
        if price.kind == "spot" and price.method == "derived" and isinstance(price, AdjustedPrice):
            continue  # named with what it is counted at instead
        if (age := (as_of - price.as_of).days) > limit and not agreed:
            yield Gap("old_price", subject, message("price_outdated", as_of=price.as_of, age_days=age))
        if price.method == "derived":
            yield Gap("estimated", subject, message("price_derived", note=price.note))


def _find_currency_gaps(request: Request, setting: PlanningContext, catalog: Catalog) -> Iterable[Gap]:
    """Prices without a rate of exchange, rates that are old, and private prices that do not hold on the plan's day."""
    for left in catalog.left_out if isinstance(catalog, AdjustedCatalog) else ():
        yield Gap(
            "no_price", f"{left.prices} prices in {left.currency}", message("price_not_converted", reason=left.why)
        )
    limit = setting.assumptions["old_spot_price_days"].value
    for rate in list_rates_used(catalog, figures.DEFAULTS_CURRENCY, request.currency, request.as_of):
        if (age := (request.as_of - rate.day).days) > limit:
            subject = f"exchange rate from {rate.source} to {rate.target}"
            yield Gap("old_price", subject, message("exchange_rate_outdated", as_of=rate.day, age_days=age))
    keys = (resource.quote.price.key for resource in setting.market.resources if resource.quote is not None)
    for rule, count in find_inactive_rules(catalog, request.as_of, keys):
        effect = message("private_price_not_in_force", period=rule.period, as_of=request.as_of, prices=count)
        yield Gap("private_price", rule.words, effect)


def _find_unownable_workloads(request: Request, setting: PlanningContext) -> Iterable[Gap]:
    if "onprem" not in request.strategies:
        return
    for need, owns in zip(setting.demands.needs, ownable_workloads(setting), strict=True):
        if not owns:
            yield Gap("not_ownable", need.workload.name, message("workload_not_ownable"), need.workload.name)


def _find_budget_overruns(setting: PlanningContext, chosen: Strategy | None) -> Iterable[Gap]:
    if chosen is None:
        return
    cost = {row.workload: row.cost / setting.terms.months for row in chosen.workloads}
    for need in setting.demands.needs:
        budget = need.workload.budget_per_month
        if budget is not None and cost.get(need.workload.name, 0.0) > budget:
            effect = message("over_budget", cost_per_month=cost[need.workload.name], budget_per_month=budget)
            yield Gap("budget", need.workload.name, effect, need.workload.name)
