"""The first screen: at most 60 lines, with the decision, cash, cost centres, orders, risks and doubts, by hand."""

from __future__ import annotations

import dataclasses

import pytest

from planner.reports._content.first_screen import first_screen
from planner.reports.text import SECTIONS, render, render_sections
from planner.result.financial_views import CostCentreMonth
from planner.result.message import message
from planner.result.sources import RefusedRow


def shown(plan):
    return render(plan).decode()


def with_centres(plan, rows):
    return dataclasses.replace(plan, views=dataclasses.replace(plan.views, cost_centres=tuple(rows)))


def test_it_has_sixty_lines_at_most(plan):
    assert shown(plan).count("\n") <= 60


def test_many_purchases_teams_notes_and_reasons_fit_too(large_plan):
    rows = [CostCentreMonth(m, f"Team {t}", 10.0, 10.0, 1.0, 0.0, 5.0, 5.0) for m in range(1, 13) for t in range(40)]
    plan = with_centres(large_plan, rows)
    notes = tuple(f"note {number} " + "long " * 80 for number in range(30))
    refused = tuple(RefusedRow(f"Plan!{row}", "hidden row", "") for row in range(90))
    plan = dataclasses.replace(plan, inputs=dataclasses.replace(plan.inputs, notes=notes, rows_refused=refused))
    reasons = tuple(message("flips_need_planned_figures") for _ in range(40))
    plan = dataclasses.replace(plan, recommendation=dataclasses.replace(plan.recommendation, reasons=reasons))
    assert shown(plan).count("\n") <= 60
    text = " ".join(shown(plan).split())
    assert "others" in text
    assert "more cost centres pass their budgets" in text
    assert "90 rows left out" in text
    assert "more remarks: --section recommendation." in text


def test_what_is_on_it_stands_in_this_order(small_plan):
    titles = ("Recommendation", "Cash by month", "What to order by when", "Risks", "Not understood", "The whole report")
    places = [shown(small_plan).index(f"{title}") for title in titles]
    assert places == sorted(places)


def test_cash_is_that_of_each_month(small_plan):
    # 18,250 + 29,200 + 5,000 + 12.50 = 52,462.50 a month, in all 157,387.50: shown as 157,388
    row = next(line for line in shown(small_plan).split("\n") if line.strip().startswith("52,46"))
    assert sum(int(cell.replace(",", "")) for cell in row.split()) == 157388


def test_cost_centres_show_idle_hours_budget_and_variance(small_plan):
    """Red: 3 x 100 in cash, of it 3 x 20 idle, against 3 x 90: over by 30, in all three months."""
    red = [CostCentreMonth(month, "Red", 100.0, 100.0, 20.0, 0.0, 90.0, 10.0) for month in (1, 2, 3)]
    blue = [CostCentreMonth(month, "Blue", 0.0, 400.0, 0.0, 0.0, None, None) for month in (1, 2, 3)]
    text = shown(with_centres(small_plan, [*red, *blue]))
    rows = text.partition("Cost by cost centre")[2].split("\n")
    titles = ["cost centre", "cash", "effective", "of it idle", "with a budget", "budget", "variance", "months over"]
    assert rows[2].split() == " ".join(titles).split()
    assert next(row for row in rows if row.startswith("Red")).split()[1:] == [
        "300",
        "300",
        "60",
        "300",
        "270",
        "+30",
        "3",
    ]
    assert next(row for row in rows if row.startswith("Blue")).split()[1:] == ["-", "1,200", "-", "-", "-", "-", "-"]
    assert "Red passes its budget of 90 a month in 3 of 3 months, most in 2026-12 (+10)." in " ".join(text.split())


def test_orders_and_quotas_stand_by_their_month(small_plan):
    rows = shown(small_plan).partition("What to order by when")[2].partition("Risks")[0]
    assert "1 x p5.48xlarge" in rows


def test_the_dearest_orders_are_listed_and_the_others_are_added_up(large_plan):
    (chosen,) = [each for each in large_plan.strategies if each.name == large_plan.recommendation.strategy]
    first = chosen.purchases[0]
    orders = [(1, 10.0, 0.0), (1, 20.0, 5.0), (2, 0.0, 400.0), (3, 3000.0, 0.0), (4, 2000.0, 0.0), (5, 1000.0, 7.0)]
    purchases = tuple(
        dataclasses.replace(first, month=month, usable_from=month, usable_to=month, upfront=upfront, per_month=monthly)
        for month, upfront, monthly in orders
    )
    chosen = dataclasses.replace(chosen, purchases=purchases)
    strategies = tuple(chosen if each.name == chosen.name else each for each in large_plan.strategies)
    screen = first_screen(dataclasses.replace(large_plan, strategies=strategies, quota_requests=()), 2)
    (section,) = [each for each in screen if each.title.startswith("What to order")]
    by = [(row[0], *row[3:]) for row in section.blocks[0].rows]
    # of 3,000, 2,000, 1,007, 400, 25 and 10 the first three are listed; 10 + 20 + 0 at once, 0 + 5 + 400 a month
    assert [amounts for _, *amounts in by] == [["3,000", "-"], ["2,000", "-"], ["1,000", "7"], ["30", "405"]]
    assert by[-1][0] == "2026-12 on"


@pytest.mark.parametrize("name", sorted(SECTIONS))
def test_each_part_can_be_had_alone(small_plan, name):
    part = render_sections(small_plan, [name]).decode()
    whole = render_sections(small_plan).decode()
    assert part.strip()
    assert part.strip() in whole or part.startswith("This plan has nothing")
