"""Decisions under uncertainty as a user meets them: asked for on the command line or in a request, and shown."""

from __future__ import annotations

import io
import json
import math
from collections import defaultdict
from pathlib import Path

import openpyxl
import pytest

from planner.reports.json import loads

REVIEW = str(Path(__file__).parents[2] / "examples" / "capacity-review.xlsx")
REQUEST = """
workloads:
  - name: chat
    kind: inference
    demand: {accelerator_hours_per_month: 8760, accelerator: L40S}
months: 12
start: 2026-12
providers: [aws]
regions: [us-east-1]
strategies: [cloud]
"""
ASKED = """uncertainty:
  ranges: {demand_change_annual: {low: -0.5, high: 1.0}}
  scenarios: 6
  draws: 100
  seed: 3
"""


@pytest.fixture
def request_file(tmp_path):
    def write(more: str = "", name: str = "request.yaml"):
        path = tmp_path / name
        path.write_text(REQUEST + more, encoding="utf-8")
        return path

    return write


def test_every_report_shows_what_to_commit_to_now(planner, request_file, tmp_path):
    made = tmp_path / "plan.json", tmp_path / "plan.xlsx", tmp_path / "plan.md"
    outputs = [part for path in made for part in ("-o", str(path))]
    ran = planner("estimate", "--full", "--as-of", "2026-11-21", str(request_file(ASKED)), *outputs)
    assert ran.code == 0, ran.err
    found = loads(made[0].read_bytes()).uncertainty
    [cloud] = found.strategies
    best = next(rule for rule in cloud.rules if rule.rule == "least_mean")
    assert "Decisions under uncertainty" in ran.out
    first_screen = " ".join(ran.out.partition("Strategies\n")[0].split())
    assert f"{best.mean_cost:,.0f} USD on average and {best.tail_cost:,.0f} in the dearest 10 %" in first_screen
    assert "Decide now for 12 x g6e.xlarge" in first_screen
    assert (
        "of cases; the planned figures alone say the same. The plan below is for the planned figures: " in first_screen
    )
    assert "- Demand is as planned" not in ran.out
    assert "g6e.xlarge" in ran.out.partition("What to commit to now")[2]
    assert f"{best.tail_cost:,.0f}" in made[2].read_text()
    book = openpyxl.load_workbook(io.BytesIO(made[1].read_bytes()))
    ladder, rules = (
        [[c.value for c in row] for row in book[name].iter_rows(min_row=5)] for name in ("Ladder", "Uncertainty")
    )
    assert len([row for row in ladder if row[0]]) == len(found.ladder)
    [row] = [row for row in rules if row[1] == "least mean cost"]
    assert row[2] == pytest.approx(best.mean_cost)
    assert row[8] == pytest.approx(cloud.information_value)
    contents = [c.value for c in book["Contents"]["A"]]
    assert "Ladder" in contents
    assert "Uncertainty" in contents


@pytest.mark.slow
def test_the_review_with_a_weight_on_the_dearest_cases(planner, tmp_path):
    """The plan decides what the sentence says to decide now, and says what that costs above the best plan for the
    planned figures. Owed of it whether used or not: g6e.xlarge at 1.1724 an hour for 8,760 h, the savings plan of one
    p5, 34.6752 an hour, 303,755, and block-days of p5.48xlarge in eu-north-1 at 24 x 37.76 = 906.24."""
    asked = ["--demand-range", "-20%,50%", "--tail-weight", "30%", "--scenarios", "20", "--as-of", "2026-11-21"]
    made = tmp_path / "plan.json"
    ran = planner("estimate", *asked, "--months", "12", "--start", "2026-12", REVIEW, "-o", str(made))
    assert ran.code == 0, ran.err
    shown = " ".join(ran.out.partition("Strategies\n")[0].split())
    found = loads(made.read_bytes())
    now = {step.name: step.most for step in found.uncertainty.ladder if step.is_now}
    assert shown.startswith("Recommendation -------------- Rent in the cloud. Decide now for ")
    assert f"Decide now for {now['g6e.xlarge']:,.0f} x g6e.xlarge reserved_1y_no_upfront" in shown
    cloud = found.strategy("cloud")
    bought = defaultdict(float)
    for each in cloud.purchases:
        bought[each.name] += each.amount if each.month <= found.uncertainty.decide_months else math.inf
    assert bought == pytest.approx(now)
    assert {use.name for use in cloud.uses} >= {"g6e.xlarge", "p5.48xlarge"}
    more = next(each for each in found.uncertainty.strategies if each.strategy == "cloud").robustness_cost
    assert more > 0
    assert f"With the planned figures that costs {more:,.0f} USD more than the best plan for them alone" in shown
    by_hand = now["g6e.xlarge"] * 1.1724 * 8760 + 34.6752 * 8760 + now["p5.48xlarge"] * 24 * 37.76
    (owed,) = [each for each in found.recommendation.reasons if each.code == "owed_whatever_is_used"]
    assert owed.parameters["committed"] == pytest.approx(by_hand, abs=0.005 * 8760)
    committed, total = owed.parameters["committed"], found.strategy("cloud").total_cost
    assert f"Of the {total:,.0f} USD, {committed:,.0f} ({100 * committed / total:.1f} %) is for commitments" in shown
    assert found.recommendation.strategy == found.uncertainty.strategy
    for each in found.uncertainty.strategies:
        assert f"{each.strategy} {each.mean_regret:,.0f} ({each.largest_regret:,.0f})" in shown


