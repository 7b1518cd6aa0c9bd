"""The printed report: width, sums as a reader would add them, and the words that must be there."""

import dataclasses
import re
from dataclasses import replace

from planner.reports.markdown import render as markdown
from planner.reports.text import render_sections
from planner.result.marginal_values import MarginalValue


def shown(plan):
    return render_sections(plan).decode()


def section(text, title):
    """The lines under the heading that starts with `title`."""
    lines = text.split("\n")
    start = next(i for i, line in enumerate(lines) if line.startswith(title) and set(lines[i + 1]) == {"-"})
    end = next((i for i in range(start + 2, len(lines)) if lines[i] == ""), len(lines))
    return lines[start + 2 : end]


def figures(line):
    """The numbers of a table row after its first cell; a dash is zero."""
    return [0 if cell == "-" else int(cell.replace(",", "")) for cell in re.split(r" {2,}", line.strip())[1:]]


def test_no_line_is_wider_than_a_page(plan):
    assert max(len(line) for line in shown(plan).split("\n")) <= 110


def test_the_recommendation_comes_first(small_plan):
    assert shown(small_plan).split("\n")[2] == "Commit to one p5.48xlarge for a year and rent the rest by the hour."


def test_cash_adds_up_along_and_down(small_plan):
    rows = section(shown(small_plan), "Cash by month")
    body = [figures(line) for line in rows if re.match(r"\d{4}-\d\d", line)]
    total = figures(next(line for line in rows if line.startswith("total")))
    # commitment 3 x 18,250; on demand 3 x 29,200; spot 3 x 5,000; egress 3 x 12.50 = 37.50; in all 157,387.50
    assert total == [157388, 54750, 87600, 15000, 38]
    assert [sum(column) for column in zip(*body, strict=True)] == total
    assert all(sum(row[1:]) == row[0] for row in body)


def test_a_long_plan_adds_up_too(large_plan):
    rows = section(shown(large_plan), "Cash by month")
    body = [figures(line) for line in rows if re.match(r"\d{4}-\d\d", line)]
    total = figures(next(line for line in rows if line.startswith("total")))
    assert total[0] == round(large_plan.strategy("hybrid").total_cost)
    assert [sum(column) for column in zip(*body, strict=True)] == total


def test_what_falls_due_after_the_plan_is_one_line(large_plan):
    # 24 months of a commitment of 143,210.987 outlast the plan: 3,437,063.69
    line = next(line for line in shown(large_plan).split("\n") if line.startswith("2027-12..2029-11"))
    assert "3,437,064" in line


def test_equal_months_are_one_line(small_plan):
    lines = [line for line in section(shown(small_plan), "Rentals") if line.startswith("2026-12..2027-02")]
    assert len(lines) == 3
    # 730 hours on demand at 40 for three months: 2,190 node-hours, 87,600
    assert any("on_demand" in line and "2,190" in line and "87,600" in line for line in lines)


def test_costs_of_workloads_add_up_to_the_total(small_plan):
    rows = section(shown(small_plan), "Workloads")
    assert "142,350" in "".join(rows)
    assert rows[-1].split() == ["total", "157,388"]
    # 142,350 / 3 = 47,450 a month against 40,000: 18.6 % over; 15,037.50 / 3 = 5,012.50 is within 9,000
    assert "18.6 %" in "".join(rows)
    assert "within 9,000" in "".join(rows)


def test_break_even_says_never(small_plan):
    rows = section(shown(small_plan), "Break-even")
    assert "never" in next(line for line in rows if line.startswith("DGX A100"))
    assert re.search(r"14\s+41 %", next(line for line in rows if line.startswith("DGX H100")))


def test_the_oldest_price_has_its_age(small_plan):
    # 1 August to 21 November 2026: 30 + 30 + 31 + 21 = 112 days
    assert "2026-08-01, 112 days before 2026-11-21" in shown(small_plan)


def test_rows_of_the_input_are_accounted_for(small_plan):
    text = shown(small_plan)
    assert "4 rows in = 2 used + 2 refused." in text
    assert "refused Plan!A7: total (read: Total)" in text


def test_overridden_assumptions_are_marked(small_plan):
    assert "pue *" in shown(small_plan)


def test_an_impossible_plan_says_why_and_shows_no_costs(impossible_plan):
    text = shown(impossible_plan)
    assert text.startswith("Recommendation\n--------------\nNo plan is possible")
    assert "onprem: no accelerator has 2,000 GiB" in text
    assert "Cash by month" not in text


