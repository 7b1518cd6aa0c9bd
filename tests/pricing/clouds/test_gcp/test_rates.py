"""One SKU of the billing catalogue -> a rate: units, tiers, dates, currency, and what is refused."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pricing.adapters.protocol import RejectedRow, SkippedRows
from pricing.errors import ProviderFailure
from pricing.providers.gcp import sku_rates
from pricing.providers.gcp.billed_parts import load_parts_table
from pricing.providers.gcp.clients import GcpClients

BY = datetime(2026, 11, 21, 23, 59, tzinfo=UTC)
H100 = "Nvidia H100 80GB GPU running in Americas"


@pytest.fixture
def rate(make, rows):
    """The rate that the SDK's own message gives for the row of rates.csv with this description, changed."""
    billing_v1 = pytest.importorskip("google.cloud.billing_v1")

    def read(description=H100, tiers=None, infos=None, **changed):
        made = make.sku(rows[description], 1, **changed)
        if tiers is not None:
            made["pricingInfo"][0]["pricingExpression"]["tieredRates"] = tiers
        if infos is not None:
            expression = made["pricingInfo"][0]["pricingExpression"]
            made["pricingInfo"] = [
                {"effectiveTime": when, "pricingExpression": {**expression, "tieredRates": [usd(amount)]}}
                for when, amount in infos
            ]
        part, _ = load_parts_table().match(description)
        return sku_rates.parse_rate(billing_v1.Sku.from_json(json.dumps(made)), part, BY)

    return read


def usd(units, nanos=0, start=0, currency="USD"):
    money = {"currencyCode": currency, "units": str(units), "nanos": nanos}
    return {"startUsageAmount": start, "unitPrice": money}


def test_units_and_billionths(rate):
    assert rate(tiers=[usd(9, 796550569)]).per_hour == pytest.approx(9.796550569, rel=1e-12)


@given(units=st.integers(0, 10**6), nanos=st.integers(0, 999_999_999))
def test_no_amount_is_lost(units, nanos):
    from google.type import money_pb2

    money = money_pb2.Money(currency_code="USD", units=units, nanos=nanos)
    if units or nanos:
        assert sku_rates._parse_usd(money) == pytest.approx(units + nanos / 10**9, rel=1e-15)
    else:
        with pytest.raises(ValueError, match="expected a price above 0"):
            sku_rates._parse_usd(money)


def test_a_month_of_local_ssd_is_730_hours(rate):
    assert rate("SSD backed Local Storage").per_hour == pytest.approx(0.08 / 730)


def test_the_latest_rate_in_force_holds(rate):
    infos = [("2026-01-01T00:00:00Z", 3), ("2026-11-01T00:00:00Z", 2), ("2027-01-01T00:00:00Z", 1)]
    assert rate(infos=infos).per_hour == 2
    assert rate(infos=infos).since == "2026-11-01"


@pytest.mark.parametrize(
    ("changed", "wrong"),
    [
        ({"tiers": [usd(0, 0)]}, "unit_price is 0, expected a price above 0"),
        ({"tiers": [usd(-1, 0)]}, "unit_price is -1"),
        ({"tiers": [usd(3, 0, currency="IDR")]}, "currency_code is 'IDR', expected USD"),
        ({"tiers": []}, "tiered_rates is missing"),
        ({"tiers": [usd(0, 1), usd(3, 0, start=100)]}, "the rate depends on the volume: 1e-09, 3"),
        ({"infos": [("2027-01-01T00:00:00Z", 3)]}, "no price is in force yet"),
        ({"pricingInfo": []}, "pricing_info is missing"),
        ({"serviceRegions": []}, "service_regions is missing"),
        ({"serviceRegions": ["us-central1", "us"]}, "service_regions names us, expected regions such as us-central1"),
    ],
)
def test_a_rate_that_cannot_be_taken_says_why(rate, changed, wrong):
    with pytest.raises(ValueError, match=wrong.replace("(", r"\(")):
        rate(**changed)


def test_equal_tiers_are_one_rate(rate):
    assert rate(tiers=[usd(3), usd(3, start=100)]).per_hour == 3


def test_an_unknown_unit_is_refused(rate, rows):
    rows[H100] = {**rows[H100], "usage_unit": "GiBy.h"}
    with pytest.raises(ValueError, match=r"usage_unit is 'GiBy.h', expected h"):
        rate()


