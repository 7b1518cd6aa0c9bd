"""Nodes on dated days: when those of each order run, and when the work of a workload on them is over.

A month may have several orders, such as blocks of 21 and of 3 days for 24: each is a purchase with a reservation of its
own, and nodes start in one reservation, so each has a group of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from planner.reports.terraform.provisioning.commitment_commands import list_orders
from planner.reports.terraform.running_hours import DatedEnds, MonthProfile
from planner.result import DatedOrder, Strategy
from pricing.units import HOURS_PER_DAY

DATED = ("capacity_block", "calendar", "flex_start")
"""Kinds whose nodes end at a time of their own, whoever forgets them."""
CLOCK: Mapping[str, tuple[int, int]] = {"capacity_block": (12, 10), "calendar": (0, -1)}
"""By kind the hour of its first day (UTC) from which nodes run, and the hour of the day after its last at which they
are gone. Blocks of AWS begin and end at 11:30, and a group is to be empty more than 30 minutes before that
(https://docs.aws.amazon.com/autoscaling/ec2/userguide/launch-template-capacity-blocks.html). Reservations of Google are
ordered from 0:00 on, and delete their nodes at their end: a group is empty an hour before, so that it replaces none."""
Place = tuple[str, str, str]
OrdersByMonth = Mapping[int, Sequence[DatedOrder]]


def group_orders(strategy: Strategy, place: Place, kind: str) -> OrdersByMonth:
    """By month the orders of dated days of a `kind` at a place (provider, region, type), the first to begin first; a
    plan of before, which does not tell its orders, has none."""
    found: dict[int, tuple[DatedOrder, ...]] = {}
    for item in strategy.purchases:
        if (item.provider, item.region, item.name, item.purchase_option) == (*place, kind) and item.orders:
            found[item.month] = (*found.get(item.month, ()), *list_orders(item))
    return found


def order_profile(kind: str, order: DatedOrder | None) -> MonthProfile:
    """How the nodes of one order run; none without one."""
    if order is None:
        return MonthProfile(0, ((0, 0),))
    opens, _ = CLOCK[kind]
    start = HOURS_PER_DAY * (order.first_day - 1) + opens
    before = [(0, 0)] if start else []
    return MonthProfile(order.nodes, (*before, (start, order.nodes), (_order_end(kind, order), 0)))


def find_dated_ends(strategy: Strategy, place: Place) -> DatedEnds:
    """When the dated nodes of each workload at a place are over, by month: those of its last order."""
    ends: dict[tuple[str, int], int] = {}
    for kind in CLOCK:
        orders = group_orders(strategy, place, kind)
        for use in strategy.uses:
            if (use.provider, use.region, use.name, use.purchase_option) == (*place, kind) and use.month in orders:
                last = max(_order_end(kind, order) for order in orders[use.month])
                ends[use.workload, use.month] = max(last, ends.get((use.workload, use.month), 0))
    return ends


def _order_end(kind: str, order: DatedOrder) -> int:
    _, closes = CLOCK[kind]
    return HOURS_PER_DAY * (order.first_day - 1 + order.days) + closes
