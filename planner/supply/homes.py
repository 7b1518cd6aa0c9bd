"""Homes: where a workload can live, and with which gang."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from planner.supply.candidates import Candidate
from planner.supply.resources import OWNED_KEY, Resource
from planner.workloads.demand import WorkloadDemand
from planner.workloads.placement import parallel_limit


def round_up_to_gangs(nodes: float, nodes_per_gang: int, tolerance: float) -> float:
    """The nodes of the whole gangs that `nodes` are part of; `tolerance` is the part of a gang that counts as rounding.

    >>> round_up_to_gangs(4.5, 4, 1e-9), round_up_to_gangs(4.0, 4, 1e-9)
    (8.0, 4.0)
    """
    return float(math.ceil(nodes / nodes_per_gang - tolerance) * nodes_per_gang)


def has_fixed_gang_type(need: WorkloadDemand) -> bool:
    """Whether a workload stays on one accelerator and size of gang: jobs whose number at once is stated, not
    services."""
    return parallel_limit(need) is not None and not need.serving


class Home(NamedTuple):
    """Where a workload can live, and with which gang."""

    place: tuple[str, ...]
    gang_type: tuple[str, float]

    @property
    def is_owned(self) -> bool:
        return is_owned_place(self.place)


def is_owned_place(place: Sequence[str]) -> bool:
    """Whether a place is an owned system, not an instance type in a region."""
    return place[0] == OWNED_KEY


def home_of(candidate: Candidate, resources: Sequence[Resource]) -> Home:
    """The home that a candidate belongs to."""
    return Home(resources[candidate.resource].place, gang_type(candidate, resources))


def gang_type(candidate: Candidate, resources: Sequence[Resource]) -> tuple[str, float]:
    """The accelerator and gang size of a candidate, which one job does not change from start to end."""
    return resources[candidate.resource].accelerator, candidate.gang
