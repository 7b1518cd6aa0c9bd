"""Files of others: one case that cannot be worked does not stop the rest, and the methods that such files use, with
figures worked by hand."""

from __future__ import annotations

import json

import pytest

CLOSE = {"rel": 1e-9}
UNKNOWN = {
    "id": "from_elsewhere",
    "method": "monte_carlo",
    "inputs": {"draws": 10},
    "expected": {"p50_usd": 1, "p90_usd": 2},
}


@pytest.fixture
def run(study, tmp_path, document):
    """Exit code, standard output and standard error for the published cases with `cases` between the first two."""

    def one(*cases: object, arguments: tuple[str, ...] = ()) -> tuple[int, str, str]:
        examples = document["examples"]
        file = tmp_path / "held_out.json"
        file.write_text(json.dumps({"examples": [examples[0], *cases, examples[1]]}), encoding="utf-8")
        return study(file, *arguments)

    return one


def test_a_case_with_an_unknown_method_is_told_and_the_others_run(run):
    code, out, err = run(UNKNOWN)
    assert code == 2
    assert (
        "held_out.json examples[1].method: unknown method; read monte_carlo; expected one of annuity, api_breakeven,"
        in err
    )
    assert "savings_plan_order" in err
    assert len(err.splitlines()) == 1 + 1
    assert "from_elsewhere" in out
    assert "NOT RUN" in out
    assert "breakeven_hours.on_demand       2,720  2,720.41  0.1%       ok" in out
    assert out.splitlines()[-1] == "2 of 3 examples reproduced, 1 not run; 12 of 14 figures within their tolerance"


def test_a_faulty_case_is_told_with_all_its_faults(run):
    faulty = {"method": "daly", "inputs": {"cases": 7}, "expected": {}}
    code, out, err = run(faulty, UNKNOWN)
    assert code == 2
    assert [line.partition(":")[0].split()[-1] for line in err.splitlines()[1:]] == [
        "examples[1].expected",
        "examples[1].inputs.cases",
        "examples[2].method",
    ]
    assert "2 of 4 examples reproduced, 2 not run" in out


def test_as_json_each_case_stands_in_its_place(run):
    code, out, _ = run(UNKNOWN, arguments=("--format", "json"))
    assert code == 2
    found = json.loads(out)
    assert found["reproduced"] is False
    assert [each["reproduced"] for each in found["examples"]] == [True, False, True]
    unknown = found["examples"][1]
    assert unknown["id"] == "from_elsewhere"
    assert unknown["method"] == "monte_carlo"
    assert unknown["figures"] == []
    assert unknown["problems"][0]["path"] == "examples[1].method"
    assert found["examples"][0]["problems"] == []


def test_a_case_that_is_not_reproduced_beside_one_that_cannot_run(run, published):
    """A faulty file outranks a figure that is off: 2, not 5."""
    wrong = published("macrs_5_year")
    wrong["expected"]["total_deduction_usd"] = 1
    assert run(wrong)[0] == 5
    assert run(wrong, UNKNOWN)[0] == 2


def test_annuity_by_the_month_and_with_a_residual(work):
    """12 % a year in twelfths for a year: 1 % a month, 1 / 11.2550775 x 100,000 = 8,884.88; less 20,000 at the end,
    worth 20,000 / 1.01^12 = 17,748.98 now: 82,251.02 x 0.0888488 = 7,307.90."""
    inputs = {"principal_usd": 100_000, "rate_annual": 0.12, "years": 1, "payments_per_year": 12}
    expected = {
        "payment_usd": 8884.88,
        "payments": 12,
        "total_paid_usd": 106_618.55,
        "interest_usd": 6_618.55,
        "annuity_factor": 11.255077,
    }
    assert work("annuity", inputs, expected, {"abs": 0.006}).ok
    assert work("annuity", {**inputs, "residual_usd": 20_000}, {"payment_usd": 7307.90}, {"abs": 0.006}).ok


def test_annuity_without_interest_and_compounded(work):
    """1,200 over 12 months: 100. 12.682503 % a year compounded is 1 % a month."""
    free = {"principal_usd": 1200, "rate_annual": 0, "years": 1, "payments_per_year": 12}
    assert work("annuity", free, {"payment_usd": 100, "interest_usd": 0}, CLOSE).ok
    compounded = {**free, "rate_annual": 0.12682503, "compounded": True}
    assert work("annuity", compounded, {"payment_usd": 106.61855, "rate_per_period": 0.01}, {"rel": 1e-6}).ok


