"""Prices to ask vendors for: worked by hand, and right when a plan is made with them."""

from __future__ import annotations

from datetime import date

import pytest

from planner.application import negotiate, plan
from pricing.catalog.agreed_prices import agree_price
from pricing.private_prices import PrivatePriceRule

STANDING = {"kind": "inference", "demand": {"accelerator_hours_per_month": 11_680, "accelerator": "H100"}}
WEST = {"providers": ["aws"], "regions": ["us-west-2"], "months": 36}
EAST = {**WEST, "regions": ["us-east-1"]}
BELOW, ABOVE = 0.999, 1.001
MONTHLY = 1.08 ** (1 / 12) - 1
ANNUITY = (1 - 1.08**-3) / MONTHLY
"""Of 36 payments at the ends of months."""


def service() -> dict:
    return {"name": "serve", **STANDING}


def target(found, kind: str, option: str = ""):
    return next(t for t in found.negotiation if t.kind == kind and option in t.purchase_option)


def agreed(catalog, about, price: float):
    """The catalogue with a price agreed for what a target is about."""
    rule = PrivatePriceRule(
        about.provider, "", about.name, about.region, about.purchase_option, None, price, "USD", date(2026, 11, 1),
        None, "", "test:1",
    )  # fmt: skip
    return agree_price(catalog, rule)


def test_a_region_without_a_term_price_says_so_in_the_headline(catalog, ask):
    """16 H100 for 36 months in us-west-2, where no commitment to P5 has a price: sixteen p5.4xlarge on demand at 6.88,
    present cost 16 x 6.88 x 730 h x 32.0433 = 2,574,951. Owning costs 1,424,559. Cloud, the simpler, is the choice up
    to 2 % more, 1,453,050: at 1,453,050 / (16 x 730 x 32.0433) = 3.8824 an hour for three years."""
    found = plan(ask(service(), **WEST), catalog)
    own, cloud = found.strategy("onprem").present_cost, found.strategy("cloud").present_cost
    assert cloud == pytest.approx(16 * 6.88 * 730 * ANNUITY)
    flip = 1.02 * own / (16 * 730 * ANNUITY)
    assert flip == pytest.approx(3.8824, abs=0.0001)
    term = target(found, "term")
    assert (term.provider, term.region, term.name) == ("aws", "us-west-2", "p5.4xlarge")
    assert term.purchase_option == "savings_plan_3y_instance_no_upfront"
    assert term.flip_price == pytest.approx(flip)
    assert term.at_stake == pytest.approx(cloud - own)
    assert found.recommendation.strategy == "onprem"
    sentence = found.recommendation.sentence.text
    assert "No commitment to aws us-west-2 p5.4xlarge has a known price" in sentence
    assert "at 3.88 or less (savings_plan_3y_instance_no_upfront) cloud would be the choice" in sentence


@pytest.mark.slow
def test_a_term_price_below_the_flip_makes_cloud_the_choice_and_one_above_does_not(catalog, ask):
    asked = ask(service(), **WEST)
    term = target(plan(asked, catalog), "term")
    choices = [
        plan(asked, agreed(catalog, term, term.flip_price * part)).recommendation.strategy for part in (BELOW, ABOVE)
    ]
    assert choices == ["cloud", "onprem"]


@pytest.mark.slow
def test_where_the_term_price_is_known_the_plan_is_its_sum(catalog, ask):
    """The three-year savings plan of us-east-1: 2 nodes x 23.77728 x 26,280 h = 1,249,733.84, and nothing is unknown.
    It stays the choice up to where cloud is 2 % above owning: 1.02 x own / (2 x 730 x 32.0433)."""
    found = plan(ask(service(), **EAST), catalog)
    assert found.strategy("cloud").total_cost == pytest.approx(1_249_733.84, abs=0.01)
    assert "known price" not in found.recommendation.sentence.text
    rate = target(found, "rate", "savings_plan_3y")
    assert (rate.price, rate.becomes) == (23.77728, "onprem")
    assert rate.flip_price == pytest.approx(1.02 * found.strategy("onprem").present_cost / (2 * 730 * ANNUITY))
    asked = ask(service(), **EAST)
    choices = [
        plan(asked, agreed(catalog, rate, rate.flip_price * part)).recommendation.strategy for part in (BELOW, ABOVE)
    ]
    assert choices[0] == "cloud"
    assert choices[1] != "cloud"


def test_a_quote_below_the_flip_makes_owning_the_choice(catalog, ask):
    """The figure of fixed decisions is where on-premises as planned is the choice."""
    asked = {**EAST, "strategies": ["cloud", "onprem"]}
    quote = target(plan(ask(service(), **asked), catalog), "quote")
    assert (quote.name, quote.price) == ("8x H100 server", 250_142)
    prices = [quote.flip_price * part for part in (BELOW, ABOVE)]
    choices = [
        plan(ask(service(), **asked, assumptions={"price_of_8x_h100_server": p}), catalog).recommendation.strategy
        for p in prices
    ]
    assert choices == ["onprem", "cloud"]
    assert f"At {quote.flip_price:,.0f} USD or less for 8x H100 server" in " ".join(
        reason.text for reason in plan(ask(service(), **asked), catalog).recommendation.reasons
    )


def test_negotiate_confirms_every_price_by_planning_again(catalog, ask):
    """Hybrid may own before on-premises alone pays: what new plans say decides."""
    asked = ask(service(), **EAST)
    found = negotiate(asked, catalog)
    quote = target(found, "quote")
    assert quote.basis == "planned_again"
    choices = [
        plan(ask(service(), **EAST, assumptions={"price_of_8x_h100_server": quote.flip_price * part}), catalog)
        for part in (0.998, 1.002)
    ]
    assert choices[0].recommendation.strategy != "cloud"
    assert choices[1].recommendation.strategy == "cloud"
    assert quote.becomes == choices[0].recommendation.strategy


def test_a_plan_without_a_rival_asks_for_nothing(catalog, ask):
    assert plan(ask(service(), **EAST, strategies=["cloud"]), catalog).negotiation == ()


def test_resale_and_short_use_are_said_where_the_plan_owns(catalog, ask):
    found = plan(ask(service(), **WEST), catalog)
    told = {reason.code: reason for reason in found.recommendation.reasons}
    resale = told["resale_counted"].parameters
    assert resale["hardware_fraction"] == pytest.approx(0.81 * 0.724**3 * 0.8)
    assert resale["advice_holds"] is True
    short = plan(ask(service(), **{**WEST, "months": 18}), catalog)
    if short.recommendation.strategy != "cloud":
        assert "owned_used_briefly" in {reason.code for reason in short.recommendation.reasons}
