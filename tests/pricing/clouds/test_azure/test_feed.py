"""The retail price feed: what becomes a rate, what is left out, what is refused. No SDK."""

from __future__ import annotations

from collections import Counter
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pricing.adapters.protocol import CoveredScope, RejectedRow, SkippedRows
from pricing.errors import ProviderFailure
from pricing.providers.azure import retail_prices

TODAY = date(2026, 11, 21)
H100, H200, GB200 = "Standard_ND96isr_H100_v5", "Standard_ND96isr_H200_v5", "Standard_ND128isr_NDR_GB200_v6"
A100 = "Standard_ND96amsr_A100_v4"


def read(rows, region="eastus", **options):
    feed = retail_prices.RetailFeed(region, "USD", TODAY, frozenset({A100.casefold()}), **options)
    return [*feed.take(rows), *feed.settle()], feed


def rates(told):
    return {(t.instance_type, t.option): t.per_hour for t in told if isinstance(t, retail_prices.AzureRetailRate)}


def reasons(told):
    found = Counter()
    for left in (t for t in told if isinstance(t, SkippedRows)):
        found[left.reason] += left.rows
    return found


def refusals(told):
    return [t for t in told if isinstance(t, RejectedRow)]


def accounted(told):
    return sum(t.rows if isinstance(t, SkippedRows) else 1 for t in told)


def test_recorded_rows_worked_by_hand(feed_rows):
    told, _ = read(feed_rows("eastus2.recorded"), "eastus2")
    assert rates(told) == pytest.approx(
        {
            (H100, "on_demand"): 98.32,
            (H100, "spot"): 18.169536,
            (H100, "reserved_1y"): 62.924772,  # 551,221 / 8,760; the catalogue has 62.9248 of another source
            (H100, "reserved_3y"): 43.162481,  # 1,134,310 / 26,280
            (H100, "reserved_5y"): 39.327991,  # 1,722,566 / 43,800
            (H200, "on_demand"): 84.8,
            (H200, "reserved_1y"): 46.521233,  # 407,526 / 8,760
            (H200, "reserved_3y"): 42.221918,  # 1,109,592 / 26,280
            (GB200, "on_demand"): 108.16,
            (GB200, "reserved_1y"): 69.222374,  # 606,388 / 8,760
            (GB200, "reserved_3y"): 47.590411,  # 1,250,676 / 26,280
        },
        abs=1e-6,
    )
    # 23 rows: 11 rates above, 8 Windows, 2 Low Priority (two more are Windows as well), 2 spot rows that are none
    assert reasons(told) == {
        retail_prices.EXCLUSION_RULES[0][0]: 8,
        retail_prices.EXCLUSION_RULES[2][0]: 2,
        retail_prices.NO_SPOT_OFFER: 2,
    }
    assert accounted(told) == 23


def test_a_whole_term_is_told_in_the_note(feed_rows):
    told, feed = read(feed_rows("eastus2.recorded"), "eastus2")
    rate = next(
        t
        for t in told
        if isinstance(t, retail_prices.AzureRetailRate) and t.option == "reserved_3y" and t.instance_type == H100
    )
    price = retail_prices.build_price(rate, feed, H100)
    assert (price.kind, price.term_months, price.upfront, price.offering_class) == ("reserved", 36, "", "")
    assert price.note == "1,134,310 for the whole term of 26,280 h; in force since 2023-12-01"
    assert (price.as_of, price.currency, price.method) == (TODAY, "USD", "listed")


def test_savings_plans_are_per_hour_and_reservations_for_the_term(feed_rows):
    told, _ = read(feed_rows("B16als_v2.transcribed"), "australiacentral", wanted=lambda _: True)
    assert rates(told) == pytest.approx(
        {
            ("Standard_B16als_v2", "on_demand"): 0.673,
            ("Standard_B16als_v2", "savings_plan_1y"): 0.49129,
            ("Standard_B16als_v2", "savings_plan_3y"): 0.34323,
            ("Standard_B16als_v2", "reserved_1y"): 3478 / 8760,  # 0.397032
        }
    )
    assert reasons(told) == {retail_prices.EXCLUSION_RULES[1][0]: 1}


def test_a_type_without_accelerators_is_left(feed_rows):
    told, _ = read(feed_rows("B16als_v2.transcribed"), "australiacentral")
    assert reasons(told) == {retail_prices.OTHER_FAMILIES: 3}


