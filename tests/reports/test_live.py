"""A workbook is live: with other inputs it says what a plan made anew with them says, to the cent.

The five plans pay in every way that there is. Here the workbook is computed by `sheets.py`; the slow tests have it
computed by LibreOffice, from stored values that are wrong on purpose.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace

import pytest

from planner.application import plan
from planner.reports._content.cost_centres import group_by_team
from planner.reports._content.repricing import HIGH_COST, LOW_COST, LedgerRepricing
from planner.reports.xlsx import render
from planner.result import Plan
from pricing.catalog.price_catalog import Catalog
from pricing.private_prices import PrivatePriceRule, RateCard

NAMES = ("one job", "owned on a loan", "committed", "service in euros", "owned on a lease")
EVERY_DAY = "owned on a loan"
CASES = [name if name == EVERY_DAY else pytest.param(name, marks=pytest.mark.slow) for name in NAMES]
CENT = 0.01


@dataclass(frozen=True)
class Made:
    """A case, its plan and workbook (`book` computes it), and the plan made anew with the case's moves."""

    case: object
    plan: Plan
    data: bytes
    book: object
    anew: Plan

    def with_inputs(self, inputs: dict[tuple[str, str], float | str]) -> dict:
        """The sheets that count as rows of values, computed with other inputs."""
        before = {(sheet, cell): self.book.value(sheet, cell) for sheet, cell in inputs}
        for (sheet, cell), value in inputs.items():
            self.book.edit(sheet, cell, value)
        names = ("Cash flow", "Effective cost", "Cost centres", "Checks", "Depreciation")
        values = {name: self._rows(name) for name in names if name in self.book.book.sheetnames}
        for (sheet, cell), value in before.items():
            self.book.edit(sheet, cell, value)
        return values

    def _rows(self, name: str) -> list[list]:
        rows = self.book.book[name].iter_rows()
        values = ([self.book.value(name, cell.coordinate) for cell in row] for row in rows)
        return [["" if value is None else value for value in row] for row in values]


@pytest.fixture(scope="session")
def made(live_plans, sheets):
    """The case of a name, solved once."""
    known: dict[str, Made] = {}

    def make(name: str) -> Made:
        if name not in known:
            case = live_plans.CASES[name]()
            first = plan(case.request(), case.catalog)
            anew, data = plan(case.request(**case.moves), _catalog(case, first)), render(first)
            known[name] = Made(case, first, data, sheets.Sheets(data), anew)
        return known[name]

    return make


def _catalog(case, first: Plan) -> Catalog:
    """The case's catalogue, with the price of the plan's first offer that is moved agreed instead of listed."""
    if case.offer_times is None:
        return case.catalog
    price = _paid(first)
    rule = PrivatePriceRule(
        price.provider, "", price.instance_type, price.region, price.purchase_option, None,
        price.price_per_hour * case.offer_times, price.currency, price.as_of, None, "", "card:1",
    )  # fmt: skip
    base = case.catalog
    return Catalog(base.layout, base._cache, base.exchange, RateCard((rule,), "card"))


def _paid(found: Plan):
    """The first price that the recommended strategy pays."""
    use = found.strategy(found.recommendation.strategy).uses[0]
    return next(p for p in found.prices if (p.provider, p.region, p.instance_type, p.purchase_option) == (
        use.provider, use.region, use.name, use.purchase_option))  # fmt: skip


def changes(made: Made, sheets) -> dict[tuple[str, str], float]:
    """The cells of the inputs that are moved, with their values there."""
    rows = {row[0]: number for number, row in enumerate(sheets.stored(made.data)["Assumptions"], start=1)}
    found = {("Assumptions", f"C{rows[name]}"): value for name, value in made.case.moves.items()}
    if made.case.offer_times is not None:
        price = _paid(made.plan)
        found["Offers", f"F{5 + made.plan.prices.index(price)}"] = price.price_per_hour * made.case.offer_times
    return found


