"""The public names: they exist, the page of what is stable has them all, and type checkers see them."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import planner
from tests.library.conftest import ROOT

PAGE = ROOT / "docs" / "guides" / "stability.md"


def test_the_page_lists_what_the_package_exports():
    table = PAGE.read_text(encoding="utf-8").partition("## Python")[2].partition("All else")[0]
    assert sorted(set(re.findall(r"`(\w+)`", table)) - {"planner"}) == sorted(planner.__all__)


@pytest.mark.parametrize("name", planner.__all__)
def test_a_public_name_is_there_and_says_what_it_is(name):
    value = getattr(planner, name)
    assert name in dir(planner)
    if name != "__version__":
        assert len(inspect.getdoc(value) or "") > 20


def test_public_results_have_documented_members():
    for kind in (planner.PlanResult, planner.OfferList, planner.ScenarioSet):
        members = [name for name in dir(kind) if not name.startswith("_")]
        undocumented = [name for name in members if not inspect.getdoc(getattr(kind, name))]
        assert [name for name in undocumented if name not in kind.__dataclass_fields__] == []


def test_another_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="plann"):
        planner.plann  # noqa: B018  (the access is the test)


TYPED = """
import planner
result: planner.PlanResult = planner.plan({"workloads": []}, months=3)
total: float = result.plan.strategies[0].total_cost
rows: int = len(result.frame("cash"))
compared: planner.ScenarioSet = planner.scenarios("sheet.csv", {"a": {}})
names: list[str] = [each.id for each in planner.OpenQuestions((), ()).doubts]
reveal_type(planner.offers())
planner.plan()
planner.nothing
"""


@pytest.mark.slow
def test_type_checkers_see_the_public_names(tmp_path: Path):
    (tmp_path / "use.py").write_text(TYPED)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", "", "use.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    errors = [line for line in done.stdout.splitlines() if "use.py" in line and ": error:" in line]
    assert 'planner.library.offer_list.OfferList"' in done.stdout
    assert [re.search(r":(\d+):", line)[1] for line in errors] == ["9", "10"], done.stdout
