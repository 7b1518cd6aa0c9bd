"""The shipped measurements and the runs among them, read once; a question in few words."""

from __future__ import annotations

import pytest

from planner.performance.throughput.network_estimates import estimate_throughput, public_runs, shipped_runs
from planner.performance.throughput.network_estimates.benchmark_runs import shipped_measurements
from planner.request.neural_network import NeuralNetwork
from pricing.accelerator import resolve


@pytest.fixture(scope="session")
def measurements() -> list[dict[str, str]]:
    return shipped_measurements()


@pytest.fixture(scope="session")
def runs():
    return shipped_runs()


@pytest.fixture
def run_of(measurements):
    """The one run of the row of a group that has these values."""

    def find(group: str, **values: str):
        rows = [r for r in measurements if r["group"] == group and all(r[k] == v for k, v in values.items())]
        assert len(rows) == 1
        (run,) = public_runs(rows)
        return run

    return find


@pytest.fixture
def tell(runs):
    """The throughput of a described job, or the reason that there is none."""

    def make(accelerator: str, count: float, unit: str = "tokens", among=None, **network):
        return estimate_throughput(
            NeuralNetwork(**network), unit, resolve(accelerator), count, runs if among is None else among
        )

    return make
