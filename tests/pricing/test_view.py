"""The catalogue as one asker sees it: adjusted prices in their order, and the very catalogue where nothing differs."""

from __future__ import annotations

import pickle
from datetime import date

import pytest

from pricing.catalog.adjusted_prices import AdjustedCatalog, adjust_catalog, check_rate_card
from pricing.catalog.price_catalog import NO_EXCHANGE_RATES, NO_RATE_CARD, Catalog
from pricing.errors import InvalidSnapshot
from pricing.exchange_rates import ExchangeRate, ExchangeRates
from pricing.price import AdjustedPrice, Price
from pricing.private_prices import SOURCE_ID, RateCard

HEAD = (
    "provider,family,instance_type,region,purchase_option,percent_off,price_per_hour,currency,valid_from,valid_to,note"
)
DAY = date(2026, 11, 21)
EUROS = ExchangeRates((ExchangeRate("USD", "EUR", 0.8, date(2026, 11, 20), "a bank"),))
P5 = {"instance_types": ["p5.48xlarge"], "regions": ["us-east-1"], "options": ["on_demand"]}


@pytest.fixture
def seen(catalog, tmp_path):
    """The shipped catalogue with these lines of a card, as seen in a currency."""

    def make(*lines, currency="USD", exchange=NO_EXCHANGE_RATES, day=DAY):
        return adjust_catalog(with_card(catalog, tmp_path, *lines, exchange=exchange), currency, day)

    return make


def with_card(catalog, folder, *lines, exchange=NO_EXCHANGE_RATES):
    path = folder / "private-prices.csv"
    path.write_text("\n".join([HEAD, *lines]) + "\n", encoding="utf-8")
    return Catalog(catalog.layout, catalog._cache, exchange, RateCard.read(path))


def only(found):
    (quote,) = found
    return quote


def test_nothing_to_change_is_the_very_catalogue(catalog, seen):
    assert adjust_catalog(catalog, "USD", DAY) is catalog
    with_rates = Catalog(catalog.layout, catalog._cache, EUROS, NO_RATE_CARD)
    assert adjust_catalog(with_rates, "USD", DAY) is with_rates
    assert not isinstance(seen(",,,,,5,,,2025-01-01,2025-12-31,over"), AdjustedCatalog)


def test_a_discount_comes_first_and_then_the_rate(seen):
    """55.04 USD less 12 % is 48.4352 USD, at 0.80 38.74816 EUR."""
    there = seen("aws,,p5*,,on_demand,12,,,2026-01-01,,", currency="EUR", exchange=EUROS)
    price = only(there.quotes(**P5)).price
    assert isinstance(price, AdjustedPrice)
    assert price.price_per_hour == pytest.approx(38.74816)
    assert (price.currency, price.list_price_per_hour, price.list_currency) == ("EUR", 55.04, "USD")
    assert price.adjustment == "12 % off the list price (private-prices.csv:2)"
    (rate,) = there.rates
    assert (rate.value, rate.day) == (0.8, date(2026, 11, 20))


def test_an_agreed_price_takes_the_place_of_the_list_price_in_its_own_currency(seen):
    """30 GBP at 1 GBP = 1.30 USD is 39 USD."""
    pounds = ExchangeRates((ExchangeRate("GBP", "USD", 1.3, DAY, "a bank"),))
    there = seen("aws,,p5.48xlarge,us-east-1,on_demand,,30,GBP,2026-02-01,,", exchange=pounds)
    price = only(there.quotes(**P5)).price
    assert price.price_per_hour == pytest.approx(39)
    assert (price.currency, price.list_price_per_hour, price.list_currency) == ("USD", 55.04, "USD")
    assert (price.source_id, price.as_of, price.method) == (SOURCE_ID, date(2026, 2, 1), "listed")
    assert there.sources[SOURCE_ID].reference == "private-prices.csv: prices agreed with the provider"


def test_an_exact_agreed_price_adds_what_the_list_has_not(catalog, seen):
    query = {**P5, "options": ["reserved_1y_no_upfront"]}
    assert catalog.quotes(**query) == []
    there = seen("aws,,p5.48xlarge,us-east-1,reserved_1y_no_upfront,,30,USD,2026-01-01,,")
    price = only(there.quotes(**query)).price
    assert (price.kind, price.term_months, price.upfront, price.offering_class) == ("reserved", 12, "none", "standard")
    assert (price.price_per_hour, price.list_price_per_hour, price.list_currency) == (30, None, "")
    assert len(there.quotes()) == len(catalog.quotes()) + 1


