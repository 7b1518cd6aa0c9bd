"""An offering: one instance type or slice and the hardware of one node."""

from __future__ import annotations

from typing import Literal

from pricing.frozen_values import dataclass

Status = Literal["current", "legacy", "retired"]


@dataclass(frozen=True, slots=True)
class Offering:
    """One instance type of one provider.

    `accelerator` is a canonical name. `accelerator_count` counts what that name counts (dies for K80 and M60, chips for
    TPUs) and may be a fraction (1/6 of an A10); None if no source has it. `accelerator_memory_gib` is the memory that
    one whole accelerator has on this type. `successor` is filled for retired types where the provider names one.
    `source_id` may join several with + (Catalog.sources has those too). `part` marks an accelerator that is priced
    alone but runs only attached to a machine (nvidia-tesla-t4): never a node by itself.
    """

    provider: str
    family: str
    instance_type: str
    accelerator: str
    accelerator_count: float | None
    accelerator_memory_gib: float | None
    vcpus: float | None
    memory_gib: float | None
    local_ssd_gb: float | None
    network_gbps: float | None
    interconnect: str
    status: Status
    successor: str | None
    source_id: str
    part: bool = False

    @property
    def key(self) -> tuple[str, str]:
        return (self.provider, self.instance_type)
