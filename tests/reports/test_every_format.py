"""What every format must do, whatever the walk finds."""

import io
import json
import re
import subprocess
import sys
import zipfile
from dataclasses import replace

import pytest

from planner import reports
from planner.reports import folder_format, formats, load
from planner.reports.text import render_sections
from pricing.errors import InvalidPlugin

NAMES = list(formats())
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
IN_WORDS = [name for name in NAMES if name in ("text", "markdown", "json")]


def whole(name, plan):
    """All that a format can tell."""
    return render_sections(plan) if name == "text" else load(name).render(plan)


@pytest.mark.parametrize("name", NAMES)
def test_a_format_says_what_it_is(name):
    assert re.fullmatch(r"[a-z]+/[a-z0-9.+-]+(; charset=utf-8)?", load(name).MEDIA_TYPE)
    assert re.fullmatch(r"(\.[a-z]+)+", load(name).SUFFIX)


@pytest.mark.one_in(9)
@pytest.mark.parametrize("name", NAMES)
def test_the_same_plan_gives_the_same_bytes(name, plan):
    first = load(name).render(plan)
    assert first
    assert load(name).render(plan) == first


@pytest.mark.parametrize("name", NAMES)
def test_text_output_has_no_control_characters(name, hostile_plan):
    data = whole(name, hostile_plan)
    if data[:2] == b"PK":
        pytest.skip(f"{name} is no text; its own tests look inside")
    text = data.decode("utf-8-sig").replace("\r\n", "\n")
    if name == "json":
        text = re.sub(
            r"[\u202a-\u202e\u2066-\u2069]", "", text
        )  # JSON is exact: it escapes what must be, keeps the rest
    assert CONTROL.search(text) is None


@pytest.mark.parametrize("name", IN_WORDS)
def test_every_strategy_and_every_gap_is_named(name, large_plan):
    text = whole(name, large_plan).decode().replace("\n", " ")
    squeezed = re.sub(r"\s+", " ", text)
    for strategy in large_plan.strategies:
        assert strategy.name in squeezed
    for gap in large_plan.gaps:
        assert gap.subject in squeezed
        assert str(gap.effect) in squeezed


@pytest.fixture
def plan_without_bound(plan):
    """As after a search that ended before it had a bound, of a plan that earns more than it costs."""
    first, *others = plan.strategies
    unbounded = replace(first, status="within_gap", present_cost=-5.0, bound=None, gap_fraction=None)
    return replace(plan, strategies=(unbounded, *others))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", NAMES)
def test_a_plan_without_a_bound_has_none(name, plan_without_bound):
    data = whole(name, plan_without_bound)
    assert data
    if name in ("text", "markdown"):
        text = re.sub(r"[\s|]+", " ", data.decode())
        assert "status no bound found" in text
        assert re.search(r"proven bound, [A-Z]{3} none found", text)
        assert "gap to the bound -" in text
    if name == "json":
        found = json.loads(data)["strategies"][0]
        assert (found["bound"], found["gap_fraction"]) == (None, None)
        assert load(name).loads(data) == plan_without_bound


SHOWS_ID = {"text", "markdown", "json", "xlsx", "focus", "infracost", "terraform"}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", NAMES)
def test_the_digest_stands_where_the_id_stands(name, plan):
    """A workbook and a folder of Terraform are zip files. FOCUS has no rows where nothing is planned."""
    if name == "focus" and plan.status == "infeasible":
        pytest.skip("a header without rows")
    data = load(name).render(replace(plan, plan_id="0f0f0f0f0f0f", content_digest="a1b2c3d4e5f6"))
    parts = [data]
    if data[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(data)) as folder:
            parts = [folder.read(member) for member in folder.namelist()]
    shows_id, shows_digest = (any(mark in part for part in parts) for mark in (b"0f0f0f0f0f0f", b"a1b2c3d4e5f6"))
    assert shows_id == shows_digest
    assert shows_id or name not in SHOWS_ID


def test_listing_the_formats_imports_none_of_them():
    code = "import sys, planner.reports as r; list(r.formats()); print(sorted(m for m in sys.modules if 'xlsx' in m))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_format_is_checked_when_it_is_loaded_and_every_fault_is_named(tmp_path, monkeypatch):
    (tmp_path / "broken.py").write_text("SUFFIX = 1\ndef files(): ...\n")
    monkeypatch.setattr(reports, "__path__", [*reports.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "planner.reports.broken", raising=False)
    assert "broken" in formats()
    with pytest.raises(InvalidPlugin) as error:
        load("broken")
    for fault in (
        "MEDIA_TYPE is missing",
        "SUFFIX is 1",
        "render(plan) is missing",
        "files cannot be called as files(plan)",
    ):
        assert fault in str(error.value)


def test_formats_that_write_folders_are_known_by_their_protocol():
    assert [name for name in NAMES if folder_format(name)] == ["terraform"]


def test_an_unknown_format_is_a_key_error():
    with pytest.raises(KeyError):
        load("_shared")
    with pytest.raises(KeyError):
        load("pdf")


@pytest.mark.parametrize("name", ["text", "markdown"])
def test_what_is_printed_holds_no_command_of_a_build_server(name, small_plan):
    called = iter(("::error file=x::y", "##vso[task.setvariable variable=x]y", "  ##[add-mask]e"))
    names = {workload.name: next(called) for workload in small_plan.workloads}
    plan = replace(
        small_plan,
        workloads=tuple(replace(each, name=names[each.name]) for each in small_plan.workloads),
        strategies=tuple(
            replace(
                strategy,
                uses=tuple(replace(use, workload=names.get(use.workload, use.workload)) for use in strategy.uses),
                workloads=tuple(replace(cost, workload=names[cost.workload]) for cost in strategy.workloads),
            )
            for strategy in small_plan.strategies
        ),
    )
    text = whole(name, plan).decode()
    assert "error file=x" in text
    assert not re.search(r"^\s*::|##\w*\[", text, re.MULTILINE)
