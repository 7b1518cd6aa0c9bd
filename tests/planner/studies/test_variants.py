"""Other cases of the same methods: other names and numbers, parts left out, figures that are never reached."""

from __future__ import annotations

import math

import pytest

CLOSE = {"rel": 1e-6}


def test_a_rent_below_the_own_cost_never_breaks_even(work):
    """Own cost 3 + 4 an hour; 1,000 / (27 - 7) = 50 h of 500 a month."""
    found = work(
        "linear_breakeven",
        {
            "capex_usd": 1000,
            "onprem_hourly_parts": {"power": 3, "rent": 4},
            "hours_per_month": 500,
            "cloud_usd_per_hour": {"list": 27, "cheap": 6, "even": 7},
        },
        {
            "onprem_usd_per_hour": 7,
            "breakeven_hours": {"list": 50, "cheap": None, "even": "never"},
            "breakeven_months": {"list": 0.1, "cheap": None, "even": None},
        },
        CLOSE,
    )
    assert found.ok


def test_a_reached_point_is_not_never(work):
    inputs = {"capex_usd": 1000, "onprem_usd_per_hour": 7, "cloud_usd_per_hour": 27}
    assert not work("linear_breakeven", inputs, {"breakeven_hours": None}).ok
    assert work("linear_breakeven", inputs, {"breakeven_hours": {"any name": 50}}).ok


def test_hourly_parts_with_power_and_their_sum(work):
    """10 % of 87,600 over 8,760 h = 1; 720 / 720 h = 1; 2 kW x (0.12 + 0.18) = 0.6; what is shared stands beside."""
    found = work(
        "hourly_parts",
        {
            "systems": {"one": {"capex_usd": 87_600, "server_kw": 2}, "two": {"capex_usd": 175_200}},
            "maintenance_fraction_per_year": 0.1,
            "hours_per_year": 8760,
            "rack_usd_per_month": 720,
            "hours_per_month_used_for_rent": 720,
            "usd_per_kwh": 0.12,
            "cooling_usd_per_kwh": 0.18,
        },
        {
            "maintenance_usd_per_hour": {"one": 1, "two": 2},
            "colocation_usd_per_hour": {"one": 1, "two": 1},
            "power_cooling_usd_per_hour": {"one": 0.6, "two": 0},
            "onprem_usd_per_hour": {"one": 2.6, "two": 3},
        },
        CLOSE,
    )
    assert found.ok


def test_tokens_of_several_models_and_rents(work):
    """36 an hour over 1,000 x 3,600 tokens = 10 a million; at half the use 20."""
    inputs = {"cloud_usd_per_hour": {"a": 36, "b": 72}, "tokens_per_second": {"small": 1000, "big": 100}}
    expected = {"a": {"small": 10, "big": 100}, "b": {"small": 20, "big": 200}}
    assert work("tokens_cost", inputs, {"cloud_usd_per_million_tokens": expected}, CLOSE).ok
    halved = {"cloud_usd_per_hour": 36, "tokens_per_second": 1000, "utilisation": 0.5}
    assert work("tokens_cost", halved, {"cloud_usd_per_million_tokens": 20}, CLOSE).ok


def test_one_figure_of_many(work):
    """(3,650 + 0.5 x 7,300) / 7,300 = 1 an hour."""
    inputs = {"capex_usd": 3650, "life_hours": 7300, "onprem_usd_per_hour": 0.5, "tokens_per_second": 1}
    assert work("tokens_cost", inputs, {"onprem_amortised_usd_per_hour": 1}, CLOSE).ok


def test_a_training_run_without_energy_index_or_cluster(work):
    """10,000 new loses 0.1 x ln 10 of itself a year: 2,302.585 over 8,766 h, times 8,766 chip-hours."""
    inputs = {
        "depreciation_oom_per_year": 0.1,
        "models": {"m": {"server_price_per_chip_usd": 10_000, "chip_hours": 8766}},
    }
    expected = {"capex_energy_usd": {"m": 1000 * math.log(10)}, "energy_usd": {"m": 0}}
    assert work("epoch_amortised", inputs, expected, CLOSE).ok
    assert not work("epoch_amortised", inputs, {"acquisition_usd": {"m": 10_000}}).ok, "no number of chips is given"


