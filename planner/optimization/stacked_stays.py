"""All stays of a workload (stays.py) in arrays, and which of them may be best at their home."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING, NamedTuple

from planner.optimization.divided_work import DividedWork
from planner.supply.candidates import Candidate
from planner.supply.homes import Home
from pricing.frozen_values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(slots=True)
class HomeWays:
    """The candidates of a workload at a place: by the hour, on spot, and on shared resources."""

    steady: list[Candidate] = field(default_factory=list)
    spot: list[Candidate] = field(default_factory=list)
    shared: list[Candidate] = field(default_factory=list)
    there: set[int] = field(default_factory=set)
    """Months in which units of shared resources may be there."""


class RentedWork(NamedTuple):
    """What may be rented for the work of a home: where (None: at the home), the candidates, shared resources that may
    do it, and by slot the least costs by the hour with data, and the largest share on spot."""

    at: Home | None
    ways: HomeWays
    shared: tuple[int, ...]
    steady: Floats
    spot: Floats
    spot_share: Floats


class PricedHome(NamedTuple):
    """A home of a workload, and what may be rented for it, one of which it has: by slot node-hours and data."""

    home: Home
    ways: HomeWays
    hours: Floats
    data: Floats
    most_a_month: float
    last_month: int
    span: int
    rented: Sequence[RentedWork]
    divided: Sequence[DividedWork | None]


class StackedStays(NamedTuple):
    """Stays of several homes, as in Stay: by stay and slot."""

    steady_hours: Floats
    steady_rates: Floats
    spot_hours: Floats
    spot_rates: Floats
    data: Floats
    divided: Sequence[DividedWork | None]
    shared: Sequence[tuple[int, ...]]

    @staticmethod
    def of(homes: Sequence[PricedHome]) -> StackedStays:
        """All stays at some homes."""
        import numpy as np

        rented = [each for priced in homes for each in priced.rented]
        times = [len(priced.rented) for priced in homes]
        hours = np.repeat(np.array([priced.hours for priced in homes]), times, axis=0)
        data = np.repeat(np.array([priced.data for priced in homes]), times, axis=0)
        # What the data of owned nodes cost is paid in any case.
        paid = np.where(np.repeat([priced.home.is_owned for priced in homes], times)[:, None], data, 0.0)
        steady, spot = (
            np.array([each.steady for each in rented]) - paid,
            np.array([each.spot for each in rented]) - paid,
        )
        share = np.where(spot >= steady, 0.0, np.array([each.spot_share for each in rented]))
        work = hours * (1 - share), steady / hours, hours * share, spot / hours
        divided = [each for priced in homes for each in priced.divided]
        return StackedStays(*work, data, divided, [each.shared for each in rented])

    def list_undominated(self, stays: range, costs: Sequence[float]) -> list[int]:
        """Of all stays at a home those that no other costs no more than in every slot, for each part: the cheapest
        first."""
        kept: list[int] = []
        for stay in sorted(stays, key=costs.__getitem__) if len(stays) > 1 else stays:
            if self.shared[stay] or not any(self._costs_no_more(other, stay) for other in kept):
                kept.append(stay)
        return kept

    def list_costs(self) -> list[float]:
        """The cost of each stay where all is paid by the hour."""
        import numpy as np

        costs = np.where(np.isfinite(self.steady_rates), self.steady_rates, 0.0) * self.steady_hours
        costs = costs + np.where(np.isfinite(self.spot_rates), self.spot_rates, 0.0) * self.spot_hours + self.data
        for stay, divided in enumerate(self.divided):
            if divided is not None:
                costs[stay] = divided.by_the_hour() + self.data[stay]
        totals: list[float] = costs.sum(axis=1).tolist()
        return totals

    def _costs_no_more(self, stay: int, other: int) -> bool:
        """Whether the other stay at the same home is never better by the hour."""
        if self.shared[stay]:
            return False
        divided, of_other = self.divided[stay], self.divided[other]
        if divided is not None and of_other is not None:
            return divided.never_dearer(of_other)
        return bool(
            (self.steady_rates[stay] <= self.steady_rates[other]).all()
            and (self.spot_rates[stay] <= self.spot_rates[other]).all()
            and (self.spot_hours[stay] >= self.spot_hours[other]).all()
        )
