"""`planner diff` as a user runs it: two files, a table that adds up to the cent, one answer that names every fault."""

from __future__ import annotations

import json
import re
from decimal import Decimal

import pytest

PLACE = {"providers": ["gcp"], "regions": ["us-central1"]}
AMOUNT = re.compile(r"(?<!\S)([+-]?[\d,]+\.\d\d|-)(?!\S)")


@pytest.fixture
def plans(planner, hours, tmp_path):
    """Writes the plan of the usual request with these changes to a file of that name."""

    def make(name: str, per_month: float = 1460, **changes) -> str:
        hours["workloads"][0]["demand"]["accelerator_hours_per_month"] = per_month
        path = tmp_path / f"{name}-request.json"
        path.write_text(json.dumps({**hours, **PLACE, **changes}))
        ran = planner("estimate", str(path), "-o", f"{name}.json")
        assert ran.code in (0, 3), ran.err
        return f"{name}.json"

    return make


def amounts(line: str) -> list[Decimal]:
    return [Decimal(0) if text == "-" else Decimal(text.replace(",", "")) for text in AMOUNT.findall(line)]


def changed(tmp_path, source: str, target: str, change) -> str:
    """A copy of a plan's document with a change in it."""
    document = json.loads((tmp_path / source).read_text())
    document = change(document) or document
    (tmp_path / target).write_text(json.dumps(document))
    return target


def test_a_plan_against_itself(planner, plans):
    ran = planner("diff", plans("a"), "a.json")
    assert ran.code == 0
    assert ran.out.splitlines()[-1] == "no changes"
    assert ran.err == ""


def test_the_table_adds_up_to_the_cent(planner, plans):
    old = plans("old", 1460.37)
    new = plans("new", 1999.99, months=5, discount_rate_annual=0.1, assumptions={"cloud_tax_fraction": 0.0731})
    ran = planner("diff", old, new)
    assert ran.code == 0
    lines = ran.out.splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("old plan"))
    end = next(n for n, line in enumerate(lines) if line.startswith("new plan"))
    table = [amounts(line) for line in lines[start : end + 1]]
    for column in (0, 1):
        assert sum(row[column] for row in table[:-1]) == table[-1][column]
    causes = {line.split("  ")[0]: amounts(line) for line in lines[start + 1 : end]}
    assert list(causes) == ["discount rate", "demand", "assumption", "months"]
    for cause, shown in causes.items():
        first = next(n for n, line in enumerate(lines) if line.startswith(f"{cause}: ")) + 1
        behind = [amounts(line)[-2:] for line in lines[first:] if line.startswith("  ")][:1]
        assert behind == [shown], "one change behind each of these causes"
    assert "batch: 2,920.74 -> 3,999.98 accelerator-hours (+37.0%)" in ran.out
    assert "months planned: 2 -> 5 months" in ran.out


def test_json_has_every_digit_and_adds_up(planner, plans):
    ran = planner("diff", plans("old"), plans("new", 2000), "--json")
    found = json.loads(ran.out)
    assert ran.code == 0
    for index, name in ((0, "total"), (1, "present")):
        moved = sum(step[name] for step in found["steps"])
        assert found["restated"][index] + moved == pytest.approx(found["new"][index], abs=1e-6)
    assert [step["cause"] for step in found["steps"] if step["total"]] == ["demand"]


def test_the_recommendation_and_one_strategy_of_both(planner, plans, hours, tmp_path):
    hours["workloads"][0]["demand"]["accelerator"] = "H100"
    far = {
        "assumptions": {"lead_time_months": 0, "useful_life_months": 36},
        "months": 36,
        "providers": [],
        "regions": [],
    }
    old = plans("old", 20, strategies=["cloud", "hybrid"], **far)
    new = plans("new", 5840, strategies=["cloud", "hybrid"], **far)
    told = [json.loads((tmp_path / name).read_text())["recommendation"]["strategy"] for name in (old, new)]
    ran = planner("diff", old, new)
    assert told[0] != told[1]
    assert f"the recommendation changed from {told[0]} to {told[1]}" in ran.out
    heads = planner("diff", "--strategy", "hybrid", old, new).out.splitlines()[:2]
    assert [head.rpartition(": ")[2] for head in heads] == ["hybrid", "hybrid"]