def test_an_api_cheaper_than_the_power(work):
    """1 kW x 100 h x 1 = 100 a month; 3.6 million tokens x 10 = 36; at 1,000 a million 3,600: 700 / 3,500 = 0.2."""
    inputs = {
        "models": {"m": {"gpus": 1, "gpu_usd": 700, "gpu_w": 1000, "tokens_per_second": 10}},
        "hours_per_month": 100,
        "usd_per_kwh": 1.0,
        "output_share": 1.0,
        "api_usd_per_million": {"cheap": {"output": 10}, "dear": {"input": 7, "output": 1000}},
    }
    expected = {"breakeven_months": {"m": {"cheap": None, "dear": 0.2}}, "electricity_usd_per_month": {"m": 100}}
    assert work("api_breakeven", inputs, expected, CLOSE).ok


def test_a_fixed_cost_given_as_such(work):
    inputs = {"fixed_usd_per_hour": 30, "cloud_usd_per_unit_hour": 20, "utilisations": {"half": 0.5, "full": 1}}
    expected = {"usd_per_unit_hour": {"half": 60, "full": 30}, "breakeven_utilisation": 1.5}
    assert work("inverse_utilisation", inputs, expected).ok


def test_several_checkpoints(work):
    """Young: sqrt(2 x 5 x 360) = 60; x = 5 / 720: 60 (1 + 0.083333 / 3 + 0.0069444 / 9) - 5 = 56.713. d >= 2M: M."""
    inputs = {"cases": [{"mtbf_minutes": 360, "checkpoint_minutes": 5}, {"mtbf_minutes": 2, "checkpoint_minutes": 5}]}
    found = work("daly", inputs, {"daly_minutes": [56.713, 2], "young_minutes": [60, 4.4721]}, {"abs": 1e-3})
    assert found.ok


@pytest.mark.parametrize("mtbf", [60, 180, 360, 1440, 10_000])
def test_the_formula_is_near_the_best_interval(work, mtbf):
    (daly,) = work("daly", {"cases": [{"mtbf_minutes": mtbf, "checkpoint_minutes": 5}]}, {"daly_minutes": [0]}).leaves
    (exact,) = work("daly", {"cases": [{"mtbf_minutes": mtbf, "checkpoint_minutes": 5}]}, {"exact_minutes": [0]}).leaves
    assert daly.computed == pytest.approx(exact.computed, rel=1e-3)


def test_the_time_a_job_takes(work):
    """W / Ts = M e^(R/M) (e^((t+d)/M) - 1) / t at the best t."""
    case = {"mtbf_minutes": 60, "checkpoint_minutes": 5, "restart_minutes": 6, "work_minutes": 100}
    (exact,) = work("daly", {"cases": [case]}, {"exact_minutes": [0]}).leaves
    t = exact.computed
    total = 60 * math.exp(0.1) * math.expm1((t + 5) / 60) / t * 100
    assert work("daly", {"cases": [case]}, {"total_minutes": [total]}, CLOSE).ok


def test_a_plan_that_is_too_large(work):
    """4 x 1 and 2 x 3 at plan rates are 10; 12 an hour waste 2; what has no plan rate stays on demand."""
    usage = [
        {"name": "a", "units": 4, "on_demand": 2, "plan_rate": 1},
        {"name": "b", "units": 2, "on_demand": 4, "plan_rate": 3},
        {"name": "c", "units": 1, "on_demand": 5},
    ]
    found = work(
        "savings_plan",
        {"usage": usage, "commitments": [12, 5, 0]},
        {
            "waste": [2, 0, 0],
            "total_charge": [17, 5 + 5 + 20 / 3, 21],
            "on_demand_remainder": [5, 5 + 20 / 3, 21],
            "second_item_remainder_in_second_case": 20 / 3,  # 1 of 6 is covered: 5 / 6 of 8
            "used_commitment": [10, 5, 0],
        },
        CLOSE,
    )
    assert found.ok


