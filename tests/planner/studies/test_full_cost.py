"""What stands beside a printed figure, worked by hand from the shipped assumptions."""

from __future__ import annotations

import pytest

from planner.studies import reproduce
from planner.studies.conventions import build_study_node, count_published_costs
from planner.studies.examples import read_examples

HOURS = 730


@pytest.fixture
def a(house):
    return {name: each.value for name, each in house.assumptions.items()}


def by_hand(a, price: float, power_kw: float, accelerators: int) -> tuple[float, float, float]:
    """Capital, running cost of an hour at work, and the level price of an hour over a life of 60 months."""
    capital = price / (1 - a["network_fraction_of_capex"])
    month = power_kw * a["colocation_per_kw_month"]
    month += accelerators / a["accelerators_per_staff"] * a["staff_cost_annual"] / 12
    month += price * (a["hardware_support_fraction_annual"] + a["insurance_fraction_annual"]) / 12
    month += power_kw * a["server_power_fraction"] * a["pue"] * HOURS * a["electricity_price_per_kwh"]
    rate = (1 + a["discount_rate_annual"]) ** (1 / 12) - 1
    annuity = (1 - (1 + rate) ** -60) / rate
    paid_before = a["lead_time_months"] / 12
    kept = (1 - a["value_loss_annual"]) ** (5 + paid_before) * (1 - a["liquidation_discount_fraction"])
    sold = price * kept / (1 + a["discount_rate_annual"]) ** 5
    return capital, month / HOURS, ((capital - sold) / annuity + month) / HOURS


def test_a_bought_server_against_its_rents(file, house, a):
    """8 x H100 at 250,141.80 and 10.2 kW; the printed break-even of 2,720 h becomes 3,436 h in full."""
    example = next(e for e in read_examples(file.read_bytes(), "f") if e.id == "lenovo2026_case1_breakeven")
    (found,) = reproduce([example], house)
    capital, running, level = by_hand(a, 250_141.8, 10.2, 8)
    figures = found.full_cost.figures
    assert figures["own_usd_per_hour"] == pytest.approx(level)
    assert figures["breakeven_months"]["on_demand"] == pytest.approx(capital / (98.32 - running) / HOURS)
    assert figures["breakeven_utilisation"]["reserved_5y"] == pytest.approx(level / 39.32)
    assert figures["breakeven_months"]["on_demand"] > 3.7, "all that is left out comes later"
    assert "10.2 kW" in found.full_cost.basis


def test_a_break_even_beyond_the_life_is_none(work):
    """1,000,000 / (30 - 11) = 52,632 h in the study. In full 1,234,568 of capital and some 15.7 an hour to run take
    86,000 h: longer than the 43,800 h of five years."""
    inputs = {"capex_usd": 1_000_000, "onprem_usd_per_hour": 11, "cloud_usd_per_hour": {"high": 200, "low": 30}}
    found = work("linear_breakeven", inputs, {"breakeven_hours": {"low": 52_631.58}}, {"abs": 0.01}, title="8x H100")
    assert found.ok
    assert found.full_cost.figures["breakeven_months"]["low"] is None
    assert 0 < found.full_cost.figures["breakeven_months"]["high"] <= 60


def test_an_api_at_full_cost(work, a):
    """One accelerator of 1 kW, 1.82 kW with its server; 100 tokens a second for 730 h are 262.8 million a month."""
    inputs = {
        "models": {"m": {"gpus": 1, "gpu_usd": 10_000, "gpu_w": 1000, "tokens_per_second": 100}},
        "output_share": 1.0,
        "api_usd_per_million": {"dear": {"output": 10}, "cheap": {"output": 4}},
    }
    found = work("api_breakeven", inputs, {"capacity_million_tokens_per_month": {"m": 262.8}}, {"abs": 1e-9})
    assert found.ok
    capital, running, level = by_hand(a, 10_000, 1.82, 1)
    own = found.full_cost.figures["m"]
    assert own["own_usd_per_month"] == pytest.approx(level * HOURS)
    assert own["breakeven_months"]["dear"] == pytest.approx(capital / (2628 - running * HOURS))
    assert own["breakeven_months"]["cheap"] == pytest.approx(capital / (1051.2 - running * HOURS), rel=1e-9)


