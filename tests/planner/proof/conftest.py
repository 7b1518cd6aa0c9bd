"""Loads the helpers of this folder, which stands apart from the code that it proves."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


def _load(name: str) -> ModuleType:
    full = f"proof_{name}"
    if full not in sys.modules:
        spec = importlib.util.spec_from_file_location(full, Path(__file__).parent / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[full] = module
        spec.loader.exec_module(module)
    return sys.modules[full]


@pytest.fixture(scope="session")
def given() -> ModuleType:
    return _load("given")


@pytest.fixture(scope="session")
def brute_force() -> ModuleType:
    for name in ("linear", "homes", "standing", "question"):
        _load(name)
    return _load("brute_force")


@pytest.fixture(scope="session")
def instances() -> ModuleType:
    return _load("instances")


@pytest.fixture(scope="session")
def mathematics() -> ModuleType:
    pytest.importorskip("linopy", reason="linopy is a development dependency: the independent formulation needs it")
    for name in ("linear", "homes", "standing"):
        _load(name)
    return _load("mathematics")


@pytest.fixture(scope="session")
def hours() -> ModuleType:
    return _load("hours")
