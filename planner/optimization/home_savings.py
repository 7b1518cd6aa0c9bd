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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from itertools import chain
from typing import TYPE_CHECKING

from planner.optimization.resource_groups import ResourceGroup
from planner.optimization.stays import Place
from planner.supply.costs import SharedResource
from pricing.frozen_values import dataclass
from pricing.units import HOURS_PER_DAY

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Months = NDArray[np.int64]

LAYERS = 16
"""Decisions about nodes at one place: of more nodes several are taken together."""
ROUNDING = 1e-9
Term = tuple[int, int, float]
"""Months from the first (from 0) to before the end, and the cost of a node for them."""
ChosenTerms = tuple[tuple[int, int], ...]
"""Terms one after the other: months from the first (from 0) to before the end."""


@dataclass(frozen=True, slots=True)
class NodeTerms:
    """Terms to have a node for, the latest first: months from the first (from 0) to before the end, and its cost."""

    first: tuple[int, ...]
    end: tuple[int, ...]
    first_months: Months
    end_months: Months
    costs: Floats
    known: dict[bytes, tuple[float, ChosenTerms]] = field(default_factory=dict, repr=False, compare=False)
    """The best terms of layers that were decided, by what each term is worth there."""

    @staticmethod
    def of(terms: Iterable[Term]) -> NodeTerms:
        """Terms from months, months before which they end, and costs."""
        import numpy as np

        latest = sorted(terms, key=lambda term: (-term[0], term[1], term[2]))
        first, end, costs = ([term[part] for term in latest] for part in range(3))
        months = np.array(first, dtype=np.int64), np.array(end, dtype=np.int64)
        return NodeTerms(tuple(map(int, first)), tuple(map(int, end)), *months, np.array(costs, dtype=np.float64))


@dataclass(frozen=True, slots=True)
class PlaceOffers:
    """All terms at a place, and those of money alone, which may be for parts of a node. By month: `day_rates`, the
    least price of a node-hour in days; `existing`, existing nodes; `use_costs` of a node-hour."""

    terms: NodeTerms
    money: NodeTerms
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
    is_standing: bool


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
        nodes, money = set[Term](), set[Term]()
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
                        (money if group.is_money else nodes).add((first, end, start.present_cost * group.weight))
                    else:
                        existing[first:end] += item.resource.held.count / group.weight
        every_term = NodeTerms.of([*sorted(nodes), *sorted(money)])
        offers[place] = PlaceOffers(every_term, NodeTerms.of(money), days, existing, use_costs)
    return offers


def most_saved(
    offers: PlaceOffers, levels: Sequence[WorkLevel], idle_work: Sequence[IdleWork], block_hours: Floats
) -> float:
    """The saving of the best terms, after their cost: nodes by whole gangs of some size, for work of gangs that are no
    larger, or money for parts of nodes."""
    saved, work = 0.0, None
    for span in sorted({level.span for level in levels}):
        work = _stack_levels([level for level in levels if level.span <= span], block_hours)
        a_layer = span * math.ceil(max(1.0, work.peak / span / LAYERS) - ROUNDING)
        saved = max(saved, _save_by_layers(offers, offers.terms, work, idle_work, block_hours, a_layer))
    if work is not None and work.peak and offers.money.first:
        saved = max(saved, _save_by_layers(offers, offers.money, work, idle_work, block_hours, work.peak / LAYERS))
    return saved


@dataclass(frozen=True, slots=True)
class _StackedWork:
    """Levels of work together, the dearest of each month first. By level and month: the `steps` by which its rate is
    above the next one, node-hours of work at any hour up to it, and (also by block) nodes that stand up to it: None
    where there are none. `peak`: the nodes that are busy with all of it in some block of some month."""

    steps: Floats
    any_hour: Floats | None
    standing: Floats | None
    peak: float


def _stack_levels(levels: Sequence[WorkLevel], block_hours: Floats) -> _StackedWork:
    import numpy as np

    rates = np.array([level.rates for level in levels])
    order = np.argsort(-rates, axis=0, kind="stable")
    months = np.arange(rates.shape[1])
    steps = rates = rates[order, months]
    if len(levels) > 1:
        steps = rates.copy()
        steps[:-1] -= rates[1:]
    any_hour = standing = None
    busy, peak = np.zeros(len(months)), 0.0
    if any(level.is_standing for level in levels):
        stacked = np.array([level.standing for level in levels])
        standing, together = stacked[order, months].cumsum(axis=0), stacked.sum(axis=0)
        busy, peak = together @ block_hours, float(together.max())
    if any(not level.is_standing for level in levels):
        stacked = np.array([level.any_hour for level in levels])
        any_hour, busy = stacked[order, months].cumsum(axis=0), stacked.sum(axis=0) + busy
    return _StackedWork(steps, any_hour, standing, max(peak, float(busy.max() / block_hours.sum())))


