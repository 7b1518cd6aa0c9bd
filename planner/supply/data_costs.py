"""Costs of data where work runs: storage, egress to the internet, and transfer from the data's region.

Volumes are priced by the provider's marginal tiers: each step applies to the part of the month's volume above it.
"""

from __future__ import annotations

from typing import NamedTuple

from planner.request.assumptions import Assumptions
from planner.request.models import Request, Workload
from planner.result import Gap
from planner.result.message import message
from pricing.catalog.price_catalog import Catalog
from pricing.frozen_values import dataclass
from pricing.transfer_storage_prices import tiered_cost


class DataCosts(NamedTuple):
    """The cost of a month's data at one place, by category."""

    storage: float = 0.0
    egress: float = 0.0
    transfer: float = 0.0

    @property
    def total(self) -> float:
        return self.storage + self.egress + self.transfer

    def no_more_than(self, other: DataCosts) -> bool:
        """Whether no part costs more than the other's."""
        return self.storage <= other.storage and self.egress <= other.egress and self.transfer <= other.transfer


def owned_data_costs(workload: Workload, assumptions: Assumptions, transfer: float) -> DataCosts:
    """The cost of a month's data at owned nodes; `transfer` is the cost of moving it there."""
    copies = 1 + assumptions["disaster_recovery_fraction"].value
    storage = workload.storage_gb * copies * assumptions["own_storage_per_gb_month"].value
    return DataCosts(storage, workload.egress_gb_per_month * assumptions["own_egress_per_gb"].value, transfer)


@dataclass(slots=True)
class DataCostLookup:
    """Computes data costs by place; `gaps` collects prices that were missing or estimated."""

    request: Request
    catalog: Catalog
    gaps: dict[Gap, None]

    def rented(self, workload: Workload, provider: str, region: str) -> DataCosts | None:
        """A month's data at a cloud region; None where a price is missing and none may be estimated."""
        storage = self._volume_cost(provider, region, "object_storage", workload.storage_gb)
        egress = (
            None
            if storage is None
            else self._volume_cost(provider, region, "egress_internet", workload.egress_gb_per_month)
        )
        moved = None if egress is None else self._transfer_cost(workload, provider, region)
        copy = None if moved is None else self._copy_cost(workload, provider, region)
        if storage is None or egress is None or moved is None or copy is None:
            return None
        return DataCosts(storage + copy.storage, egress, moved + copy.transfer)

    def owned(self, workload: Workload, assumptions: Assumptions) -> DataCosts | None:
        """A month's data at owned nodes: storage with its replica in the cloud, egress, data from the cloud."""
        moved = self._transfer_cost(workload, "", "")
        copy = None if moved is None else self._copy_cost(workload, "", "", assumptions["own_egress_per_gb"].value)
        if moved is None or copy is None:
            return None
        own = owned_data_costs(workload, assumptions, moved + copy.transfer)
        return own._replace(storage=own.storage + copy.storage)

    def _copy_cost(
        self, workload: Workload, provider: str, region: str, own_egress_per_gb: float = 0.0
    ) -> DataCosts | None:
        """A month of the copy in the second place for recovery: its storage there, and the changes that go there."""
        if workload.recovery is None:
            return DataCosts()
        second, _, place = workload.recovery.place.partition(" ")
        storage = self._volume_cost(second, place, "object_storage", workload.storage_gb)
        volume = workload.recovery.replicated_gb_per_month
        item = "transfer_inter_region" if second == provider else "egress_internet"
        moved = self._volume_cost(provider, region, item, volume) if provider else volume * own_egress_per_gb
        return None if storage is None or moved is None else DataCosts(storage, 0.0, moved)

    def _transfer_cost(self, workload: Workload, provider: str, region: str) -> float | None:
        """Moving data from its region: free inside it, transfer between regions of a provider, else egress."""
        if workload.data_region is None or not workload.transfer_gb_per_month:
            return 0.0
        home, _, place = workload.data_region.partition(" ")
        if (home, place) == (provider, region):
            return 0.0
        item = "transfer_inter_region" if home == provider else "egress_internet"
        return self._volume_cost(home, place, item, workload.transfer_gb_per_month)

    def _volume_cost(self, provider: str, region: str, item: str, volume_gb: float) -> float | None:
        if volume_gb == 0:
            return 0.0
        tiers = self.catalog.tiers(provider, region, item)
        if not tiers and self.request.allow_estimates:
            tiers = self.catalog.reference_tiers(provider, item)
            if tiers:
                effect = message(
                    "data_price_of_other_region",
                    item=item,
                    region=tiers[0].region,
                    provider=provider,
                    unpriced_region=region,
                )
                self.gaps[Gap("estimated", f"{provider} {region} {item}", effect)] = None
        if not tiers:
            self.gaps[Gap("no_price", f"{provider} {region} {item}", message("data_price_missing"))] = None
            return None
        return tiered_cost(tiers, volume_gb)
