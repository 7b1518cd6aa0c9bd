"""Variants of one request side by side."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import planner
from tests.library.conftest import SCORING, SHORT

ON_DEMAND = {**SHORT, "limits": {"purchase_options": ["on_demand"]}}
"""Billed by the hour: cost is in proportion to hours."""


def test_each_variant_is_the_plan_of_its_settings():
    variants = {
        "base": {},
        "one month": {"months": 1},
        "own rate": {"assumptions": {"discount_rate_annual": 0.2}},
    }
    compared = planner.scenarios(SCORING, variants, **SHORT)
    own = {name: planner.plan(SCORING, **{**SHORT, **each}) for name, each in variants.items()}
    rows = {row["scenario"]: row for row in compared.rows("scenarios")}
    assert list(rows) == list(variants)
    assert {name: row["plan_id"] for name, row in rows.items()} == {name: each.plan_id for name, each in own.items()}
    assert rows["one month"]["months"] == 1
    assert rows["own rate"]["assumptions.discount_rate_annual"] == 0.2
    assert compared["base"].plan == own["base"].plan
    assert len(compared) == 3


def test_a_demand_factor_multiplies_each_kind_of_demand():
    """By hand: 2 x 730; months 2 x (100, 200); the second workload alone is multiplied where it is named."""
    dated = {"2026-12": 10, "2027-01": 30}
    workloads = [
        SCORING,
        {"name": "listed", "demand": {"accelerator_hours_per_month": [100, 200], "accelerator": "L4"}},
        {
            "name": "dated",
            "demand": {"accelerator_hours_per_month": dated, "accelerator": "L4"},
        },
    ]
    compared = planner.scenarios(
        workloads, {"all": {"demand_factor": 2}, "one": {"demand_factor": {"listed": 1.5}}}, **SHORT
    )
    rows = compared.rows("requested_workloads")
    demands = {(row["scenario"], row["name"]): row["demand"] for row in rows}
    assert demands == {
        ("all", "scoring"): [1460, 1460], ("all", "listed"): [200, 400], ("all", "dated"): [20, 60],
        ("one", "scoring"): [730, 730], ("one", "listed"): [150, 300], ("one", "dated"): [10, 30],
    }  # fmt: skip


@given(st.floats(0.1, 5))
@settings(max_examples=5)
def test_hours_on_demand_cost_in_proportion(factor):
    job = {**SCORING, "kind": "batch"}
    compared = planner.scenarios(job, {"base": {}, "more": {"demand_factor": factor}}, **ON_DEMAND)
    base, more = (row["total_cost"] for row in compared.rows("scenarios"))
    assert more == pytest.approx(factor * base, rel=1e-6)


def test_a_sheet_is_read_and_answered_once_for_all():
    frame = pd.DataFrame({"Workload": ["a"], "GPU": ["L4"], "GPU hours FY27": [8760]})
    with pytest.raises(planner.OpenQuestions) as raised:
        planner.scenarios(frame, {"base": {}, "more": {"demand_factor": 2}}, **SHORT)
    assert len(raised.value.complaints) == 1, "a question of every variant is one question"
    compared = planner.scenarios(
        frame, {"base": {}, "more": {"demand_factor": 2}}, answers=raised.value.proposals, **SHORT
    )
    base, more = compared.rows("requested_workloads")
    assert (base["demand"], more["demand"]) == ([730, 730], [1460, 1460])


def test_the_faults_of_all_variants_are_named_before_any_is_planned():
    variants = {
        "good": {},
        "typo": {"monts": 3},
        "negative": {"demand_factor": -1},
        "stranger": {"demand_factor": {"scorng": 2}},
        "late": {"months": 1000},
    }
    with pytest.raises(planner.InvalidRequest) as raised:
        planner.scenarios(SCORING, variants, **SHORT)
    text = str(raised.value)
    assert len(raised.value.complaints) == 4
    for part in (
        "variants['typo'] monts=",
        "variants['negative'] demand_factor=",
        "scoring",
        "variants['late'] months=",
    ):
        assert part in text


@pytest.mark.parametrize("variants", [{}, [], None])
def test_no_variants_are_a_fault(variants):
    with pytest.raises(planner.InvalidRequest, match="no scenarios"):
        planner.scenarios(SCORING, variants, **SHORT)


def test_an_infeasible_variant_is_a_row_with_its_status():
    variants = {"base": {}, "tight": {"limits": {"opex_per_year": 1}}}
    compared = planner.scenarios(SCORING, variants, **SHORT)
    frame = compared.frame("scenarios").set_index("scenario")
    assert list(frame["status"]) == ["optimal", "infeasible"]
    assert frame["total_cost"].isna().tolist() == [False, True]
    assert frame["limits.opex_per_year"].isna().tolist() == [True, False]
    html = compared._repr_html_()
    assert html.startswith('<div class="gpu-planner">')
    assert "<svg" in html


def test_tables_of_all_plans_have_their_scenario():
    compared = planner.scenarios(SCORING, {"base": {}, "more": {"demand_factor": 2}}, **SHORT)
    cash = compared.frame("cash")
    totals = cash.groupby("scenario")["amount"].sum()
    costs = compared.frame("scenarios").set_index("scenario")["total_cost"]
    assert totals.to_dict() == pytest.approx(costs.to_dict())
