"""A plan in another currency, with negotiated prices: every format says so, and none shows a dollar for a euro."""

import csv
import io
import re
import zipfile

import pytest
from python_calamine import CalamineWorkbook

from planner.reports import formats, load
from planner.reports.terraform import files
from planner.reports.text import render_sections

RATE = "1 USD = 0.8 EUR of 2026-11-20 (a bank)"


def words(name, plan):
    """All that a format shows, as one line of text."""
    data = render_sections(plan) if name == "text" else load(name).render(plan)
    if name == "xlsx":
        book = CalamineWorkbook.from_filelike(io.BytesIO(data))
        rows = [row for sheet in book.sheet_names for row in book.get_sheet_by_name(sheet).to_python()]
        return " ".join(str(cell) for row in rows for cell in row)
    if name == "terraform":
        return files(plan)["README.md"].decode().replace("\\", "")
    return re.sub(r"\s+", " ", data.decode("utf-8-sig").replace("\\", ""))


@pytest.mark.parametrize("name", [name for name in formats() if name != "json"])
def test_every_format_tells_the_rate_with_its_date_and_source(name, converted_plan):
    assert RATE in words(name, converted_plan)


@pytest.mark.parametrize("name", list(formats()))
def test_no_format_shows_dollars_but_of_the_list_and_the_rate(name, converted_plan):
    shown = words(name, converted_plan)
    for told in (
        RATE,
        "14.2045 USD",
        "110 USD",
        '"list_currency": "USD"',
        '"from_currency": "USD"',
        '"list_currency":"USD"',
        '"from_currency":"USD"',
        "14.2045  USD",
        "USD to EUR",
    ):
        shown = shown.replace(told, "")
    shown = shown.replace("needed where that is not USD", "")  # what an AWS budget asks for: no amount
    assert "EUR" in shown
    assert shown.replace("110.0 USD", "").count("USD") == 0
    assert "$" not in shown


@pytest.mark.parametrize("name", ["text", "markdown", "json", "csv", "xlsx"])
def test_negotiated_prices_show_their_rule(name, converted_plan):
    shown = words(name, converted_plan)
    assert "agreed at 40 EUR an hour (ours.csv:3: contract 7)" in shown
    if name in ("json", "csv", "xlsx"):  # the others show what the recommendation pays
        assert "12 % off the list price (ours.csv:2)" in shown
        assert "14.2045" in shown


def test_the_rows_of_the_table_that_tell_of_money_belong_to_no_strategy(converted_plan):
    rows = list(csv.DictReader(io.StringIO(load("csv").render(converted_plan).decode("utf-8-sig"))))
    money = [row for row in rows if row["kind"] in ("exchange_rate", "negotiated_price")]
    assert [(row["kind"], row["strategy"], row["amount"], row["currency"]) for row in money] == [
        ("exchange_rate", "", "", "EUR"), ("negotiated_price", "", "", "EUR"), ("negotiated_price", "", "", "EUR"),
    ]  # fmt: skip
    assert {row["currency"] for row in rows} == {"EUR"}


def test_the_workbook_has_the_list_price_beside_the_price(converted_plan):
    book = CalamineWorkbook.from_filelike(io.BytesIO(load("xlsx").render(converted_plan)))
    rows = book.get_sheet_by_name("Offers").to_python()
    (head,) = [index for index, row in enumerate(rows) if row[1] == "provider"]
    assert rows[head][-4:-1] == ["list price per hour", "currency of the list", "negotiated"]
    assert [row[-4:-2] for row in rows[head + 1 :]] == [["", ""], [14.2045, "USD"], [110.0, "USD"]]


def test_a_plan_at_list_prices_in_one_currency_says_nothing_of_either(small_plan):
    for name in ("text", "markdown", "csv", "xlsx"):
        shown = words(name, small_plan)
        assert not re.search("[Cc]onverted at|exchange rate|negotiated|list price", shown)
    assert zipfile.ZipFile(io.BytesIO(load("xlsx").render(small_plan))).testzip() is None
