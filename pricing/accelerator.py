"""Accelerators: one canonical name each, their specifications, and the names that others write."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Accelerator:
    """One accelerator as this project counts it (a die for K80 and M60 names ending in -die, a chip for TPUs).

    Rates are dense peaks in TFLOPS, `memory_bandwidth_gbs` in GB/s; None is unknown, never zero.
    """

    name: str
    model: str
    vendor: str
    architecture: str
    release_year: int | None
    memory_gib: float | None
    memory_bandwidth_gbs: float | None
    cores: float | None
    fp32_tflops: float | None
    tf32_tflops: float | None
    fp16_tflops: float | None
    fp8_tflops: float | None
    fp4_tflops: float | None
    tdp_w: float | None
    interconnect_gbs: float | None
    ecc: bool | None
    device_class: str
    counted_as: str
    list_price: float | None
    list_price_year: int | None
    source: str
    notes: str


@dataclass(frozen=True, slots=True)
class Alias:
    """`written` is how `used_by` (aws, azure, gcp, skypilot, dstack, short ...) writes the accelerator `name`."""

    written: str
    name: str
    used_by: str


def resolve(written: str) -> Accelerator:
    """The one accelerator that `written` means: a canonical name or an alias, case and separators aside.

    Raises UnknownName with the nearest names; never guesses.
    """
    raise NotImplementedError


def match(written: str) -> tuple[Accelerator, ...]:
    """All accelerators that `written` covers, for filters: one name or alias, or every variant of a bare model (H100).

    Raises UnknownName.
    """
    raise NotImplementedError


def accelerators() -> tuple[Accelerator, ...]:
    """Every canonical accelerator, by name."""
    raise NotImplementedError