@pytest.fixture
def read(asked):
    ask, _ = asked()
    return lambda: sku_rates.compute_rates(ask, GcpClients(ask))


def test_a_usage_type_that_contradicts_the_description_is_refused(read, world, make, rows):
    world.skus.append(make.sku({**rows[H100], "usage_type": "Commit1Yr", "regions": "us-west1"}, 777))
    found = read()
    assert RejectedRow(f"SKU 0777 {H100}", "described as on_demand, filed under usage type Commit1Yr") in found.readings
    assert "us-west1" not in found.by["H100 80GB GPU", "on_demand"]


def test_two_rates_for_one_part_give_no_price(asked, readings, world, make, rows):
    world.skus.append(make.sku({**rows[H100], "usd": "4.2"}, 778))
    found = readings(asked()[0], "prices of machines with GPUs")
    assert {r.subject: r.reason for r in found["RejectedRow"]}["a3-highgpu-8g on_demand us-central1"] == (
        "more than one rate for H100 80GB GPU: 9.796550569 (SKU 0014), 4.2 (SKU 0778)"
    )


def test_the_same_rate_twice_is_one(read, world, make, rows):
    world.skus.append(make.sku(rows[H100], 779))
    assert len(read().by["H100 80GB GPU", "on_demand"]["us-central1"]) == 1


def test_an_accelerator_without_a_name_does_not_vanish(read, world, make, rows):
    for place in ("Americas", "Tokyo"):
        world.skus.append(make.sku({**rows[H100], "description": f"Nvidia B300 GPU running in {place}"}, 780))
    found = read()
    assert [r.reason for r in found.readings if isinstance(r, RejectedRow) and r.subject == "SKU Nvidia B300 GPU"] == [
        "no part has this name (Nvidia B300 GPU running in Americas, 0780)"
    ]
    assert SkippedRows("as a SKU of that name that was refused", 1) in found.readings


@pytest.mark.parametrize("length", [1_000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_a_long_feed_keeps_only_parts(read, world, make, rows, length):
    """Memory follows the rates that have a name, not the feed."""
    small = read()
    noise = rows["E2 Instance Core running in Americas"]
    world.skus = [make.sku(noise, n) for n in range(length - len(world.skus))] + world.skus
    found = read()
    assert found.by == small.by
    assert sum(r.rows for r in found.readings if isinstance(r, SkippedRows)) > length - 100
    assert len(found.readings) < 20


@pytest.mark.parametrize("field", ["description", "category"])
def test_a_missing_field_is_a_changed_format(read, world, field):
    world.skus[40] = {key: value for key, value in world.skus[40].items() if key != field}
    with pytest.raises(ProviderFailure) as failed:
        read()
    assert failed.value.kind == "changed_format"
    assert field in failed.value.detail


@pytest.mark.parametrize("field", ["pricingInfo", "serviceRegions"])
def test_a_field_renamed_in_all_rows_is_a_changed_format(read, world, field):
    world.skus = [{(f"{k}V2" if k == field else k): v for k, v in sku.items()} for sku in world.skus]
    with pytest.raises(ProviderFailure, match="no rate of any part among") as failed:
        read()
    assert failed.value.kind == "changed_format"
    assert {"pricingInfo": "pricing_info", "serviceRegions": "service_regions"}[field] in failed.value.detail


def test_an_empty_feed_is_a_changed_format(read, world):
    world.skus = []
    with pytest.raises(ProviderFailure, match="among 0 SKUs"):
        read()


def test_the_number_of_cloud_tpu_is_looked_up(asked, world):
    ask, running = asked()
    assert sku_rates.tpu_rates(ask, GcpClients(ask)).by["TPU v2 device", "on_demand"]["us-central1"][0].per_hour == 4.5
    assert {r.path for r in running.seen} == {"/v1/services", "/v1/services/1111-2222-3333/skus"}
    world.services = world.services[:1]
    with pytest.raises(ProviderFailure, match="no service has the display_name 'Cloud TPU'"):
        sku_rates.tpu_rates(ask, GcpClients(ask))


def test_the_currency_is_asked_for(asked):
    ask, running = asked()
    sku_rates.compute_rates(ask, GcpClients(ask))
    assert {r.query["currencyCode"] for r in running.seen} == {"USD"}
    assert len(running.seen) > 2  # pages
