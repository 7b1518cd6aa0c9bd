"""Reconstructs the state of one strategy from the document of its plan.

The financing and placement of owned nodes and the age of existing ones, which a plan does not name, are inferred from
its payments. A reconstructed state has the cost of its document: unexplained payments are added as recorded.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Literal, get_args

from planner.analysis.comparison.strategy_state import (
    ROUNDING_TOLERANCE,
    PaymentMoment,
    Place,
    PlacedWork,
    PurchaseKey,
    ReconstructedNodes,
    StrategyState,
    WorkKey,
    build_node,
    build_price,
    existing_node_payments,
    is_money_commitment,
    list_payments,
    price_place,
    use_payments,
)
from planner.finance.cashflow import Payment
from planner.request import assumptions as figures
from planner.request.assumptions import Assumptions
from planner.request.ownership import Finance, Site
from planner.result import EXISTING_SUFFIX, OPERATORS, CashRow, Plan, Purchase, Strategy, Use
from planner.supply import onprem
from planner.supply.payments import build_terms

PRO_RATA = "commitments_charged_pro_rata"
"""The convention of a plan whose commitments are charged within its months only."""
RUNNING_CATEGORIES = frozenset({"space", "staff", "support"})


def reconstruct_state(plan: Plan, strategy: Strategy) -> StrategyState:
    """The state that a strategy of a plan was in; its payments add up to those recorded."""
    known = {**figures.load_defaults(), **{each.name: each for each in plan.assumptions}}
    beyond = all(each.code != PRO_RATA for each in plan.conventions)
    state = StrategyState(
        terms=build_terms(known, plan.months, plan.hours_per_month, beyond),
        assumptions=known,
        prices={
            price_place(used): build_price(price_place(used), used.price_per_hour, used.adjustment)
            for used in plan.prices
        },
        site=Site(),
        finance=Finance(),
        nodes={
            line.name: (line.accelerator, round(line.accelerators_per_node)) for line in _select_owned_lines(strategy)
        },
        work={},
        purchases=_sum_purchases(strategy.purchases),
        staff=_count_operators(strategy, known),
        existing={},
        unexplained={},
    )
    candidates = _list_candidate_states(state, plan, strategy)
    return min(candidates, key=lambda each: round(math.fsum(map(abs, each.unexplained.values())), 2))


def line_place(line: Purchase | Use) -> Place:
    """Where a line of a plan is."""
    return line.provider, line.region, line.name, line.purchase_option


def _sum_purchases(purchases: Iterable[Purchase]) -> dict[PurchaseKey, float]:
    amounts: dict[PurchaseKey, float] = defaultdict(float)
    for line in purchases:
        amounts[line_place(line), line.month] += line.amount
    return dict(amounts)


def _select_owned_lines(strategy: Strategy) -> list[Purchase | Use]:
    lines: list[Purchase | Use] = [*strategy.purchases, *strategy.uses]
    return [line for line in lines if line.purchase_option == "owned"]


def _count_operators(strategy: Strategy, known: Assumptions) -> dict[int, float]:
    monthly = known["staff_cost_annual"].value / 12
    rows = [row for row in strategy.cash if (row.what, row.category) == (OPERATORS, "staff")]
    return {row.month: float(round(row.amount / monthly)) for row in rows} if monthly else {}


def _list_candidate_states(state: StrategyState, plan: Plan, strategy: Strategy) -> Iterator[StrategyState]:
    """The whole state, with its owned nodes in each kind of facility; their financing, power and staff are inferred
    from the payments."""
    own = {line.name for line in _select_owned_lines(strategy)}
    rows = [row for row in strategy.cash if row.what.removesuffix(EXISTING_SUFFIX) in own]
    moments = {row.at for row in rows if row.category == "financing"}
    hardware: Literal["cash", "loan", "lease"] = "lease" if "start" in moments else "loan" if moments else "cash"
    staff: Literal["shared", "whole"] = "whole" if state.staff else "shared"
    site = Site(energy_included=bool(own) and not any(row.category == "power" for row in rows), staff=staff)
    pools = {place: build_price(place, 1.0) for place, _ in state.purchases if is_money_commitment(place)}
    state = replace(state, finance=Finance(hardware=hardware), prices={**state.prices, **pools})
    for facility in get_args(Site.model_fields["facility"].annotation) if own else (site.facility,):
        placed = replace(state, site=site.model_copy(update={"facility": facility}))
        placed = replace(placed, work=_reconstruct_work(plan, strategy, placed))
        placed = replace(placed, existing=_reconstruct_existing_nodes(placed, strategy.cash))
        yield replace(placed, unexplained=_unexplained_payments(strategy.cash, list_payments(placed)))


def _reconstruct_work(plan: Plan, strategy: Strategy, state: StrategyState) -> dict[WorkKey, PlacedWork]:
    """Work by key. The cost of a use beyond its hours is its data."""
    due = {w.name: w.demand for w in plan.workloads}
    by_deadline = find_deadline_workloads(plan, strategy)
    uses: dict[WorkKey, list[Use]] = defaultdict(list)
    for use in strategy.uses:
        uses[use.workload, line_place(use), use.month].append(use)
    work_by_key = {}
    for (name, place, month), lines in uses.items():
        hours, units = math.fsum(u.node_hours for u in lines), math.fsum(u.units for u in lines)
        cost = math.fsum(u.cost for u in lines)
        data = cost - math.fsum(row.amount for row in use_payments(state, place, month, hours))
        if data <= ROUNDING_TOLERANCE * cost:
            data = 0.0
        elif place[3] != "owned":  # data on a cloud bill carries the support plan and tax, which states add themselves
            data /= state.terms.bill_factor
        of_all = math.fsum(due[name]) if name in by_deadline else due[name][month - 1]
        share = units / of_all if of_all else 0.0
        work_by_key[name, place, month] = PlacedWork(hours, units, share, data / share if share else 0.0)
    return work_by_key


def find_deadline_workloads(plan: Plan, strategy: Strategy) -> set[str]:
    """Workloads whose work is due once and may be done before: some of it is, or all that is due is in one month."""
    due = {w.name: w.demand for w in plan.workloads}
    early = {use.workload for use in strategy.uses if use.units and not due[use.workload][use.month - 1]}
    return early | {name for name, units in due.items() if sum(map(bool, units)) == 1 < len(units)}


def _unexplained_payments(cash: Iterable[CashRow], rows: Iterable[Payment]) -> dict[PaymentMoment, float]:
    """The amounts paid at each moment beyond the payments `rows`, rounding included."""
    sums: dict[PaymentMoment, list[float]] = defaultdict(list)
    for row in cash:
        sums[row.month, row.at].append(row.amount)
    for payment in rows:
        sums[payment.month, payment.at].append(-payment.amount)
    return {moment: rest for moment, amounts in sorted(sums.items()) if (rest := math.fsum(amounts))}


def _reconstruct_existing_nodes(state: StrategyState, cash: Iterable[CashRow]) -> dict[str, ReconstructedNodes]:
    """Systems that were owned before, where count and age explain all their payments except power at work."""
    existing_nodes = {}
    for name in state.nodes:
        rows = [row for row in cash if row.what == f"{name}{EXISTING_SUFFIX}"]
        running = math.fsum(row.amount for row in rows if row.category in RUNNING_CATEGORIES)
        sold = -math.fsum(row.amount for row in rows if row.category == "resale" and row.at == "end")
        last = max((row.month for row in rows), default=0)
        one = existing_node_payments(state, name, ReconstructedNodes(1, 0))
        each = math.fsum(row.amount for row in one if row.category in RUNNING_CATEGORIES and row.month <= last)
        count = round(running / each) if each else 0
        nodes = ReconstructedNodes(count, _estimate_age(state, name, count, sold, last), counts_value=sold > 0)
        payments = existing_node_payments(state, name, nodes) if count else ()
        rebuilt = [row for row in payments if row.category != "power"]
        recorded_amounts = [row.amount for row in rows if row.category != "power"]
        if rebuilt and math.isclose(
            math.fsum(row.amount for row in rebuilt), math.fsum(recorded_amounts), rel_tol=ROUNDING_TOLERANCE
        ):
            existing_nodes[name] = nodes
    return existing_nodes


def _estimate_age(state: StrategyState, name: str, count: int, sold: float, last: int) -> int:
    """The age at the start of the plan of nodes that had this value at the end of a month, where their value counts;
    else of those whose life ended then within the plan."""
    life = round(state.assumptions["useful_life_months"].value)
    if not sold:
        return life - last if 0 < last < state.terms.months else 0
    node = build_node(state, name)
    values = (onprem.resale_value(node, age + last, state.assumptions) * count for age in range(life))
    same = (age for age, value in enumerate(values) if math.isclose(value, sold, rel_tol=ROUNDING_TOLERANCE))
    return next(same, 0)
