"""Recorded traces as a watched job, and the traces' own generator."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from planner.measure import measurement_file
from planner.measure.cpu_sampler import HostMachine
from planner.measure.job_watcher import JobObservation, WatchedCommand
from planner.measure.progress_sources import WorkSeries
from pricing.accelerator import embedded_names
from tests.planner.measure.trace_replay import read_trace

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def makers() -> ModuleType:
    """make_traces.py."""
    spec = importlib.util.spec_from_file_location("make_traces", HERE / "make_traces.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def machine() -> HostMachine:
    return HostMachine("a processor", sockets=2, cpus=32, memory_gib=512)


@pytest.fixture
def replayed(machine) -> Callable[..., measurement_file.JobMeasurement]:
    """A trace as if a job had run meanwhile that did `rate` units in each second of it."""

    def replay(name: str, rate: float = 10.0, **told) -> measurement_file.JobMeasurement:
        devices, samples = read_trace(HERE / "traces" / f"{name}.jsonl")
        series = WorkSeries()
        for second in range(61):
            series.add(float(second), rate * second)
        used = {device.index for device in devices}
        watched = JobObservation(0.0, series, devices, end=60.0, samples=list(samples), used=used)
        return measurement_file.evaluate(
            watched,
            WatchedCommand(("job",)),
            measurement_file.JobDescription("job", **told),
            machine,
            embedded_names(),
            [],
        )

    return replay