def test_a_plan_of_years_shows_years_in_short_and_months_in_full(long_plan):
    text = shown(long_plan)
    assert "Cash by month" not in text
    from_december = replace(long_plan, fiscal_year_starts=12)
    rows = section(shown(from_december), "Cash and effective cost by year")
    # year 1: 300,000 + 6 x 12,000.25 on demand + power 6 x 100.40 + (7 + ... + 12 = 57) = 372,660.90; effective: 6 of
    # 30 months of use bear 6 x (300,000 - 50,000) / 30 = 50,000 instead of the 300,000
    first, second = (next(i for i, line in enumerate(rows) if line.startswith(year)) for year in ("FY26", "FY27"))
    assert (rows[first].split()[2], rows[first + 1].split()[1]) == ("372,661", "122,661")
    # year 2 pays only power, 12 x 100.40 + (13 + ... + 24 = 222) = 1,426.80, and bears 100,000 besides
    assert (rows[second].split()[2], rows[second + 1].split()[1]) == ("1,427", "101,427")
    full = markdown(long_plan).decode()
    assert "<summary>Cash by month" in full
    assert "<summary>Effective cost by month" in full


def test_years_of_both_views_add_up_to_the_same_total(long_plan):
    rows = section(shown(long_plan), "Cash and effective cost by year")
    body = [re.split(r" {2,}", line.strip()) for line in rows[2:] if line.startswith(("20", " "))]
    total = figures(rows[-3])
    for view in ("cash", "effective"):
        lines = [line[line.index(view) :] for line in body if view in line]
        amounts = [[0 if cell == "-" else int(cell.replace(",", "")) for cell in line[1:]] for line in lines]
        assert [sum(column) for column in zip(*amounts, strict=True)] == total
        assert all(sum(row[1:]) == row[0] for row in amounts)


def test_effective_cost_stands_beside_the_cash_of_a_year(large_plan, small_plan):
    hybrid = dataclasses.replace(
        large_plan, recommendation=dataclasses.replace(large_plan.recommendation, strategy="hybrid")
    )
    rows = section(shown(hybrid), "Cash by month")
    assert rows[0].split()[:3] == ["month", "total", "effective"]
    totals = figures(next(line for line in rows if line.startswith("total")))
    assert totals[0] == totals[1] == round(large_plan.strategy("hybrid").total_cost)
    assert "effective" not in section(shown(small_plan), "Cash by month")[0]  # nothing is paid ahead


def test_the_bridge_adds_up_along_and_down(small_plan):
    rows = section(shown(small_plan), "From runner-up to recommendation")
    body = [re.split(r" {2,}", line.strip()) for line in rows[2:] if not line.startswith("-")]
    amounts = [[0 if cell == "-" else int(cell.replace(",", "")) for cell in line[1:]] for line in body]
    assert [sum(column) for column in zip(*amounts[:-1], strict=True)] == amounts[-1]
    assert all(before - after == saved for before, after, saved in amounts)
    assert amounts[-1][2] == round(small_plan.recommendation.worth)


def test_returns_say_several_and_never(long_plan):
    text = shown(long_plan)
    line = next(line for line in section(text, "Owning against renting") if line.startswith("hybrid"))
    assert "several: -25 %, 50 %" in line
    assert re.search(r"month 9 \(2027-08\) +never", line)
    told = " ".join(text.split())
    assert "where all on-demand and spot prices are above 0.75 times today's: 3.75 instead of 5.00 USD" in told
    assert "hybrid costs less than cloud at any level of cloud prices (commitments too)." in told


def test_depreciation_leaves_what_it_does_not_deduct(long_plan):
    rows = section(shown(long_plan), "Depreciation and tax")
    assert [line.split()[1:] for line in rows if line.startswith("20")] == [
        ["60,000", "240,000", "12,600"],
        ["96,000", "144,000", "20,160"],
        ["28,800", "115,200", "6,048"],
    ]
    assert any(line.startswith("sold for 50,000, loss") and "65,200" in line for line in rows)
    assert "before tax" in " ".join(rows)


def test_there_are_no_sections_for_what_a_plan_does_not_tell(impossible_plan):
    text = shown(impossible_plan)
    for title in ("From runner-up", "Owning against", "Unit economics", "Depreciation"):
        assert f"\n{title}" not in text


def test_marginal_costs_are_figures_that_can_be_read(small_plan):
    """A saving by a share of work is as large as it is, and what the solver's tolerance leaves is none."""
    rows = (
        MarginalValue("limit", "share on spot", "of the work", 0.05, -3502.6, -70051.9),
        MarginalValue("limit", "opex_per_year year 1", "a year", 200_000.0, -6.4e-10, -3.2e-15),
        MarginalValue("demand", "train", "samples", 216_000.0, 299.2, 299.2 / 216_000),
        MarginalValue("demand", "serve", "requests", 10.0, None, None),
        MarginalValue("demand", "tune", "samples", 10.0, None, None, is_known=False),
    )
    plan = dataclasses.replace(small_plan, margins=rows)
    lines = section(shown(plan), "Marginal cost")[-5:]
    assert [re.split(r" {2,}", line.strip()) for line in lines] == [
        ["share on spot: of the work", "0.05", "-3,503", "-70,052"],
        ["opex_per_year year 1: a year", "200,000", "-", "-"],
        ["train: samples", "216,000", "299", "1.385 per thousand samples"],
        ["serve: requests", "10", "cannot be served", "-"],
        ["tune: samples", "10", "unknown", "-"],
    ]