def _save_by_layers(
    offers: PlaceOffers,
    terms: NodeTerms,
    work: _StackedWork,
    idle_work: Sequence[IdleWork],
    block_hours: Floats,
    a_layer: float,
) -> float:
    """The saving of nodes in layers of so many."""
    import numpy as np

    has_existing = bool(offers.existing.any())
    layers = math.ceil((work.peak + (float(offers.existing.max()) if has_existing else 0.0)) / a_layer - ROUNDING)
    nodes = np.arange(layers + 1, dtype=np.float64) * a_layer
    busy = _count_busy(work, nodes, block_hours)
    saved = np.einsum("jt,jtn->tn", work.steps, busy)
    existing = np.zeros((len(saved), 1), dtype=np.int64)
    saving, of_existing = saved, 0.0
    if has_existing:
        existing = np.minimum(np.rint(offers.existing / a_layer).astype(np.int64), layers)[:, None]
        saving = np.take_along_axis(saved, np.minimum(np.arange(layers + 1) + existing, layers), 1)
        of_existing = float(saving[:, 0].sum())
    best, chosen = _choose_terms(saving[:, 1:] - saving[:, :-1], terms, a_layer)
    if idle_work:
        there = np.minimum(_count_bought(chosen, len(saved))[:, None] + existing, layers)
        idle = there * a_layer * block_hours.sum() - np.take_along_axis(busy[-1], there, 1)
        best += _fill_idle(idle[:, 0], there[:, 0] * a_layer, idle_work)
    return of_existing + best


def _count_busy(work: _StackedWork, nodes: Floats, block_hours: Floats) -> Floats:
    """By level, month and number of `nodes`: their hours of work."""
    import numpy as np

    most = nodes * block_hours.sum()
    done = np.zeros((*work.steps.shape, len(nodes)))
    if work.standing is not None:
        done = np.einsum("jtbn,b->jtn", np.minimum(work.standing[..., None], nodes), block_hours)
    return done if work.any_hour is None else np.minimum(work.any_hour[..., None] + done, most)


def _choose_terms(saving: Floats, terms: NodeTerms, a_layer: float) -> tuple[float, list[ChosenTerms]]:
    """The best terms of all layers of nodes, `saving` by month and layer: what they save, and those of each layer that
    has any. The same layers come again and again as workloads move: each is decided once."""
    import numpy as np

    months, layers = saving.shape
    before = np.zeros((months + 1, layers))
    np.cumsum(saving, axis=0, out=before[1:])
    worth = before[terms.end_months] - before[terms.first_months] - (terms.costs * a_layer)[:, None]
    total, chosen = np.zeros(layers), []
    for number, of_layer in enumerate(np.ascontiguousarray(worth.T)):
        key = of_layer.tobytes()
        if key not in terms.known:
            terms.known[key] = _choose_of_layer(of_layer.tolist(), terms, months)
        total[number], of_months = terms.known[key]
        if not of_months:  # a layer saves no less than those after it
            break
        chosen.append(of_months)
    return float(total.sum()), chosen


def _choose_of_layer(worth: Sequence[float], terms: NodeTerms, months: int) -> tuple[float, ChosenTerms]:
    """The saving of the best terms of one layer, given what each is worth, and these. From the last month back, in
    lists: a layer has so few terms that arrays are slower."""
    best, end_of, filled, most = [0.0] * (months + 1), [0] * months, months, 0.0
    for first, end, alone in zip(terms.first, terms.end, worth, strict=True):
        while filled > first:  # from months without terms, what is best from the next one
            filled -= 1
            best[filled] = most
        if alone > 0 and (both := alone + best[end]) > most:
            best[first], end_of[first], most = both, end, both
    chosen, month = [], 0
    while month < months:
        if end_of[month]:
            chosen.append((month, end_of[month]))
        month = max(end_of[month], month + 1)
    return most, tuple(chosen)


def _count_bought(chosen: Iterable[ChosenTerms], months: int) -> Months:
    """The layers that are bought, by month."""
    import numpy as np

    added = [0] * (months + 1)
    for first, end in chain.from_iterable(chosen):
        added[first] += 1
        added[end] -= 1
    return np.cumsum(added[:-1])


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
