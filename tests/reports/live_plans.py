"""Requests whose plans pay in every way that there is, each with figures to move that leave the decisions as they are.

`moves` are assumptions by name with the value that each takes; the same value goes into the workbook and into a plan
made anew.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date

from planner.request.models import Request, parse_request
from pricing.catalog.price_catalog import Catalog
from pricing.exchange_rates import ExchangeRate, ExchangeRates
from pricing.private_prices import PrivatePriceRule, RateCard

AS_OF = "2026-11-21"


@dataclass(frozen=True)
class Case:
    """A request, and what is moved in it: assumptions, and the price of one offer of the plan by a factor."""

    document: dict
    moves: dict[str, float]
    offer_times: float | None = None
    catalog: Catalog = field(default_factory=Catalog.embedded)

    def request(self, **moves: float) -> Request:
        given = {**self.document.get("assumptions", {}), **moves}
        return parse_request({"as_of": AS_OF, **self.document, "assumptions": given})


def hours(name: str, accelerator: str, per_month: float, **more) -> dict:
    demand = {"accelerator_hours_per_month": per_month, "accelerator": accelerator}
    return {"name": name, "kind": "training", "demand": demand, **more}


def measured(name: str, accelerator: str, per_second: float, units: float, **more) -> dict:
    measurement = {"accelerator": accelerator, "count": 8, "units_per_second": per_second, "per": "job"}
    return {
        "name": name, "kind": "training", "unit": "samples", "demand": {"units_per_month": units},
        "measurements": [measurement], "gang": 8, **more,
    }  # fmt: skip


def one_job() -> Case:
    """One job on spot, dearer by the plan's own change of prices, with a little data."""
    job = measured("lora", "H100", 2.183, 1_800_000, interruptible=True, storage_gb=500)
    return Case(
        {"workloads": [job], "months": 12},
        {"spot_price_change_annual": 0.03, "discount_rate_annual": 0.085, "electricity_price_per_kwh": 0.15},
        offer_times=1.01,
    )


def owned_on_a_loan() -> Case:
    """Own quotes on a loan over two years, prices that drift, operators hired one by one, a job that may not move."""
    quote = {
        "name": "8x H100 quote", "accelerator": "H100", "accelerators": 8, "price": 262000, "max_power_kw": 10.2,
        "price_as_of": "2026-11-03", "source": "quote Q-1182", "rack_units": 8,
    }  # fmt: skip
    drifts = {"cloud_price_change_annual": -0.06, "spot_price_change_annual": 0.05, "lead_time_months": 2}
    return Case(
        {
            "workloads": [
                hours("training", "H100", 4 * 8 * 700, gang=8, storage_gb=5000, team="Research"),
                hours("tests", "H100", 300, team="Platform", budget_per_month=900),
                hours("small", "L4", 900, team="Platform"),
            ],
            "months": 24, "systems": [quote], "finance": {"hardware": "loan", "tax": "macrs"},
            "site": {"staff": "whole"}, "providers": ["aws"],
            "assumptions": {**drifts, "electricity_price_growth_annual": 0.04, "hardware_discount_fraction": 0.1,
                            "deposit_fraction": 0.3, "installation_fraction": 0.02, "accelerators_per_staff": 40},
        },
        {"electricity_price_per_kwh": 0.149, "loan_rate_annual": 0.097, "price_of_8x_h100_quote": 263000,
         "pue": 1.52, "electricity_price_growth_annual": 0.045},
    )  # fmt: skip


