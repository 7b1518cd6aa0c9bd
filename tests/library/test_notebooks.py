"""The notebooks of examples/notebooks run from start to end, and show what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

import planner
from tests.library.conftest import ROOT

FOLDER = ROOT / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def execute(path: Path) -> list[Any]:
    """The code cells with what they gave; an error in one is the test's."""
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(FOLDER)}}
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources).execute()
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def shown(cell: Any, kind: str = "text/plain") -> str:
    """What a cell shows: printed text, or its value as this type."""
    texts = [output.get("text", "") or output.get("data", {}).get(kind, "") for output in cell.outputs]
    return "".join(texts)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_stored_without_outputs(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)


@pytest.mark.slow
def test_a_review_from_a_frame():
    cells = execute(FOLDER / "review-from-a-frame.ipynb")
    settings = {"months": 12, "start": "2026-12", "as_of": "2026-11-21", "effort": "quick"}
    plan = planner.plan(ROOT / "examples" / "capacity-review.csv", **settings)
    html = shown(cells[1], "text/html")
    assert plan.plan_id in html
    assert plan.content_digest[:12] in html
    assert "<svg" in html
    assert "2027-11" in shown(cells[2])
    assert "proposed: year" in shown(cells[4])
    assert shown(cells[5]) == "[730.0, 730.0, 730.0]", "8,760 hours of a year are 730 a month"
    assert shown(cells[-1]) == "True"


@pytest.mark.slow
def test_sensitivity_over_200_scenarios():
    cells = execute(FOLDER / "sensitivity.ipynb")
    text = shown(cells[1])
    assert "4.00 x" not in text
    assert "0.02 x" in text
    assert "3.52 x" in text, "every 25th of 200, from 0.02 to 4.00"
    html = shown(cells[-1], "text/html")
    assert html.count("<tr") == 1 + 3
    assert "<svg" in html


@pytest.mark.slow
def test_an_own_throughput_model():
    cells = execute(FOLDER / "own-throughput-model.ipynb")
    assert "predicted_by_plug_in" not in shown(cells[0])
    assert "predicted_by_plug_in" in shown(cells[2])
    assert "bandwidth (registered in Python)" in shown(cells[3])
    assert shown(cells[-1]).endswith("True)")


@pytest.mark.slow
def test_two_bills():
    cells = execute(FOLDER / "two-bills.ipynb")
    assert "mean of 2026-10" in shown(cells[1])
    assert "2026-08" in shown(cells[2])
    assert "topic" in shown(cells[3])
    assert "October" in shown(cells[4])


def test_every_notebook_is_run_here():
    text = Path(__file__).read_text(encoding="utf-8")
    assert [path.name for path in NOTEBOOKS if path.name not in text] == []
