"""Bills as they come: in folders, twice, for a part of a month, in two currencies, with zones for regions."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from planner.inputs.bills import is_bill
from planner.inputs.bills.usage_projection import build_request_from_bills
from planner.inputs.catalog_regions import region_of_zone
from planner.inputs.merged_settings import merge_settings
from pricing.catalog.price_catalog import Catalog

EXAMPLE = Path(__file__).parents[2] / "examples" / "bill-focus.csv"
RATES = EXAMPLE.with_name("exchange-rates.csv")


def g5(day: int, hours: float = 24, **more: str) -> dict[str, str]:
    """A day of September 2026 of a g5.xlarge at 1.006."""
    cost = f"{hours * 1.006:.6f}"
    return {
        "ChargePeriodStart": f"2026-09-{day:02d}T00:00:00Z",
        "ChargePeriodEnd": f"2026-09-{day + 1:02d}T00:00:00Z" if day < 30 else "2026-10-01T00:00:00Z",
        "SkuPriceDetails": '{"InstanceType": "g5.xlarge"}', "ConsumedQuantity": str(hours), "ConsumedUnit": "Hours",
        "BilledCost": cost, "EffectiveCost": cost, **more,
    }  # fmt: skip


def cur(number: int, **more: str) -> dict[str, str]:
    """An hour of a g5.xlarge, as line `number` of a Cost and Usage Report."""
    return {
        "identity/LineItemId": f"line{number}", "lineItem/UsageType": "BoxUsage:g5.xlarge",
        "lineItem/UsageAmount": "1", "lineItem/UnblendedCost": "1.006", **more,
    }  # fmt: skip


def test_a_line_id_that_is_there_twice_counts_once(read, table, request):
    base = request.getfixturevalue("cur")
    bill = read(table(base, cur(1), cur(2), cur(1)))
    (line,) = bill.lines
    assert (line.hours_used, line.billed) == (2, pytest.approx(2.012))
    assert [(each.reason, each.rows) for each in bill.refused] == [("a line that is there twice", 1)]
    assert "1 line there twice, counted once" in bill.notes
    assert (bill.rows_in, bill.rows_used) == (3, 2)


def test_equal_lines_without_ids_are_two_machines(read, table, focus):
    assert read(table(focus, g5(1), g5(1))).lines[0].hours_used == 48


def test_a_doubled_file_has_the_same_sums(read, tmp_path):
    once = read(EXAMPLE)
    head, *rows = EXAMPLE.read_text().splitlines()
    (doubled := tmp_path / "doubled.csv").write_text("\n".join([head, *rows, *rows]) + "\n")
    twice = read(doubled)
    assert (twice.lines, twice.totals[0].billed) == (once.lines, once.totals[0].billed)
    assert "32 lines there twice, counted once" in twice.notes


def test_overlapping_exports_in_a_folder_count_once(read, table, focus, tmp_path):
    (folder := tmp_path / "bills").mkdir()
    table(focus, *(g5(day) for day in range(1, 21)), name="bills/first.csv")
    table(focus, *(g5(day) for day in range(11, 31)), name="bills/second.csv")
    (folder / "readme.txt").write_text("the exports of September\n")
    assert is_bill(folder)
    bill = read(folder)
    assert bill.lines[0].hours_used == 30 * 24
    assert [(each.rows, each.reason) for each in bill.refused] == [(10, "a line that is there twice")]
    assert bill.notes[0] == "2 files of it were read together"


@pytest.mark.slow
def test_months_in_folders_of_hive_and_columns_that_come_later(read, tmp_path):
    columns = EXAMPLE.read_text().splitlines()[0]
    for number, more in (("08", ""), ("10", ", 'x' AS x_Later")):
        folder = tmp_path / "data" / f"BILLING_PERIOD=2026-{number}"
        folder.mkdir(parents=True)
        source = f"SELECT *{more} FROM read_csv('{EXAMPLE}', all_varchar = true)"
        where = f"WHERE ChargePeriodStart LIKE '2026-{number}%'"
        duckdb.sql(f"COPY ({source} {where}) TO '{folder}/usage data.parquet' (FORMAT parquet)")
    assert "ChargePeriodStart" in columns
    bill = read(tmp_path / "data")
    assert {line.month for line in bill.lines} == {"2026-08", "2026-10"}
    whole = read(EXAMPLE)
    assert bill.rows_used == sum(line.rows for line in whole.lines if line.month != "2026-09")


def test_a_manifest_names_the_files_of_the_last_version(read, table, focus, tmp_path):
    for version, hours in (("old", 10), ("new", 12)):
        (tmp_path / "cur" / version).mkdir(parents=True)
        table(focus, *(g5(day, hours) for day in range(1, 31)), name=f"cur/{version}/part.csv")
    manifest = tmp_path / "cur" / "cur-Manifest.json"
    manifest.write_text(json.dumps({"reportKeys": ["bucket/prefix/cur/new/part.csv"]}))
    assert read(tmp_path / "cur").lines[0].hours_used == 30 * 12
    assert read(manifest).lines[0].hours_used == 30 * 12


def test_a_part_of_a_month_is_scaled_up_by_its_days(table, focus, catalog):
    parsed = build_request_from_bills([table(focus, *(g5(day) for day in range(1, 16)))], catalog)
    assert parsed.complaints == ()
    (workload,) = parsed.document["workloads"]
    assert workload["demand"]["accelerator_hours_per_month"] == pytest.approx(730)  # 15 whole days are a whole month
    assert "2026-09 is covered from day 1 to 15: its hours are scaled up by days" in parsed.inputs.notes


@pytest.mark.slow
def test_two_currencies_are_one_with_a_rate_and_a_fault_without(table, focus, catalog, tmp_path):
    rows = [g5(day) for day in range(1, 31)]
    path = table(focus, *rows, g5(30, 10, BillingCurrency="EUR", SubAccountId="2"))
    (fault,) = build_request_from_bills([path], catalog).complaints
    assert fault.expected == "the bills of one currency, or rates in --exchange-rates FILE"
    (rates := tmp_path / "rates.csv").write_text("date,from,to,rate,source\n2026-09-01,EUR,USD,1.25,made up\n")
    parsed = build_request_from_bills([path], Catalog.current(exchange_rates=rates))
    assert parsed.complaints == ()
    assert parsed.document["currency"] == "USD"
    assert any("in EUR are converted: 1 EUR = 1.25 USD" in note for note in parsed.inputs.notes)
    assert parsed.present is not None
    scale = 730 / 720
    assert parsed.present.projected_cost(1) == pytest.approx((720 * 1.006 + 10 * 1.006 * 1.25) * scale)


@pytest.mark.parametrize(
    ("provider", "written", "region"),
    [
        ("aws", "us-east-1a", "us-east-1"),
        ("aws", "ap-southeast-2c", "ap-southeast-2"),
        ("aws", "us-east-1", "us-east-1"),
        ("aws", "us-east-1-dfw-2a", "us-east-1-dfw-2a"),  # a region of its own in the catalogue
        ("gcp", "us-central1-a", "us-central1"),
        ("azure", "westeurope", "westeurope"),
    ],
)
def test_zones_are_in_their_regions(provider, written, region):
    assert region_of_zone(provider, written) == region


def test_the_plan_of_a_bill_stays_where_it_ran(table, focus, catalog):
    path = table(focus, *(g5(day, RegionId="us-west-2b") for day in range(1, 31)))
    parsed = build_request_from_bills([path], catalog)
    note = "the plan stays where the bill's accelerators run, aws: us-west-2, unless"
    assert any(each.startswith(note) for each in parsed.inputs.notes)

    def place(settings):
        merged, _ = merge_settings(parsed.document, {"as_of": "2026-11-21", **settings}, str, parsed)
        return merged.get("providers"), merged.get("regions")

    assert place({}) == (["aws"], ["us-west-2"])
    assert place({"regions": ["eu-west-1"]}) == (["aws"], ["eu-west-1"])
    assert place({"providers": ["gcp"]}) == (["gcp"], None)