def amounts(rows, strategies) -> dict:
    """What the sheet Cash flow or Effective cost says by strategy, label, moment and month."""
    found, strategy, months = {}, None, [cell for cell in rows[3] if isinstance(cell, str) and cell[:2] == "20"]
    first = rows[3].index(months[0])
    for row in rows[5:]:
        if row[0] in strategies:
            strategy = row[0]
        elif row[0] and strategy:
            moment = row[1] if row[1] in ("start", "end") else ""
            for month in range(len(months)):
                value = row[first + month]
                found[strategy, row[0], moment, month + 1] = value if value != "" else 0.0
    return found


def agree(values: dict, found: Plan) -> None:
    """Every month and category of every strategy of the plan is what the sheets say, and nothing else is."""
    names = [strategy.name for strategy in found.strategies]
    for sheet, rows in (
        ("Cash flow", [(s.name, r.category, r.at, r.month, r.amount) for s in found.strategies for r in s.cash]),
        ("Effective cost", [(r.strategy, r.category, "", r.month, r.amount) for r in found.views.effective]),
    ):
        told, expected = amounts(values[sheet], names), defaultdict(list)
        for strategy, category, moment, month, amount in rows:
            expected[strategy, category.replace("_", " "), moment, month].append(amount)
        categories = {(label, moment) for _, label, moment, _ in expected}
        for key, value in told.items():
            if key[1:3] in categories:
                assert value == pytest.approx(math.fsum(expected.pop(key, [])), abs=CENT), (sheet, key)
        assert not {key: parts for key, parts in expected.items() if abs(math.fsum(parts)) > CENT}, sheet
    if not found.views.cost_centres:
        assert "Cost centres" not in values
    charged = cost_centres(values.get("Cost centres", []))
    for row in found.views.cost_centres:
        amounts_of_views = (("paid in the month", row.cash), ("effective cost of the month", row.effective))
        for view, amount in amounts_of_views:
            name = months_of(found)[row.month - 1]
            assert charged.pop((view, name, row.team or "no team")) == pytest.approx(amount, abs=CENT)
    assert not [amount for amount in charged.values() if abs(amount) > CENT]
    for column, part in ((3, "idle"), (4, "shared")):
        told = team_amounts(values.get("Cost centres", []), column)
        assert told == pytest.approx(
            [math.fsum(getattr(row, part) for row in rows) for rows in group_by_team(found).values()], abs=CENT
        )
    assert variances(values.get("Cost centres", [])) == pytest.approx(variances_of(found), abs=CENT)
    for strategy in found.strategies:
        if strategy.status != "infeasible":
            assert totals(values, strategy.name) == pytest.approx(
                (strategy.total_cost, strategy.present_cost), abs=CENT
            )


def months_of(found: Plan) -> list[str]:
    """The names of the months, and of three years after them."""
    year, month = (int(part) for part in found.start.split("-"))
    numbers = range(12 * year + month - 1, 12 * year + month - 1 + found.months + 36)
    return [f"{number // 12}-{number % 12 + 1:02d}" for number in numbers]


def cost_centres(rows) -> dict:
    """What the sheet Cost centres says by view, month and team."""
    found, heads = {}, None
    for row in rows[5:]:
        if str(row[0]).endswith("the month"):
            heads = row
        elif heads and str(row[0])[:2] == "20":
            for team, value in zip(heads[1:], row[1:], strict=True):
                if team == "total":
                    break
                found[heads[0], row[0], team] = value
    return found


def variances(rows) -> list[float]:
    """The cost of workloads with a budget less it, by team."""
    teams = rows[4 : next((number for number, row in enumerate(rows) if row[0] == "total"), 0)]
    return [row[6] for row in teams if row[6] != ""]


def team_amounts(rows, column: int) -> list[float]:
    """The amounts of a column of the sheet Cost centres, by team."""
    teams = rows[4 : next((number for number, row in enumerate(rows) if row[0] == "total"), 0)]
    return [row[column] for row in teams]


def variances_of(found: Plan) -> list[float]:
    teams = list(group_by_team(found).values())
    return [
        math.fsum(r.variance for r in rows if r.variance is not None) for rows in teams if rows[0].budget is not None
    ]


def totals(values: dict, strategy: str) -> tuple[float, float]:
    """Total and present cost in sheet Cash flow."""
    rows = values["Cash flow"]
    start = next(number for number, row in enumerate(rows) if row[0] == strategy)
    labels = {}
    for row in rows[start:]:
        labels.setdefault(row[0], row[2])
    return labels["total"], labels["discounted (present cost)"]


