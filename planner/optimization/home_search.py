"""A search for homes on the cost of each home by itself (home_savings.py): fast, without a bound.

Three kinds of moves are made as long as one of them makes the whole cheaper: a workload to another home; all that can
live at a place to it, less those that are cheaper where they were; all of a place away from it. The search begins with
each workload's cheapest home alone, and once more with the end of a search among the homes of a relaxation.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from planner.optimization.home_savings import IdleWork, PlaceOffers, WorkLevel, list_offers, most_saved
from planner.optimization.model import StrategyScope
from planner.optimization.place_program import PlaceProgram
from planner.optimization.solution import PlanningContext
from planner.optimization.stays import Place, Stay
from planner.supply.homes import is_owned_place
from planner.workloads.demand import WorkloadDemand
from pricing.frozen_values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

UNSOLD = 1e6
"""Cost of a node-hour that nobody sells by the hour, so that nodes are bought for it."""
LEAST_GAIN = 1e-7
"""Of the cost of all: a move that gains less is none."""
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class PricedStay:
    """A workload at a place, one way of doing its work: its cost by the hour, and the work that nodes may save it."""

    need: int
    place: Place
    cost: float
    levels: tuple[WorkLevel, ...] = ()
    idle_work: IdleWork | None = None


def search_homes(
    by_place: PlaceProgram,
    setting: PlanningContext,
    allowed: StrategyScope,
    used: Sequence[frozenset[Place]],
    more: Sequence[frozenset[Place]],
) -> dict[int, Place]:
    """The homes found for the workloads among the places of each that a relaxation `used`, and `more`. Without those
    that may be spread over places, and those that no place can do alone."""
    import numpy as np

    blocks = np.array(setting.demands.block_hours)
    offers = list_offers(by_place.groups, allowed.shared, setting.terms.months)
    pricer = StayPricer(offers, blocks, setting.terms.months)
    priced: list[PricedStay] = []
    options, first = defaultdict(list), defaultdict(list)
    for need, stays, *places in zip(setting.demands.needs, by_place.stays, used, more, strict=True):
        offered = frozenset().union(*places)
        if not need.may_spread:
            priced += pricer.price_all(need, [stay for stay in stays if stay.place in offered])
    for number, stay in enumerate(priced):
        options[stay.need].append(number)
        if stay.place in used[stay.need]:
            first[stay.need].append(number)
    search = _HomeMoves(priced, dict(options), offers, blocks)
    homes = search.find_best({need: first.get(need, every) for need, every in options.items()})
    return {need: priced[number].place for need, number in homes.items()}


@dataclass(frozen=True, slots=True)
class StayPricer:
    """Prices the stays of a workload at `offers` of places, in blocks of some hours."""

    offers: dict[Place, PlaceOffers]
    block_hours: Floats
    months: int

    def price_all(self, need: WorkloadDemand, stays: Sequence[Stay]) -> Iterator[PricedStay]:
        """Each stay; of work up to a deadline as it is spread over its months, done in the cheapest of them, or done in
        hours that others leave idle."""
        for stay in stays:
            if need.deadline is None:
                ends = stay.last_month < self.months
                after = min((self._cost_after(other, stay.last_month) for other in stays), default=math.inf)
                if not ends or math.isfinite(after):
                    yield self._price_stay(stay, stay.months <= stay.last_month, 1.0, after if ends else 0.0)
            else:
                yield from self._price_deadline(stay)

    def _cost_after(self, stay: Stay, month: int) -> float:
        """The cost of the work after a month at a stay in the cloud that does not end."""
        if stay.last_month < self.months or is_owned_place(stay.place):
            return math.inf
        return float(stay.cost()[stay.months > month].sum())

    def _price_deadline(self, stay: Stay) -> Iterator[PricedStay]:
        import numpy as np

        offers, rates = self.offers.get(stay.place), np.minimum(stay.steady_rates, UNSOLD)
        spot = np.where(stay.spot_hours > 0, np.minimum(stay.spot_rates, UNSOLD), 0.0)
        possible = (stay.months <= stay.last_month) & (rates < UNSOLD)
        if offers is not None and stay.is_shared:
            days = offers.day_rates[stay.months - 1]
            possible |= np.isfinite(days)
            first, end = offers.terms.first_months, np.minimum(offers.terms.end_months, stay.last_month)
            possible |= ((stay.months[:, None] > first) & (stay.months[:, None] <= end)).any(axis=1)
            rates, spot = np.minimum(rates, days), np.minimum(spot, days)
        if not stay.most_a_month * possible.sum() >= 1 - ROUNDING:
            return
        yield self._price_stay(stay, possible, 1.0 / float(possible.sum()), 0.0)
        each = np.sort((rates * stay.steady_hours + spot * stay.spot_hours + stay.data)[possible])
        shares = np.diff(np.minimum(np.arange(len(each) + 1) * stay.most_a_month, 1.0))
        cost = float(shares @ each)
        yield PricedStay(stay.need, stay.place, cost)
        if stay.is_shared:
            hours = float(stay.steady_hours[0] + stay.spot_hours[0])
            last = min(int(stay.months[-1]), stay.last_month) - 1
            idle = IdleWork(stay.span, hours, hours * stay.most_a_month, last, cost / hours)
            yield PricedStay(stay.need, stay.place, cost, idle_work=idle)

    def _price_stay(self, stay: Stay, done: NDArray[np.bool_], share: float, after: float) -> PricedStay:
        """A stay with a share of the work of each slot that is `done` there, and the cost `after` it."""
        import numpy as np

        offers = self.offers.get(stay.place) if stay.is_shared else None
        cost, levels, at = after + share * float(stay.cost()[done].sum()), [], stay.months - 1
        for hours, rates in stay.levels():
            worked, unsold = share * np.where(done, hours, 0.0), np.isinf(rates)
            cost += UNSOLD * float(worked[unsold].sum())
            if offers is None or not worked.any():
                continue
            rate = np.where(unsold, UNSOLD, rates)
            cheaper = np.minimum(rate, offers.day_rates[at])
            cost -= float(((rate - cheaper) * worked).sum())
            levels.append(self._build_level(stay, worked, cheaper - offers.use_costs[at]))
        return PricedStay(stay.need, stay.place, cost, tuple(levels))

    def _build_level(self, stay: Stay, hours: Floats, rates: Floats) -> WorkLevel:
        """One level of work by month, at the mean rate of its blocks."""
        import numpy as np

        at = stay.months - 1
        standing, any_hour = np.zeros((self.months, len(self.block_hours))), np.zeros(self.months)
        if stay.blocks[0] >= 0:
            np.add.at(standing, (at, stay.blocks), hours / self.block_hours[stay.blocks])
        else:
            np.add.at(any_hour, at, hours)
        worth, total = (np.bincount(at, values, self.months) for values in (hours * rates, hours))
        mean = np.divide(worth, total, out=np.zeros(self.months), where=total > 0)
        return WorkLevel(stay.span, standing, any_hour, np.maximum(mean, 0.0), bool(stay.blocks[0] >= 0))


@dataclass(slots=True)
class _HomeMoves:
    """`stays`, by number; the numbers that are `options` of each workload, and its present one in `home`."""

    stays: Sequence[PricedStay]
    options: dict[int, list[int]]
    offers: dict[Place, PlaceOffers]
    block_hours: Floats
    home: dict[int, int] = field(default_factory=dict)
    living: dict[Place, frozenset[int]] = field(default_factory=lambda: defaultdict(frozenset))
    _costs: dict[frozenset[int], float] = field(default_factory=dict)

    def find_best(self, first: dict[int, list[int]]) -> dict[int, int]:
        """The cheaper homes of two searches: one from each workload's cheapest option alone, the other one from the
        end of a search among the `first` options. Where these are all, there is one."""
        every, ends = self.options, []
        self.options = first
        self._begin_alone()
        self._move_all()
        if first != every:
            self.options = every
            self._move_all()
            ends.append((self._sum_costs(), dict(self.home)))
            self._begin_alone()
            self._move_all()
        ends.append((self._sum_costs(), dict(self.home)))
        return min(ends, key=lambda each: each[0])[1]

    def _begin_alone(self) -> None:
        for need, options in self.options.items():
            self._move_home(need, min(options, key=lambda each: self._price_place(frozenset((each,)))))

    def _move_all(self) -> None:
        """Moves until none gains."""
        while self._move_single() or self._move_together():
            pass

    def _price_place(self, living: frozenset[int]) -> float:
        """The cost of all that live at one place."""
        if living not in self._costs:
            stays = [self.stays[number] for number in sorted(living)]
            levels = [level for stay in stays for level in stay.levels]
            idle_work = [stay.idle_work for stay in stays if stay.idle_work is not None]
            cost = math.fsum(stay.cost for stay in stays)
            if levels:
                cost -= most_saved(self.offers[stays[0].place], levels, idle_work, self.block_hours)
            self._costs[living] = cost
        return self._costs[living]

    def _sum_costs(self) -> float:
        return math.fsum(map(self._price_place, self.living.values()))

    def _move_home(self, need: int, to: int) -> None:
        if need in self.home:
            self.living[self.stays[self.home[need]].place] -= {self.home[need]}
        self.home[need] = to
        self.living[self.stays[to].place] |= {to}

    def _cost_here(self, need: int) -> float:
        """The cost that a workload adds to its home."""
        living = self.living[self.stays[self.home[need]].place]
        return self._price_place(living) - self._price_place(living - {self.home[need]})

    def _cost_there(self, need: int, to: int) -> float:
        """The cost that it would add to another one."""
        living = self.living[self.stays[to].place] - {self.home[need]}
        return self._price_place(living | {to}) - self._price_place(living)

    def _move_single(self) -> bool:
        """Each workload to where it adds least; whether any moved."""
        has_moved, least_gain = False, LEAST_GAIN * abs(self._sum_costs())
        for need, options in self.options.items():
            cost, best = min((self._cost_there(need, to), to) for to in options)
            if best != self.home[need] and cost < self._cost_here(need) - least_gain:
                self._move_home(need, best)
                has_moved = True
        return has_moved

    def _move_together(self) -> bool:
        """To each place all that can live there, and from each place all that live there; whether any moved."""
        has_moved = False
        for place in sorted({stay.place for stay in self.stays}):
            total, before = self._sum_costs(), dict(self.home)
            self._fill_place(place)
            if not self._keep_gain(total, before):
                self._empty_place(place)
                has_moved |= self._keep_gain(total, before)
            else:
                has_moved = True
        return has_moved

    def _keep_gain(self, total: float, before: dict[int, int]) -> bool:
        """Whether the homes cost less than `total`; else they are again as before."""
        if self._sum_costs() < total - LEAST_GAIN * abs(total):
            return True
        for need, number in before.items():
            if self.home[need] != number:
                self._move_home(need, number)
        return False

    def _fill_place(self, place: Place) -> None:
        """All that can live at a place, less those that are cheaper where they were."""
        before = {}
        for need, options in self.options.items():
            there = [each for each in options if self.stays[each].place == place]
            if there and self.home[need] not in there:
                before[need] = self.home[need]
                self._move_home(need, min(there, key=lambda each: self.stays[each].cost))
        leaving = True
        while leaving:
            leaving = False
            for need, back in before.items():
                if self.home[need] != back and self._cost_there(need, back) < self._cost_here(need):
                    self._move_home(need, back)
                    leaving = True

    def _empty_place(self, place: Place) -> None:
        """No workload at a place that can live elsewhere."""
        for need, options in self.options.items():
            elsewhere = [each for each in options if self.stays[each].place != place]
            if self.stays[self.home[need]].place == place and elsewhere:
                self._move_home(need, min(elsewhere, key=lambda each: self._cost_there(need, each)))
