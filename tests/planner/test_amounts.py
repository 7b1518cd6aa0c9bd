"""Amounts of a request: their currency, and sizes that no one means."""

from __future__ import annotations

import pytest

from planner.application import plan
from planner.inputs.merged_settings import merge_settings
from planner.request.errors import InvalidRequest
from planner.request.models import Request
from planner.request.validation import list_amounts

DOCUMENT = {
    "call_prices": [{"workload": "a", "input_per_million": 1, "output_per_million": 2, "output_tokens_per_unit": 1}],
    "limits": {"opex_per_year": 300_000, "capex_per_year": [1, 2]},
    "systems": [{"name": "box", "price": 9000}],
    "existing": {"commitments": [{"fee_per_month": 5}]},
    "assumptions": {"pue": 1.2, "electricity_price_per_kwh": 0.2, "price_of_8x_h100_server": 1, "power_kw_of_box": 2},
    "workloads": [{"name": "a"}, {"name": "b", "budget_per_month": 100}],
}
AMOUNTS = {
    "call_prices[0].input_per_million",
    "call_prices[0].output_per_million",
    "limits.opex_per_year", "limits.capex_per_year[0]", "limits.capex_per_year[1]", "systems[0].price",
    "existing.commitments[0].fee_per_month", "assumptions.electricity_price_per_kwh",
    "assumptions.price_of_8x_h100_server", "workloads[1].budget_per_month",
}  # fmt: skip


def test_the_schema_tells_which_values_are_money():
    """Every field whose description speaks of an amount in a currency is marked, and found in a document."""
    assert set(list_amounts(DOCUMENT)) == AMOUNTS
    schema = Request.model_json_schema()
    fields = [pair for model in schema["$defs"].values() for pair in model["properties"].items()]
    marked = {name for name, field in fields if "x-money" in str(field)}
    assert marked == {
        "budget_per_month", "price", "fee_per_month", "capex_per_year", "opex_per_year", "input_per_million",
        "output_per_million",
    }  # fmt: skip


@pytest.mark.parametrize("part", ["limits", "systems", "existing", "assumptions", "workloads", "call_prices"])
def test_no_amount_becomes_another_currency_in_silence(part):
    """300,000 USD a year were 300,000 EUR with --currency EUR."""
    document = {"currency": "USD", part: DOCUMENT[part]}
    _, (fault,) = merge_settings(document, {"currency": "EUR"}, lambda name: f"--{name}")
    assert (fault.place, fault.value) == ("--currency", "EUR")
    assert fault.message == "the amounts of the request are in USD"
    assert {path for path in AMOUNTS if path.startswith(part)} == set(fault.expected.partition(": ")[2].split(", "))


def test_what_is_no_amount_changes_with_no_currency():
    document = {"currency": "USD", "assumptions": {"pue": 1.2}, "workloads": [{"name": "a"}]}
    assert merge_settings(document, {"currency": "EUR"}, str)[1] == []


@pytest.mark.parametrize(
    ("demand", "field"),
    [
        ({"accelerator_hours_per_month": 1e18, "accelerator": "H100"}, "accelerator_hours_per_month"),
        ({"accelerator_hours_per_month": [1e3, 1e12], "accelerator": "H100"}, "accelerator_hours_per_month"),
        ({"units_per_month": 1e22}, "units_per_month"),
        ({"requests_per_second": 1e15}, "requests_per_second"),
        ({"total_units": 1e24, "deadline_month": 2}, "total_units"),
    ],
)
def test_work_for_more_accelerators_than_there_are_is_asked_about(catalog, ask, demand, field):
    """One H100 does 100 units a second, 2.6e8 a month: ten million of them 2.6e15."""
    measured = [{"accelerator": "H100", "units_per_second": 100, "per": "job"}]
    job = {"name": "job", "demand": demand, **({} if "accelerator" in demand else {"measurements": measured})}
    with pytest.raises(InvalidRequest) as refused:
        plan(ask(job, months=2), catalog)
    (fault,) = refused.value.complaints
    assert fault.path == f"workloads[0].demand.{field}"
    assert "accelerators around the clock" in fault.message


def test_large_work_is_planned(catalog, ask):
    job = {"name": "job", "demand": {"accelerator_hours_per_month": 7.3e7, "accelerator": "H100"}}
    assert plan(ask(job, months=1, strategies=["cloud"]), catalog).status == "optimal"
