"""A recorded trace in the place of a machine: the same devices, the same readings, at the same times.

JSON lines. The first holds {"devices": [...]}, every other {"at": seconds, "cpu": {...}, "readings": [...]}, with
the fields of Device, Cpu and Reading; what is left out is not known.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path

from planner.measure.telemetry_samples import CpuReading, Device, DeviceReading, Sample


class TraceReplay:
    """Accelerators that show what a trace says: at any moment the last reading before it."""

    def __init__(self, devices: Sequence[Device], samples: Sequence[Sample]) -> None:
        self._devices, self._samples = tuple(devices), tuple(samples)
        self._start: float | None = None

    def devices(self) -> tuple[Device, ...]:
        return self._devices

    def sample(self, now: float) -> tuple[DeviceReading, ...]:
        self._start = now if self._start is None else self._start
        passed = now - self._start + self._samples[0].at
        return next((s.readings for s in reversed(self._samples) if s.at <= passed), self._samples[0].readings)

    def used_by(self, pids: Collection[int]) -> frozenset[int]:
        """All of them, if anything runs at all."""
        return frozenset(device.index for device in self._devices) if pids else frozenset()

    def close(self) -> None:
        return


def read_trace(path: Path) -> tuple[tuple[Device, ...], tuple[Sample, ...]]:
    """The devices of a trace and its samples in order."""
    head, *lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    devices = tuple(Device(index=number, **device) for number, device in enumerate(head["devices"]))
    samples = (
        Sample(
            line["at"],
            CpuReading(**line.get("cpu", {})),
            tuple(DeviceReading(**reading) for reading in line["readings"]),
        )
        for line in lines
    )
    return devices, tuple(samples)
