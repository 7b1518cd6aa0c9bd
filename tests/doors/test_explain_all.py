"""`--explain-input` finds what the plan finds: the same faults and the same exit code, for every sheet of the tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.intake.team_sheets import team_sheets
from tests.intake.test_asked_of_sheets import ASKED
from tests.intake.test_unseen_sheets import READ, cells

ROOT = Path(__file__).parents[2]
FOLDERS = (ROOT / "examples", ROOT / "tests/intake/recorded")
SETTINGS = ("--as-of", "2026-11-21")


class PlanningBegan(Exception):
    """Raised in place of the first solve: all checks were passed."""


def _list_files() -> dict[str, tuple[str, bytes]]:
    parsed = {sheet.name: (f"{sheet.name}.xlsx", sheet.workbook()) for sheet in team_sheets()}
    for folder in FOLDERS:
        parsed |= {
            path.name: (path.name, path.read_bytes()) for path in folder.glob("*.[cxoyj][dsalo]*") if path.is_file()
        }
    texts = {name: text for name, (text, *_) in {**ASKED, **READ}.items()}
    lines = {name: "\n".join(";".join(row) for row in cells(text)) for name, text in texts.items()}
    return parsed | {name: ("sheet.csv", text.encode()) for name, text in lines.items()}


FILES = _list_files()
QUICK_EVERY = 40
NAMES = [
    name if index % QUICK_EVERY == 0 else pytest.param(name, marks=pytest.mark.slow) for index, name in enumerate(FILES)
]


@pytest.mark.parametrize("name", NAMES)
def test_the_faults_are_those_of_the_plan(planner, tmp_path, monkeypatch, name):
    def begin(*_, **__):
        raise PlanningBegan

    monkeypatch.setattr("planner.pipeline._solve_case", begin)
    file, data = FILES[name]
    (tmp_path / file).write_bytes(data)
    plan = planner("estimate", file, *SETTINGS)
    explained = planner("estimate", "--explain-input", file, *SETTINGS)
    faults = [line.removeprefix("- ") for line in explained.out.partition("Problems (")[2].splitlines()[2:]]
    told = [line.removeprefix("  ") for line in plan.err.splitlines() if line.startswith("  ")]
    assert (plan.code == 2) == (explained.code == 2)
    assert faults == (told if plan.code == 2 else [])
    assert plan.code == 2 or "PlanningBegan" in next((tmp_path / "tmp").glob("*.log")).read_text()