def test_a_reservation_of_three_years_paid_in_part(work):
    """1,000 + 3 x 200 = 1,600 against 3,000: 46.7 %; 1,000 / (1,000 - 200) of a year = 15 months."""
    inputs = {
        "upfront_usd": 1000,
        "reserved_usd_per_year": 200,
        "on_demand_usd_per_hour": 0.125,
        "hours_per_year": 8000,
        "term_years": 3,
    }
    expected = {
        "saving_fraction": 1.4 / 3,
        "breakeven_months": 15,
        "breakeven_utilisation": 1.6 / 3,
        "saving_usd": 1400,
    }
    assert work("upfront_breakeven", inputs, expected, CLOSE).ok


def test_a_reservation_dearer_than_on_demand(work):
    inputs = {"upfront_usd": 10, "reserved_usd_per_year": 1000, "on_demand_usd_per_year": 1000}
    assert work("upfront_breakeven", inputs, {"breakeven_months": None, "saving_usd": -10}).ok


def test_cores_that_idle(work):
    """8,760 over 10 cores, one year, half used: 0.2 each; 1 kW x 0.5 / 5 = 0.1; 0.15 an hour against 0.3 rented."""
    inputs = {
        "server_usd": 8760,
        "cores": 10,
        "years": 1,
        "server_kw": 1,
        "all_in_power_usd_per_kwh": 0.5,
        "utilisation": 0.5,
        "cloud_usd_per_core_hour": 0.3,
    }
    expected = {
        "capital_usd_per_core_hour": 0.2,
        "power_usd_per_core_hour": 0.1,
        "total_usd_per_core_hour": 0.3,
        "breakeven_utilisation": 0.5,
    }
    assert work("core_hour", inputs, expected, CLOSE).ok


def test_fleets_with_what_they_share_beside_them(work):
    """1 kW x 8,760 h x 0.1 = 876; no rate of work, no cost of work."""
    inputs = {"X": {"gpus": 2, "gpu_usd": 100, "tdp_w": 1000}, "Y": {"gpus": 1, "gpu_usd": 50}, "years": 1}
    inputs["usd_per_kwh"] = 0.1
    expected = {"X": {"acquisition_usd": 200, "power_usd": 1752, "total_usd": 1952}, "Y": {"total_usd": 50}}
    assert work("gpu_tco", inputs, expected, CLOSE).ok
    lacking = work("gpu_tco", inputs, {"X": {"usd_per_effective_pflop_year": 1}})
    assert "not a figure of this method with these inputs" in lacking.leaves[0].message


def test_depreciation_up_to_a_sale(work):
    """20 + 32 + half of 19.2 = 61.6 %; 384 left; sold for 500 is a gain of 116; a fifth of it saved as tax."""
    inputs = {"cost_usd": 1000, "disposal_year": 3, "sale_usd": 500, "tax_fraction": 0.2}
    expected = {
        "deduction_usd": [200, 320, 96],
        "cumulative_usd": [200, 520, 616],
        "adjusted_basis_usd": 384,
        "gain_usd": 116,
        "tax_shield_usd": 123.2,
    }
    assert work("macrs", inputs, expected, CLOSE).ok


def test_depreciation_over_other_percentages(work):
    assert work("macrs", {"cost_usd": 10, "percent": [50, 50]}, {"deduction_usd": [5, 5]}).ok


def test_failures_at_several_sizes(work):
    """10 days of 100 are 24,000 GPU-hours, 10 interruptions: one each 2,400, 24 h at 100, 2.4 at 1,000."""
    inputs = {"gpus": 100, "days": 10, "unexpected": 10, "hbm_faults": 1, "scale_to_gpus": {"ten": 10, "many": 1000}}
    expected = {
        "mean_hours_between": 24,
        "mean_hours_between_at_scale": {"ten": 240, "many": 2.4},
        "gpu_plus_hbm_per_gpu_year": 0.365,
    }
    assert work("failure_rate", inputs, expected, CLOSE).ok
    at_one = {**inputs, "scale_to_gpus": [1]}
    assert work("failure_rate", at_one, {"mean_hours_between_at_scale": [2400]}, CLOSE).ok
    assert work("failure_rate", at_one, {"mean_hours_between_at_scale": 2400}, CLOSE).ok
