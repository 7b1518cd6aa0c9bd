"""Exchange rates: the latest on or before a day, turned around or through another currency; strict tables."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pricing.errors import InvalidSnapshot, MissingExchangeRate
from pricing.exchange_rates import ExchangeRate, ExchangeRates

HEAD = "date,from,to,rate,source"
DAY = date(2026, 11, 20)


@pytest.fixture
def table(tmp_path):
    def write(*lines, head=HEAD):
        path = tmp_path / "exchange-rates.csv"
        path.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
        return path

    return write


def test_the_latest_rate_on_or_before_the_day_counts_and_never_a_later_one(table):
    known = ExchangeRates.read(
        table("2026-11-18,USD,EUR,0.90,a", "2026-11-20,USD,EUR,0.92,b", "2026-11-19,USD,EUR,0.91,c")
    )
    assert known.rate("USD", "EUR", DAY) == ExchangeRate("USD", "EUR", 0.92, DAY, "b")
    assert known.rate("USD", "EUR", date(2026, 11, 19)).value == 0.91
    assert known.rate("USD", "EUR", date(2027, 1, 1)).value == 0.92
    with pytest.raises(MissingExchangeRate) as missing:
        known.rate("USD", "EUR", date(2026, 11, 17))
    assert str(missing.value) == "no exchange rate from USD to EUR on or before 2026-11-17"
    assert (missing.value.source, missing.value.target, missing.value.day) == ("USD", "EUR", date(2026, 11, 17))


def test_a_rate_is_turned_around(table):
    """1 EUR = 1.25 USD, so 1 USD = 0.80 EUR."""
    rate = ExchangeRates.read(table("2026-11-20,EUR,USD,1.25,a bank")).rate("USD", "EUR", DAY)
    assert (rate.value, rate.day) == (0.8, DAY)
    assert rate.reference == "a bank, as 1 EUR = 1.25 USD"


def test_a_rate_goes_through_one_currency_and_is_as_old_as_its_older_part(table):
    """1 EUR = 1.25 USD and 1 EUR = 0.85 GBP, so 1 GBP = 1.25 / 0.85 = 1.470588 USD."""
    known = ExchangeRates.read(table("2026-11-20,EUR,USD,1.25,one", "2026-11-10,EUR,GBP,0.85,two"))
    rate = known.rate("GBP", "USD", DAY)
    assert rate.value == pytest.approx(1.470588, abs=1e-6)
    assert rate.day == date(2026, 11, 10)
    assert "through EUR" in rate.reference
    assert "one" in rate.reference
    assert "two" in rate.reference
    assert "2026-11-10" in rate.words


def test_two_steps_between_are_too_many(table):
    known = ExchangeRates.read(table("2026-11-20,USD,EUR,1,a", "2026-11-20,EUR,SEK,1,a", "2026-11-20,SEK,NOK,1,a"))
    assert known.rate("USD", "SEK", DAY).value == 1
    with pytest.raises(MissingExchangeRate):
        known.rate("USD", "NOK", DAY)


def test_of_one_day_the_listed_rate_wins_and_a_newer_one_beats_an_older_listed_one(table):
    lines = ("2026-11-20,USD,EUR,0.90,listed", "2026-11-20,EUR,USD,1.25,turned")
    assert ExchangeRates.read(table(*lines)).rate("USD", "EUR", DAY).reference == "listed"
    older = ("2026-11-01,USD,EUR,0.90,listed", "2026-11-20,EUR,USD,1.25,turned")
    assert ExchangeRates.read(table(*older)).rate("USD", "EUR", DAY).reference.startswith("turned")


def test_the_same_currency_needs_no_table():
    assert ExchangeRates(()).rate("EUR", "EUR", DAY).value == 1


def test_every_fault_is_told_with_its_line(table):
    path = table(
        "2026-11-20,usd,EUR,0.9,a",
        "2026-11-20,USD,EUR,0,a",
        "2026-11-20,USD,EUR,-1,a",
        "yesterday,USD,EUR,0.9,a",
        "2026-11-20,USD,EUR,0.9,",
        "2026-11-20,USD,USD,1,a",
        "2026-11-20,USD,GBP,0.8,a",
        "2026-11-20,USD,GBP,0.8,the same said twice is no fault",
        "2026-11-20,USD,GBP,0.9,a",
        "2026-11-20,USD,GBP",
    )
    with pytest.raises(InvalidSnapshot) as bad:
        ExchangeRates.read(path)
    lines = [int(fault.partition("exchange-rates.csv:")[2].partition(":")[0]) for fault in bad.value.faults]
    assert set(lines) == {2, 3, 4, 5, 6, 7, 10, 11}
    told = "\n".join(bad.value.faults)
    assert "'usd', expected a currency code of three capitals" in told
    assert "another rate from USD to GBP on 2026-11-20" in told


def test_a_missing_file_and_a_missing_column_are_faults(table, tmp_path):
    with pytest.raises(InvalidSnapshot, match="the file is missing"):
        ExchangeRates.read(tmp_path / "nothing.csv")
    with pytest.raises(InvalidSnapshot, match="missing column source"):
        ExchangeRates.read(table("2026-11-20,USD,EUR,0.9", head="date,from,to,rate"))


def test_the_digest_tells_rates_apart_and_not_their_order(table):
    lines = ["2026-11-20,USD,EUR,0.9,a", "2026-11-19,USD,EUR,0.8,a"]
    one, turned = ExchangeRates.read(table(*lines)), ExchangeRates.read(table(*reversed(lines)))
    assert one.digest == turned.digest != ExchangeRates.read(table(lines[0])).digest


days = st.integers(0, 400).map(lambda n: date(2026, 1, 1) + timedelta(n))
codes = st.sampled_from(["USD", "EUR", "GBP", "JPY"])
tables = st.lists(st.tuples(codes, codes, st.floats(0.01, 200), days), max_size=12)


@given(tables, codes, codes, days)
def test_a_rate_is_never_from_the_future_and_there_and_back_is_one(rows, source, target, day):
    known = ExchangeRates(tuple(ExchangeRate(a, b, value, on, "x") for a, b, value, on in rows if a != b))
    try:
        there = known.rate(source, target, day)
    except MissingExchangeRate:
        with pytest.raises(MissingExchangeRate):
            known.rate(target, source, day)
        return
    back = known.rate(target, source, day)
    assert there.value > 0
    assert there.day <= day
    assert there.day == back.day
    dates = [on for _, _, _, on in rows if on <= day] or [day]
    assert source == target or there.day in dates