def test_it_makes_an_unpriced_type_a_priced_one(catalog, seen):
    offering = next(o for o in catalog.unpriced() if not o.part)
    provider, name = offering.key
    region = next(region for owner, region in catalog.regions if owner == provider)
    there = seen(f"{provider},,{name},{region},savings_plan_3y_compute,,9.5,USD,2026-01-01,,")
    assert offering in there.priced
    assert offering not in there.unpriced()
    assert "savings_plan_3y_compute" in there.options
    assert "savings_plan" in there.kinds[provider]
    assert [q.price.price_per_hour for q in there.of_type(offering)] == [9.5]
    pattern = seen(f"{provider},,{name},*,on_demand,,9.5,USD,2026-01-01,,")  # adds nothing: it names no region
    assert offering not in pattern.priced


def test_ranks_follow_the_adjusted_prices(catalog, seen):
    there = seen("aws,,,,,60,,,2026-01-01,,", ",,,,spot,0,,,2026-01-01,,", "gcp,,,us-central1,,35,,,2026-01-01,,")
    quotes = there.quotes(include_parts=True, include_retired=True)
    keys = [
        (q.price.price_per_hour, q.price.provider, q.price.region, q.price.instance_type, q.price.purchase_option)
        for q in quotes
    ]
    assert keys == sorted(keys)
    assert [q.rank for q in quotes] == list(range(len(quotes)))
    assert {q.price.key for q in quotes} == {
        q.price.key for q in catalog.quotes(include_parts=True, include_retired=True)
    }
    for offering in there.priced[:20]:
        ranks = [q.rank for q in there.of_type(offering)]
        assert ranks == sorted(ranks)


def test_one_rate_keeps_the_order_of_all_prices(catalog, seen):
    euros = seen(currency="EUR", exchange=EUROS)
    before, after = catalog.quotes(), euros.quotes()
    assert len(before) == len(after)
    assert {q.price.currency for q in after} == {"EUR"}
    for one, other in zip(before[::37], (only(euros.quotes(
        instance_types=[q.price.instance_type], regions=[q.price.region], options=[q.price.purchase_option],
        providers=[q.price.provider])) for q in before[::37]), strict=True):  # fmt: skip
        assert other.price.price_per_hour == pytest.approx(0.8 * one.price.price_per_hour, rel=1e-12)
        assert other.price.list_price_per_hour == one.price.price_per_hour


def test_tiers_and_systems_are_converted(catalog, seen):
    euros = seen(currency="EUR", exchange=EUROS)
    for one, other in zip(
        catalog.tiers("aws", "us-east-1", "egress_internet"),
        euros.tiers("aws", "us-east-1", "egress_internet"),
        strict=True,
    ):
        assert (other.price_per_gb, other.currency) == (pytest.approx(0.8 * one.price_per_gb), "EUR")
    assert euros.reference_tiers("aws", "object_storage")[0].currency == "EUR"
    for one, other in zip(catalog.systems, euros.systems, strict=True):
        assert (one.price is None) == (other.price is None)
        assert other.price is None or other.price == pytest.approx(0.8 * one.price)


def test_what_has_no_rate_is_left_out_and_counted(catalog, seen):
    nothing = seen(currency="EUR")
    (left,) = nothing.left_out
    assert (left.currency, left.prices) == ("USD", len(catalog.quotes(include_parts=True, include_retired=True)))
    assert left.why == "no exchange rate from USD to EUR on or before 2026-11-21"
    assert nothing.quotes() == []
    assert nothing.priced == ()
    assert nothing.tiers("aws", "us-east-1", "egress_internet") == ()
    assert all(system.price is None for system in nothing.systems)


@pytest.mark.slow
def test_rules_decide_alone_whatever_their_order(seen):
    lines = ["aws,,,,,10,,,2026-01-01,,", "aws,,p5*,,,20,,,2026-01-01,,", ",,,us-east-1,,30,,,2026-01-01,,"]
    one, turned = seen(*lines), seen(*reversed(lines))
    assert only(one.quotes(**P5)).price.price_per_hour == pytest.approx(55.04 * 0.8)  # the type is named, if by pattern
    prices = [[q.price.price_per_hour for q in v.quotes()] for v in (one, turned)]
    assert prices[0] == prices[1]


