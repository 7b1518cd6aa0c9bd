"""Spot prices that are too old or too low decide nothing: counted at the median of recent ones, or at on demand."""

from __future__ import annotations

import pytest

from planner.application import plan

TYPE = "g4dn.xlarge"
REGIONS = ("us-east-1", "us-east-2", "us-west-2", "eu-west-1")
OLD, RECENT = "2026-08-22", "2026-08-23"  # 91 and 90 days before the plan of 2026-11-21
JOB = {"interruptible": True, "checkpoint_minutes": 0, "restart_minutes": 0}
FREE = {"spot_hours_to_interruption": 1e9}


def key(region: str, option: str) -> tuple[str, str, str, str]:
    return ("aws", region, TYPE, option)


@pytest.fixture
def cost(priced, ask, hours):
    """The cost of 1,000 hours of a T4 at 0.5 on demand everywhere and these spot prices, with the plan."""

    def planned(spot: dict[str, float], days: dict[str, str], allowed=("us-east-1",), **settings):
        prices = {key(region, "on_demand"): 0.5 for region in REGIONS}
        prices |= {key(region, "spot"): price for region, price in spot.items()}
        catalog = priced(prices, {key(region, "spot"): day for region, day in days.items()})
        settings = {"months": 1, "strategies": ["cloud"], "assumptions": FREE, "regions": allowed, **settings}
        found = plan(ask(hours("T4", 1000, **JOB), **settings), catalog)
        return found.strategies[0].total_cost, found

    return planned


def notes(found) -> dict[str, dict]:
    return {g.subject: g.effect.parameters for g in found.gaps if g.effect.code == "spot_price_counted_at"}


def test_a_recent_price_decides_as_it_is_listed(cost):
    # 1,000 h x 0.2
    paid, found = cost({"us-east-1": 0.2}, {"us-east-1": RECENT})
    assert paid == pytest.approx(200)
    assert not notes(found)


def test_an_old_price_without_recent_ones_is_counted_at_the_price_on_demand(cost):
    # 1,000 h x 0.5, and not x 0.2; it is named although nothing is paid at it
    paid, found = cost({"us-east-1": 0.2}, {"us-east-1": OLD})
    assert paid == pytest.approx(500)
    assert {use.purchase_option for use in found.strategies[0].uses} == {"on_demand"}
    named = notes(found)["aws us-east-1 g4dn.xlarge spot"]
    assert (named["why"], named["basis"], named["age_days"]) == ("old", "on_demand", 91)
    assert (named["listed_per_hour"], named["counted_per_hour"]) == (0.2, 0.5)


def test_an_old_price_is_counted_at_the_median_of_recent_ones_of_other_regions(cost):
    # recent: 0.24, 0.30, 0.40, the median of which is 0.30; so 1,000 h x 0.30 and not x 0.2
    spot = {"us-east-1": 0.2, "us-east-2": 0.24, "us-west-2": 0.30, "eu-west-1": 0.40}
    paid, found = cost(spot, {"us-east-1": OLD})
    assert paid == pytest.approx(300)
    assert {use.purchase_option for use in found.strategies[0].uses} == {"spot"}
    named = notes(found)["aws us-east-1 g4dn.xlarge spot"]
    assert (named["basis"], named["regions"], named["counted_per_hour"]) == ("median", 3, pytest.approx(0.3))
    [price] = [price for price in found.prices if price.purchase_option == "spot"]
    assert (price.price_per_hour, price.list_price_per_hour, price.method) == (pytest.approx(0.3), 0.2, "derived")
    assert "listed at 0.2000 an hour, of 2026-08-22, 91 days before the plan: counted at 0.3000" in " ".join(
        str(gap.effect) for gap in found.gaps
    )


def test_an_old_price_above_the_recent_ones_is_never_lowered(cost):
    # recent ones are 0.24; 1,000 h x 0.45 in the one region that is allowed
    paid, found = cost({"us-east-1": 0.45, "us-east-2": 0.24}, {"us-east-1": OLD})
    assert paid == pytest.approx(450)
    assert ("aws us-east-1 g4dn.xlarge spot", "price_outdated") in {(g.subject, g.effect.code) for g in found.gaps}


def test_a_recent_price_below_half_of_the_median_is_counted_at_the_median(cost):
    # the median of 0.14, 0.30, 0.32 is 0.30: 0.14 is below half of it, 0.15 is not
    others = {"us-east-2": 0.30, "us-west-2": 0.32}
    paid, found = cost({"us-east-1": 0.14, **others}, {})
    assert paid == pytest.approx(300)
    assert notes(found)["aws us-east-1 g4dn.xlarge spot"]["why"] == "low"
    paid, found = cost({"us-east-1": 0.15, **others}, {})
    assert paid == pytest.approx(150)
    assert not notes(found)


def test_what_is_counted_at_more_elsewhere_is_added_up(cost):
    # four old prices: their median is 0.25, so 0.10 and 0.20 count at it, and 1,000 h x 0.25
    spot = dict(zip(REGIONS, (0.10, 0.20, 0.30, 0.40), strict=True))
    paid, found = cost(spot, dict.fromkeys(REGIONS, OLD), allowed=REGIONS)
    assert paid == pytest.approx(250)
    [others] = [gap.effect.parameters for gap in found.gaps if gap.effect.code == "spot_prices_counted_at"]
    assert others == {"prices": 1, "oldest": OLD, "newest": OLD}
    assert len(notes(found)) == 1
    assert "the median of its type in 4 regions" in " ".join(str(gap.effect) for gap in found.gaps)


def test_the_age_is_an_assumption_and_estimates_can_be_switched_off(cost):
    paid, _ = cost({"us-east-1": 0.2}, {"us-east-1": OLD}, assumptions={**FREE, "old_spot_price_days": 91})
    assert paid == pytest.approx(200)
    ways = {"limits": {"purchase_options": ["spot"]}, "allow_estimates": False}
    _, found = cost({"us-east-1": 0.2}, {"us-east-1": OLD}, **ways)
    assert found.status == "infeasible"
    assert "no spot price is recent or plausible, and estimates are switched off" in " ".join(map(str, found.reasons))


def test_a_price_that_was_agreed_is_as_old_as_the_agreement(priced):
    from dataclasses import replace
    from datetime import date

    from planner.supply.spot_prices import find_spot_bounds
    from pricing.private_prices import SOURCE_ID

    catalog = priced({key("us-east-1", "spot"): 0.2, key("us-east-1", "on_demand"): 0.5},
                     {key("us-east-1", "spot"): OLD})  # fmt: skip
    quotes = catalog.of_type(catalog.offerings["aws", TYPE])
    agreed = [replace(quote, price=replace(quote.price, source_id=SOURCE_ID)) for quote in quotes]
    assert find_spot_bounds(quotes, date(2026, 11, 21), 90)
    assert not find_spot_bounds(agreed, date(2026, 11, 21), 90)
