"""Prices through the real clients: recorded or transcribed answers, and answers built to the SDK's own shapes."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from pricing.adapters.protocol import CoveredScope, RejectedRow, SkippedRows
from pricing.price import Price
from pricing.providers.aws import capacity_blocks, fetch, price_list, quotas, spot_prices
from pricing.providers.aws.price_list import OTHER_TYPES, OTHER_USAGES
from pricing.quota import Quota

REGION = "us-east-1"


def prices(readings) -> dict[tuple[str, str], Price]:
    return {(p.instance_type, p.purchase_option): p for p in readings if isinstance(p, Price)}


def test_on_demand_from_the_transcribed_list(aws):
    """p4d 21.957642 and p5 55.04 USD an hour since 2026-09-01: also what prices.csv has from another source."""
    readings = aws().read("list prices")
    found = prices(readings)
    assert found["p4d.24xlarge", "on_demand"].price_per_hour == 21.957642
    assert found["p5.48xlarge", "on_demand"].price_per_hour == 55.04
    assert found["p5.48xlarge", "on_demand"].note == "effective 2026-09-01"
    assert found["p5.48xlarge", "on_demand"].as_of.isoformat() == "2026-11-21", "read today to be in force"
    assert {r for r in readings if isinstance(r, CoveredScope)} == {
        CoveredScope(REGION, k) for k in ("on_demand", "reserved")
    }


def recorded_terms(ask, recorded) -> dict[str, Price]:
    item = json.loads(recorded("aws", "get-products.m5.large.json"))
    for term in (t for terms in item["terms"].values() for t in terms.values()):
        assert term["effectiveDate"] < "2021-03"
    attributes = item["product"]["attributes"]
    assert attributes["operation"] == "RunInstances"
    readings = list(price_list.parse_product(ask("aws", {}), item, REGION, lambda name: name == "m5.large"))
    assert all(isinstance(r, Price) for r in readings)
    return {p.purchase_option: p for p in readings}


def test_reserved_rates_are_effective_ones(ask, recorded):
    """All twelve ways of reserving in a real answer of 2021, worked by hand (8,760 and 26,280 hours)."""
    rates = {name: p.price_per_hour for name, p in recorded_terms(ask, recorded).items()}
    assert rates == {
        "on_demand": 0.096,
        "reserved_1y_no_upfront": 0.06,
        "reserved_1y_partial_upfront": pytest.approx(252 / 8760 + 0.029),  # 0.057767...
        "reserved_1y_all_upfront": pytest.approx(494 / 8760),  # 0.056392...
        "reserved_3y_no_upfront": 0.041,
        "reserved_3y_partial_upfront": pytest.approx(505 / 26280 + 0.019),  # 0.038216...
        "reserved_3y_all_upfront": pytest.approx(949 / 26280),  # 0.036111...
        "reserved_1y_convertible_no_upfront": 0.071,
        "reserved_1y_convertible_partial_upfront": pytest.approx(294 / 8760 + 0.034),
        "reserved_1y_convertible_all_upfront": pytest.approx(577 / 8760),
        "reserved_3y_convertible_no_upfront": 0.049,
        "reserved_3y_convertible_partial_upfront": pytest.approx(592 / 26280 + 0.023),
        "reserved_3y_convertible_all_upfront": pytest.approx(1161 / 26280),
    }
    assert rates["reserved_1y_all_upfront"] == pytest.approx(0.0563926941)


def test_the_parts_of_a_reserved_rate_are_told(ask, recorded):
    found = recorded_terms(ask, recorded)
    one = found["reserved_3y_partial_upfront"]
    assert (one.kind, one.term_months, one.upfront, one.offering_class) == ("reserved", 36, "partial", "standard")
    assert one.note == "effective 2020-04-01; 505 upfront and 0.019 an hour"
    assert found["reserved_1y_convertible_no_upfront"].offering_class == "convertible"


def product(recorded, name: str = "p5.48xlarge", **changed: str) -> dict:
    items = [json.loads(text) for text in json.loads(recorded("aws", "get-products.gpu.json"))["PriceList"]]
    item = next(i for i in items if i["product"]["attributes"]["instanceType"] == name)
    item["product"]["attributes"] |= changed
    return item


def read_one(ask, item) -> list:
    return list(price_list.parse_product(ask("aws", {}), item, REGION, lambda name: name.startswith("p")))


@pytest.mark.parametrize(
    "changed",
    [
        {"operatingSystem": "Windows"},
        {"tenancy": "Dedicated"},
        {"capacitystatus": "UnusedCapacityReservation"},
        {"preInstalledSw": "SQL Std"},
        {"operation": "RunInstances:0002"},
        {"operation": "RunInstances:CB", "marketoption": "CapacityBlock"},
        {"usagetype": "Reservation:p5.48xlarge"},
    ],
)
def test_other_licences_tenancies_and_usages_are_left(ask, recorded, changed):
    assert read_one(ask, product(recorded, **changed)) == [SkippedRows(OTHER_USAGES)]


def test_a_type_without_accelerators_is_left(ask, recorded):
    assert read_one(ask, product(recorded, instanceType="m5.large")) == [SkippedRows(OTHER_TYPES)]


def test_of_two_terms_the_one_in_force_counts(ask, recorded):
    item = product(recorded)
    (term,) = item["terms"]["OnDemand"].values()
    later, earlier = (json.loads(json.dumps(term)) for _ in range(2))
    later["effectiveDate"], earlier["effectiveDate"] = "2026-12-01T00:00:00Z", "2025-01-01T00:00:00Z"
    for each, amount in ((later, "40.0"), (earlier, "98.32")):
        (dimension,) = each["priceDimensions"].values()
        dimension["pricePerUnit"] = {"USD": amount}
    item["terms"]["OnDemand"] = {"a": later, "b": term, "c": earlier}
    assert [p.price_per_hour for p in read_one(ask, item)] == [55.04]


@pytest.mark.parametrize(
    ("dimension", "said"),
    [
        ({"pricePerUnit": {"USD": "0.0000000000"}}, "the price is 0"),
        ({"pricePerUnit": {"CNY": "300"}}, "priced in CNY, expected USD"),
        ({"unit": "Fortnights"}, "the unit 'Fortnights' is none that can be read"),
    ],
)
def test_what_is_no_price_is_refused_with_its_key(ask, recorded, dimension, said):
    item = product(recorded)
    (term,) = item["terms"]["OnDemand"].values()
    (told,) = term["priceDimensions"].values()
    told |= dimension
    (refused,) = read_one(ask, item)
    assert (refused.reason, refused.key) == (said, ("aws", REGION, "p5.48xlarge", "on_demand"))


@pytest.mark.slow
def test_pages_are_followed_to_the_end_and_only_ours_are_kept(aws, account, recorded):
    """20,000 products in 20 pages, 2 of them ours."""
    other = json.dumps(product(recorded, instanceType="m5.large"))
    account.products = [[other] * 1000 for _ in range(19)] + [[other] * 998 + account.products[0][:2]]
    readings = aws().read("list prices")
    assert len(prices(readings)) == 2
    assert len(readings) == 5, "two prices, what they cover, and one count of 19,998 others: no row of those is kept"
    assert SkippedRows(OTHER_TYPES, 19_998) in readings


def test_spot_is_the_median_of_the_zones_that_discount(aws, account):
    """On demand is 55.04: of 10.5, 20.25, 30.75 and 55.04 the three below count; the older level of zone b does not."""
    account.spot = [
        ("p5.48xlarge", "us-east-1a", "10.500000", "2026-11-21T05:00:00.000Z"),
        ("p5.48xlarge", "us-east-1b", "99.000000", "2026-11-20T23:00:00.000Z"),
        ("p5.48xlarge", "us-east-1b", "20.250000", "2026-11-21T04:00:00.000Z"),
        ("p5.48xlarge", "us-east-1c", "30.750000", "2026-11-21T04:00:00.000Z"),
        ("p5.48xlarge", "us-east-1d", "55.040000", "2026-11-21T04:00:00.000Z"),
    ]
    running = aws()
    readings = running.read("spot")
    price = prices(readings)["p5.48xlarge", "spot"]
    assert price.price_per_hour == 20.25
    assert price.note == "median of 3 zone prices below on-demand; min 10.5 max 30.75; 1 zones at on-demand"
    assert CoveredScope(REGION, "spot") in readings
    asked = next(r.form for r in running.cloud.seen if b"DescribeSpotPriceHistory" in r.body)
    assert asked["ProductDescription.1"] == "Linux/UNIX"
    assert asked["StartTime"].startswith("2026-11-20T00:00:00")


def test_spot_without_an_on_demand_price_is_the_median_of_all(ask):
    found = spot_prices.build_spot_price(ask("aws", {}), REGION, "p5.48xlarge", [1.0, 2.0, 6.0], None)
    assert found.price_per_hour == 2.0
    refused = spot_prices.build_spot_price(ask("aws", {}), REGION, "p5.48xlarge", [0.0, 2.0], None)
    assert refused.reason == "a zone has the price 0"


def test_spot_that_discounts_nowhere_says_so(ask):
    found = spot_prices.build_spot_price(ask("aws", {}), REGION, "p5.48xlarge", [55.04, 60.0], 55.04)
    assert found.price_per_hour == pytest.approx(57.52)  # (55.04 + 60) / 2
    assert found.note == "median of 2 zone prices; min 55.04 max 60; none below on-demand"


@pytest.mark.parametrize(
    ("zone", "product"), [("us-east-1-dfw-2a", "Linux/UNIX"), ("us-east-1a", "Windows"), ("us-east-1a", "SUSE Linux")]
)
def test_spot_levels_of_local_zones_and_other_systems_are_left(aws, account, zone, product):
    account.spot, account.product = [("p5.48xlarge", zone, "1.0", "2026-11-21T05:00:00.000Z")], product
    assert aws().read("spot") == [
        SkippedRows("spot levels of other products and of Local Zones"),
        CoveredScope(REGION, "spot"),
    ]


def test_the_recorded_spot_history_is_read_as_it_is(recorded, aws, account):
    """m5.large of 2021: 40 rows of real times and prices; the last level of each of the zones counts."""
    rows = json.loads(recorded("aws", "spot-price-history.m5.large.json"))["SpotPriceHistory"]
    account.spot = [(r["InstanceType"], r["AvailabilityZone"], r["SpotPrice"], r["Timestamp"]) for r in rows]
    latest: dict[str, tuple[str, float]] = {}
    for row in rows:
        level = (row["Timestamp"], float(row["SpotPrice"]))
        latest[row["AvailabilityZone"]] = max(level, latest.get(row["AvailabilityZone"], level))
    values = sorted(per_hour for _, per_hour in latest.values())
    middle = len(values) // 2
    expected = values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2
    running = aws()
    (price, _) = list(spot_prices.read(running.ask, running.clients, REGION, ["m5.large"], {}))
    assert price.price_per_hour == pytest.approx(expected)


def offer(name: str, hours: int, count: int, fee: str, **more: str) -> dict[str, str]:
    kept = {"instanceType": name, "capacityBlockDurationHours": hours, "instanceCount": count, "upfrontFee": fee}
    told = {"capacityBlockOfferingId": "cb-1", "currencyCode": "USD", "availabilityZone": "us-east-1a"}
    return {**told, "tenancy": "default", **kept, **more}


def prices_of(readings: list[object]) -> list[Price]:
    return [reading for reading in readings if isinstance(reading, Price)]


def test_a_capacity_block_by_hand(aws, account):
    """prices.csv has 41.528 an hour for p5.48xlarge: one for 24 hours costs 996.672, for 168 hours 6,976.704.

    A third offer of a week at 7,392 is 44 an hour: the median of the three is 41.528.
    """
    account.blocks = {
        ("p5.48xlarge", 24): [offer("p5.48xlarge", 24, 1, "996.672")],
        ("p5.48xlarge", 168): [offer("p5.48xlarge", 168, 1, "6976.704"), offer("p5.48xlarge", 168, 1, "7392")],
    }
    (price,) = prices_of(aws().read("capacity blocks"))
    assert price.key == ("aws", REGION, "p5.48xlarge", "capacity_block")
    assert price.price_per_hour == pytest.approx(41.528)
    assert price.note == "median of 3 offers of 24, 168 hours; min 41.528 max 44; prepaid whole"


def test_a_block_of_several_instances_is_divided_by_all():
    told = {"CurrencyCode": "USD", "UpfrontFee": "3986.688", "CapacityBlockDurationHours": 24, "InstanceCount": 4}
    told["AvailabilityZone"] = "us-east-1a"
    found = capacity_blocks.parse_offer(told, "p5.48xlarge", REGION)
    assert found.rate == pytest.approx(41.528)  # 3,986.688 / 24 / 4
    assert "'EUR'" in capacity_blocks.parse_offer({**told, "CurrencyCode": "EUR"}, "p5.48xlarge", REGION).reason
    assert "above 0" in capacity_blocks.parse_offer({**told, "UpfrontFee": "0"}, "p5.48xlarge", REGION).reason


def test_the_minutes_of_a_block_count_beside_its_hours(aws, account):
    """From 08:55 to 11:30 a day later are 26 hours 35 minutes: 1,103.9527 by 26 alone would be 42.46."""
    fee = "1103.9527"  # 41.528 x (26 + 35 / 60)
    account.blocks = {
        ("p5.48xlarge", 24): [offer("p5.48xlarge", 26, 1, fee, capacityBlockDurationMinutes="35")],
    }
    (price,) = prices_of(aws().read("capacity blocks"))
    assert price.price_per_hour == pytest.approx(41.528)
    assert price.note == "median of 1 offers of 26.58 hours; min 41.528 max 41.528; prepaid whole"


def test_a_block_in_a_local_zone_goes_by_the_zone(aws, account):
    """As the catalogue has it: prices.csv tells 41.528 in us-east-1-atl-2a too. Here Atlanta is dearer: no blend."""
    account.blocks = {
        ("p5.48xlarge", 24): [
            offer("p5.48xlarge", 24, 1, "996.672"),
            offer("p5.48xlarge", 24, 1, "1200", availabilityZone="us-east-1-atl-2a"),
        ]
    }
    found = {price.region: price.price_per_hour for price in prices_of(aws().read("capacity blocks"))}
    assert found == {REGION: pytest.approx(41.528), "us-east-1-atl-2a": 50.0}  # 1,200 / 24


def test_an_ultraserver_is_asked_for_as_such(aws, account):
    """761.904 an hour would be 10.582 for each of 72; the UltraServer itself is the node."""
    account.types = ["p6e-gb200.36xlarge"]
    fee = str(761.904 * 24)
    account.blocks = {("u-p6e-gb200x72", 24): [offer("p6e-gb200.36xlarge", 24, 18, fee, ultraserverCount="1")]}
    running = aws()
    found = prices(running.read("capacity blocks"))
    assert found["u-p6e-gb200x72", "capacity_block"].price_per_hour == pytest.approx(761.904)


def rate(name: str, amount: str, **more: object) -> dict[str, object]:
    offering = {"durationSeconds": 31536000, "paymentOption": "No Upfront", "planType": "Compute", "currency": "USD"}
    properties = {"region": REGION, "instanceType": name, "productDescription": "Linux/UNIX", "tenancy": "shared"}
    return {
        "savingsPlanOffering": {**offering, **{k: v for k, v in more.items() if k in offering}},
        "rate": amount,
        "unit": more.get("unit", "Hrs"),
        "usageType": more.get("usageType", f"BoxUsage:{name}"),
        "operation": more.get("operation", "RunInstances"),
        "properties": [{"name": k, "value": str(more.get(k, v))} for k, v in properties.items()],
    }


def test_savings_plan_rates_by_class_term_and_payment(aws, account):
    account.rates = {
        "Compute": [
            rate("p5.48xlarge", "43.2"),
            rate("m5.large", "0.07"),
            rate("p5.48xlarge", "9", tenancy="dedicated"),
            rate("p5.48xlarge", "8", usageType="UnusedBox:p5.48xlarge"),
            rate("p5.48xlarge", "7", operation="RunInstances:0002"),
        ],
        "EC2Instance": [
            rate(
                "p5.48xlarge",
                "24.1",
                planType="EC2Instance",
                paymentOption="All Upfront",
                durationSeconds=94608000,
            )
        ],
    }
    readings = aws().read("savings plans")
    found = prices(readings)
    assert found["p5.48xlarge", "savings_plan_1y_compute_no_upfront"].price_per_hour == 43.2
    three = found["p5.48xlarge", "savings_plan_3y_instance_all_upfront"]
    assert (three.price_per_hour, three.kind, three.term_months, three.upfront) == (24.1, "savings_plan", 36, "all")
    assert three.offering_class == "instance"
    assert CoveredScope(REGION, "savings_plan") in readings
    assert Counter(r.reason for r in readings if isinstance(r, SkippedRows)) == {
        OTHER_TYPES: 1,
        OTHER_USAGES: 3,
    }


@pytest.mark.parametrize(
    "more", [{"unit": "Request"}, {"currency": "CNY"}, {"paymentOption": "Some Upfront"}, {"durationSeconds": 60}]
)
def test_a_rate_that_cannot_be_read_is_refused(aws, account, more):
    account.rates["Compute"] = [rate("p5.48xlarge", "43.2", **more)]
    refused = [r for r in aws().read("savings plans") if isinstance(r, RejectedRow)]
    assert len(refused) == 1
    assert "p5.48xlarge" in refused[0].subject


def test_quotas_of_accelerated_classes(aws):
    running = aws()
    (task,) = fetch.quota_tasks(running.ask)
    readings = list(task.read())
    found = {r.code: r for r in readings if isinstance(r, Quota)}
    assert {code: (q.limit, q.types) for code, q in found.items()} == {
        "L-DB2E81BA": (16, "g[0-9]* gr[0-9]* vt[0-9]*"),
        "L-1945791B": (16, "inf[0-9]*"),
        "L-417A185B": (8, "p[0-9]*"),
        "L-6E869C2A": (0, "dl[0-9]*"),
    }
    assert {(q.unit, q.used) for q in found.values()} == {("vcpu", None)}
    assert found["L-417A185B"].counts("p5.48xlarge", "on_demand")
    assert found["L-417A185B"].counts("p5.48xlarge", "reserved")
    assert not found["L-417A185B"].counts("p5.48xlarge", "spot")
    assert not found["L-417A185B"].counts("g6.xlarge", "on_demand")
    assert SkippedRows("quotas of other things") in readings


@pytest.mark.parametrize(
    ("name", "types"),
    [
        ("All P4, P3 and P2 Spot Instance Requests", "p4[!0-9]* p3[!0-9]* p2[!0-9]*"),
        ("All P5 Spot Instance Requests", "p5[!0-9]*"),
        ("All G and VT Spot Instance Requests", "g[0-9]* gr[0-9]* vt[0-9]*"),
        ("Running On-Demand Trn instances", "trn[0-9]*"),
    ],
)
def test_the_class_stands_in_the_name(ask, name, types):
    """Names as public listings of accounts have them."""
    found = quotas.parse_quota(ask("aws", {}), {"QuotaName": name, "QuotaCode": "L-1", "Value": 192.0}, REGION)
    assert found.types == types
    assert found.kinds.startswith("spot" if "Spot" in name else "on_demand")