def test_savings_plans_of_two_kinds_and_reserved_units(work):
    """Rates of the AWS guide. One of two c5.9xlarge is reserved. The EC2 instance plan of 4 goes first: the other
    c5.9xlarge saves 75 % (1), then 3 of 6 for half of the c5.24xlarge. The compute plan of 17: 5 GB at 1 and 10 vCPU at
    1, and 2 of the 4 that the other half would cost: a quarter of the c5.24xlarge stays at 10: 2.50."""
    usage = [
        {
            "name": "c5.9xlarge",
            "units": 2,
            "reserved_units": 1,
            "on_demand": 4,
            "ec2_instance_rate": 1,
            "compute_rate": 2,
        },
        {"name": "c5.24xlarge", "on_demand": 10, "ec2_instance_rate": 6, "compute_rate": 8},
        {"name": "vcpu", "units": 10, "on_demand": 1.5, "compute_rate": 1},
        {"name": "gb", "units": 5, "on_demand": 2, "compute_rate": 1},
    ]
    expected = {
        "position": {
            "ec2_instance": {"c5.9xlarge": 1, "c5.24xlarge": 2},
            "compute": {"gb": 1, "c5.9xlarge": 2, "vcpu": 3, "c5.24xlarge": 4},
        },
        "covered_units": {
            "ec2_instance": {"c5.9xlarge": 1, "c5.24xlarge": 0.5},
            "compute": {"gb": 5, "c5.9xlarge": 0, "vcpu": 10, "c5.24xlarge": 0.25},
        },
        "on_demand_usd": {"c5.9xlarge": 0, "c5.24xlarge": 2.5, "vcpu": 0, "gb": 0},
        "wasted_usd": {"ec2_instance": 0, "compute": 0},
        "charge_usd": 23.5,
    }
    inputs = {"usage": usage, "commitments": {"compute": 17, "ec2_instance": 4}}
    assert work("savings_plan_order", inputs, expected, CLOSE).ok


def test_a_savings_plan_above_all_usage_is_owed_whole(work):
    usage = [{"name": "a", "units": 2, "on_demand": 1, "compute_rate": 0.5}, {"name": "b", "on_demand": 3}]
    inputs = {"usage": usage, "commitments": {"compute": 4}}
    expected = {"charge_usd": 7, "wasted_usd": 3, "on_demand_usd": {"a": 0, "b": 3}, "saving_usd": -2}
    assert work("savings_plan_order", inputs, expected, CLOSE).ok


def test_three_month_commitments(work):
    """In units of 730 h: 4, 6, 5 nodes at 10 on demand; committed at 6, 5 nodes cost 90 + 10 = 100 (4: 72 + 30, 6:
    108). 2, 3, 1: 2 nodes cost 36 + 10 = 46 (1: 18 + 30, 3: 54). 146 against 210 on demand."""
    inputs = {"nodes_by_month": [4, 6, 5, 2, 3, 1], "on_demand_usd_per_hour": 10, "committed_usd_per_hour": 6}
    expected = {
        "committed_nodes": [5, 2],
        "total_usd_by_term": [73_000, 33_580],
        "commitment_usd": (90 + 36) * 730,
        "on_demand_usd": 20 * 730,
        "total_usd": 106_580,
        "all_on_demand_usd": 153_300,
        "saving_usd": 46_720,
        "saving_fraction": 64 / 210,
        "utilisation": [14 / 15, 5 / 6],
        "coverage": [14 / 15, 5 / 6],
        "breakeven_utilisation": 0.6,
    }
    assert work("three_month_commitments", inputs, expected, CLOSE).ok
    given = {**inputs, "committed_nodes": [4, 2]}
    assert work("three_month_commitments", given, {"total_usd": 148 * 730, "committed_nodes": [4, 2]}, CLOSE).ok
    assert work("three_month_commitments", {**inputs, "committed_nodes": 4}, {"committed_nodes": [4, 4]}, CLOSE).ok


