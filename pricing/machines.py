"""Machines without an accelerator that plans use: with CPUs only, or with FPGAs, each at one price.

Offers show them and the analysis compares with them. They are no offerings: no plan rents one.
"""

from __future__ import annotations

from dataclasses import fields
from datetime import date
from typing import Literal

from pricing.frozen_values import dataclass

MachineKind = Literal["cpu", "fpga"]


@dataclass(frozen=True, slots=True)
class PlainMachine:
    """One instance type in one region at one way of paying, per hour of the whole machine, Linux, before tax."""

    provider: str
    region: str
    instance_type: str
    kind: MachineKind
    vcpus: float | None
    memory_gib: float | None
    fpga_count: float | None
    """None for machines with CPUs only, and where no source has it."""
    purchase_option: str
    price_per_hour: float
    currency: str
    as_of: date
    source_id: str
    note: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        return (self.provider, self.region, self.instance_type, self.purchase_option)


MACHINE_COLUMNS = tuple(field.name for field in fields(PlainMachine))
