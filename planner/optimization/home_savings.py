"""The most that nodes ordered and committed to at a place save, for given work that lives there.

In a month, let L[j,b] be the nodes that stand in block b for the j dearest levels of work together (a level: work that
costs as much by the hour), and V[j] the node-hours of their work at any hour. Then n nodes save

    saving(n) = sum_j (rate[j] - rate[j+1]) min(n H, V[j] + sum_b hours[b] min(n, L[j,b]))

with H the hours of the month: the dearest work is done first. This is concave in n, so that each node is decided apart
from the others: which terms of one node, one after the other, save most, by a recursion over the months. Above LAYERS
nodes several are decided together. Costs are present costs.

Days are taken at their price by the hour, and no limit of the request is known here: the figures rank homes, and the
programs decide.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from planner.optimization.place_program import ResourceGroup
from planner.optimization.stays import Place
from planner.supply.costs import SharedResource
from pricing.frozen_values import dataclass
from pricing.units import HOURS_PER_DAY

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LAYERS = 16
"""Decisions about nodes at one place: of more nodes several are taken together."""
ROUNDING = 1e-9
Term = tuple[int, int, float]
"""Months from the first (from 0) to before the end, and the cost of a node for them."""


@dataclass(frozen=True, slots=True)
class PlaceOffers:
    """The terms of a whole node at a place, and those of money for a node, which may be for parts of one. By month:
    `day_rates`, the least price of a node-hour in days; `existing`, existing nodes; `use_costs` of a node-hour."""

    nodes: tuple[Term, ...]
    money: tuple[Term, ...]
    day_rates: Floats
    existing: Floats
    use_costs: Floats


@dataclass(frozen=True, slots=True)
class WorkLevel:
    """Work of one stay that nodes may do, in gangs over `span` nodes. By month: nodes that stand in each block,
    node-hours of work at any hour, and the saving of a node-hour of either."""

    span: int
    standing: Floats
    any_hour: Floats
    rates: Floats


@dataclass(frozen=True, slots=True)
class IdleWork:
    """Work that takes hours which others leave idle: nodes of a gang, node-hours in all, the most in a month, the last
    month (from 0), and the saving of a node-hour."""

    span: int
    hours: float
    most_a_month: float
    last_month: int
    rate: float


def list_offers(
    groups: Mapping[Place, Sequence[ResourceGroup]], shared: Sequence[SharedResource], months: int
) -> dict[Place, PlaceOffers]:
    """The offers of all places."""
    import numpy as np

    offers = {}
    for place, there in groups.items():
        terms: dict[bool, set[Term]] = {False: set(), True: set()}
        days, existing, use_costs = np.full(months, np.inf), np.zeros(months), np.zeros(months)
        for group in there:
            if group.use_costs:
                use_costs = np.array(group.use_costs)
            for item in (shared[number] for number in group.items):
                for start in item.starts:
                    first, end = start.covers.start - 1, min(start.covers.stop - 1, months)
                    if group.by_month:
                        days[first] = min(days[first], start.present_cost / HOURS_PER_DAY)
                    elif item.resource.held is None:
                        terms[group.is_money].add((first, end, start.present_cost * group.weight))
                    else:
                        existing[first:end] += item.resource.held.count / group.weight
        offers[place] = PlaceOffers(tuple(sorted(terms[False])), tuple(sorted(terms[True])), days, existing, use_costs)
    return offers


def most_saved(
    offers: PlaceOffers, levels: Sequence[WorkLevel], idle_work: Sequence[IdleWork], block_hours: Floats
) -> float:
    """The saving of the best terms, after their cost: nodes by whole gangs of some size, for work of gangs that are no
    larger, or money for parts of nodes."""
    every_term, saved = (*offers.nodes, *offers.money), 0.0
    for span in sorted({level.span for level in levels}):
        served = [level for level in levels if level.span <= span]
        peak = _peak_nodes(served, block_hours)
        a_layer = span * math.ceil(max(1.0, peak / span / LAYERS) - ROUNDING)
        saved = max(saved, _save_by_layers(offers, every_term, served, idle_work, block_hours, peak, a_layer))
    if offers.money and (peak := _peak_nodes(levels, block_hours)):
        saved = max(saved, _save_by_layers(offers, offers.money, levels, idle_work, block_hours, peak, peak / LAYERS))
    return saved


def _peak_nodes(levels: Sequence[WorkLevel], block_hours: Floats) -> float:
    """The nodes that are busy with all of the work in some block of some month."""
    import numpy as np

    if not levels:
        return 0.0
    standing = np.add.reduce([level.standing for level in levels])
    any_hour = np.add.reduce([level.any_hour for level in levels])
    return max(float(standing.max()), float((any_hour + standing @ block_hours).max() / block_hours.sum()))


def _save_by_layers(
    offers: PlaceOffers,
    terms: Sequence[Term],
    levels: Sequence[WorkLevel],
    idle_work: Sequence[IdleWork],
    block_hours: Floats,
    peak: float,
    a_layer: float,
) -> float:
    """The saving of nodes in layers of so many."""
    import numpy as np

    rates = np.array([level.rates for level in levels])
    order = np.argsort(-rates, axis=0, kind="stable")
    rates = np.take_along_axis(rates, order, 0)
    steps = rates - np.vstack([rates[1:], np.zeros((1, rates.shape[1]))])
    any_hour = np.take_along_axis(np.array([level.any_hour for level in levels]), order, 0).cumsum(axis=0)
    standing = np.take_along_axis(np.array([level.standing for level in levels]), order[:, :, None], 0).cumsum(axis=0)
    layers = math.ceil((peak + float(offers.existing.max())) / a_layer - ROUNDING)
    nodes = np.arange(layers + 1) * a_layer
    done = np.einsum("jtbn,b->jtn", np.minimum(standing[..., None], nodes), block_hours)
    busy = np.minimum(any_hour[..., None] + done, nodes * block_hours.sum())
    saved = np.einsum("jt,jtn->tn", steps, busy)
    existing = np.minimum(np.rint(offers.existing / a_layer).astype(np.int64), layers)[:, None]
    saving = np.take_along_axis(saved, np.minimum(np.arange(layers + 1) + existing, layers), 1)
    best, bought = _choose_terms(np.diff(saving, axis=1), terms, a_layer)
    if idle_work:
        there = np.minimum(bought[:, None] + existing, layers)
        idle = there * a_layer * block_hours.sum() - np.take_along_axis(busy[-1], there, 1)
        best += _fill_idle(idle[:, 0], there[:, 0] * a_layer, idle_work)
    return float(np.take_along_axis(saved, existing, 1).sum()) + best


def _choose_terms(saving: Floats, terms: Sequence[Term], a_layer: float) -> tuple[float, NDArray[np.int64]]:
    """The saving of the best terms of all layers of nodes, `saving` by month and layer, and the layers bought by
    month."""
    import numpy as np

    months, layers = saving.shape
    before = np.vstack([np.zeros((1, layers)), saving.cumsum(axis=0)])
    starts: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for first, end, cost in terms:
        starts[first].append((end, cost * a_layer))
    best, ends = np.zeros((months + 1, layers)), np.zeros((months, layers), dtype=np.int64)
    for month in range(months - 1, -1, -1):
        at, end_of = best[month + 1], ends[month]
        for end, cost in starts.get(month, ()):
            worth = before[end] - before[month] - cost + best[end]
            end_of[worth > at] = end
            at = np.maximum(at, worth)
        best[month] = at
    bought, until = np.zeros(months, dtype=np.int64), np.zeros(layers, dtype=np.int64)
    for month in range(months):
        until = np.where((until <= month) & (ends[month] > 0), ends[month], until)
        bought[month] = (until > month).sum()
    return float(best[0].sum()), bought


def _fill_idle(idle: Floats, nodes: Floats, work: Sequence[IdleWork]) -> float:
    """The saving of idle node-hours by month when work fills them, one after the other, where nodes suffice for its
    gangs."""
    import numpy as np

    saved = 0.0
    for each in work:
        months = slice(each.last_month + 1)
        taken = np.where(nodes[months] >= each.span, np.clip(idle[months], 0.0, each.most_a_month), 0.0)
        taken *= min(1.0, each.hours / max(float(taken.sum()), ROUNDING))
        idle[months] -= taken
        saved += float(taken.sum()) * each.rate
    return saved