def test_the_windows_price_is_never_the_linux_price(make):
    # a widely copied 37.18 is Windows; Linux is 32.77, prices.csv line 469
    told, _ = read(
        [make.row(retailPrice=37.18, productName="Virtual Machines NDasr A100 v4 Series Windows"), make.row()]
    )
    assert rates(told) == {(A100, "on_demand"): 32.77}


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"productName": "Virtual Machines NCCadsv5 Srs Win"}, retail_prices.EXCLUSION_RULES[0][0]),
        ({"productName": "NDasr A100 v4 Series Cloud Services"}, retail_prices.EXCLUSION_RULES[1][0]),
        ({"productName": "Virtual Machines NDasr A100 v4 Series CloudServices"}, retail_prices.EXCLUSION_RULES[1][0]),
        ({"meterName": "ND96amsr A100 v4 Low Priority"}, retail_prices.EXCLUSION_RULES[2][0]),
        ({"armSkuName": "Standard_NC6_Promo"}, retail_prices.EXCLUSION_RULES[3][0]),
        ({"productName": "NDasr A100 v4 Dedicated Host"}, retail_prices.EXCLUSION_RULES[4][0]),
        ({"productName": "NDasr A100 v4 Isolated"}, retail_prices.EXCLUSION_RULES[4][0]),
        ({"type": "DevTestConsumption"}, retail_prices.DEV_TEST),
        ({"tierMinimumUnits": 100.0}, retail_prices.VOLUME_RATES),
        ({"effectiveStartDate": "2026-12-01T00:00:00Z"}, retail_prices.FUTURE_RATES),
        ({"effectiveEndDate": "2026-11-01T00:00:00Z"}, retail_prices.PAST_RATES),
        ({"armSkuName": "Standard_NP10s"}, retail_prices.OTHER_FAMILIES),
        ({"armSkuName": ""}, retail_prices.OTHER_FAMILIES),
    ],
)
def test_what_is_left_out(make, changed, reason):
    told, _ = read([make.row(**changed)])
    assert told == [SkippedRows(reason, 1)]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"retailPrice": 0.0}, "the price is 0.0"),
        ({"retailPrice": -1}, "the price is -1"),
        ({"retailPrice": None}, "the price is None"),
        ({"retailPrice": float("nan")}, "the price is nan"),
        ({"unitOfMeasure": "1/Month"}, "the unit is '1/Month'"),
        ({"currencyCode": "EUR"}, "the currency is 'EUR', asked for was USD"),
        ({"armRegionName": "westus"}, "it is of 'westus'"),
        ({"type": "Surprise"}, "'Surprise'"),
        ({"type": "Reservation", "reservationTerm": "6 Months"}, "the term"),
        ({"type": "Reservation", "reservationTerm": "7 Years"}, "the term"),
    ],
)
def test_what_is_refused(make, changed, words):
    told, feed = read([make.row(**changed)])
    (refused,) = told
    assert words in refused.reason
    assert refused.subject.startswith(f"azure eastus {A100}")
    assert feed.doubtful


@pytest.mark.parametrize(
    "name",
    ["armSkuName", "armRegionName", "productName", "skuName", "meterName", "type", "retailPrice", "currencyCode",
     "unitOfMeasure", "effectiveStartDate", "tierMinimumUnits"],
)  # fmt: skip
def test_a_renamed_field_is_named(make, name):
    row = make.row()
    row[f"new{name}"] = row.pop(name)
    with pytest.raises(ProviderFailure, match=f"{name} is missing") as failed:
        read([row])
    assert failed.value.kind == "changed_format"


def test_a_savings_plan_without_its_field_is_a_changed_format(make):
    with pytest.raises(ProviderFailure, match="retailPrice is missing"):
        read([make.row(savingsPlan=[{"term": "1 Year", "price": 20.0}])])


def test_a_reservation_without_its_term_is_a_changed_format(make):
    with pytest.raises(ProviderFailure, match="reservationTerm is missing"):
        read([make.row(type="Reservation")])


def test_a_date_that_is_none(make):
    with pytest.raises(ProviderFailure, match="effectiveStartDate is 'soon', no date"):
        read([make.row(effectiveStartDate="soon")])


