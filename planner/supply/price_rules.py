"""Whether a price may be planned: by what the request allows, and by the terms on which its provider sells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from planner.request.assumptions import Assumptions
from planner.request.calendar import month_names
from planner.request.models import Request, Workload
from planner.result.message import Message, message
from planner.supply.purchase_options import PurchaseOption, days_before_last_order
from planner.supply.spot_prices import count_spot_at_bound, find_spot_bounds
from planner.workloads.demand import WorkloadDemand
from pricing.catalog.price_catalog import Catalog
from pricing.catalog.quotes import Quote
from pricing.machines import PlainMachine
from pricing.price import Price

MAY_BE_INTERRUPTED = message("option_may_be_interrupted")
WHOLE_DAYS = message("option_sold_in_whole_days")
QUEUED = message("option_queued")
SPOT_NOT_RECENT = message("spot_price_not_recent")


def plan_start(request: Request) -> date:
    """The first day of the plan: what is not sold any more by then cannot be planned."""
    return date.fromisoformat(f"{month_names(request)[0]}-01")


def named_providers(request: Request) -> set[str]:
    """The providers that a request names: to rent from, or as holders of commitments or quotas."""
    asked = {*request.providers, *(name for workload in request.workloads for name in workload.providers)}
    asked |= {each.recovery.place.partition(" ")[0] for each in request.workloads if each.recovery is not None}
    held = {commitment.provider for commitment in request.existing.commitments}
    return asked | held | {quota.provider for quota in request.quotas}


def sale_refusal(quote: Quote, day: date) -> Message | None:
    """Why a price cannot be bought on a day; None where it can, or where no source speaks against it."""
    state, term = quote.sale_state(day), quote.sale
    if term is None or state in ("confirmed", "not_confirmed"):
        return None
    if state == "ended":
        return message("sale_ended", ends=str(term.ends), successor=term.successor or None)
    return message(
        "not_sold_this_way", purchase_option=quote.price.purchase_option, source=term.source, checked=term.checked
    )


def last_month(quote: Quote, start: date, months: int) -> int | None:
    """The last month of a plan from `start` that is over before the type ends: 0 where it ends in the first month, None
    where it outlives the plan. A month in which it ends is not planned: its work would have to move within it."""
    if quote.sale is None or quote.sale.ends is None:
        return None
    whole = max(0, _months_between(start, quote.sale.ends))
    return whole if whole < months else None


def _months_between(start: date, day: date) -> int:
    """The months from that of `start` to that of `day`."""
    return 12 * (day.year - start.year) + day.month - start.month


def last_start(
    quote: Quote, option: PurchaseOption, request: Request, assumptions: Assumptions, start: date
) -> int | None:
    """The last month of a plan from `start` in which a price can be started: 0 where that is before the plan, None
    where no limit is known.

    Dated capacity is ordered on the plan's date, and every order of a month starts within the time allowed. A
    commitment is owed for its whole term, so its last start leaves room for all of it before the type ends.
    """
    limits, term = [], quote.sale
    if term is None:
        return None
    if option.UNIT == "node_day" and term.order_ahead_days is not None and not plans_beyond_window(assumptions):
        ahead = term.order_ahead_days - days_before_last_order(quote.price.kind)
        latest = request.as_of + timedelta(days=ahead)
        limits.append(_months_between(start, latest) + 1)
    if option.COMMITS and option.UNIT != "money" and term.ends is not None:
        limits.append(_months_between(start, term.ends) - max(1, quote.price.term_months) + 1)
    return max(0, min(limits)) if limits else None


def late_start_refusal(quote: Quote, option: PurchaseOption) -> Message:
    """Why a price with a `last_start` of 0 cannot be started within the plan."""
    if option.UNIT == "node" and quote.sale is not None and quote.sale.ends is not None:
        return message("sale_ends_within_term", ends=quote.sale.ends, successor=quote.sale.successor or None)
    return message("ordered_too_far_ahead")


def decide_prices(
    quotes: Sequence[Quote], request: Request, assumptions: Assumptions, start: date
) -> Iterator[tuple[Quote, Message | None]]:
    """The prices of one type that the request as a whole allows, as they decide, each with the reason why it cannot be
    bought so or None: spot prices that are too old or too low are counted at more."""
    known = [quote for quote in quotes if quote.price.as_of <= request.as_of]
    bounds = find_spot_bounds(known, request.as_of, assumptions["old_spot_price_days"].value)
    for quote in known:
        if not is_allowed(quote, request):
            continue
        bound = bounds.get(quote.price.key)
        if bound is not None and not request.allow_estimates:
            yield quote, SPOT_NOT_RECENT
            continue
        refusal = sale_refusal(quote, start)
        if refusal is None and quote.sale is not None and last_month(quote, start, request.months) == 0:
            successor = quote.sale.successor or None
            refusal = message("sale_ends_in_first_month", ends=str(quote.sale.ends), successor=successor)
        yield count_spot_at_bound(quote, bound), refusal


def plans_beyond_window(assumptions: Assumptions) -> bool:
    """Whether dated capacity is planned beyond the time in which it can be ordered."""
    return assumptions["capacity_blocks_beyond_window"].value > 0


def use_refusal(quote: Quote, option: PurchaseOption, need: WorkloadDemand) -> Message | None:
    """Why a way of paying is not for the work of a workload, wherever it is sold; None where it is."""
    if option.INTERRUPTS and not need.workload.interruptible:
        return MAY_BE_INTERRUPTED
    if option.UNIT == "node_day" and need.serving:
        return WHOLE_DAYS
    term = quote.sale
    if term is None or option.COMMITS:
        return None
    if term.queued and need.serving:
        return QUEUED
    if term.max_days is not None and not need.workload.interruptible:
        return message("option_run_limited", max_days=term.max_days)
    return None


def gang_refusal(quote: Quote, workload: Workload, nodes: int) -> Message | None:
    """Why a gang of so many nodes cannot be on one order of dated capacity; None where it can be. Nobody says that two
    orders share a fabric, so a gang is on one, unless any network joins its nodes."""
    most = quote.sale.max_nodes if quote.sale is not None else None
    if most is None or nodes <= most or workload.fabric == "any":
        return None
    return message("gang_larger_than_order", nodes=nodes, most=most)


def is_allowed(quote: Quote, request: Request) -> bool:
    """Whether the request as a whole allows a price: its providers, regions and ways of paying, only listed prices
    where estimates are switched off, none newer than the plan."""
    price = quote.price
    return (
        price.as_of <= request.as_of
        and is_permitted_place(request, price.provider, price.region)
        and (request.allow_estimates or price.method == "listed")
        and (not request.limits.purchase_options or price.kind in request.limits.purchase_options)
    )


def is_permitted_place(request: Request, provider: str, region: str) -> bool:
    """Whether the request allows a provider and a region, for any workload."""
    return (not request.providers or provider in request.providers) and (
        not request.regions or region in request.regions
    )


def is_offered(quote: Quote, request: Request, start: date) -> bool:
    """Whether a price is allowed and can be bought so at the start of the plan."""
    return is_allowed(quote, request) and sale_refusal(quote, start) is None


def list_cpu_machines(catalog: Catalog, request: Request, workload: Workload) -> Iterator[PlainMachine]:
    """The machines on demand with CPUs only, where the request and the workload may run."""
    for each in catalog.machines:
        if (
            each.kind == "cpu"
            and each.purchase_option == "on_demand"
            and is_permitted_place(request, each.provider, each.region)
            and (each.provider, each.region) in catalog.regions
            and may_run_in(catalog, request, workload, each.provider, each.region)
        ):
            yield each


def find_cpu_machine(
    catalog: Catalog, request: Request, workload: Workload, vcpus: float, memory_gib: float
) -> PlainMachine | None:
    """The cheapest machine on demand with CPUs only, of that size or larger, where the request and the workload may
    run; None if the catalogue has none."""
    large_enough = (
        each
        for each in list_cpu_machines(catalog, request, workload)
        if (each.vcpus or 0) >= vcpus and (each.memory_gib or 0) >= memory_gib
    )
    return min(large_enough, key=lambda each: (each.price_per_hour, each.key), default=None)


def may_run(catalog: Catalog, request: Request, workload: Workload, quote: Quote) -> bool:
    """Whether a workload may run where a price is."""
    return may_run_in(catalog, request, workload, quote.price.provider, quote.price.region)


def may_run_in(catalog: Catalog, request: Request, workload: Workload, provider: str, place: str) -> bool:
    """Whether a workload may run in a region: its providers and regions, its residency and the request's."""
    if workload.providers and provider not in workload.providers:
        return False
    if workload.regions and place not in workload.regions:
        return False
    if workload.recovery is not None and workload.recovery.place == f"{provider} {place}":
        return False  # a second place is another place
    for residency in (workload.residency, request.residency):
        if residency:
            region = catalog.regions[provider, place]
            if region.country not in residency and not set(region.blocs) & set(residency):
                return False
    return True


def commitment_pool(price: Price) -> tuple[str, ...]:
    """The commitment to money that covers a price: of one family in one region for the class instance, else of the
    whole provider."""
    family = price.instance_type.partition(".")[0]
    scope = (price.region, family) if price.offering_class == "instance" else ("all-regions", "any-type")
    return (price.provider, *scope, price.purchase_option)
