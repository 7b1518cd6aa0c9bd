"""What one more of a limit saves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner.analysis import marginal_values
from planner.optimization.solver import Solution

EAST, WEST, OHIO = ("aws", "us-east-1"), ("aws", "us-west-2"), ("aws", "us-east-2")
PRICES = {(*EAST, "g4dn.xlarge", "on_demand"): 0.5, (*WEST, "g4dn.xlarge", "on_demand"): 0.9}
HOURS = 730.0
QUOTA = {
    "provider": "aws", "region": "us-east-1", "code": "L-1", "title": "nodes in the east", "unit": "node",
    "limit": 10, "used": 0, "types": "*", "kinds": "on_demand", "as_of": "2026-11-20", "source_id": "drawn",
}  # fmt: skip
QUOTA_WEST = {**QUOTA, "region": "us-west-2", "code": "L-2", "title": "nodes in the west", "limit": 1}


@pytest.fixture
def plan_nodes(priced, ask, case_of):
    """A service of so many nodes all month, at those prices and within those quotas."""

    def plan(nodes, prices, *quotas):
        measured = [{"accelerator": "T4", "units_per_second": 2.0, "per": "job", "count": 1}]
        service = {
            "name": "service", "kind": "inference", "spread": True, "measurements": measured,
            "demand": {"requests_per_second": 2.0 * nodes},
        }  # fmt: skip
        asked = ask(
            service, months=1, providers=["aws"], strategies=["cloud"], discount_rate_annual=0,
            quotas=list(quotas), limits={"quotas": "hold"},
        )  # fmt: skip
        return case_of(asked, priced(prices))

    return plan


@pytest.fixture
def case(plan_nodes):
    """Eleven nodes, ten at most in the cheap region: 730 h x (10 x 0.5 + 0.9) = 4,307.00 a month."""
    return plan_nodes(11, PRICES, QUOTA)


@pytest.fixture
def case_of_two_limits(plan_nodes):
    """Twelve nodes, ten at most in the cheap region and one in the next: 730 h x (10 x 0.5 + 0.9 + 1.3) = 5,256.00."""
    return plan_nodes(12, {**PRICES, (*OHIO, "g4dn.xlarge", "on_demand"): 1.3}, QUOTA, QUOTA_WEST)


@pytest.fixture
def searched(monkeypatch):
    """The work and the solution of each search for what limits save."""
    searches, solve = [], marginal_values.solve_program

    def solve_and_record(program, *, work):
        searches.append((work, solve(program, work=work)))
        return searches[-1][1]

    monkeypatch.setattr(marginal_values, "solve_program", solve_and_record)
    return searches


def values(case):
    return marginal_values.compute_marginal_values(case.solved, "cloud", case.setting, of_demand=False)


def present_cost(case):
    [cloud] = [each.strategy for each in case.solved if each.strategy.name == "cloud"]
    return cloud.present_cost


@pytest.mark.parametrize("large", [5_000, 0])
def test_a_node_more_in_the_cheap_region_saves_the_difference(case, monkeypatch, large):
    """A tenth of 10 nodes is one: 730 h x (0.9 - 0.5) = 292.00, searched whole or by what the relaxation uses."""
    monkeypatch.setattr(marginal_values, "SEARCHED_COLUMNS", large)
    [east] = values(case)
    assert (east.added, east.is_known) == (1.0, True)
    assert (east.worth, east.per_unit) == (pytest.approx(-0.4 * HOURS), pytest.approx(-0.4 * HOURS))


def test_what_all_limits_save_together_one_saves_that_allows_it(case_of_two_limits, searched):
    """With both raised, 11 and 1 nodes: the limit in the east alone allows that, and saves 730 h x (1.3 - 0.5) = 584.00
    without a search; the limit in the west saves 730 h x (1.3 - 0.9) = 292.00."""
    east, west = values(case_of_two_limits)
    assert (east.subject, west.subject) == ("quota aws us-east-1 L-1", "quota aws us-west-2 L-2")
    assert (east.worth, west.worth) == (pytest.approx(-0.8 * HOURS), pytest.approx(-0.4 * HOURS))
    assert len(searched) == 2


def test_limits_that_save_only_together_are_searched_one_by_one(plan_nodes, searched):
    """Thirteen nodes: with both raised 11 and 2, with one 11 and 1 or 10 and 2, the rest at 1.3."""
    both = plan_nodes(13, {**PRICES, (*OHIO, "g4dn.xlarge", "on_demand"): 1.3}, QUOTA, QUOTA_WEST)
    searched.clear()
    assert [each.worth for each in values(both)] == [pytest.approx(-0.8 * HOURS), pytest.approx(-0.4 * HOURS)]
    assert len(searched) == 3


def test_each_limit_of_a_large_program_goes_on_from_the_relaxation_of_all_of_them(case_of_two_limits, monkeypatch):
    bases, solve = [], marginal_values.solve_used

    def solve_and_record(*program, basis):
        bases.append(basis)
        return solve(*program, basis=basis)

    monkeypatch.setattr(marginal_values, "SEARCHED_COLUMNS", 0)
    monkeypatch.setattr(marginal_values, "solve_used", solve_and_record)
    assert [each.worth for each in values(case_of_two_limits)] == [
        pytest.approx(-0.8 * HOURS),
        pytest.approx(-0.4 * HOURS),
    ]
    assert [basis is None for basis in bases] == [True, False]


def test_limits_share_the_work_of_all_of_them(case_of_two_limits, searched, monkeypatch):
    """The first search, of all raised at once, has the whole of its work."""
    monkeypatch.setattr(marginal_values, "ALL_LIMITS_WORK", 14e5)
    assert [each.is_known for each in values(case_of_two_limits)] == [True, True]
    assert [work for work, _ in searched] == [marginal_values.EXPLAIN_WORK, 7e5]


@pytest.mark.parametrize(
    ("status", "objective", "bound", "worth"),
    [
        ("unsolved", 0.0, 0.0, None),
        ("within_gap", 1.1, 0.5, None),  # nothing cheaper was found, and half of the cost may be saved
        ("within_gap", 1.0, 0.5, None),
        ("within_gap", 1.1, 0.9995, 0.0),
        ("within_gap", 0.9, 0.5, -0.1),
    ],
)
def test_a_saving_that_was_not_found_is_none_only_where_it_is_ruled_out(
    case_of_two_limits, monkeypatch, status, objective, bound, worth
):
    """All as shares of the cost of the plan; the solution with all limits raised is the true one."""
    now = present_cost(case_of_two_limits)
    columns = () if status == "unsolved" else (1.0,)
    solve = marginal_values.solve_program
    solutions = [None, Solution(status, objective * now, bound * now, columns)]
    monkeypatch.setattr(
        marginal_values, "solve_program", lambda program, work: solutions.pop(0) or solve(program, work=work)
    )
    _, west = values(case_of_two_limits)
    assert solutions == []
    assert west.is_known is (worth is not None)
    assert west.worth == (None if worth is None else pytest.approx(worth * now))


def test_where_nothing_was_found_with_all_limits_raised_no_saving_is_known(case_of_two_limits, monkeypatch):
    monkeypatch.setattr(marginal_values, "solve_program", lambda *_, **__: Solution("unsolved", 0.0, 0.0, ()))
    assert [(each.worth, each.is_known) for each in values(case_of_two_limits)] == [(None, False), (None, False)]


@pytest.mark.parametrize(("bound", "worth"), [(0.5, None), (0.9 * 0.9995, 0.0)])
def test_a_cheaper_plan_within_the_limits_is_not_what_they_save(case_of_two_limits, monkeypatch, bound, worth):
    """As shares of the cost of the plan: 0.9 was found within the limits as they are."""
    now, solve = present_cost(case_of_two_limits), marginal_values.solve_program
    monkeypatch.setattr(marginal_values, "raise_limit", lambda program, *_: program)
    monkeypatch.setattr(
        marginal_values,
        "solve_program",
        lambda program, work: replace(solve(program, work=work), objective=0.9 * now, bound=bound * now),
    )
    found = [(each.worth, each.is_known) for each in values(case_of_two_limits)]
    assert found == [(worth, worth is not None)] * 2