def test_the_same_rate_twice_is_one(make):
    told, _ = read([make.row(), make.row(meterId="m2", productName="Another Series"), make.row()])
    assert rates(told) == {(A100, "on_demand"): 32.77}
    assert reasons(told) == {retail_prices.DUPLICATE_RATES: 2}


def test_two_rates_in_force_are_both_refused_and_named(make):
    told, feed = read([make.row(), make.row(retailPrice=33.0)])
    assert rates(told) == {}
    assert len(refusals(told)) == 2
    assert all("32.77" in r.reason and "33" in r.reason for r in refusals(told))
    assert CoveredScope("eastus", "on_demand", "ND") not in list(feed.covered())
    assert CoveredScope("eastus", "on_demand", "NC") in list(feed.covered())
    assert CoveredScope("eastus", "spot", "ND") in list(feed.covered())


def test_the_latest_rate_of_a_meter_is_in_force(make):
    told, _ = read(
        [
            make.row(retailPrice=30.0, effectiveStartDate="2026-06-01T00:00:00Z"),
            make.row(),
            make.row(retailPrice=29.0, effectiveStartDate="2026-12-01T00:00:00Z"),
        ]
    )
    assert rates(told) == {(A100, "on_demand"): 30.0}
    assert reasons(told) == {retail_prices.REPLACED_RATES: 1, retail_prices.FUTURE_RATES: 1}


def test_a_later_date_does_not_choose_between_two_products(make):
    later = make.row(retailPrice=30.0, effectiveStartDate="2026-06-01T00:00:00Z", productName="Another Series")
    told, _ = read([make.row(), later])
    assert rates(told) == {}
    assert len(refusals(told)) == 2


def test_spot_that_is_dearer_than_on_demand_is_refused(make):
    told, _ = read([make.row(), make.row(meterName="ND96amsr A100 v4 Spot", retailPrice=40.0)])
    assert rates(told) == {(A100, "on_demand"): 32.77}
    assert "dearer" in refusals(told)[0].reason


def test_a_refusal_of_an_unknown_type_casts_no_doubt(make):
    _, feed = read([make.row(armSkuName="Standard_ND1_X_v9", retailPrice=0)])
    assert len(list(feed.covered())) == len(retail_prices.KINDS) * len(retail_prices.FAMILIES)


def test_a_long_feed_keeps_accelerator_rows_only(make):
    feed = retail_prices.RetailFeed("eastus", "USD", TODAY)
    left = Counter()
    for page in range(20):  # 20,000 rows in pages of 1,000, one of ours in each
        rows = (make.row(armSkuName=f"Standard_D{n}s_v5") for n in range(999))
        for told in feed.take([*rows, make.row(armSkuName=f"Standard_ND{page}_A100_v4")]):
            left[told.reason] += told.rows
    assert feed.rows == 20_000
    assert left == {retail_prices.OTHER_FAMILIES: 19_980}
    assert sum(map(len, feed.rates_by_key.values())) == 20


CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "armSkuName": st.sampled_from([A100, H100, "Standard_D4s_v5", "Standard_NC6_Promo"]),
        "retailPrice": st.sampled_from([0.0, 5.0, 32.77, 300000.0]),
        "type": st.sampled_from(["Consumption", "DevTestConsumption", "Reservation", "Other"]),
        "skuName": st.sampled_from(["ND96amsr A100 v4", "ND96amsr A100 v4 Spot", "ND96amsr A100 v4 Low Priority"]),
        "productName": st.sampled_from(["A Series", "A Series Windows", "B Series"]),
        "effectiveStartDate": st.sampled_from(["2024-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"]),
        "reservationTerm": st.sampled_from(["1 Year", "3 Years", "2 Years"]),
        "unitOfMeasure": st.sampled_from(["1 Hour", "10 Hours"]),
    },
)


@given(changes=st.lists(CHANGES, max_size=12))
def test_no_row_is_lost_and_no_key_comes_twice(make, changes):
    rows = [make.row(**{"reservationTerm": "1 Year", **c}) for c in changes]
    told, _ = read(rows)
    assert accounted(told) == len(rows)
    keys = [(t.instance_type, t.option) for t in told if isinstance(t, retail_prices.AzureRetailRate)]
    assert len(set(keys)) == len(keys)
    assert all(t.per_hour > 0 for t in told if isinstance(t, retail_prices.AzureRetailRate))
