"""Plans in other currencies and with negotiated prices: the same decisions, other amounts, everything told."""

from __future__ import annotations

import dataclasses
import random
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.application import plan
from planner.request.errors import InvalidRequest
from planner.supply.validation import resolve_names, validate_request
from pricing.catalog.price_catalog import NO_EXCHANGE_RATES, NO_RATE_CARD, Catalog
from pricing.exchange_rates import ExchangeRate, ExchangeRates
from pricing.private_prices import RateCard

FEW = settings(max_examples=settings.default.max_examples // 8)
seeds = st.integers(0, 10**6)
DAY = date(2026, 11, 20)
HEAD = (
    "provider,family,instance_type,region,purchase_option,percent_off,price_per_hour,currency,valid_from,valid_to,note"
)
TYPES = {"g4dn.xlarge": 1, "g4dn.12xlarge": 4, "g5.xlarge": 1, "p4d.24xlarge": 8, "p5.48xlarge": 8}
OPTIONS = ("on_demand", "spot", "reserved_1y_no_upfront", "reserved_1y_all_upfront", "reserved_3y_partial_upfront")

ON_DEMAND = {"purchase_options": ["on_demand"]}


@pytest.fixture(scope="session")
def card(tmp_path_factory):
    """A rate card of these lines."""
    folder = tmp_path_factory.mktemp("cards")

    def make(*lines: str) -> RateCard:
        path = folder / "private-prices.csv"
        path.write_text("\n".join([HEAD, *lines]) + "\n", encoding="utf-8")
        return RateCard.read(path)

    return make


def euros(value: float, day: date = DAY) -> ExchangeRates:
    return ExchangeRates((ExchangeRate("USD", "EUR", value, day, "a bank"),))


def with_money(base: Catalog, exchange: ExchangeRates = NO_EXCHANGE_RATES, card: RateCard = NO_RATE_CARD) -> Catalog:
    """The catalogue `base` with rates and a card beside it."""
    return Catalog(base.layout, base._cache, exchange, card)


def some_prices(chance: random.Random) -> dict:
    return {
        ("aws", chance.choice(["us-east-1", "eu-west-1"]), name, option): count * chance.uniform(0.2, 4)
        for name, count in TYPES.items()
        for option in OPTIONS
        if option == "on_demand" or chance.random() < 0.4
    }


def some_jobs(chance: random.Random) -> list[dict]:
    batch = {
        "name": "batch",
        "demand": {"units_per_month": chance.uniform(1e6, 5e9)},
        "measurements": [{"accelerator": "A100-40GB-SXM", "count": 8, "units_per_second": 900, "per": "job"}],
        "interruptible": chance.random() < 0.5,
        "storage_gb": chance.choice([0, 500]),
    }
    hours = {"name": "hours", "demand": {"accelerator_hours_per_month": chance.uniform(1, 3000), "accelerator": "T4"}}
    return chance.sample([batch, hours], chance.randint(1, 2))


def decisions(strategy):
    """What is bought and used, without money."""
    bought = [(p.month, p.name, p.region, p.purchase_option, p.count) for p in strategy.purchases]
    used = [(u.month, u.workload, u.name, u.region, u.purchase_option) for u in strategy.uses]
    return strategy.status, bought, used, [u.node_hours for u in strategy.uses]


def same_but_for_money(one, other, rate):
    """Two plans that decide alike, all amounts of `other` being `rate` times those of `one`."""
    for a, b in zip(one.strategies, other.strategies, strict=True):
        assert decisions(a)[:3] == decisions(b)[:3]
        assert decisions(b)[3] == pytest.approx(decisions(a)[3], rel=1e-6, abs=1e-6)
        for field in ("present_cost", "total_cost"):
            assert getattr(b, field) == pytest.approx(rate * getattr(a, field), rel=2e-6)
        assert [r.amount for r in b.cash] == pytest.approx([rate * r.amount for r in a.cash], rel=1e-6, abs=1e-6)
        assert [w.cost for w in b.workloads] == pytest.approx([rate * w.cost for w in a.workloads], rel=1e-6)
    pairs = zip(one.break_even, other.break_even, strict=True)
    assert all(b.rented == a.rented and b.month == a.month for a, b in pairs)


@FEW
@given(seeds, st.sampled_from([0.0065, 0.5, 0.923456, 1.31, 155.53, 16719.01]))
def test_another_currency_changes_amounts_and_nothing_else(priced, ask, seed, rate):
    chance = random.Random(seed)
    base, jobs = priced(some_prices(chance)), some_jobs(chance)
    one = plan(ask(*jobs, months=6), base)
    other = plan(ask(*jobs, months=6, currency="EUR"), with_money(base, euros(rate)))
    same_but_for_money(one, other, rate)
    assert other.plan_id != one.plan_id
    assert other.catalog_digest != one.catalog_digest


@FEW
@given(seeds)
def test_a_hair_off_every_price_changes_no_decision(priced, ask, card, seed):
    chance = random.Random(seed)
    base, jobs = priced(some_prices(chance)), some_jobs(chance)
    one = plan(ask(*jobs, months=6, strategies=["cloud"]), base)
    other = plan(ask(*jobs, months=6, strategies=["cloud"]), with_money(base, card=card(",,,,,0.0001,,,2026-01-01,,")))
    [a], [b] = one.strategies, other.strategies
    assert decisions(a)[:3] == decisions(b)[:3]
    assert b.total_cost == pytest.approx(a.total_cost, rel=3e-6)
    assert b.present_cost <= a.present_cost * (1 + 1e-9)


@FEW
@given(seeds)
def test_a_dearer_rule_never_lowers_the_optimum_and_the_order_of_rows_changes_nothing(priced, ask, card, seed):
    chance = random.Random(seed)
    base, request = priced(some_prices(chance)), ask(*some_jobs(chance), months=6, strategies=["cloud"])
    lines = {
        "aws,,g4dn*,,{}": chance.uniform(1, 60),
        "aws,,,,on_demand{}": chance.uniform(1, 60),
        "aws,,p4d.24xlarge,,{}": chance.uniform(1, 60),
        ",,,,reserved{}": chance.uniform(1, 60),
    }

    def cost(off, *, turned=False):
        rows = [f"{names.format('')},{percent},,,2026-01-01,," for names, percent in off.items()]
        found = plan(request, with_money(base, card=card(*(reversed(rows) if turned else rows))))
        return found.strategy("cloud")

    before = cost(lines)
    turned = cost(lines, turned=True)
    assert dataclasses.replace(before) == turned
    chosen = chance.choice(sorted(lines))
    dearer = cost({**lines, chosen: lines[chosen] * chance.uniform(0, 1)})
    assert dearer.present_cost >= before.present_cost * (1 - 2e-6)


@FEW
@given(seeds)
def test_a_tenth_off_every_price_makes_nine_tenths_of_what_is_rented(priced, ask, card, seed):
    chance = random.Random(seed)
    base = priced(some_prices(chance))
    request = ask(*({**job, "storage_gb": 0} for job in some_jobs(chance)), months=6, strategies=["cloud"])
    [a] = plan(request, base).strategies
    [b] = plan(request, with_money(base, card=card(",,,,,10,,,2026-01-01,,"))).strategies
    assert decisions(a)[:3] == decisions(b)[:3]
    assert [r.amount for r in b.cash] == pytest.approx([0.9 * r.amount for r in a.cash], rel=1e-6, abs=1e-6)
    assert (b.total_cost, b.present_cost) == pytest.approx((0.9 * a.total_cost, 0.9 * a.present_cost), rel=2e-6)


def test_a_discount_on_nodes_is_none_on_storage_and_egress(catalog, ask, hours, card):
    """10 % off 27,520 on demand is 24,768; 46.00 of storage and 1,071.20 of egress stay (see test_worked)."""
    job = hours("H100", 4000, gang=8, storage_gb=2000, egress_gb_per_month=12_000)
    places = {"providers": ["aws"], "regions": ["us-east-1"], "limits": ON_DEMAND}
    request = ask(job, **places, strategies=["cloud"], months=1)
    ours = with_money(catalog, card=card("aws,,,,on_demand,10,,,2026-01-01,,"))
    found = plan(request, ours)
    paid = {row.category: row.amount for row in found.strategy("cloud").cash}
    assert paid == pytest.approx({"on_demand": 24_768, "storage": 46.00, "egress": 1_071.20})
    used = len(found.prices)
    told = f"{used} of the {used} used are negotiated (private-prices.csv, as in force on 2026-11-21)."
    assert any(each.text.endswith(told) for each in found.conventions)


def test_a_discount_and_euros_by_hand(catalog, ask, hours, card):
    """4,000 H100-hours a month in gangs of 8 on p5.48xlarge, us-east-1, with 12 % off and at 0.80 EUR a dollar.

    List 55.04 USD an hour (2026-07-20); less 12 % = 48.4352 USD; x 0.80 = 38.74816 EUR.
    4,000 / 8 = 500 node-hours: 500 x 38.74816 = 19,374.08 EUR a month, 12 months 232,488.96 EUR.
    Electricity: 0.146 USD per kWh x 0.80 = 0.1168 EUR per kWh. The 8x H100 server: 250,142 USD x 0.80 = 200,113.60 EUR.
    """
    ours = card("aws,,p5.48xlarge,,on_demand,12,,,2026-01-01,2026-12-31,contract 7")
    places = {"providers": ["aws"], "regions": ["us-east-1"], "limits": ON_DEMAND}
    request = ask(hours("H100", 4000, gang=8), **places, currency="EUR", strategies=["cloud"])
    found = plan(request, with_money(catalog, euros(0.80), ours))
    cloud = found.strategy("cloud")
    assert [row.amount for row in cloud.cash] == pytest.approx([19_374.08] * 12)
    assert cloud.total_cost == pytest.approx(232_488.96)
    (price,) = [p for p in found.prices if p.instance_type == "p5.48xlarge" and p.purchase_option == "on_demand"]
    assert (price.price_per_hour, price.currency) == (pytest.approx(38.74816), "EUR")
    assert (price.list_price_per_hour, price.list_currency) == (55.04, "USD")
    assert price.adjustment == "12 % off the list price (private-prices.csv:2: contract 7)"
    assert price.as_of == date(2026, 7, 20)
    (rate,) = found.exchange_rates
    assert (rate.from_currency, rate.to_currency, rate.value, rate.as_of) == ("USD", "EUR", 0.80, DAY)
    assumed = {a.name: a for a in found.assumptions}
    assert assumed["electricity_price_per_kwh"].value == pytest.approx(0.1168)
    assert assumed["electricity_price_per_kwh"].unit == "EUR per kWh"
    assert assumed["electricity_price_per_kwh"].source.endswith("0.146 USD per kWh at 0.8 EUR per USD of 2026-11-20")
    server = assumed["price_of_8x_h100_server"]
    assert (server.value, server.unit) == (pytest.approx(200_113.60), "EUR")
    assert server.source.endswith("250,142 USD at 0.8 EUR per USD of 2026-11-20")
    assert "USD" not in assumed["power_kw_of_8x_h100_server"].source
    told = (
        f"1 of the {len(found.prices)} used are negotiated (private-prices.csv, as in force on 2026-11-21), the others"
    )
    assert any(told in each.text for each in found.conventions)
    assert any("1 USD = 0.8 EUR of 2026-11-20 (a bank)" in each.text for each in found.conventions)


def test_amounts_of_the_request_are_in_its_currency(catalog, ask, hours):
    """A budget of 100 EUR is 125 USD at 0.80; a server at 1,000 EUR stays 1,000."""
    job = hours("L4", 730, budget_per_month=100)
    given_price = {"price_of_8x_h100_server": 1000.0, "electricity_price_per_kwh": 0.2}
    found = plan(ask(job, currency="EUR", assumptions=given_price), with_money(catalog, euros(0.80)))
    assumed = {a.name: a for a in found.assumptions}
    assert assumed["price_of_8x_h100_server"].value == 1000
    assert assumed["price_of_8x_h100_server"].source == "given in the request"
    assert assumed["electricity_price_per_kwh"].value == 0.2
    assert assumed["electricity_price_per_kwh"].source == "given in the request; default 0.1168"
    assert found.workloads[0].budget_per_month == 100


def test_storage_and_egress_are_converted(catalog, ask, hours):
    """As in dollars (46.00 and 1,071.20, see test_worked), times 0.80: 36.80 and 856.96; 27,520 x 0.80 = 22,016."""
    job = hours("H100", 4000, gang=8, storage_gb=2000, egress_gb_per_month=12_000)
    places = {"providers": ["aws"], "regions": ["us-east-1"], "limits": ON_DEMAND}
    request = ask(job, **places, strategies=["cloud"], months=1, currency="EUR")
    paid = {row.category: row.amount for row in plan(request, with_money(catalog, euros(0.80))).strategy("cloud").cash}
    assert paid == pytest.approx({"on_demand": 22_016, "storage": 36.80, "egress": 856.96})


def test_without_a_rate_the_pair_and_the_day_are_told(catalog, ask, hours):
    late = euros(0.8, date(2026, 11, 22))
    for exchange in (ExchangeRates(()), late):
        with pytest.raises(InvalidRequest) as refused:
            plan(ask(hours("L4", 10), currency="EUR"), with_money(catalog, exchange))
        (complaint,) = refused.value.complaints
        assert (complaint.path, complaint.value) == ("currency", "EUR")
        assert complaint.message == "no exchange rate from USD to EUR on or before 2026-11-21"
        assert "--exchange-rates FILE" in complaint.expected
        assert "exchange-rates.csv" in complaint.expected


def test_a_shape_that_is_no_currency_is_refused(ask, hours):
    for written in ("eur", "EURO", "€", ""):
        with pytest.raises(InvalidRequest) as refused:
            ask(hours("L4", 10), currency=written)
        assert [c.path for c in refused.value.complaints] == ["currency"]


def test_rules_that_do_not_hold_are_named_where_they_would_have_mattered(catalog, ask, hours, card):
    ours = card(
        "gcp,,,,,20,,,2025-01-01,2026-11-20,ended yesterday",
        "aws,,g6.xlarge,,,20,,,2026-11-22,,begins tomorrow",
        "aws,,p5*,,,20,,,2025-01-01,2025-12-31,of no concern",
    )
    found = plan(ask(hours("L4", 100), months=1), with_money(catalog, card=ours))
    plain = plan(ask(hours("L4", 100), months=1), catalog)
    told = [gap for gap in found.gaps if gap.kind == "private_price"]
    assert [gap.subject.partition(": ")[2] for gap in told] == ["ended yesterday)", "begins tomorrow)"]
    assert "holds 2025-01-01 to 2026-11-20, not on 2026-11-21" in told[0].effect
    assert found.strategies == plain.strategies


def test_an_old_rate_is_a_gap(catalog, ask, hours):
    found = plan(ask(hours("L4", 100), months=1, currency="EUR"), with_money(catalog, euros(0.8, date(2026, 1, 1))))
    assert ("exchange rate from USD to EUR", "of 2026-01-01, 324 days before the plan") in [
        (gap.subject, gap.effect) for gap in found.gaps if gap.kind == "old_price"
    ]


def test_prices_in_a_currency_without_a_rate_are_left_out_and_counted(catalog, ask, hours, card):
    """A price agreed in SEK replaces the list price; without a rate from SEK nobody can tell what it is."""
    ours = card("aws,,g6.xlarge,,on_demand,,7.5,SEK,2026-01-01,,")
    found = plan(ask(hours("L4", 100), months=1), with_money(catalog, card=ours))
    listed = len(catalog.quotes(instance_types=["g6.xlarge"], options=["on_demand"]))
    assert (
        f"{listed} prices in SEK",
        "no exchange rate from SEK to USD on or before 2026-11-21: never a candidate",
    ) in [(gap.subject, gap.effect) for gap in found.gaps]
    used = {(u.name, u.purchase_option) for s in found.strategies for u in s.uses}
    assert ("g6.xlarge", "on_demand") not in used


def test_a_faulty_card_is_told_line_by_line(catalog, ask, hours, card):
    ours = card("awz,,,,,5,,,2026-01-01,,", "aws,,p9*,,,5,,,2026-01-01,,", "aws,,,us-esat-1,,5,,,2026-01-01,,")
    with pytest.raises(InvalidRequest) as refused:
        plan(ask(hours("L4", 10), regions=["nowhere"]), with_money(catalog, card=ours))
    told = [(c.place, c.message) for c in refused.value.complaints]
    assert told[0] == ("private-prices.csv:2", "unknown provider 'awz'; nearest: aws, azure")
    assert told[1] == ("private-prices.csv:3", "instance_type is 'p9*', which fits no instance type of the catalogue")
    assert told[2][0] == "private-prices.csv:4"
    assert told[2][1].startswith("unknown region 'us-esat-1'; nearest: ")
    assert "us-east-1" in told[2][1]
    assert refused.value.complaints[-1].path == "regions[0]"


def test_titles_and_other_spellings_are_the_catalogue_s_names(catalog, ask, hours):
    job = hours("L4", 10, providers=["Amazon Web Services"], regions=["EU-Central-1"], residency=["eu"])
    written = ask(job, providers=["AWS", "aws"], regions=["Europe (Frankfurt)"])
    assert validate_request(written, catalog) == ()
    meant = resolve_names(written, catalog)
    assert (meant.providers, meant.regions) == (("aws",), ("eu-central-1",))
    (workload,) = meant.workloads
    assert (workload.providers, workload.regions, workload.residency) == (("aws",), ("eu-central-1",), ("EU",))
    clean = hours("L4", 10, providers=["aws"], regions=["eu-central-1"], residency=["EU"])
    same = plan(ask(clean, providers=["aws"], regions=["eu-central-1"]), catalog)
    assert plan(written, catalog) == same