def test_every_fault_of_both_files_is_told(planner, plans, tmp_path):
    good = plans("good")
    (tmp_path / "none.json").write_text("{}")
    (tmp_path / "text.json").write_text("no json at all")
    (tmp_path / "list.json").write_text("[1]")
    (tmp_path / "nan.json").write_text('{"schema_version": "2", "months": NaN}')
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "deep.json").write_text("[" * 100_000)
    changed(tmp_path, good, "later.json", lambda d: d.update(schema_version="3"))
    changed(tmp_path, good, "short.json", lambda d: d.pop("strategies") and None)
    expected = {
        "missing.json": "cannot be read",
        ".": "cannot be read",
        "none.json": "is no plan",
        "text.json": "is no JSON",
        "list.json": "is no plan",
        "nan.json": "NaN is no number",
        "bytes.json": "is no JSON",
        "deep.json": "is no JSON",
        "later.json": "is a plan of schema version 3",
        "short.json": "strategies",
    }
    for name, words in expected.items():
        for pair in ((name, good), (good, name), (name, name)):
            ran = planner("diff", *pair)
            assert (ran.code, ran.out) == (2, "")
            assert ran.err.count(f"  {name}: ") == pair.count(name)
            assert words in ran.err
            assert "Traceback" not in ran.err
    assert (
        planner("diff", "missing.json", "text.json")
        .err.splitlines()[0]
        .endswith("2 problems in the input; no files were written")
    )


def test_plans_that_are_impossible_or_lack_the_strategy(planner, plans, impossible, tmp_path):
    good = plans("good")
    (tmp_path / "request.json").write_text(json.dumps(impossible))
    assert planner("estimate", "request.json", "-o", "bad.json").code == 3
    ran = planner("diff", good, "bad.json")
    assert ran.code == 2
    assert "bad.json: is infeasible" in ran.err
    assert planner("diff", "bad.json", "bad.json").err.count("is infeasible") == 2
    ran = planner("diff", good, good, "--strategy", "onprem")
    assert ran.code == 2
    assert ran.err.count("good.json: has no strategy onprem that is feasible; expected one of cloud") == 2


@pytest.mark.one_in(7)
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d["strategies"][0].update(total_cost=1.0), "strategies[0].total_cost: is 1.00, but the payments"),
        (lambda d: d["strategies"][0]["cash"][0].update(month=99), "no month of the plan: 99"),
        (lambda d: d["strategies"][0]["uses"][0].update(workload="x\x1b[31m"), "no workload of the plan: x"),
        (lambda d: d["strategies"][0]["uses"][0].update(purchase_option="barter"), "no purchase option: barter"),
        (lambda d: d.update(month_names=[]), "2 months with 0 names"),
        (lambda d: d["workloads"][0].update(demand=[1.0]), "workloads[0].demand: 1 months"),
        (lambda d: d.update(discount_rate_annual=-1.0), "no rate: -1.0"),
    ],
)
def test_a_plan_that_was_tampered_with(planner, plans, tmp_path, change, words):
    good = plans("good")
    bad = changed(tmp_path, good, "bad.json", lambda d: change(d) and None)
    ran = planner("diff", good, bad)
    assert ran.code == 2, ran.out + ran.err
    assert words in ran.err
    assert "\x1b" not in ran.err
    assert "good.json" not in ran.err


def test_text_from_a_plan_is_made_harmless(planner, plans, tmp_path):
    old = plans("old")
    evil = "a\x1b]0;owned\x07\nb"

    def rename(document: dict) -> None:
        document["workloads"][0]["name"] = evil
        for use in document["strategies"][0]["uses"]:
            use["workload"] = evil

    ran = planner("diff", old, changed(tmp_path, old, "new.json", rename))
    assert ran.code == 0
    assert "\x1b" not in ran.out
    assert "workload renamed: batch is now" in ran.out


def test_help_names_the_causes(planner):
    from planner.analysis.comparison import CAUSES

    told = " ".join(planner("diff", "--help").out.split())
    assert all(cause in told for cause in CAUSES)
