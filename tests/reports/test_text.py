"""The printed report: width, sums as a reader would add them, and the words that must be there."""

import re

from planner.reports.text import render


def shown(plan):
    return render(plan).decode()


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
