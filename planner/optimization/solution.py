"""From decisions to payments: the payments of every purchase and use, and the rows of a strategy.

Every amount is a payment of `planner.supply`. The same decisions can be valued under other assumptions: so risk and
switching values are computed for a fixed plan.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import field, replace
from itertools import chain
from typing import Literal

from planner.finance.cashflow import Payment, Terms, present_cost
from planner.request.assumptions import Assumptions
from planner.request.calendar import days_of_month
from planner.request.models import Effort
from planner.result import NODE_ROUNDING, OPERATORS, SUPPORT_PLAN, CashRow, DatedOrder, Purchase, Use
from planner.supply import onprem, payments
from planner.supply.candidates import Candidate, Market
from planner.supply.costs import ChoiceSet
from planner.supply.limits import LimitRules
from planner.supply.payments import covered_months, resource_payments
from planner.supply.purchase_options import list_order_days
from planner.supply.resources import Resource
from planner.workloads.demand import PortfolioDemand
from pricing.frozen_values import dataclass
from pricing.units import HOURS_PER_DAY

NODE_DIGITS = 9
"""Of nodes in a load block: node-hours divided by its hours are 3.999999999999992 where 4 nodes stand."""
SearchEffort = Effort | Literal["rough", "close", "coarse"]
"""How long a request lets a search take; rough: one plan, without choosing among homes; close: a bound near to it by
the program by place alone; coarse: as quick, with less work and small programs to a tenth of a per cent."""


@dataclass(frozen=True, slots=True)
class PlanningContext:
    """Everything that the strategies of one plan share."""

    demands: PortfolioDemand
    market: Market
    choice: ChoiceSet
    assumptions: Assumptions
    terms: Terms
    rules: LimitRules = field(default_factory=LimitRules)
    effort: SearchEffort = "standard"


@dataclass(frozen=True, slots=True)
class BlockUse:
    """The part of a use in one load block (-1: at any hour of the month)."""

    block: int
    node_hours: float
    units: float


@dataclass(frozen=True, slots=True)
class CandidateUse:
    """One candidate's use in one month: its node-hours and units of work, as the sums over `blocks`, and the most nodes
    at once."""

    month: int
    candidate: Candidate
    node_hours: float
    nodes: float
    units: float
    blocks: tuple[BlockUse, ...] = ()


@dataclass(frozen=True, slots=True)
class ResourceOrder:
    """`quantity` units (nodes, node-days, money an hour) ordered or committed to at the start of `month`."""

    resource: Resource
    month: int
    quantity: float


@dataclass(frozen=True, slots=True)
class Overhead:
    """Costs of no single resource: `quantity` operators, or money added to the support plan, in `month`."""

    kind: Literal["staff", "cloud_support"]
    month: int
    quantity: float


@dataclass(frozen=True, slots=True)
class Decisions:
    """All that one strategy decides; all its costs follow from it and a PlanningContext."""

    bought: tuple[ResourceOrder, ...] = ()
    shares: tuple[CandidateUse, ...] = ()
    overheads: tuple[Overhead, ...] = ()


def list_payments(decisions: Decisions, setting: PlanningContext) -> list[tuple[str, Payment]]:
    """Every payment with the title of its resource, purchases first."""
    rows = [(order.resource.title, p) for order in decisions.bought for p in purchase_payments(setting, order)]
    resources = setting.market.resources
    for share in decisions.shares:
        rows += [(resources[share.candidate.resource].title, p) for p in use_payments(setting, share)]
    for overhead in decisions.overheads:
        title = OPERATORS if overhead.kind == "staff" else SUPPORT_PLAN
        rows += [(title, p) for p in overhead_payments(setting, overhead)]
    return rows


def overhead_payments(setting: PlanningContext, overhead: Overhead) -> tuple[Payment, ...]:
    """Payments for operators or for the minimum fee of the support plan in a month."""
    if overhead.kind == "staff":
        return onprem.staff_payments(overhead.month, round(overhead.quantity), setting.assumptions)
    return payments.support_minimum_payments(overhead.month, overhead.quantity, setting.terms)


def support_top_ups(decisions: Decisions, setting: PlanningContext) -> tuple[Overhead, ...]:
    """Top-ups of the support plan to its minimum fee, in each month with a cloud bill for the orders and uses, or with
    a commitment in effect.

    It is reckoned from their payments: the column of the program counts the bill of idle nodes, too, which a search
    that ends within a gap may leave and the plan does not have.
    """
    billed = [p for order in decisions.bought if order.resource.node is None for p in purchase_payments(setting, order)]
    for share in decisions.shares:
        if setting.market.resources[share.candidate.resource].node is None:
            billed += use_payments(setting, share)
    least = setting.assumptions["cloud_support_minimum_per_month"].value
    running = (committed_months(setting, order) for order in decisions.bought)
    raised = payments.support_top_up(billed, chain.from_iterable(running), least, setting.terms)
    return tuple(Overhead("cloud_support", p.month, p.amount) for p in raised if p.category == "cloud_support")


def purchase_payments(setting: PlanningContext, order: ResourceOrder) -> tuple[Payment, ...]:
    """All payments of one purchase within the horizon."""
    return resource_payments(order.resource, order.month, order.quantity, setting.assumptions, setting.terms)


def committed_months(setting: PlanningContext, order: ResourceOrder) -> range:
    """The months in which one purchase is a commitment to a provider."""
    return payments.committed_months(order.resource, order.month, setting.assumptions, setting.terms)


def use_payments(setting: PlanningContext, share: CandidateUse) -> tuple[Payment, ...]:
    """Payments of one use: hours paid by the hour, the power of owned nodes at work, and its share of storage, egress
    and transfer."""
    resource = setting.market.resources[share.candidate.resource]
    need = setting.demands.needs[share.candidate.need]
    rows = payments.resource_use_payments(resource, share.month, share.node_hours, setting.assumptions, setting.terms)
    return rows + payments.data_payments(need, share.candidate, resource, share.month, share.units, setting.terms)


def describe_purchase(setting: PlanningContext, order: ResourceOrder, shares: Iterable[CandidateUse]) -> Purchase:
    """One purchase, for the reader; `shares` are all uses of the strategy."""
    terms, resource, count = setting.terms, order.resource, order.quantity
    month = payments.order_month(resource, order.month, setting.assumptions, terms)
    paid = purchase_payments(setting, order)
    working = covered_months(resource, order.month, setting.assumptions, terms)
    node = resource.node
    if node is not None:
        term = onprem.months_of_use(node, setting.assumptions)
        per_month = onprem.owed_per_month(node, setting.assumptions, terms) * count
    else:
        assert resource.quote is not None
        term = resource.quote.price.term_months or len(working)
        # with support plan and tax, as the upfront payment; the last month of a plan has the fees beyond it, too
        within = replace(setting, terms=replace(terms, charge_beyond_horizon=False))
        per_month = math.fsum(p.amount for p in purchase_payments(within, order) if (p.month, p.at) == (month, "end"))
    return Purchase(
        month=month,
        what="owned" if node is not None else "commitment",
        unit=resource.unit,
        name=resource.name,
        provider=resource.provider,
        region=resource.region,
        purchase_option=resource.purchase_option,
        accelerator=resource.accelerator,
        accelerators_per_node=resource.accelerators_per_node,
        count=1 if resource.unit == "money" else round(count),
        money_per_hour=count if resource.unit == "money" else 0.0,
        usable_from=working.start,
        usable_to=working.start + term - 1,
        term_months=term,
        upfront=math.fsum(p.amount for p in paid if p.at == "start" and p.category != "financing"),
        per_month=per_month,
        present_cost=present_cost(paid, terms.discount_rate_monthly),
        orders=_list_dated_orders(setting, order, shares) if resource.unit == "node_day" else (),
    )


def _list_dated_orders(
    setting: PlanningContext, order: ResourceOrder, shares: Iterable[CandidateUse]
) -> tuple[DatedOrder, ...]:
    """Days of nodes as they are ordered: those of each use in turn on the nodes that it has at once, and what several
    uses share on as few nodes as the month allows."""
    quote, bought = order.resource.quote, round(order.quantity)
    assert quote is not None
    resources, rows = setting.market.resources, []
    for share in shares:
        if share.month == order.month and resources[share.candidate.resource].key == order.resource.key:
            span = share.candidate.nodes_per_gang
            gang_days = math.ceil(share.node_hours / (HOURS_PER_DAY * span) - NODE_ROUNDING)
            gangs = math.ceil(share.nodes / span - NODE_ROUNDING)
            rows.append((span, max(gangs, 1), gang_days))  # seconds of work stand on next to no node
    if sum(span * gang_days for span, _, gang_days in rows) != bought:
        most = max((span * gangs for span, gangs, _ in rows), default=1)
        days = days_of_month(setting.demands.month_names[order.month - 1])
        rows = [(1, max(most, math.ceil(bought / days)), bought)]
    counts: Counter[tuple[int, int]] = Counter()
    for span, gangs, gang_days in rows:
        each, more = divmod(gang_days, gangs)
        for gangs_so_long, days in ((more, each + 1), (gangs - more, each)):
            first = 1
            for length in list_order_days(quote.price.kind, days) if gangs_so_long and days else ():
                counts[first, length] += gangs_so_long * span
                first += length
    return tuple(DatedOrder(nodes, first, days) for (first, days), nodes in sorted(counts.items()))


def describe_use(setting: PlanningContext, share: CandidateUse) -> Use:
    """One use, for the reader."""
    resource = setting.market.resources[share.candidate.resource]
    return Use(
        month=share.month,
        workload=setting.demands.needs[share.candidate.need].workload.name,
        what="hourly" if resource.what == "covered" else resource.what,
        name=resource.name,
        provider=resource.provider,
        region=resource.region,
        purchase_option=resource.purchase_option,
        accelerator=resource.accelerator,
        accelerators_per_node=resource.accelerators_per_node,
        node_hours=share.node_hours,
        nodes=share.nodes,
        units=share.units,
        cost=math.fsum(p.amount for p in use_payments(setting, share)),
        block_nodes=_standing_nodes(setting, share),
    )


def _standing_nodes(setting: PlanningContext, share: CandidateUse) -> tuple[float, ...]:
    """Nodes of standing work in each load block; () where they are the same in all of them, and for work that may run
    at any hour, whichever blocks it was put in."""
    if not setting.demands.needs[share.candidate.need].serving:
        return ()
    lengths = setting.demands.block_hours
    node_hours = {part.block: part.node_hours for part in share.blocks if part.block >= 0}
    nodes = tuple(round(node_hours.get(block, 0.0) / hours, NODE_DIGITS) for block, hours in enumerate(lengths))
    if not node_hours or math.isclose(min(nodes), max(nodes)):
        return ()
    return nodes


def sum_cash_rows(rows: Iterable[tuple[str, Payment]]) -> tuple[CashRow, ...]:
    """Payments of one thing, category and moment added up, in order of time."""
    sums: dict[tuple[int, str, str, str], float] = defaultdict(float)
    for name, payment in rows:
        sums[payment.month, payment.at, payment.category, name] += payment.amount
    ordered = sorted(sums.items(), key=lambda item: (item[0][0], item[0][1] == "end", item[0][2], item[0][3]))
    return tuple(CashRow(month, at, category, name, amount) for (month, at, category, name), amount in ordered)  # type: ignore[arg-type]  # the literals went through a dictionary key
