"""Requests that are quickly planned, and the command line to hold Python to."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from planner.cli._exit_codes import run

ROOT = Path(__file__).parents[2]
SHORT = {"months": 2, "start": "2026-12", "as_of": "2026-11-21", "strategies": ["cloud"]}
"""Settings of a plan of half a second."""
SCORING = {"name": "scoring", "demand": {"accelerator_hours_per_month": 730, "accelerator": "L4"}}


@pytest.fixture
def command(capfdbinary, monkeypatch, tmp_path) -> Callable[..., tuple[int, bytes]]:
    """Runs `planner ARGUMENTS` in an empty folder: its exit code and standard output."""
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: str) -> tuple[int, bytes]:
        code = run(arguments)
        sys.stdout.flush()
        return code, capfdbinary.readouterr()[0]

    return invoke


@pytest.fixture(scope="session")
def client() -> Iterator[httpx.Client]:
    """A client of the service, as tests/doors has it."""
    from planner.service import ServiceLimits
    from tests.doors.conftest import serving

    with serving(ServiceLimits(workers=1, seconds=600)) as client:
        yield client
