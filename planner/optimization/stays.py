"""What the work of a workload takes at a place, and what it would cost there by the hour.

A stay is a workload at a place: its node-hours in each slot (a month, and a block of it or any hour), in at most two
parts: as much as may run on spot where that is cheaper, and the rest. On owned nodes it is a stay for each place that
may take the overflow, which does by the hour what the nodes do not. Costs are present costs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import reduce
from typing import TYPE_CHECKING

from planner.optimization.divided_work import DividedWork, divide_work
from planner.optimization.home_costs import HomeCosts
from planner.optimization.linear_program import ANY_HOUR, CandidateActivity
from planner.optimization.model import StrategyScope, list_steps
from planner.optimization.solution import PlanningContext
from planner.optimization.stacked_stays import HomeWays, PricedHome, RentedWork, StackedStays
from planner.optimization.standing_work import (
    ROUNDING,
    count_divisible_nodes,
    count_nodes,
    count_replicas,
    largest_spot_share,
    list_standing_tasks,
)
from planner.performance.serving.staffing import ServiceQueue
from planner.supply.candidates import Candidate
from planner.supply.data_costs import DataCosts
from planner.supply.homes import Home, has_fixed_gang_type, home_of
from planner.supply.resources import Resource
from planner.workloads.demand import WorkloadDemand
from planner.workloads.placement import parallel_limit
from pricing.frozen_values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Places = NDArray[np.int64]

Place = tuple[str, ...]
ANY_GANG = ("", 0.0)


@dataclass(frozen=True, slots=True)
class Stay:
    """By slot (`months` from 1, and `blocks`): node-hours of the part that may be on spot and of the rest, and the rate
    of each by the hour (infinite: not sold). Each slot of work up to a deadline has all of it."""

    need: int
    place: Place
    months: Places
    blocks: Places
    steady_hours: Floats
    steady_rates: Floats
    spot_hours: Floats
    spot_rates: Floats
    data: Floats
    """Storage and transfer of a slot."""
    most_a_month: float
    """Of the work up to a deadline: the largest share that gangs at once can do in a month."""
    is_shared: bool
    """Whether shared resources of the place may do its work."""
    overflows_to: tuple[int, ...]
    """Shared resources elsewhere that may take overflow of owned nodes."""
    overflow: Place | None
    """Where overflow of owned nodes goes."""
    last_month: int
    span: int
    """Nodes of a gang that spans nodes, else 1."""
    divided: DividedWork | None = None
    """Standing work on whole owned nodes, and elsewhere."""

    def levels(self) -> Iterable[tuple[Floats, Floats]]:
        """By slot, node-hours that nodes of the place may do and the rate that each of them saves."""
        if self.divided is not None:
            return self.divided.levels()
        return (self.steady_hours, self.steady_rates), (self.spot_hours, self.spot_rates)

    def cost(self) -> Floats:
        """By slot, what all of its work costs by the hour where it is sold so."""
        import numpy as np

        if self.divided is not None:
            return self.divided.by_the_hour() + self.data
        by_the_hour = np.where(np.isfinite(self.steady_rates), self.steady_rates, 0.0) * self.steady_hours
        return by_the_hour + np.where(np.isfinite(self.spot_rates), self.spot_rates, 0.0) * self.spot_hours + self.data


def list_stays(setting: PlanningContext, allowed: StrategyScope) -> list[list[Stay]]:
    """By workload, its possible stays. All gangs of work that may be spread are one stay at a place: the least
    node-hours and the most at once of any."""
    needs, resources = setting.demands.needs, setting.market.resources
    at_home: list[dict[Home, HomeWays]] = [defaultdict(HomeWays) for _ in needs]
    overflow: list[list[CandidateActivity]] = [[] for _ in needs]
    covered = [{month for start in item.starts for month in start.covers} for item in allowed.shared]
    for step in list_steps(setting, allowed):
        candidate = step.candidate
        need, home = needs[candidate.need], home_of(candidate, resources)
        if step.overflow:
            overflow[candidate.need].append(step)
            continue
        if need.may_spread:
            home = Home(home.place, ANY_GANG)
        ways = at_home[candidate.need][home]
        if step.shared is not None:
            ways.shared.append(candidate)
            ways.there.update(covered[step.shared])
        elif resources[candidate.resource].interrupts:
            ways.spot.append(candidate)
        else:
            ways.steady.append(candidate)
    costs = HomeCosts(setting.market, setting.demands, setting.choice.rates, setting.rules, setting.terms)
    stays = []
    for index, homes in enumerate(at_home):
        builder = _StayBuilder(setting, costs, needs[index], allowed.hourly_until[index])
        taking = _group_overflow(overflow[index], resources)
        stays.append(builder.build_all(index, homes, taking))
    return stays


def _group_overflow(
    steps: Iterable[CandidateActivity], resources: Sequence[Resource]
) -> list[tuple[CandidateActivity, ...]]:
    """The steps of overflow by the home that takes it."""
    homes: dict[Home, list[CandidateActivity]] = defaultdict(list)
    for step in steps:
        homes[home_of(step.candidate, resources)].append(step)
    return [tuple(each) for _, each in sorted(homes.items())]


@dataclass(slots=True)
class _StayBuilder:
    """Builds the stays of one workload."""

    setting: PlanningContext
    costs: HomeCosts
    need: WorkloadDemand
    until: int
    slots: tuple[tuple[int, int], ...] = field(init=False)
    months: Places = field(init=False)
    blocks: Places = field(init=False)
    _replicas: dict[tuple[ServiceQueue | None, float], list[int]] = field(default_factory=dict)
    _hours: dict[tuple[bool, float, float, float], Floats] = field(default_factory=dict)
    _rates: dict[int, Floats] = field(default_factory=dict)
    _overflow: dict[tuple[str, float], Sequence[RentedWork]] = field(default_factory=dict)
    _data_costs: dict[tuple[DataCosts, bool], Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        import numpy as np

        need = self.need
        if need.serving:
            self.slots = tuple((m + 1, b) for m, b, _ in list_standing_tasks(need, self.setting.demands))
        elif need.deadline is not None:
            self.slots = tuple((month, ANY_HOUR) for month in range(1, need.deadline + 1))
        else:
            self.slots = tuple((month, ANY_HOUR) for month, units in enumerate(need.monthly, 1) if units)
        self.months = np.array([month for month, _ in self.slots], dtype=np.int64)
        self.blocks = np.array([block for _, block in self.slots], dtype=np.int64)

    def build_all(
        self, index: int, homes: Mapping[Home, HomeWays], taking: Sequence[tuple[CandidateActivity, ...]]
    ) -> list[Stay]:
        """The stays at all homes that may be best there."""
        priced = [each for home, ways in sorted(homes.items()) if (each := self._price_home(home, ways, taking))]
        if not priced:
            return []
        stacked, stays, first = StackedStays.of(priced), [], 0
        costs = stacked.list_costs()
        for each in priced:
            kept = stacked.list_undominated(range(first, first + len(each.rented)), costs)
            stays += [self._build_stay(index, each, stacked, number, each.rented[number - first]) for number in kept]
            first += len(each.rented)
        return stays

    def _build_stay(
        self, index: int, priced: PricedHome, stacked: StackedStays, number: int, rented: RentedWork
    ) -> Stay:
        # Copies, so that a stay does not keep the arrays of all.
        steady, steady_rates, spot, spot_rates = (part[number].copy() for part in stacked[:4])
        return Stay(
            index, priced.home.place, self.months, self.blocks, steady, steady_rates, spot, spot_rates, priced.data,
            priced.most_a_month, bool(priced.ways.shared), rented.shared, rented.at and rented.at.place,
            priced.last_month, priced.span, stacked.divided[number],
        )  # fmt: skip

    def _price_home(
        self, home: Home, ways: HomeWays, taking: Sequence[tuple[CandidateActivity, ...]]
    ) -> PricedHome | None:
        """A home with what may be rented for it: on owned nodes at one place of those `taking` overflow. None where it
        cannot be."""
        resources = self.setting.market.resources
        there = [*ways.steady, *ways.shared] or ways.spot
        most_a_month = self._most_a_month(there)
        last = max(resources[way.resource].last_month or self.setting.terms.months for way in there)
        is_owned = home.is_owned
        if not is_owned and not self.need.may_spread and not self._is_fast_enough(there, most_a_month):
            return None
        if is_owned and ways.there.isdisjoint(self.months.tolist()):
            return None
        hours, data = self._least(there, lambda way: self._node_hours(way, home)), self._data(there[0])
        span = min(way.nodes_per_gang for way in there)
        rented = self._rent_overflow(home, taking) if is_owned else (self._price_rented(home, None, ways, ()),)
        divided = [
            None if each.shared else self._divide(home, there[0], each.ways, each.spot_share, data) for each in rented
        ]
        return PricedHome(home, ways, hours, data, most_a_month, last, span, rented, divided)

    def _rent_overflow(self, home: Home, taking: Sequence[tuple[CandidateActivity, ...]]) -> Sequence[RentedWork]:
        """What may take overflow of an owned home, at each of several others; of homes of one gang type, or of all, the
        same."""
        is_fixed, resources = has_fixed_gang_type(self.need), self.setting.market.resources
        key = home.gang_type if is_fixed else ANY_GANG
        if key not in self._overflow:
            places = [(home_of(steps[0].candidate, resources), steps) for steps in taking]
            others = [to for to, _ in places if is_fixed and to.gang_type != home.gang_type]
            rented = []
            for to, steps in places:
                if to in others:
                    if to is others[0]:  # one stands for all that take nothing
                        rented.append(self._price_rented(home, to, HomeWays(), ()))
                    continue
                by_hour = [step.candidate for step in steps if step.shared is None]
                steady = [way for way in by_hour if not resources[way.resource].interrupts]
                spot = [way for way in by_hour if resources[way.resource].interrupts]
                shared = tuple(sorted({step.shared for step in steps if step.shared is not None}))
                rented.append(self._price_rented(home, to, HomeWays(steady, spot), shared))
            self._overflow[key] = rented or [self._price_rented(home, None, HomeWays(), ())]
        return self._overflow[key]

    def _price_rented(self, home: Home, at: Home | None, ways: HomeWays, shared: tuple[int, ...]) -> RentedWork:
        import numpy as np

        share = np.zeros(len(self.slots))
        for way in ways.spot:
            share = np.maximum(share, self._spot_share(way, divided=self._is_divided(home)))
        steady, spot = (self._least(sort, lambda way: self._cost(way, home)) for sort in (ways.steady, ways.spot))
        return RentedWork(at, ways, shared, steady, spot, share)

    def _divide(
        self, home: Home, owned: Candidate, ways: HomeWays, spot_share: Floats, data: Floats
    ) -> DividedWork | None:
        """Standing work in whole nodes here and elsewhere. The ways of a home are of one gang, and so are those that
        take its overflow."""
        import numpy as np

        if not home.is_owned or not self.need.serving or self.need.workload.shares_nodes or self.need.may_spread:
            return None
        hours = np.array([self.setting.demands.block_hours[block] for _, block in self.slots])
        rented = [*ways.steady, *ways.spot]
        there = rented[0] if rented else owned
        steady, spot = (
            self._least(sort, self._rate_of) * hours * there.nodes_per_gang for sort in (ways.steady, ways.spot)
        )
        return divide_work(
            self._count_groups(owned), self._count_groups(there), steady, spot, spot_share, self._data(there) - data,
            hours * owned.nodes_per_gang,
        )  # fmt: skip

    def _count_groups(self, way: Candidate) -> Floats:
        """By slot, groups of nodes that all of a standing work takes, not rounded."""
        import numpy as np

        of_group = 1 if way.nodes_per_gang > 1 else way.gangs_per_node
        return np.array(self._count_replicas(way)) / of_group

    def _count_replicas(self, way: Candidate) -> list[int]:
        """By slot, the gangs of a standing work."""
        key = (way.queue, way.gang_rate)
        if key not in self._replicas:
            need, hours = self.need, self.setting.demands.block_hours
            self._replicas[key] = [
                count_replicas(way, need, need.ready_units(month - 1, block, hours), hours[block])
                for month, block in self.slots
            ]
        return self._replicas[key]

    def _least(self, ways: Sequence[Candidate], of: Callable[[Candidate], Floats]) -> Floats:
        import numpy as np

        return reduce(np.minimum, map(of, ways)) if ways else np.full(len(self.slots), np.inf)

    def _is_fast_enough(self, ways: Sequence[Candidate], most_a_month: float) -> bool:
        """Whether as many gangs at once as the workload allows can do its work there."""
        if self.need.deadline is not None:
            return most_a_month * self.need.deadline >= 1 - ROUNDING
        if parallel_limit(self.need) is None:
            return True
        return any(self.costs.node_hours(way) is not None for way in ways)

    def _most_a_month(self, ways: Sequence[Candidate]) -> float:
        at_once = parallel_limit(self.need)
        if at_once is None or self.need.deadline is None:
            return 1.0
        fastest = max(way.gang_rate for way in ways)
        return min(1.0, at_once * fastest * self.setting.terms.hours_per_month / self.need.total)

    def _node_hours(self, way: Candidate, home: Home) -> Floats:
        """The node-hours of each slot on one candidate; of standing work that is divided over places the parts of nodes
        that its replicas take, as each place may have any number of them."""
        import numpy as np

        key = (home.is_owned, way.gang_rate, way.granule, way.units_per_node_hour)
        if key not in self._hours:
            need, hours = self.need, self.setting.demands.block_hours
            if need.serving:
                replicas = self._count_replicas(way)
                count = count_divisible_nodes if self._is_divided(home) else count_nodes
                nodes = {each: count(way, need, each) for each in set(replicas)}
                amounts = [nodes[each] * hours[block] for each, (_, block) in zip(replicas, self.slots, strict=True)]
            elif need.deadline is not None:
                amounts = [need.total / way.units_per_node_hour] * len(self.slots)
            else:
                amounts = [need.monthly[month - 1] / way.units_per_node_hour for month, _ in self.slots]
            self._hours[key] = np.array(amounts)
        return self._hours[key]

    def _is_divided(self, home: Home) -> bool:
        """Whether other places may do a part of the work."""
        return home.is_owned or self.need.may_spread

    def _cost(self, way: Candidate, home: Home) -> Floats:
        """What each slot costs by the hour on one candidate, with data where it takes overflow; infinite when it is not
        sold."""
        cost = self._rate_of(way) * self._node_hours(way, home)
        return cost + self._data(way) if home.is_owned else cost

    def _rate_of(self, way: Candidate) -> Floats:
        """The rate of a node-hour in each slot; infinite when it is not sold."""
        import numpy as np

        if way.resource not in self._rates:
            rates = np.array(self.setting.choice.rates[way.resource])
            rates[self.until :] = np.inf
            rates[self.setting.market.resources[way.resource].last_month or len(rates) :] = np.inf
            self._rates[way.resource] = rates[self.months - 1]
        return self._rates[way.resource]

    def _data(self, way: Candidate) -> Floats:
        """Storage and transfer of each slot's work, at the place of a candidate."""
        key = (way.around, self.setting.market.resources[way.resource].node is None)
        if key not in self._data_costs:
            self._data_costs[key] = self._price_data(way)
        return self._data_costs[key]

    def _price_data(self, way: Candidate) -> Floats:
        import numpy as np

        if way.around.total == 0:
            return np.zeros(len(self.slots))
        of_slot = np.array(self.costs.data(way))[self.months - 1]
        if self.need.serving:
            hours, monthly = self.setting.demands.block_hours, self.need.monthly
            of_slot *= [self.need.block_units(m - 1, b, hours) / monthly[m - 1] for m, b in self.slots]
        return of_slot

    def _spot_share(self, way: Candidate, *, divided: bool) -> Floats:
        """The largest share of each slot's work that may be on spot."""
        import numpy as np

        need, rules = self.need, self.setting.rules
        if not need.serving:
            return np.full(len(self.slots), rules.spot_share(need))
        replicas = self._count_replicas(way)
        shares = {each: largest_spot_share(rules, way, need, each, divided=divided) for each in set(replicas)}
        return np.array([shares[each] for each in replicas])