def test_two_equal_rules_for_one_price_are_a_fault_that_names_both(catalog, tmp_path):
    def told(*lines):
        return check_rate_card(with_card(catalog, tmp_path, *lines))

    (fault,) = told("aws,,p5*,,,20,,,2026-01-01,,", "aws,,*.48xlarge,,,10,,,2026-01-01,,")
    assert fault.startswith("private-prices.csv:3: as specific as private-prices.csv:2, and both match aws ")
    assert told("aws,,p5*,,,20,,,2026-01-01,,", "aws,,g6*,,,10,,,2026-01-01,,") == ()  # no type fits both
    assert told("aws,,,,,20,,,2026-01-01,2026-06-30,", "aws,,,,,10,,,2026-07-01,,") == ()  # one after the other
    assert len(told("aws,,,,,20,,,2026-01-01,2026-06-30,", "aws,,,,,10,,,2026-06-30,,")) == 1
    same = "aws,,p5.48xlarge,us-east-1,reserved_1y_no_upfront,,{},USD,2026-01-01,,"
    assert len(told(same.format(30), same.format(31))) == 1  # for a price that no list has


def test_names_that_nothing_has_are_faults(catalog, tmp_path):
    broken = with_card(
        catalog, tmp_path,
        "aws,,p5.48xlrge,,,5,,,2026-01-01,,", "aws,,,,prepaid,5,,,2026-01-01,,", "aws,,Standard_NC*,,,5,,,2026-01-01,,",
        "aws,,p5.48xlarge,eastus,,5,,,2026-01-01,,", ",P55,,,,5,,,2026-01-01,,",
    )  # fmt: skip
    told = check_rate_card(broken)
    assert [fault.partition(": ")[0] for fault in told] == [f"private-prices.csv:{line}" for line in range(2, 7)]
    assert "unknown instance type 'p5.48xlrge'; nearest: p5.48xlarge" in told[0]
    assert "unknown purchase option 'prepaid'" in told[1]
    assert "no type that can be rented has this provider, family and instance type together" in told[2]
    assert "the provider of these types has no such region" in told[3]
    with pytest.raises(InvalidSnapshot) as bad:
        adjust_catalog(broken, "USD", DAY)
    assert bad.value.faults == told


def test_the_digest_depends_on_card_rates_and_currency(catalog, seen):
    euros = seen(currency="EUR", exchange=EUROS)
    other = ExchangeRates((ExchangeRate("USD", "EUR", 0.81, date(2026, 11, 20), "a bank"),))
    digests = {
        catalog.digest,
        euros.digest,
        seen(currency="EUR", exchange=other).digest,
        seen("aws,,,,,5,,,2026-01-01,,").digest,
        seen("aws,,,,,6,,,2026-01-01,,").digest,
    }
    assert len(digests) == 5
    assert euros.digest == seen(currency="EUR", exchange=EUROS).digest


def test_it_pickles(seen):
    there = seen("aws,,p5*,,on_demand,12,,,2026-01-01,,", currency="EUR", exchange=EUROS)
    again = pickle.loads(pickle.dumps(there))
    assert again.digest == there.digest
    assert again.quotes(**P5) == there.quotes(**P5)


def test_only_what_differs_is_an_adjusted_price(seen):
    there = seen("aws,,p5*,,on_demand,12,,,2026-01-01,,")
    kinds = {type(q.price) for q in there.quotes(providers=["gcp"])}
    assert kinds == {Price}


def test_the_lowest_prices_are_those_of_the_view(seen):
    """A discount on one region moves the lowest price there: 55.04 less 90 % is 5.504."""
    there = seen("aws,,p5.48xlarge,us-east-1,on_demand,90,,,2026-01-01,,")
    offering = there.offerings["aws", "p5.48xlarge"]
    lowest = there.lowest_by_option(offering)["on_demand"]
    assert lowest.price.price_per_hour == pytest.approx(5.504)
    assert lowest.price.region == "us-east-1"
    assert lowest.prices == len(there.by_option(offering)["on_demand"])