def test_tokens_at_full_cost(work, a):
    found = work(
        "tokens_cost",
        {"capex_usd": 250_000, "life_hours": 43_800, "cloud_usd_per_hour": 50.0, "tokens_per_second": 1000},
        {"cloud_usd_per_million_tokens": 13.8889},  # 50 / 3.6 million tokens an hour
        {"abs": 0.0001},
        title="8x H100 at work",
    )
    assert found.ok
    level = by_hand(a, 250_000, 10.2, 8)[2]
    assert found.full_cost.figures["own_usd_per_million_tokens"] == pytest.approx(level / 3.6)
    assert found.full_cost.figures["ratio"] == pytest.approx(50 / level)


def test_a_reservation_discounted(work, house):
    """Twelve payments of 100 at 8 % a year are worth 1,157.6 or so; 1,100 upfront then saves 5 % and not 8.3 %."""
    found = work(
        "upfront_breakeven",
        {"upfront_usd": 1100, "on_demand_usd_per_year": 1200},
        {"saving_fraction": 1 / 12, "breakeven_months": 11},
    )
    assert found.ok
    rate = house.terms.discount_rate_monthly
    worth = sum(100 * (1 + rate) ** -month for month in range(1, 13))
    figures = found.full_cost.figures
    assert figures["present_cost_on_demand_usd"] == pytest.approx(worth)
    assert figures["saving_fraction"] == pytest.approx(1 - 1100 / worth)
    months = figures["breakeven_months"]
    assert 100 * (1 - (1 + rate) ** -months) / rate == pytest.approx(1100)


def test_a_reservation_that_interest_eats_up(work):
    """1,190 upfront saves 10 in a year of 1,200; discounted, it is never won back within any time: 1,190 x r < 100."""
    found = work("upfront_breakeven", {"upfront_usd": 20_000, "on_demand_usd_per_year": 1200}, {"saving_usd": -18_800})
    assert found.ok
    assert found.full_cost.figures["breakeven_months"] is None  # the interest on 20,000 is above 100 a month


@pytest.mark.parametrize(
    ("title", "told"),
    [
        ("a cluster", "names no accelerators"),
        ("8x ZZZ9000 bought", "ZZZ9000 is not known"),
        ("8x H100 NVL bought", "1.82 x its accelerators'"),
        ("16x H100 SXM bought", "1.82 x its accelerators'"),
        ("8xB300", "8x B300 server"),
    ],
)
def test_what_a_title_tells_of_a_system(work, title, told):
    inputs = {"capex_usd": 100_000, "onprem_usd_per_hour": 1, "cloud_usd_per_hour": 101}
    found = work("linear_breakeven", inputs, {"breakeven_hours": 1000}, title=title)
    assert found.ok
    assert told in found.full_cost.basis


def test_only_what_a_study_states_is_counted():
    """No network, no rent, no staff; 2 kW x 10 h x 0.5 at work; support a tenth."""
    plain = count_published_costs(build_study_node(1000, 2.0, 8), 10.0)
    assert (plain.capital, plain.support_per_year, plain.energy) == (1000, 0, 0)
    stated = count_published_costs(
        build_study_node(1000, 2.0, 8),
        10.0,
        electricity_price_per_kwh=0.5,
        pue=1.5,
        hardware_support_fraction_annual=0.1,
        network_fraction_of_capex=0.2,
    )
    assert stated.energy == pytest.approx(15)
    assert stated.support_per_year == pytest.approx(100)
    assert stated.capital == pytest.approx(1250)
