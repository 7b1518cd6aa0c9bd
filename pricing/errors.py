"""What can go wrong with prices and names.

PricingError
├── UnknownName        a provider, region, type or accelerator that the catalogue does not hold
├── RetiredType        a type that can no longer be started; carries its successor
└── BadSnapshot        catalogue files that cannot be read or break a rule of the gate
"""

from __future__ import annotations


class PricingError(Exception):
    """Anything that this package refuses; carries fields, doors make the words."""


class UnknownName(PricingError):
    """`name` is not a known `what` ("accelerator", "region" ...); `nearest` holds close names, best first."""

    def __init__(self, what: str, name: str, nearest: tuple[str, ...] = ()) -> None:
        self.what, self.name, self.nearest = what, name, nearest
        hint = f"; nearest: {', '.join(nearest)}" if nearest else ""
        super().__init__(f"unknown {what} {name!r}{hint}")


class RetiredType(PricingError):
    """`instance_type` of `provider` is retired; `successor` is what the provider points to, if known."""

    def __init__(self, provider: str, instance_type: str, successor: str | None) -> None:
        self.provider, self.instance_type, self.successor = provider, instance_type, successor
        hint = f"; its successor is {successor}" if successor else "; no successor is recorded"
        super().__init__(f"{provider} {instance_type} is retired{hint}")


class BadSnapshot(PricingError):
    """Catalogue files that break a rule; `faults` names every one with its file and line."""

    def __init__(self, faults: tuple[str, ...]) -> None:
        self.faults = faults
        super().__init__("; ".join(faults))
