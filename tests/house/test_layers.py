"""The contract of layers and rooms: it holds, and it would notice."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ABSURD = (
    ("planner/inputs/bills/bill.py", "planner.supply.candidates"),
    ("planner/inputs/bills/usage.py", "planner.finance.cashflow"),
    ("planner/inputs/formats/csv.py", "planner.supply.quotas"),
    ("planner/inputs/formats/json.py", "planner.performance.memory"),
    ("pricing/search/__init__.py", "planner.optimization.solver"),
    ("planner/reports/focus.py", "planner.optimization.strategy"),
    ("planner/analysis/risk/tornado.py", "planner.inputs.file_reader"),
    ("planner/analysis/comparison/attribution.py", "planner.reports.text"),
)
"""Imports that no reader would expect: by file, what it would import."""


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    environment = os.environ | {"PYTHONPATH": str(folder), "COLUMNS": "400"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="session")
def broken(tmp_path_factory) -> str:
    """What the linter says of a copy of the code that holds every absurd import."""
    root, folder = Path(__file__).parents[2], tmp_path_factory.mktemp("copy")
    shutil.copy(root / "pyproject.toml", folder)
    for package in ("planner", "pricing"):
        shutil.copytree(root / package, folder / package, ignore=shutil.ignore_patterns("__pycache__", "*.csv"))
    for file, module in ABSURD:
        path = folder / file
        path.write_text(f"{path.read_text(encoding='utf-8')}\nimport {module}\n", encoding="utf-8")
    done = lint(folder)
    assert done.returncode != 0
    return " ".join(done.stdout.split())


@pytest.mark.parametrize(("file", "module"), ABSURD, ids=[f"{file} imports {module}" for file, module in ABSURD])
def test_an_absurd_import_breaks_the_contract(broken, file, module):
    importer = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    assert f"{importer} -> {module} (l." in broken


def test_the_root_of_the_planner_holds_the_pipeline_and_its_entry(files):
    names = {path.name for path in files if path.parts[0] == "planner" and len(path.parts) == 2}
    assert names == {"__init__.py", "pipeline.py", "py.typed"}