def test_a_term_that_the_horizon_cuts_is_owed_whole(work):
    """Four months: the second term has one month of use and is paid for three: 6 x 3 = 18 a node against 10."""
    inputs = {
        "nodes_by_month": [3, 3, 3, 3],
        "on_demand_usd_per_hour": 10,
        "committed_usd_per_hour": 6,
        "hours_per_month": 1,
    }
    assert work("three_month_commitments", inputs, {"committed_nodes": [3, 0], "total_usd": 54 + 30}, CLOSE).ok


def test_daily_hours(work):
    """8 h of 30 days at 4 = 960, committed around the clock at 2.40 = 1,728: from 2.4 / 4 x 24 = 14.4 h a day on."""
    inputs = {
        "hours_per_day": {"office": 8, "long": 16},
        "days_per_month": 30,
        "on_demand_usd_per_hour": 4,
        "committed_usd_per_hour": 2.4,
    }
    expected = {
        "on_demand_usd_per_month": {"office": 960, "long": 1920},
        "committed_usd_per_month": 1728,
        "breakeven_hours_per_day": 14.4,
    }
    assert work("daily_hours", inputs, expected, CLOSE).ok


def test_daily_hours_of_a_server_of_ones_own(work):
    """43,800 over five years of 365 days is 24 a day; an hour of use saves 4 - 1: 8 h. A rent of 2 saves 1: 24 h; one
    of 1.5 would need 48 h a day, which is never."""
    inputs = {
        "capex_usd": 43_800,
        "years": 5,
        "own_usd_per_hour": 1,
        "on_demand_usd_per_hour": {"a": 4, "b": 2, "c": 1.5, "d": 1},
    }
    expected = {"own_usd_per_day": 24, "breakeven_hours_per_day": {"a": 8, "b": 24, "c": "never", "d": "never"}}
    assert work("daily_hours", inputs, expected, CLOSE).ok


def test_power_sizing_in_racks_and_circuits(work):
    """10 servers of 10.2 kW: 102 kW; x 1.5 = 153 kW at the site. A rack of 40 kW holds 3 of them: 4 racks. A circuit of
    17.3 kW carries 80 %: 13.84, one server: 10. 200 USD a kW-month contracted: 20,400."""
    inputs = {
        "servers": 10,
        "server_kw": 10.2,
        "pue": 1.5,
        "rack_kw": 40,
        "circuit_kw": 17.3,
        "usd_per_kw_month": 200,
    }
    expected = {
        "it_kw": 102,
        "facility_kw": 153,
        "servers_per_rack": 3,
        "racks": 4,
        "servers_per_circuit": 1,
        "circuits": 10,
        "colocation_usd_per_month": 20_400,
        "kwh_per_year": 1_340_280,
    }
    assert work("power_sizing", inputs, expected, CLOSE).ok


def test_a_server_above_the_power_of_a_rack_fits_nowhere(work):
    inputs = {"servers": 2, "server_kw": 10.2, "rack_kw": 10}
    assert work("power_sizing", inputs, {"servers_per_rack": 0, "racks": "never"}, CLOSE).ok


def test_hourly_base_load(work):
    """8 h each of 2, 5 and 10 nodes at 10 on demand, committed at 6: a node pays from 14.4 h a day on, which the fifth
    has (16 h): 720 + 400. At the least load, 2: 288 + 880; at the peak 1,440."""
    inputs = {"load_by_hour": [2] * 8 + [5] * 8 + [10] * 8, "on_demand_usd_per_hour": 10, "committed_usd_per_hour": 6}
    expected = {
        "base_load_nodes": 2,
        "peak_nodes": 10,
        "committed_nodes": 5,
        "total_usd": 1120,
        "all_on_demand_usd": 1360,
        "total_at_base_load_usd": 1168,
        "total_at_peak_usd": 1440,
        "saving_usd": 240,
        "utilisation": 0.8,
        "coverage": 96 / 136,
        "breakeven_hours_fraction": 0.6,
    }
    assert work("hourly_base_load", inputs, expected, CLOSE).ok
    yearly = {**inputs, "repeats": 365, "committed_nodes": 2}
    assert work("hourly_base_load", yearly, {"total_usd": 1168 * 365, "utilisation": 1}, CLOSE).ok
