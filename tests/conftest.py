"""For every test: no data folder of whoever runs them, no verdict of the clock, any order that is asked for."""

from __future__ import annotations

import gc
import os
import random
import tempfile
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

ALIKE = {
    "deadline": None,  # how long an example takes says how busy the machine is
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
}
settings.register_profile("quick", max_examples=10, derandomize=True, **ALIKE)  # the same examples each time
settings.register_profile("thorough", max_examples=100, **ALIKE)
settings.load_profile("quick")  # `make slow` asks for the other; tests that count for themselves take parts of it

gc.set_threshold(50_000)  # as the program itself has it

SOLVER_TIME = 30
"""By how much the solver's limits of time are wider here: a plan that is cut off by one depends on the machine."""


TOGETHER = ("tests/doors/", "tests/house/", "tests/pricing/clouds/", "tests/reports/", "tests/terraform/")
"""Folders whose files go to one worker: they share a service, parsed sources, SDKs, plans, stand-ins of providers."""


@pytest.fixture(scope="session", autouse=True)
def _nothing_of_the_user() -> Iterator[None]:
    """No data folder, no settings and no wishes on colours of whoever runs the tests."""
    of_user = [name for name in os.environ if name.startswith("PLANNER_") or name in ("NO_COLOR", "FORCE_COLOR")]
    with tempfile.TemporaryDirectory(prefix="gpu-planner-data-") as folder, pytest.MonkeyPatch.context() as patch:
        for name in of_user:
            patch.delenv(name)
        patch.setenv("GPU_PLANNER_DATA", folder)
        patch.setenv("PLANNER_CONFIG", os.devnull)
        yield


@pytest.fixture(scope="session", autouse=True)
def _time_to_solve() -> Iterator[None]:
    from planner.optimization import solver

    plain = solver.load_solver

    def patient(program: Any, *, time_limit: float, **options: Any) -> Any:
        return plain(program, time_limit=SOLVER_TIME * time_limit, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solver, "load_solver", patient)
        yield


def pytest_collection_finish() -> None:
    """What is loaded by now stays: there is nothing to gain from searching it for cycles again and again."""
    gc.freeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run the tests in an order made from a number")


@pytest.hookimpl(tryfirst=True)  # before the marks decide which tests run
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    cases: Counter[str] = Counter()
    for item in items:
        if mark := item.get_closest_marker("one_in"):
            test = item.nodeid.partition("[")[0]
            if cases[test] % mark.args[0]:
                item.add_marker("slow")
            cases[test] += 1
    if (seed := config.getoption("--shuffle")) is not None:
        random.Random(seed).shuffle(items)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With `--dist loadfile` some folders are one file."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class ByFileOrFolder(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return next((folder for folder in TOGETHER if nodeid.startswith(folder)), super()._split_scope(nodeid))

    return ByFileOrFolder(config, log)