def committed() -> Case:
    """Reserved nodes and a savings plan, nodes and a commitment that are there, with support, tax and a discount."""
    there = {"provider": "aws", "region": "us-east-1", "instance_type": "g6e.xlarge", "count": 4, "ends": "2027-01",
             "purchase_option": "reserved_1y_no_upfront", "fee_per_month": 3500}  # fmt: skip
    owned = {"system": "8x H100 server", "count": 1, "bought": "2025-06"}
    agreed = {("g6.xlarge", "savings_plan_1y_compute_no_upfront"): 0.4}
    rules = tuple(
        PrivatePriceRule(
            "aws", "", name, "us-east-1", option, None, price, "USD", date(2026, 1, 1), None, "", f"card:{number}"
        )
        for number, ((name, option), price) in enumerate(agreed.items())
    )
    base = Catalog.embedded()
    return Case(
        {
            "workloads": [
                hours("base", "H100", 4 * 8 * 700, gang=8, interruptible=True, storage_gb=300),
                hours("tuning", "L40S", 2920, team="Applied", budget_per_month=2500),
                hours("growing", "L4", [1460.0, 2920.0, 2920.0]),
            ],
            "months": 3, "providers": ["aws"], "regions": ["us-east-1"],
            "existing": {"nodes": [owned], "commitments": [there]},
            "strategies": ["cloud"], "commitments_beyond_horizon": "pro_rata",
            "assumptions": {"cloud_support_fraction": 0.03, "cloud_tax_fraction": 0.19,
                            "enterprise_discount_fraction": 0.05, "cloud_support_minimum_per_month": 15000},
        },
        {"cloud_tax_fraction": 0.192, "discount_rate_annual": 0.081, "cloud_support_minimum_per_month": 15000},
        catalog=Catalog(base.layout, base._cache, base.exchange, RateCard(rules, "card")),
    )  # fmt: skip


def service_in_euros() -> Case:
    """A service with a daily shape and data that is stored, moved and sent, in euros."""
    euros = ExchangeRates((ExchangeRate("USD", "EUR", 0.85, date(2026, 11, 20), "a bank"),))
    base = Catalog.embedded()
    service = {
        "name": "chat", "kind": "inference", "unit": "requests", "storage_gb": 20000, "egress_gb_per_month": 30000,
        "demand": {"requests_per_second": 40, "daily_shape": "business_hours"},
        "measurements": [{"accelerator": "L40S", "count": 1, "units_per_second": 9, "per": "job"}],
        "data_region": "aws eu-west-1", "transfer_gb_per_month": 2000,
    }  # fmt: skip
    batch = hours("nightly", "L4", 3000, interruptible=True, storage_gb=1000, egress_gb_per_month=500)
    return Case(
        {
            "workloads": [service, batch], "months": 12, "currency": "EUR", "providers": ["aws"],
            "assumptions": {"disaster_recovery_fraction": 0.25, "cloud_price_change_annual": 0.02},
        },
        {"cloud_price_change_annual": 0.022, "discount_rate_annual": 0.075, "cloud_support_fraction": 0.01},
        catalog=Catalog(base.layout, base._cache, euros),
    )  # fmt: skip


def owned_on_a_lease() -> Case:
    """Leased nodes in a room of one's own, over two years with drifts, and a site by racks' own figures."""
    return Case(
        {
            "workloads": [hours("training", "H200", 3 * 8 * 710, gang=8, storage_gb=50000, egress_gb_per_month=900)],
            "months": 24, "finance": {"hardware": "lease"}, "site": {"facility": "own_room"},
            "start": "2027-01",
            "assumptions": {"lead_time_months": 1, "cloud_price_change_annual": 0.1, "hardware_tax_fraction": 0.05,
                            "electricity_demand_charge_per_kw_month": 12, "idle_draw_fraction": 0.4,
                            "software_licence_per_accelerator_annual": 900},
        },
        {"own_room_per_kw": 10100, "lease_fraction_per_month": 0.0312, "discount_rate_annual": 0.082,
         "electricity_demand_charge_per_kw_month": 12.5},
    )  # fmt: skip


CASES = {
    "one job": one_job,
    "owned on a loan": owned_on_a_loan,
    "committed": committed,
    "service in euros": service_in_euros,
    "owned on a lease": owned_on_a_lease,
}
