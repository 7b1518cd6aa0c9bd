"""Units in headers and behind numbers, and months in headers."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from planner.inputs.cell_grid import Cell
from planner.inputs.notation.dates import is_yearless, parse_month, parse_month_number
from planner.inputs.notation.units import (
    Metric,
    adjust_metric,
    normalize_text,
    parse_byte_unit,
    parse_metric,
    parse_minute_unit,
    parse_period,
    parse_rate_basis,
    parse_work_unit,
)


@pytest.mark.parametrize(
    ("text", "what", "unit", "factor"),
    [
        ("GPU-hours", "accelerator_hours", "", 1),
        ("GPU hours / month", "accelerator_hours", "", 1),
        ("GPU hours per day", "accelerator_hours", "", 365 / 12),  # a month has 365/12 days
        ("accelerator-hrs per week", "accelerator_hours", "", 365 / 84),  # ... and 365/84 weeks
        ("GPU-hours/year", "accelerator_hours", "", 1 / 12),
        ("kGPU-hours / month", "accelerator_hours", "", 1000),
        ("GPU-hours (thousands)", "accelerator_hours", "", 1000),
        ("Tokens / month (B)", "units", "tokens", 1e9),
        ("B tokens per month", "units", "tokens", 1e9),
        ("million images per week", "units", "images", 1e6 * 365 / 84),
        ("requests/s", "requests_per_second", "requests", 1),
        ("Requests per minute", "requests_per_second", "requests", 1 / 60),
        ("QPS", "requests_per_second", "requests", 1),
        ("GPUs", "accelerators", "", 1),
        ("hours per day", "hours", "", 365 / 12),
        ("h/day", "hours", "", 365 / 12),
        ("colour", None, "", 0),
    ],
)
def test_what_a_text_says_is_counted(text: str, what: str | None, unit: str, factor: float) -> None:
    found = parse_metric(text)
    assert (found and found.kind) == what
    if found:
        assert (found.unit, found.factor) == (unit, pytest.approx(factor))


@pytest.mark.parametrize(
    ("base", "suffix", "factor"),
    [
        (Metric("units", "tokens", 1e9, "month"), "", 1e9),
        (Metric("units", "tokens", 1e9, "month"), "M", 1e6),  # the cell's own magnitude replaces the header's
        (Metric("units", "", 1, "month"), "B tokens", 1e9),
        (Metric("accelerator_hours", "", 1, "month"), "h", 1),
        (Metric("accelerator_hours", "", 1, ""), "GPU-hours/day", 365 / 12),
        (Metric("requests_per_second", "requests", 1 / 60, "second"), "req/s", 1),
    ],
)
def test_the_text_behind_a_number_changes_its_unit(base: Metric, suffix: str, factor: float) -> None:
    found = adjust_metric(base, suffix)
    assert found is not None
    assert found.factor == pytest.approx(factor)


def test_a_unit_that_does_not_fit_the_column_is_refused() -> None:
    assert adjust_metric(Metric("accelerator_hours"), "tokens") is None
    assert adjust_metric(Metric("units", "tokens"), "bananas") is None


@pytest.mark.parametrize(
    ("text", "size"), [("storage (tb)", 1e12), ("gb", 1e9), ("gib", 2**30), ("memory gpu", None), ("tib/month", 2**40)]
)
def test_bytes(text: str, size: float | None) -> None:
    assert parse_byte_unit(text) == size


@pytest.mark.parametrize(
    ("text", "minutes"), [("checkpoint min", 1), ("checkpoint s", 1 / 60), ("restart hours", 60), ("checkpoint", None)]
)
def test_minutes(text: str, minutes: float | None) -> None:
    assert parse_minute_unit(text) == minutes


@pytest.mark.parametrize(
    ("text", "per"),
    [
        ("tokens/s per gpu", "device"),
        ("whole job", "job"),
        ("tokens/s/gpu", "device"),
        ("total tokens/s", "job"),
        ("tokens/s", ""),
    ],
)
def test_per_device_or_job(text: str, per: str) -> None:
    assert parse_rate_basis(text) == per


def test_plain_words() -> None:
    assert normalize_text("Tokens/s\n(per GPU)") == "tokens/s per gpu"
    assert normalize_text("# GPUs") == "number of gpus"
    assert normalize_text("GPU-hours / month") == "gpu hours/month"
    assert [parse_period(text) for text in ("per day", "/wk", "monthly", "p.a.", "each year", "gpus")] == [
        "day",
        "week",
        "month",
        "",
        "year",
        "",
    ]
    assert [parse_work_unit(text) for text in ("tok/s", "queries", "img per sec", "hours")] == [
        "tokens",
        "queries",
        "images",
        "",
    ]


@pytest.mark.parametrize(
    ("value", "month"),
    [
        ("2026-12", "2026-12"),
        ("2026/12", "2026-12"),
        ("12/2026", "2026-12"),
        ("Dec-26", "2026-12"),
        ("Dec 26", "2026-12"),
        ("Dec '26", "2026-12"),
        ("Dec 2026", "2026-12"),
        ("December 2026", "2026-12"),
        ("DEC-2026", "2026-12"),
        ("Sept 2027", "2027-09"),
        ("2026-12-01", "2026-12"),
        ("2027 Jan", "2027-01"),
        (date(2027, 3, 1), "2027-03"),
        (datetime.fromisoformat("2027-03-31T12:00"), "2027-03"),
        ("13/2026", ""),
        ("December", ""),
        ("GPU 2026", ""),
    ],
)
def test_months_in_headers(value: object, month: str) -> None:
    assert parse_month(Cell("A1", value)) == month  # type: ignore[arg-type]  # any cell value


def test_months_by_number_and_without_a_year() -> None:
    assert [parse_month_number(Cell("A1", text)) for text in ("Month 3", "M12", "month", "Mon")] == [3, 12, 0, 0]
    assert [is_yearless(Cell("A1", text)) for text in ("Dec", "March", "Q1", "Q1 2027", "Dec-26", "Model")] == [
        True,
        True,
        True,
        True,
        False,
        False,
    ]
