"""One sample of the machine: readings of each accelerator and of the CPU. None is unknown, never zero."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from pricing.frozen_values import dataclass

CLOCK_REASONS: Mapping[int, str] = {
    0x001: "idle",
    0x002: "application_clocks",
    0x004: "power_cap",
    0x008: "hw_slowdown",
    0x010: "sync_boost",
    0x020: "sw_thermal",
    0x040: "hw_thermal",
    0x080: "power_brake",
    0x100: "display_clocks",
}
"""The bits of NVML's clocks event reasons (nvml.h, nvmlClocksEventReason*): why clocks are below their maximum."""


def clock_reason_names(mask: int) -> tuple[str, ...]:
    """The names of the bits that are set; a bit without a name has its number.

    >>> clock_reason_names(0x24), clock_reason_names(0x200)
    (('power_cap', 'sw_thermal'), ('bit_9',))
    """
    return tuple(CLOCK_REASONS.get(1 << bit, f"bit_{bit}") for bit in range(mask.bit_length()) if mask >> bit & 1)


@dataclass(frozen=True, slots=True)
class Device:
    """One accelerator as its library names it. `key` is its UUID or place, `shared`: it is a part of one."""

    index: int
    name: str
    key: str = ""
    memory_gib: float | None = None
    power_limit_w: float | None = None
    sm_clock_max_mhz: float | None = None
    shared: bool = False


@dataclass(frozen=True, slots=True)
class DeviceReading:
    """One reading of an accelerator. Fractions are 0..1; `busy` is the share of time in which any kernel ran and
    `memory_busy` that in which its memory was read or written; `energy_j` counts up from an arbitrary start."""

    busy: float | None = None
    memory_busy: float | None = None
    memory_used_gib: float | None = None
    power_w: float | None = None
    temperature_c: float | None = None
    sm_clock_mhz: float | None = None
    memory_clock_mhz: float | None = None
    reasons: int | None = None
    energy_j: float | None = None


@dataclass(frozen=True, slots=True)
class CpuReading:
    """The job's processes and the machine around them. Seconds count up: differences of two samples are meant.

    `job_seconds` is CPU time of the process tree, `busiest_seconds` that of the process that has used most; `runnable`
    how many of its processes run or would if they were let, `blocked` how many wait for a disk. The machine's seconds
    are summed over its CPUs.
    """

    job_seconds: float = 0.0
    busiest_seconds: float = 0.0
    processes: int = 0
    runnable: int = 0
    blocked: int = 0
    job_memory_gib: float = 0.0
    machine_busy_seconds: float = 0.0
    machine_wait_seconds: float = 0.0
    memory_available_gib: float = 0.0


@dataclass(frozen=True, slots=True)
class Sample:
    """All readings at `at` seconds of the monotonic clock; `readings` in the order of the devices."""

    at: float
    cpu: CpuReading
    readings: tuple[DeviceReading, ...] = ()


class AcceleratorSampler(Protocol):
    """A source of accelerator readings: NVML, AMD SMI, or a recorded trace in tests."""

    def devices(self) -> tuple[Device, ...]:
        """The accelerators visible to the job."""
        ...

    def sample(self, now: float) -> tuple[DeviceReading, ...]:
        """One reading of each; unreadable values are None."""
        ...

    def used_by(self, pids: Collection[int]) -> frozenset[int]:
        """Indices of the devices on which one of these processes runs, where that is known."""
        ...

    def close(self) -> None: ...


class NoAccelerators:
    """A machine without any."""

    def devices(self) -> tuple[Device, ...]:
        return ()

    def sample(self, now: float) -> tuple[DeviceReading, ...]:  # noqa: ARG002  (the protocol's signature)
        return ()

    def used_by(self, pids: Collection[int]) -> frozenset[int]:  # noqa: ARG002  (the protocol's signature)
        return frozenset()

    def close(self) -> None:
        return


@dataclass(frozen=True, slots=True)
class SamplerAccess:
    """A sampler, and one line for each accelerator or library that is not available."""

    accelerators: AcceleratorSampler
    notes: Sequence[str] = ()
