"""What a resource costs and when it serves: the one place that leads from a decision to its payments."""

from __future__ import annotations

from planner import owned
from planner.assumptions import Assumptions
from planner.candidates import Candidate, Resource
from planner.cashflow import Payment, Terms
from planner.demand import Need
from planner.options import options


def payments_of(
    resource: Resource, month: int, quantity: float, assumptions: Assumptions, terms: Terms
) -> tuple[Payment, ...]:
    """What `quantity` of the resource costs: node-hours used in `month` by the hour, else nodes started in `month`."""
    if resource.node is not None:
        return owned.payments(resource.node, month, quantity, assumptions, terms)
    assert resource.quote is not None
    price = resource.quote.price
    return options()[price.kind].payments(price, month, quantity, terms)


def covers(resource: Resource, month: int, assumptions: Assumptions, terms: Terms) -> range:
    """The months inside the horizon that a start in `month` covers."""
    if resource.node is not None:
        return owned.usable(month, assumptions, terms)
    assert resource.quote is not None
    return options()[resource.quote.price.kind].usable(resource.quote.price, month, terms)


def around_per_unit(need: Need, candidate: Candidate, month: int) -> tuple[float, float]:
    """Storage and egress per unit of work done in `month` (from 1): the month's whole cost shared over its work.

    For a deadline, the cost of all months up to it shared over the whole work.
    """
    if need.deadline is not None:
        share = need.deadline / need.total
    else:
        share = 1 / need.monthly[month - 1] if need.monthly[month - 1] else 0.0
    return candidate.storage * share, candidate.egress * share
