"""Series of prices: merged days, the superseded prices that are shipped, and faults with their place."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pricing.catalog import data_folder
from pricing.catalog.price_catalog import EMBEDDED_LAYOUT
from pricing.catalog.snapshot_tables import PRICE_COLUMNS
from pricing.csv_tables import format_table
from pricing.errors import InvalidSnapshot
from pricing.snapshots.price_history import HISTORY_COLUMNS, PriceObservation, build_price_periods, read_observations

KEY = ("acme", "here-1", "a.large", "on_demand")


def at(
    day: str, price: float, snapshot: str = "embedded", currency: str = "USD", source: str = "src1"
) -> PriceObservation:
    return PriceObservation(KEY, day, price, currency, source, snapshot)


def test_days_of_one_price_are_one_line():
    found = build_price_periods(
        [at("2026-03-01", 8), at("2025-01-01", 10, "superseded"), at("2025-06-01", 10, source="src2")]
    )
    assert [(line.first, line.last, line.price_per_hour, line.percent) for line in found] == [
        ("2025-01-01", "2025-06-01", 10, None),
        ("2026-03-01", "2026-03-01", 8, pytest.approx(-20)),  # 8 / 10 - 1
    ]
    assert found[0].sources == ("src1", "src2")
    assert found[0].snapshots == ("superseded", "embedded")


def test_on_one_day_the_later_snapshot_has_the_last_word():
    found = build_price_periods([at("2026-03-01", 8), at("2026-03-01", 9, "2026-03-01-001")])
    assert [line.price_per_hour for line in found] == [8, 9]


def test_a_price_that_came_back_is_three_lines():
    assert len(build_price_periods([at("2025-01-01", 1), at("2025-02-01", 2), at("2025-03-01", 1)])) == 3


def test_another_currency_is_no_step():
    assert [
        line.percent for line in build_price_periods([at("2025-01-01", 1), at("2025-02-01", 2, currency="EUR")])
    ] == [None, None]


@given(st.lists(st.tuples(st.dates().map(str), st.sampled_from([1.0, 2.0, 3.0])), max_size=20))
def test_no_sight_is_lost_and_neighbours_differ(days):
    found = build_price_periods([at(day, price) for day, price in days])
    assert sum(any(line.first <= day <= line.last for line in found) for day, _ in days) == len(days)
    prices = [line.price_per_hour for line in found]
    assert all(one != two for one, two in pairwise(prices))
    assert all(one.last <= two.first for one, two in pairwise(found))


def test_the_price_cut_of_p5_in_2025_is_shipped(tmp_path):
    folder = dict(EMBEDDED_LAYOUT.folders)["aws"]
    found = build_price_periods(read_observations(data_folder.list_snapshots("aws", folder, tmp_path), ["p5.48xlarge"]))
    virginia = [line for line in found if (line.region, line.purchase_option) == ("us-east-1", "on_demand")]
    assert [(line.first, line.price_per_hour) for line in virginia] == [("2023-10-09", 98.32), ("2025-06-23", 55.04)]
    assert virginia[1].percent == pytest.approx(-44.0, abs=0.1)  # 55.04 / 98.32 = 0.5598
    assert virginia[1].snapshots == ("superseded", "embedded")


def test_faults_of_all_snapshots_come_at_once(tmp_path):
    row = ["here-1", "a.large", "on_demand", "-8", "USD", "2026-01-01", "src1", "listed", ""]
    for name in ("2026-01-01-001", "2026-01-02-001"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "prices.csv").write_text(format_table(PRICE_COLUMNS, [row]))
    (folder / "history.csv").write_text(format_table(HISTORY_COLUMNS, [[*row[:3], "1", "USD", "once", "src1", ""]]))
    kept = [
        data_folder.StoredSnapshot("acme", name, tmp_path / name, "") for name in ("2026-01-01-001", "2026-01-02-001")
    ]
    with pytest.raises(InvalidSnapshot) as caught:
        read_observations(kept, ["a.large"])
    assert [fault.partition(": ")[0] for fault in caught.value.faults] == [
        "2026-01-01-001/prices.csv:2",
        "2026-01-02-001/history.csv:2",
        "2026-01-02-001/prices.csv:2",
    ]
    assert read_observations(kept, ["b.old"]) == ()
