"""Requirements of a plan at one provider in addition to nodes: a budget, quota, storage. Values only, no Terraform."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from math import fsum

from planner.reports._content.evidence import workload_field
from planner.reports.terraform.node_pools import NodePool
from planner.result import Plan, QuotaRequest, Strategy
from pricing.frozen_values import dataclass


@dataclass(frozen=True, slots=True)
class StorageNeed:
    """Storage of one workload in a region where it runs."""

    label: str
    workload: str
    region: str
    capacity_gb: float


@dataclass(frozen=True, slots=True)
class ProviderExtras:
    """`bill` is the provider's charge in each month: use and monthly fees of commitments, without upfront payments."""

    bill: tuple[float, ...]
    quotas: tuple[QuotaRequest, ...]
    stores: tuple[StorageNeed, ...]

    @property
    def highest_bill(self) -> float:
        """The bill of the month of highest cost."""
        return max(self.bill)


def collect_extras(plan: Plan, strategy: Strategy, provider: str, pools: Sequence[NodePool]) -> ProviderExtras:
    """The extras of a strategy at `provider`, whose nodes are `pools`."""
    quotas = tuple(q for q in plan.quota_requests if q.strategy == strategy.name and q.provider == provider)
    return ProviderExtras(monthly_bill(plan, strategy, provider), quotas, _storage_needs(plan, pools))


def monthly_bill(plan: Plan, strategy: Strategy, provider: str) -> tuple[float, ...]:
    """The charges of `provider` in each month for rentals and commitments, without support plan and tax."""
    months = range(1, plan.months + 1)
    uses = [(use.month, use.cost) for use in strategy.uses if use.provider == provider]
    commitments = [item for item in strategy.purchases if item.provider == provider]
    return tuple(
        fsum(
            [cost for at, cost in uses if at == month]
            + [item.per_month for item in commitments if item.usable_from <= month <= item.usable_to]
        )
        for month in months
    )


def _storage_needs(plan: Plan, pools: Sequence[NodePool]) -> tuple[StorageNeed, ...]:
    """Requested storage of workloads, in each region where one of the pools serves them."""
    storage_by_workload = requested_storage_gb(plan)
    places = sorted(
        {(name, pool.rented.region) for pool in pools for name in pool.rented.workloads if name in storage_by_workload}
    )
    return tuple(
        StorageNeed(_storage_label(name, region), name, region, storage_by_workload[name]) for name, region in places
    )


def requested_storage_gb(plan: Plan) -> Mapping[str, float]:
    """The requested storage of each workload, as the plan read it; workloads without any are left out."""
    storage_by_workload = {}
    for reading in plan.inputs.readings:
        name, field = workload_field(plan, reading.path) or ("", "")
        if field == "storage_gb" and float(reading.value) > 0:
            storage_by_workload[name] = float(reading.value)
    return storage_by_workload


def _storage_label(workload: str, region: str) -> str:
    """A name that a later plan gives the same storage again."""
    digest = sha256(f"{workload}|{region}".encode(errors="surrogatepass")).hexdigest()
    return f"storage_{digest[:8]}"
