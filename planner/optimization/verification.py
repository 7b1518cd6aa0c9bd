"""Verification: whether a solved strategy can be bought and run, in nodes, hours, days and money.

Independent of the linear program: it reads the decisions, the request and the catalogue, and knows neither columns nor
rows nor their scale. A solver works to a tolerance of its scaled rows, so a use that is small beside the largest of its
row can slip through; here it cannot. A violation is a defect of the planner, never of the request.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from datetime import date

from planner.optimization.limit_verification import LIMIT_CHECKS
from planner.optimization.solution import CandidateUse
from planner.optimization.verified_plan import (
    NODE_HOURS_ROUNDING,
    ROUNDING,
    VerifiedPlan,
    Violation,
    active_units,
    exceeds,
)
from planner.request.calendar import name_month, order_ahead_months
from planner.request.errors import InternalError
from planner.supply.candidates import Candidate
from planner.supply.homes import is_owned_place
from planner.supply.price_rules import (
    gang_refusal,
    is_permitted_place,
    last_month,
    last_start,
    may_run,
    plan_start,
    plans_beyond_window,
    sale_refusal,
    use_refusal,
)
from planner.supply.purchase_options import load_purchase_options
from planner.workloads.placement import parallel_limit
from pricing.units import HOURS_PER_DAY

VIOLATIONS_SHOWN = 5
SHARED_NODES = "shares_nodes"
WHOLE_ROUNDING = 1e-5
"""Of a node: what the solver's arithmetic leaves of whole nodes that are divided among ways of paying."""


def verify_plan(plan: VerifiedPlan) -> None:
    """Raises InternalError with every rule that the plan breaks."""
    if violations := find_violations(plan):
        listed = "; ".join(str(violation) for violation in violations[:VIOLATIONS_SHOWN])
        more = f" and {len(violations) - VIOLATIONS_SHOWN} more" if len(violations) > VIOLATIONS_SHOWN else ""
        raise InternalError(f"{plan.strategy.name}: the plan fails its verification: {listed}{more}")


def find_violations(plan: VerifiedPlan) -> tuple[Violation, ...]:
    """Every rule that the plan breaks; none where it can be bought and run as it stands."""
    if malformed := tuple(_check_amounts(plan)):
        return malformed  # nothing can be added up
    checks = (
        _check_work,
        _check_capacity,
        _check_whole_nodes,
        _check_standing_work,
        _check_homes,
        _check_gangs,
        _check_committed_money,
        _check_paid_nodes,
        _check_parallel_jobs,
        _check_days,
        _check_dated_orders,
        _check_sale,
        _check_permission,
        *LIMIT_CHECKS,
    )
    return tuple(violation for check in checks for violation in check(plan))


def _check_amounts(plan: VerifiedPlan) -> Iterator[Violation]:
    """No negative work, hours, nodes or purchases, and nothing outside the months of the plan."""
    months = plan.setting.terms.months
    for use in plan.decisions.shares:
        name = plan.need(use.candidate).workload.name
        for amount in (use.node_hours, use.nodes, use.units, *(part.node_hours for part in use.blocks)):
            if not (math.isfinite(amount) and amount >= 0):
                yield Violation("negative_use", name, use.month, amount, 0.0)
        if not 1 <= use.month <= months:
            yield Violation("outside_the_plan", name, use.month, use.month, months)
        if not math.isclose(math.fsum(part.node_hours for part in use.blocks), use.node_hours, abs_tol=1e-6):
            yield Violation("hours_of_blocks", name, use.month, use.node_hours, 0.0)
    for order in plan.decisions.bought:
        if not order.quantity > 0:
            yield Violation("negative_purchase", order.resource.title, order.month, order.quantity, 0.0)
        if not 1 <= order.month <= months:
            yield Violation("outside_the_plan", order.resource.title, order.month, order.month, months)


