"""Means, shares and sums of the samples inside a window: the evidence that a diagnosis rests on. None is not known."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

from planner.measure.diagnosis_thresholds import threshold_value
from planner.measure.telemetry_samples import Device, DeviceReading, Sample, clock_reason_names
from pricing.frozen_values import dataclass


@dataclass(frozen=True, slots=True)
class DeviceStatistics:
    """One accelerator over the window. Shares are of samples, `reasons` those with each reason;
    `energy_basis` is counter, integral (of power) or ""."""

    device: Device
    samples: int
    busy: float | None = None
    idle_share: float | None = None
    memory_busy: float | None = None
    memory_used_gib: float | None = None
    power_w: float | None = None
    temperature_max_c: float | None = None
    sm_clock_mhz: float | None = None
    memory_clock_mhz: float | None = None
    reasons: Mapping[str, float] | None = None
    energy_j: float | None = None
    energy_basis: str = ""


@dataclass(frozen=True, slots=True)
class CpuStatistics:
    """The job's processes and the machine over the window, in processors (1.0 is one of them working all the time).
    Shares are of samples: at least one process of the job is ready to run, or waits for a disk."""

    job_cores: float | None = None
    busiest_cores: float | None = None
    machine_cores: float | None = None
    waiting_cores: float | None = None
    runnable_share: float | None = None
    blocked_share: float | None = None
    processes_max: int = 0
    job_memory_gib: float | None = None
    memory_available_gib: float | None = None


@dataclass(frozen=True, slots=True)
class WindowStatistics:
    """All of it; `seconds` lie between the first and the last sample of the window."""

    start: float
    end: float
    samples: int
    cpu: CpuStatistics
    devices: tuple[DeviceStatistics, ...] = ()

    @property
    def seconds(self) -> float:
        return self.end - self.start

    @property
    def energy_j(self) -> float | None:
        """Of all accelerators; None where that of one is not known."""
        parts = [device.energy_j for device in self.devices]
        return math.fsum(part for part in parts if part is not None) if parts and None not in parts else None


def summarise_window(
    samples: Sequence[Sample], devices: Sequence[Device], used: Iterable[int], start: float, end: float
) -> WindowStatistics:
    """Over the samples from `start` to `end`; of the devices only those whose index is in `used`."""
    inside = [sample for sample in samples if start <= sample.at <= end]
    if not inside:
        return WindowStatistics(start, start, 0, CpuStatistics())
    indices = frozenset(used)
    statistics = tuple(
        _device_statistics(device, [(sample.at, sample.readings[place]) for sample in inside])
        for place, device in enumerate(devices)
        if device.index in indices
    )
    return WindowStatistics(inside[0].at, inside[-1].at, len(inside), _cpu_statistics(inside), statistics)


def _device_statistics(device: Device, timed: Sequence[tuple[float, DeviceReading]]) -> DeviceStatistics:
    readings = [reading for _, reading in timed]
    busy = _known_values(readings, lambda reading: reading.busy)
    masks = [reading.reasons for reading in readings if reading.reasons is not None]
    counts = Counter(name for mask in masks for name in clock_reason_names(mask))
    energy, basis = _device_energy(timed)
    return DeviceStatistics(
        device=device,
        samples=len(readings),
        busy=_mean_or_none(busy),
        idle_share=sum(value <= threshold_value("idle_below") for value in busy) / len(busy) if busy else None,
        memory_busy=_mean_or_none(_known_values(readings, lambda reading: reading.memory_busy)),
        memory_used_gib=max(_known_values(readings, lambda reading: reading.memory_used_gib), default=None),
        power_w=_mean_or_none(_known_values(readings, lambda reading: reading.power_w)),
        temperature_max_c=max(_known_values(readings, lambda reading: reading.temperature_c), default=None),
        sm_clock_mhz=_mean_or_none(_known_values(readings, lambda reading: reading.sm_clock_mhz)),
        memory_clock_mhz=_mean_or_none(_known_values(readings, lambda reading: reading.memory_clock_mhz)),
        reasons={name: count / len(masks) for name, count in sorted(counts.items())} if masks else None,
        energy_j=energy,
        energy_basis=basis,
    )


def _device_energy(timed: Sequence[tuple[float, DeviceReading]]) -> tuple[float | None, str]:
    """By the device's own counter where it has one, else the integral of its power (trapezoids)."""
    first, last = timed[0][1].energy_j, timed[-1][1].energy_j
    if len(timed) > 1 and first is not None and last is not None and last >= first:
        return last - first, "counter"
    power = [(at, reading.power_w) for at, reading in timed if reading.power_w is not None]
    if len(power) < 2:
        return None, ""
    areas = ((right - left) * (a + b) / 2 for (left, a), (right, b) in pairwise(power))
    return math.fsum(areas), "integral"


def _cpu_statistics(samples: Sequence[Sample]) -> CpuStatistics:
    before, after = samples[0].cpu, samples[-1].cpu
    seconds = samples[-1].at - samples[0].at

    def cores(used_seconds: float) -> float | None:
        return used_seconds / seconds if seconds > 0 else None

    return CpuStatistics(
        # The count of a process that ends without being waited for is lost: the difference may fall below zero.
        job_cores=cores(max(0.0, after.job_seconds - before.job_seconds)),
        busiest_cores=cores(max(0.0, after.busiest_seconds - before.busiest_seconds)),
        machine_cores=cores(after.machine_busy_seconds - before.machine_busy_seconds),
        waiting_cores=cores(after.machine_wait_seconds - before.machine_wait_seconds),
        runnable_share=sum(sample.cpu.runnable > 0 for sample in samples) / len(samples),
        blocked_share=sum(sample.cpu.blocked > 0 for sample in samples) / len(samples),
        processes_max=max(sample.cpu.processes for sample in samples),
        job_memory_gib=max(sample.cpu.job_memory_gib for sample in samples),
        memory_available_gib=min(sample.cpu.memory_available_gib for sample in samples),
    )


def _known_values(readings: Iterable[DeviceReading], field: Callable[[DeviceReading], float | None]) -> list[float]:
    return [value for reading in readings if (value := field(reading)) is not None]


def _mean_or_none(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