def checks_pass(values: dict) -> bool:
    return next(row[5] for row in values["Checks"] if str(row[0]).startswith("checks failed")) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_the_workbook_says_what_the_plan_says(made, name, sheets):
    found = made(name)
    values = sheets.stored(found.data)
    agree(values, found.plan)
    assert checks_pass(values)
    for sheet, address, text in found.book.formulas():
        value, kept = found.book.value(sheet, address), sheets.at(values[sheet], address)
        assert kept == (pytest.approx(value, rel=1e-9, abs=CENT) if isinstance(value, int | float) else value), text


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_moved_inputs_say_what_a_plan_made_anew_says(made, name, sheets):
    found = made(name)
    assert [replace(c, quantity=(), idle=()) for c in _plain(found.anew)] == [
        replace(c, quantity=(), idle=()) for c in _plain(found.plan)
    ]
    for before, after in zip(found.plan.ledger.choices, found.anew.ledger.choices, strict=True):
        assert after.quantity == pytest.approx(before.quantity, rel=1e-6, abs=1e-6)
    values = found.with_inputs(changes(found, sheets))
    assert found.anew.strategies != found.plan.strategies
    agree(values, found.anew)
    assert checks_pass(values)


def test_what_is_bought_on_a_loan_is_depreciated_at_the_price_as_it_stands(made, sheets):
    """Nobody pays the price at once, but cost, deductions and resale are all so many times it: a tenth more is worth a
    tenth more."""
    found = made("owned on a loan")
    assert not [row for strategy in found.plan.strategies for row in strategy.cash if row.category == "hardware"]
    (name,) = {each.name for each in found.plan.views.depreciation}
    figure = "price_of_" + name.replace(" ", "_").lower()
    rows = {row[0]: number for number, row in enumerate(sheets.stored(found.data)["Assumptions"], start=1)}
    cell, planned = f"C{rows[figure]}", next(a.value for a in found.plan.assumptions if a.name == figure)
    values = found.with_inputs({("Assumptions", cell): 1.1 * planned})
    worths = [row[11] for row in values["Depreciation"] if row[0] == "total"]
    assert worths == pytest.approx([1.1 * each.present_value for each in found.plan.views.depreciation], abs=CENT)


def _plain(found: Plan):
    """The choices without parts, which come from quantities."""
    return [replace(choice, parts=()) for choice in found.ledger.choices]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("scenario", [LOW_COST, HIGH_COST])
@pytest.mark.parametrize("name", CASES)
def test_the_switch_pays_the_plan_again(made, name, scenario):
    found = made(name)
    values = found.with_inputs({found.book.named("scenario"): scenario})
    again = LedgerRepricing(found.plan)
    for strategy in found.plan.strategies:
        expected = again.costs(strategy.name, again.moves(scenario))
        assert totals(values, strategy.name) == pytest.approx(expected, abs=CENT)
    assert checks_pass(values)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_in_a_spreadsheet_program_too(made, name, sheets, tmp_path):
    """As planned, with moved inputs, and under both scenarios."""
    sheets.needs_office()
    found = made(name)
    cell = found.book.named("scenario")
    books = [found.data, sheets.edited(found.data, changes(found, sheets))]
    books += [sheets.edited(found.data, {cell: scenario}) for scenario in (LOW_COST, HIGH_COST)]
    done = sheets.recalculated(tmp_path, *(sheets.spoiled(book)[0] for book in books))
    ours, theirs = sheets.cells(found.data), sheets.cells(done[0])
    assert set(theirs) == set(ours)
    for place, value in ours.items():
        expected = pytest.approx(value, rel=1e-9, abs=CENT) if isinstance(value, float) else value
        assert theirs[place] == expected, place
    values = [sheets.stored(book) for book in done]
    agree(values[0], found.plan)
    agree(values[1], found.anew)
    again = LedgerRepricing(found.plan)
    for scenario, found_there in zip((LOW_COST, HIGH_COST), values[2:], strict=True):
        for strategy in found.plan.strategies:
            expected = again.costs(strategy.name, again.moves(scenario))
            assert totals(found_there, strategy.name) == pytest.approx(expected, abs=CENT)
    assert all(map(checks_pass, values))
