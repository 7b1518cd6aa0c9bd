"""What one more of a limit saves."""

from __future__ import annotations

import pytest

from planner.analysis import marginal_values
from planner.optimization.solver import Solution

EAST, WEST = ("aws", "us-east-1"), ("aws", "us-west-2")
HOURS = 730.0
QUOTA = {
    "provider": "aws", "region": "us-east-1", "code": "L-1", "title": "nodes in the east", "unit": "node",
    "limit": 10, "used": 0, "types": "*", "kinds": "on_demand", "as_of": "2026-11-20", "source_id": "drawn",
}  # fmt: skip


@pytest.fixture
def case(priced, ask, case_of):
    """Eleven nodes all month, ten at most in the cheap region: 730 h x (10 x 0.5 + 0.9) = 4,307.00 a month."""
    measured = [{"accelerator": "T4", "units_per_second": 2.0, "per": "job", "count": 1}]
    service = {
        "name": "service", "kind": "inference", "spread": True, "measurements": measured,
        "demand": {"requests_per_second": 22.0},
    }  # fmt: skip
    catalog = priced({(*EAST, "g4dn.xlarge", "on_demand"): 0.5, (*WEST, "g4dn.xlarge", "on_demand"): 0.9})
    asked = ask(
        service, months=1, providers=["aws"], strategies=["cloud"], discount_rate_annual=0,
        quotas=[QUOTA], limits={"quotas": "hold"},
    )  # fmt: skip
    return case_of(asked, catalog)


def values(case):
    return marginal_values.compute_marginal_values(case.solved, "cloud", case.setting, of_demand=False)


@pytest.mark.parametrize("large", [5_000, 0])
def test_a_node_more_in_the_cheap_region_saves_the_difference(case, monkeypatch, large):
    """A tenth of 10 nodes is one: 730 h x (0.9 - 0.5) = 292.00, searched whole or by what the relaxation uses."""
    monkeypatch.setattr(marginal_values, "LARGE_COLUMNS", large)
    [east] = values(case)
    assert (east.added, east.is_known) == (1.0, True)
    assert (east.worth, east.per_unit) == (pytest.approx(-0.4 * HOURS), pytest.approx(-0.4 * HOURS))


def test_each_limit_of_a_large_program_goes_on_from_the_relaxation_of_all_of_them(case, monkeypatch):
    bases, solve = [], marginal_values.solve_used

    def solve_and_record(*program, basis):
        bases.append(basis)
        return solve(*program, basis=basis)

    monkeypatch.setattr(marginal_values, "LARGE_COLUMNS", 0)
    monkeypatch.setattr(marginal_values, "solve_used", solve_and_record)
    assert [each.worth for each in values(case)] == [pytest.approx(-0.4 * HOURS)]
    assert [basis is None for basis in bases] == [True, False]


def test_limits_share_the_work_of_all_of_them(case, monkeypatch):
    """Of one limit the first search, of all raised at once, has the whole of its work."""
    works, solve = [], marginal_values.solve_program

    def solve_and_record(program, *, work):
        works.append(work)
        return solve(program, work=work)

    monkeypatch.setattr(marginal_values, "solve_program", solve_and_record)
    monkeypatch.setattr(marginal_values, "ALL_LIMITS_WORK", 7e5)
    assert [each.is_known for each in values(case)] == [True]
    assert works == [marginal_values.EXPLAIN_WORK, 7e5]


@pytest.mark.parametrize(
    ("status", "objective", "bound", "worth"),
    [
        ("unsolved", 0.0, 0.0, None),
        ("within_gap", 1.1, 0.5, None),  # nothing cheaper was found, and half of the cost may be saved
        ("within_gap", 1.1, 0.9995, 0.0),
        ("within_gap", 0.9, 0.5, -0.1),
    ],
)
def test_a_saving_that_was_not_found_is_none_only_where_it_is_ruled_out(
    case, monkeypatch, status, objective, bound, worth
):
    """All as shares of the cost of the plan."""
    [cloud] = [each.strategy for each in case.solved if each.strategy.name == "cloud"]
    now = cloud.present_cost
    columns = () if status == "unsolved" else (1.0,)
    solution = Solution(status, objective * now, bound * now, columns)
    monkeypatch.setattr(marginal_values, "solve_program", lambda *_, **__: solution)
    [east] = values(case)
    assert east.is_known is (worth is not None)
    assert east.worth == (None if worth is None else pytest.approx(worth * now))
