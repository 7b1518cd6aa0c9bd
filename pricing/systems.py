"""Servers that can be owned, with their list prices."""

from __future__ import annotations

from datetime import date

from pricing.frozen_values import dataclass


@dataclass(frozen=True, slots=True)
class ServerSystem:
    """A server that can be owned. `price` buys one node without network, delivery or tax; None where none is known.

    `sold` is whether it is still sold new: None if unknown.
    """

    name: str
    accelerator: str
    accelerator_count: int
    max_power_kw: float | None
    rack_units: float | None
    price: float | None
    currency: str
    price_as_of: date | None
    source: str
    notes: str
    sold: bool | None = None