def _check_work(plan: VerifiedPlan) -> Iterator[Violation]:
    """The work of each workload is done, neither less nor more, in its month and hours, and by its deadline."""
    demands = plan.setting.demands
    done: dict[tuple[int, int, int], float] = defaultdict(float)
    for use in plan.decisions.shares:
        need = plan.need(use.candidate)
        if need.deadline is not None and use.month > need.deadline and use.units:
            yield Violation("after_deadline", need.workload.name, use.month, use.month, need.deadline)
        for part in use.blocks:
            month = need.deadline or use.month
            done[use.candidate.need, month, part.block if need.levels is not None else -1] += part.units
    for index, need in enumerate(demands.needs):
        for month, units in enumerate(need.monthly, 1):
            for block in range(len(demands.block_hours)) if need.levels is not None else (-1,):
                due = units if block < 0 else need.block_units(month - 1, block, demands.block_hours)
                given = done.pop((index, month, block), 0.0)
                if not math.isclose(given, due, rel_tol=ROUNDING, abs_tol=ROUNDING * max(need.monthly)):
                    yield Violation("work_done", need.workload.name, month, given, due)


def _check_capacity(plan: VerifiedPlan) -> Iterator[Violation]:
    """In every month and block, the hours used of what is owned or committed exist on the nodes that were bought, and
    those of a day that was bought; committed money covers what is drawn on it."""
    active = active_units(plan)
    units = {order.resource.key: order.resource for order in plan.decisions.bought}
    used: dict[tuple[tuple[str, ...], int], dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for use in plan.decisions.shares:
        resource = plan.resource(use.candidate)
        if resource.what == "hourly":
            continue
        weight = resource.quote.price.price_per_hour if resource.pool and resource.quote is not None else 1.0
        for part in use.blocks:
            used[resource.pool or resource.key, use.month][part.block] += part.node_hours * weight
    for (key, month), by_block in used.items():
        count = active[key, month]
        is_money = key in units and units[key].unit == "money"
        of_days = key in units and units[key].unit == "node_day"
        for block, hours in ((-1, math.fsum(by_block.values())),) if of_days else by_block.items():
            exists = count * (HOURS_PER_DAY if of_days else plan.hours(block))
            if hours > exists * (1 + ROUNDING) + (NODE_HOURS_ROUNDING if count or is_money else 0.0):
                yield Violation("hours_bought", " ".join(key), month, hours, exists)


def _check_whole_nodes(plan: VerifiedPlan) -> Iterator[Violation]:
    """Nodes and days are bought whole; what stands for a workload in a block is whole nodes at each place, of all its
    ways of paying together; of workloads that share nodes, all of theirs together."""
    for order in plan.decisions.bought:
        if order.resource.unit != "money" and order.quantity != round(order.quantity):
            yield Violation("whole_purchases", order.resource.title, order.month, order.quantity, round(order.quantity))
    standing: dict[tuple[str, tuple[str, ...], int, int], float] = defaultdict(float)
    for use in plan.decisions.shares:
        workload, resource = plan.need(use.candidate).workload, plan.resource(use.candidate)
        if not plan.need(use.candidate).serving:
            continue
        name = SHARED_NODES if workload.shares_nodes else workload.name
        for part in use.blocks:
            groups = 1 if workload.shares_nodes else use.candidate.nodes_per_gang
            standing[name, resource.place, use.month, part.block] += part.node_hours / plan.hours(part.block) / groups
    for (name, _, month, _), nodes in standing.items():
        if abs(nodes - round(nodes)) > WHOLE_ROUNDING:
            yield Violation("whole_nodes", name, month, nodes, round(nodes))


def _check_standing_work(plan: VerifiedPlan) -> Iterator[Violation]:
    """The hours paid suffice for the work; what stands for a workload suffices in the highest hour of its block, with
    its spare gangs."""
    standing: dict[tuple[int, int, int], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for use in plan.decisions.shares:
        need, candidate = plan.need(use.candidate), use.candidate
        for part in use.blocks:
            needed = part.units / candidate.units_per_node_hour
            if needed > part.node_hours * (1 + ROUNDING) + 1e-9:
                yield Violation("hours_for_the_work", need.workload.name, use.month, part.node_hours, needed)
            gangs = standing[candidate.need, use.month, part.block]
            gangs[0] += part.node_hours / plan.hours(part.block) / candidate.granule
            level = need.levels[part.block] if need.levels is not None else 0.0
            highest = need.peaks[part.block] / level if level else 1.0
            gangs[1] += _gangs_at_work(plan, candidate, use.month, part.block, part.units * highest)
    for (index, month, _), (there, busy) in standing.items():
        need = plan.setting.demands.needs[index]
        if need.serving and exceeds(busy + need.workload.spare_replicas, there * (1 + ROUNDING)):
            yield Violation("spare_replicas", need.workload.name, month, there, busy + need.workload.spare_replicas)


def _gangs_at_work(plan: VerifiedPlan, candidate: Candidate, month: int, block: int, units: float) -> float:
    """Gangs that stand for units of a block; of a served model the share of those that keep its waiting time."""
    hours = plan.hours(block)
    if candidate.queue is None:
        return units / candidate.gang_rate / hours
    due = plan.need(candidate).ready_units(month - 1, block, plan.setting.demands.block_hours)
    needed = candidate.queue.count_replicas(due / hours / 3600, candidate.gang_rate / 3600)
    return units / due * needed if due else 0.0


def _check_homes(plan: VerifiedPlan) -> Iterator[Violation]:
    """A workload lives in one place in the cloud, or on one owned system with one place in the cloud for what exceeds
    it, by the hour or in commitments that ran before; before it in one place whose type ends. Unless it may be
    spread."""
    places: dict[int, set[tuple[str, ...]]] = defaultdict(set)
    ended: dict[int, set[tuple[str, ...]]] = defaultdict(set)
    committed: set[int] = set()
    for use in plan.decisions.shares:
        resource, need = plan.resource(use.candidate), plan.need(use.candidate)
        if not use.units or need.may_spread:
            continue
        (places if resource.last_month is None or need.deadline else ended)[use.candidate.need].add(resource.place)
        if resource.node is None and resource.what != "hourly" and resource.held is None:
            committed.add(use.candidate.need)
    for index in places.keys() | ended.keys():
        lived = places[index]
        owned = sum(map(is_owned_place, lived))
        name = plan.setting.demands.needs[index].workload.name
        if owned > 1 or len(lived) - owned > 1 or len(ended[index]) > 1:
            yield Violation("homes", name, 0, len(lived | ended[index]), 1 + bool(owned) + bool(ended[index]))
        if owned and index in committed:
            yield Violation("committed_overflow", name, 0, 1, 0)


def _check_gangs(plan: VerifiedPlan) -> Iterator[Violation]:
    """A gang over several nodes has all of them in one place: rented nodes that one fabric joins, unless any network
    will do; of owned and committed nodes as many as it takes. At any hour gangs of one size do no more than so many
    whole gangs can."""
    active = active_units(plan)
    gang_hours: dict[tuple[tuple[str, ...], int, int], float] = defaultdict(float)
    for use in plan.decisions.shares:
        span, resource = use.candidate.nodes_per_gang, plan.resource(use.candidate)
        if span == 1 or not use.units:
            continue
        need = plan.need(use.candidate)
        if resource.quote is not None and need.workload.fabric == "joined":
            fabric = plan.catalog.fabric(resource.quote.offering)
            if not fabric.joins(span):
                yield Violation("gang_without_fabric", need.workload.name, use.month, span, fabric.nodes_joined or 1)
        if resource.quote is not None and gang_refusal(resource.quote, need.workload, span) is not None:
            yield Violation("gang_larger_than_order", need.workload.name, use.month, span, 0)
        if resource.what in ("commitment", "owned") and resource.unit == "node":
            count = active[resource.key, use.month]
            if span > count:
                yield Violation("gang_larger_than_bought", need.workload.name, use.month, span, count)
            if not need.serving:
                gang_hours[resource.key, use.month, span] += use.node_hours / span
    for (key, month, span), hours in gang_hours.items():
        most = active[key, month] // span * plan.setting.terms.hours_per_month
        if hours > most * (1 + ROUNDING) + NODE_HOURS_ROUNDING:
            yield Violation("hours_of_whole_gangs", " ".join(key), month, hours, most)


def _check_committed_money(plan: VerifiedPlan) -> Iterator[Violation]:
    """Committed money pays in each hour for nodes that run in that hour: of work that may run at any hour, in none of
    its hours at a place for more nodes of a gang than it suffices for. With q whole gangs at all hours and one more in
    a part r of them, money for c gangs pays q + r (c - q) of q + r."""
    active = active_units(plan)
    gang_hours: dict[tuple[int, tuple[str, ...], int, int], float] = defaultdict(float)
    paid: list[tuple[CandidateUse, tuple[int, tuple[str, ...], int, int]]] = []
    for use in plan.decisions.shares:
        candidate, resource = use.candidate, plan.resource(use.candidate)
        if not plan.need(candidate).serving:
            together = (candidate.need, resource.place, candidate.nodes_per_gang, use.month)
            gang_hours[together] += use.node_hours / candidate.nodes_per_gang
            if resource.pool:
                paid.append((use, together))
    month_hours = plan.setting.terms.hours_per_month
    for use, together in paid:
        resource, nodes = plan.resource(use.candidate), use.candidate.nodes_per_gang
        assert resource.quote is not None
        running = gang_hours[together] / month_hours
        whole = math.floor(running + ROUNDING)
        affordable = active[resource.pool, use.month] / resource.quote.price.price_per_hour / nodes
        most = nodes * month_hours * min(affordable, whole + max(running - whole, 0.0) * (affordable - whole))
        if use.node_hours > most * (1 + ROUNDING) + NODE_HOURS_ROUNDING:
            name = plan.need(use.candidate).workload.name
            yield Violation("money_in_each_hour", name, use.month, use.node_hours, most)


def _check_paid_nodes(plan: VerifiedPlan) -> Iterator[Violation]:
    """Work that may run at any hour runs on whole nodes, which committed money pays for in all hours of a block beside
    what stands there: nodes of one price together, or those of each price."""
    active = active_units(plan)
    standing: dict[tuple[tuple[str, ...], int, int], float] = defaultdict(float)
    at_any_hour: dict[tuple[tuple[str, ...], int, int], dict[float, float]] = defaultdict(lambda: defaultdict(float))
    prices: dict[tuple[str, ...], set[float]] = defaultdict(set)
    for use in plan.decisions.shares:
        resource = plan.resource(use.candidate)
        if not resource.pool or resource.quote is None:
            continue
        price = resource.quote.price.price_per_hour
        prices[resource.pool].add(price)
        for part in use.blocks:
            at, nodes = (resource.pool, use.month, part.block), part.node_hours / plan.hours(part.block)
            if plan.need(use.candidate).serving:
                standing[at] += nodes * price
            else:
                at_any_hour[at][price] += nodes
    for (pool, month, block), nodes_at in at_any_hour.items():
        money, stands = active[pool, month], standing[pool, month, block]
        at_prices = math.fsum(price * math.ceil(nodes - ROUNDING) for price, nodes in nodes_at.items())
        price = next(iter(prices[pool]))
        together = (
            price * math.ceil(nodes_at[price] + stands / price - ROUNDING) if len(prices[pool]) == 1 else math.inf
        )
        least = min(at_prices + stands, together)
        if least > money * (1 + ROUNDING) + ROUNDING:
            yield Violation("money_for_whole_nodes", " ".join(pool), month, least, money)


def _check_parallel_jobs(plan: VerifiedPlan) -> Iterator[Violation]:
    """No more gangs of a job at once than it allows, in the mean of each block."""
    running: dict[tuple[int, int, int], float] = defaultdict(float)
    for use in plan.decisions.shares:
        for part in use.blocks:
            gangs = part.node_hours / use.candidate.granule / plan.hours(part.block)
            running[use.candidate.need, use.month, part.block] += gangs
    for (index, month, _), gangs in running.items():
        need = plan.setting.demands.needs[index]
        most = parallel_limit(need)
        if most is not None and not need.serving and exceeds(gangs, most):
            yield Violation("parallel_jobs", need.workload.name, month, gangs, most)


def _check_days(plan: VerifiedPlan) -> Iterator[Violation]:
    """Nothing is committed to before the plan's date; what is sold for dates is started within the time in which it can
    be ordered, and a commitment to nodes so that its term is over before its type ends."""
    first = 1 - order_ahead_months(plan.request)
    start, assumptions = plan_start(plan.request), plan.setting.assumptions
    for order in plan.decisions.bought:
        quote = order.resource.quote
        if quote is None or order.resource.held is not None:
            continue
        option = load_purchase_options()[quote.price.kind]
        last = last_start(quote, option, plan.request, assumptions, start)
        if order.month < first:
            yield Violation("ordered_in_the_past", order.resource.title, order.month, order.month, first)
        if last is not None and order.month > last:
            yield Violation("ordered_too_early", order.resource.title, order.month, order.month, last)


def _check_dated_orders(plan: VerifiedPlan) -> Iterator[Violation]:
    """Every order of dated days starts within the days in which it can be ordered on the plan's date."""
    if plans_beyond_window(plan.setting.assumptions):
        return
    sold = {
        (r.provider, r.region, r.name, r.purchase_option): r.quote.sale
        for r in (order.resource for order in plan.decisions.bought)
        if r.quote is not None
    }
    for each in plan.strategy.purchases:
        sale = sold.get((each.provider, each.region, each.name, each.purchase_option))
        if sale is None or sale.order_ahead_days is None:
            continue
        first = date.fromisoformat(f"{name_month(plan.setting.demands.month_names[0], each.month)}-01")
        for order in each.orders:
            ahead = (first - plan.request.as_of).days + order.first_day - 1
            if ahead > sale.order_ahead_days:
                yield Violation("order_starts_too_late", each.name, each.month, ahead, sale.order_ahead_days)


def _check_sale(plan: VerifiedPlan) -> Iterator[Violation]:
    """Everything is sold in its way at the start of the plan and until it is used, and its way of paying is for the
    work: only what is interruptible is on spot."""
    start, months = plan_start(plan.request), plan.setting.terms.months
    options = load_purchase_options()
    for use in plan.decisions.shares:
        resource, need = plan.resource(use.candidate), plan.need(use.candidate)
        if resource.quote is None:
            continue
        until = last_month(resource.quote, start, months)
        if until is not None and use.month > until and use.units:
            yield Violation("used_after_its_end", resource.title, use.month, use.month, until)
        if resource.held is not None:
            continue
        if sale_refusal(resource.quote, start) is not None:
            yield Violation("not_sold", resource.title, use.month, 1.0, 0.0)
        option = options[resource.quote.price.kind]
        if option.INTERRUPTS and not need.workload.interruptible:
            yield Violation("interrupted", need.workload.name, use.month, use.units, 0.0)
        elif use_refusal(resource.quote, option, need) is not None:
            yield Violation("not_for_this_work", need.workload.name, use.month, use.units, 0.0)


def _check_permission(plan: VerifiedPlan) -> Iterator[Violation]:
    """Every workload is where the request lets it be: providers, regions, residency, ownership."""
    for use in plan.decisions.shares:
        resource, workload = plan.resource(use.candidate), plan.need(use.candidate).workload
        if resource.quote is None:
            if not workload.may_be_owned:
                yield Violation("may_not_be_owned", workload.name, use.month, use.units, 0.0)
        elif not (
            is_permitted_place(plan.request, resource.provider, resource.region)
            and may_run(plan.catalog, plan.request, workload, resource.quote)
        ):
            yield Violation("not_permitted_there", f"{workload.name} at {resource.title}", use.month, use.units, 0.0)
