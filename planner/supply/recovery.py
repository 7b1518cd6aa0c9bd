"""Disaster recovery: the standby in the second place of a workload, and the time until service is back.

The levels are those of AWS (Resilience Hub): a pilot light has a copy of the data and no node; a warm standby runs a
share of the service; active in two places is all of it in both. The standby is a workload of its own, so it is
planned, priced, verified and provisioned as any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from planner.request.assumptions import Assumptions
from planner.request.errors import InputProblem
from planner.request.models import Request, Workload
from planner.request.recovery import RecoveryLevel
from planner.supply.existing import validate_place
from planner.supply.price_rules import is_permitted_place
from planner.workloads.demand import scale_demand
from pricing.catalog.price_catalog import Catalog

LEVEL_TITLES: Mapping[RecoveryLevel, str] = {
    "pilot_light": "pilot light",
    "warm_standby": "warm standby",
    "active_active": "active in a second place",
}
MINUTES_PER_HOUR = 60.0


class RecoveryTime(NamedTuple):
    """Hours from the loss of the first place until a part of the service is back, and until all of it is; `is_stated`:
    whether the request states every assumption in them."""

    hours_to_part: float
    hours_to_all: float
    is_stated: bool


def validate_recovery(request: Request, catalog: Catalog) -> Iterator[InputProblem]:
    """Second places that are unknown or that the request does not allow, and names that standbys would share."""
    names = {workload.name.casefold() for workload in request.workloads}
    for index, workload in enumerate(request.workloads):
        if workload.recovery is None:
            continue
        place, path = workload.recovery.place, f"workloads[{index}].recovery.place"
        unknown = tuple(validate_place(path, place, catalog))
        yield from unknown
        provider, _, region = place.partition(" ")
        if not unknown and not is_permitted_place(request, provider, region):
            expected = "a place within the providers and regions of the request"
            yield InputProblem(path, path, "the request does not allow this place", place, expected)
        for level in LEVEL_TITLES:
            if (name := standby_name(workload.name, level)).casefold() in names:
                at = f"workloads[{index}].name"
                yield InputProblem(at, at, "two workloads of one name: its standby is called so", name, "another name")


def add_standbys(request: Request, assumptions: Assumptions) -> Request:
    """The request with a workload for the standby in each second place, after its own workloads."""
    standbys = [build_standby(workload, assumptions) for workload in request.workloads]
    return request.model_copy(update={"workloads": (*request.workloads, *(each for each in standbys if each))})


def build_standby(workload: Workload, assumptions: Assumptions) -> Workload | None:
    """The standby of a workload: a share of the service in its second place, on rented nodes that are not spot. None
    without a second place, or with a pilot light. Its data is stored and copied with the first workload."""
    recovery = workload.recovery
    if recovery is None or recovery.level == "pilot_light":
        return None
    share = assumptions["standby_fraction"].value if recovery.level == "warm_standby" else 1.0
    provider, _, region = recovery.place.partition(" ")
    return workload.model_copy(
        update={
            "name": standby_name(workload.name, recovery.level),
            "demand": scale_demand(workload.demand, share),
            "providers": (provider,),
            "regions": (region,),
            "may_be_owned": False,
            "interruptible": False,
            "spare_replicas": workload.spare_replicas if recovery.level == "active_active" else 0,
            "budget_per_month": None,
            "storage_gb": 0.0,
            "egress_gb_per_month": 0.0,
            "transfer_gb_per_month": 0.0,
            "recovery": None,
        }
    )


def standby_name(name: str, level: RecoveryLevel) -> str:
    """
    >>> standby_name("chat", "warm_standby")
    'chat (warm standby)'
    """
    return f"{name} ({LEVEL_TITLES[level]})"


def recovery_time(workload: Workload, level: RecoveryLevel, assumptions: Assumptions) -> RecoveryTime:
    """The hours of a level. After `failover_minutes` the standby has the traffic; further nodes take
    `node_start_minutes`, and the workload its `restart_minutes` on them. Two active places go on: traffic is at both.
    """
    if level == "active_active":
        return RecoveryTime(0.0, 0.0, is_stated=True)
    failover, node_start = (assumptions[name] for name in ("failover_minutes", "node_start_minutes"))
    started = failover.value + node_start.value + workload.restart_minutes
    part = failover.value if level == "warm_standby" else started
    is_stated = failover.overridden and node_start.overridden
    return RecoveryTime(part / MINUTES_PER_HOUR, started / MINUTES_PER_HOUR, is_stated)
