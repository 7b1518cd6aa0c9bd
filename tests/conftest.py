"""For every test: nothing of the data folder of whoever runs them is read, and none of it written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def _no_data_of_the_user() -> Iterator[None]:
    before = os.environ.get("GPU_PLANNER_DATA")
    with tempfile.TemporaryDirectory(prefix="gpu-planner-data-") as folder:
        os.environ["GPU_PLANNER_DATA"] = folder
        yield
    if before is None:
        del os.environ["GPU_PLANNER_DATA"]
    else:
        os.environ["GPU_PLANNER_DATA"] = before