def test_a_plan_without_it_has_no_such_section(planner, request_file, tmp_path):
    path = tmp_path / "plan.xlsx"
    ran = planner("estimate", "--full", "--as-of", "2026-11-21", str(request_file()), "-o", str(path))
    assert "Decisions under uncertainty" not in ran.out
    assert not {"Ladder", "Uncertainty"} & set(openpyxl.load_workbook(path).sheetnames)


def test_options_stand_over_a_setup_file_which_stands_over_the_request(planner, request_file, tmp_path):
    setup = tmp_path / "setup.yaml"
    setup.write_text("uncertainty: {scenarios: 5, ranges: {lead_time_months: {low: 6, high: 10}}, tail_weight: 0.1}\n")
    options = ["--setup", str(setup), "--tail-weight", "25%", "--demand-range", "-20%,50%", "--format", "json"]
    ran = planner("estimate", "--as-of", "2026-11-21", str(request_file(ASKED)), *options)
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)["uncertainty"]
    assert (found["tail_weight"], found["seed"], len(found["scenarios"])) == (0.25, 3, 5)
    ranges = {each["name"]: (each["low"], each["high"]) for each in found["figures"]}
    assert ranges["demand_change_annual"] == (-0.2, 0.5)
    assert ranges["lead_time_months"] == (6, 10)


def test_without_a_range_of_demand_the_plan_says_so(planner, request_file):
    options = ["--scenarios", "3", "--as-of", "2026-11-21"]
    ran = planner("estimate", "--full", *options, str(request_file()))
    assert ran.code == 0, ran.err
    assert "uncertainty.ranges.demand_change_annual" in ran.out


@pytest.mark.parametrize(
    ("ranges", "shown"),
    [
        ("{demand: {low: 0, high: 1}}", ("line 11 column 32", "demand_change_annual")),
        ("{demand_change_annual: {low: 0.5, high: 0.1}}", ("low is above high: 0.5 > 0.1",)),
        ("{demand_change_annual: {low: -1.5, high: 0.1}}", ("impossible values", "-1.5 to 0.1")),
        ("{lead_time_months: {low: 1, high: 4}}", ("outside the range", "1 to 4", "a range with 8")),
        ("{lead_time_months: {low: 1.5, high: 9}}", ("not a whole number of months",)),
        ("{value_loss_annual: {low: 0.1, high: 1.2}}", ("not a fraction",)),
        ("{throughput_level: {low: 0.5, high: 1e9}}", ("impossible values", "at most 100")),
        ("{spot_hours_to_interruption: {low: 0, high: 40}}", ("zero value", "more than 0 hours")),
    ],
)
def test_a_range_that_cannot_be_is_refused_with_its_place(planner, request_file, ranges, shown):
    ran = planner(
        "estimate", "--full", "--as-of", "2026-11-21", str(request_file(f"uncertainty: {{ranges: {ranges}}}\n"))
    )
    assert ran.code == 2
    for part in shown:
        assert part in ran.err


def test_every_wrong_option_is_told_at_once(planner, request_file):
    options = ["--demand-range", "much", "--tail-weight", "2", "--scenarios", "1", "--as-of", "2026-11-21"]
    ran = planner("estimate", *options, str(request_file()))
    assert ran.code == 2
    for option in ("--demand-range", "--tail-weight", "--scenarios"):
        assert option in ran.err
