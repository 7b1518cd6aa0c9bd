"""The tidy table: columns, sums and safety in a spreadsheet."""

import csv
import dataclasses
import io
import math

import pytest

from planner.reports.csv import COLUMNS, render

NUMBERS = {
    "month", "accelerators_per_node", "nodes", "node_hours", "units", "usable_from", "usable_to", "upfront",
    "per_month", "use_cost", "amount", "value",
}  # fmt: skip


def rows(plan):
    data = render(plan)
    assert data.startswith(b"\xef\xbb\xbf")
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def test_amounts_add_up_to_the_total_cost(plan):
    table = rows(plan)
    for strategy in plan.strategies:
        own = [row for row in table if row["strategy"] == strategy.name]
        total = math.fsum(float(row["amount"]) for row in own if row["amount"])
        assert total == pytest.approx(strategy.total_cost, abs=1e-6)
        assert {row["kind"] for row in own if row["amount"]} <= {"cash"}


def test_one_row_for_each_line(small_plan):
    # cloud: 9 cash + 6 uses; hybrid: 12 cash + 9 uses + 1 purchase; onprem: 1 row that says why not
    kinds = [row["kind"] for row in rows(small_plan)]
    assert sum(kind in ("cash", "use", "purchase", "infeasible") for kind in kinds) == 15 + 22 + 1
    # effective cost: 3 months of 3 and of 4 categories; 2 measures of 2 workloads in 2 strategies; 4 categories differ
    assert [kinds.count(kind) for kind in ("effective", "unit_cost", "bridge")] == [21, 8, 4]
    assert len(kinds) == 15 + 22 + 1 + 21 + 8 + 4


def test_every_view_adds_up_to_what_it_is_a_view_of(plan):
    table = rows(plan)
    for strategy in plan.strategies:
        own = [row for row in table if row["strategy"] == strategy.name]
        borne = [float(row["value"]) for row in own if row["kind"] == "effective"]
        assert not borne or math.fsum(borne) == pytest.approx(strategy.total_cost, abs=1e-6)
        saved = [float(row["value"]) for row in own if row["kind"] == "bridge"]
        assert not saved or math.fsum(saved) == pytest.approx(plan.recommendation.worth, abs=1e-6)


def test_returns_and_taxes_are_rows_too(long_plan):
    """Only amounts have a currency: months, rates and multiples have none."""
    found = {(row["kind"], row["measure"], row["name"]): row for row in rows(long_plan) if row["measure"]}
    assert found["owning", "payback_month", ""]["value"] == "9"
    assert found["owning", "payback_month", ""]["currency"] == ""
    assert ("owning", "discounted_payback_month", "") not in found
    level = found["owning", "break_even_price_per_accelerator_hour", "hourly prices"]
    assert (level["value"], level["currency"]) == ("3.75", "USD")
    purchase = "1 x DGX H200, ordered in month 1"
    assert found["depreciation", "gain_at_resale", purchase]["value"] == "-65200.0"
    assert found["depreciation", "book_value", purchase]["month_name"] == "2029-11"


def test_sums_by_hand(small_plan):
    cash = [row for row in rows(small_plan) if row["strategy"] == "hybrid" and row["kind"] == "cash"]
    # 3 x (18,250 + 29,200 + 5,000 + 12.50) = 157,387.50
    assert sum(float(row["amount"]) for row in cash) == 157387.5
    first = next(row for row in cash if row["category"] == "on_demand")
    assert (first["month"], first["month_name"], first["at"], first["amount"]) == ("1", "2026-12", "end", "29200.0")


def test_months_after_the_plan_have_their_names(large_plan):
    late = [row for row in rows(large_plan) if row["month"] == "36" and row["strategy"] == "hybrid"]
    assert [row["month_name"] for row in late] == ["2029-11"]


def test_numbers_are_numbers_and_texts_are_no_formulas(hostile_plan):
    for row in rows(hostile_plan):
        assert tuple(row) == COLUMNS
        for column, cell in row.items():
            if column in NUMBERS:
                assert cell == "" or math.isfinite(float(cell))
            else:
                assert not cell.startswith(tuple("=+-@\t\r＝＋－＠"))
                assert "\n" not in cell


def test_a_negative_amount_stays_a_number(large_plan):
    resale = [row["amount"] for row in rows(large_plan) if row["category"] == "resale" and row["kind"] == "cash"]
    assert resale == ["-1777777.777"]


def test_a_payment_stands_under_the_resource_it_is_for(small_plan):
    """So that a pivot by provider, region or type needs no other rows: each month's payments of the real titles."""
    chosen = small_plan.strategy("hybrid")
    node = "aws us-east-1 p5.48xlarge"
    titles = {
        "on_demand": f"{node} on_demand",
        "spot": f"{node} spot",
        "commitment": f"{node} reserved_1y (existing)",
        "egress": "a place unknown",
    }
    cash = tuple(dataclasses.replace(row, what=titles[row.category]) for row in chosen.cash)
    plan = dataclasses.replace(small_plan, strategies=(dataclasses.replace(chosen, cash=cash),))
    found = {row["category"]: row for row in rows(plan) if row["kind"] == "cash" and row["month"] == "1"}
    told = {
        category: (row["name"], row["provider"], row["purchase_option"], row["accelerator"])
        for category, row in found.items()
    }
    assert told == {
        "on_demand": ("p5.48xlarge", "aws", "on_demand", "H100"),
        "spot": ("p5.48xlarge", "aws", "spot", "H100"),
        "commitment": ("p5.48xlarge", "aws", "reserved_1y", "H100"),
        "egress": ("a place unknown", "", "", ""),
    }
    assert sum(float(row["amount"]) for row in found.values()) == 52462.5
