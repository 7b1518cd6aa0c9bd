"""What a process keeps between plans changes no plan: documents are equal in bytes with nothing kept and with all."""

from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.application import plan_document
from planner.reports.json import render
from planner.request.assumptions import load_defaults
from planner.request.models import parse_request
from planner.service.queue.worker_process import CYCLE_SEARCH_AFTER
from planner.supply.costs import HOURLY_CURVES, UNIT_STARTS
from planner.supply.offered_prices import BOOKS_MAX, OFFER_BOOKS, open_book
from planner.supply.recent_values import RecentValues
from pricing.catalog.adjusted_prices import ADJUSTED_MAX, adjust_catalog
from pricing.catalog.agreed_prices import agree_price
from pricing.catalog.price_catalog import Catalog
from pricing.exchange_rates import ExchangeRates
from pricing.private_prices import PrivatePriceRule

RATES = Path(__file__).parents[2] / "examples/exchange-rates.csv"
BATCH = {
    "name": "batch",
    "kind": "batch",
    "interruptible": True,
    "demand": {"accelerator_hours_per_month": 3000, "accelerator": "A100-80GB-SXM"},
}
TRAINING = {
    "name": "training",
    "kind": "training",
    "gang": 8,
    "storage_gb": 5000,
    "demand": {"accelerator_hours_per_month": 9000, "accelerator": "H100-SXM"},
}
SERVICE = {
    "name": "service",
    "kind": "inference",
    "demand": {"requests_per_second": 60},
    "measurements": [{"accelerator": "L4", "count": 1, "units_per_second": 10.0, "per": "job"}],
}
BASE = {"as_of": "2026-11-21", "months": 6, "effort": "quick"}
REQUESTS = (
    {"workloads": [BATCH]},
    {"workloads": [TRAINING]},
    {"workloads": [SERVICE]},
    {"workloads": [BATCH | {"demand": {"accelerator_hours_per_month": 40, "accelerator": "T4"}}]},
    {"workloads": [BATCH, TRAINING]},
    {"workloads": [BATCH], "as_of": "2026-12-24"},
    {"workloads": [BATCH], "start": "2027-05"},
    {"workloads": [BATCH], "months": 14},
    {"workloads": [BATCH], "providers": ["gcp"]},
    {"workloads": [TRAINING], "providers": ["aws", "azure"]},
    {"workloads": [BATCH], "regions": ["us-east-1", "westeurope"]},
    {"workloads": [TRAINING], "limits": {"purchase_options": ["on_demand"]}},
    {"workloads": [BATCH], "limits": {"purchase_options": ["on_demand", "spot"]}},
    {"workloads": [BATCH], "allow_estimates": False},
    {"workloads": [BATCH], "assumptions": {"old_spot_price_days": 1}},
    {"workloads": [TRAINING], "assumptions": {"capacity_blocks_beyond_window": 1}},
    {"workloads": [TRAINING], "assumptions": {"cloud_tax_fraction": 0.2, "cloud_price_change_annual": -0.1}},
    {"workloads": [TRAINING], "commitments_beyond_horizon": "pro_rata"},
    {"workloads": [TRAINING], "currency": "EUR"},
    {"workloads": [BATCH], "currency": "EUR", "strategies": ["cloud"]},
)


@pytest.fixture(scope="module")
def rated() -> Catalog:
    """The shipped catalogue with rates of exchange."""
    return Catalog(Catalog.embedded().layout, None, ExchangeRates.read(RATES))


def forget() -> None:
    for kept in (OFFER_BOOKS, HOURLY_CURVES, UNIT_STARTS):
        kept.clear()
    adjust_catalog.cache_clear()


def document(asked: dict[str, object], catalog: Catalog) -> bytes:
    return render(plan_document({**BASE, **asked}, catalog))


def test_plans_are_equal_in_bytes_whatever_is_kept(rated):
    cold = []
    for asked in REQUESTS:
        forget()
        cold.append(document(asked, rated))
    assert len(set(cold)) == len(REQUESTS) == 20
    forget()
    assert [document(asked, rated) for asked in REQUESTS] == cold  # each after all before it
    assert [document(asked, rated) for asked in reversed(REQUESTS)] == cold[::-1]
    assert [document(asked, rated) for asked in REQUESTS[:4]] == cold[:4]  # of one setting, one after the other
    assert len(OFFER_BOOKS) == BOOKS_MAX
    assert adjust_catalog.cache_info().currsize <= ADJUSTED_MAX


def test_plans_made_at_once_are_those_made_alone(rated):
    some = [*REQUESTS[:3], REQUESTS[18]]
    forget()
    alone = [document(asked, rated) for asked in some]
    forget()
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda asked: document(asked, rated), some)) == alone


def request_of(**settings: object):
    return parse_request({**BASE, "workloads": [BATCH], **settings}, (), {})


def test_equal_settings_have_one_book_whatever_the_workloads(rated):
    first = open_book(request_of(), rated, load_defaults())
    other = open_book(request_of(workloads=[SERVICE], effort="standard"), rated, load_defaults())
    again = Catalog(Catalog.embedded().layout, None, ExchangeRates.read(RATES))  # by value, whichever object it is
    assert other is first
    assert open_book(request_of(), again, load_defaults()) is first


@pytest.mark.parametrize(
    "changed",
    [
        {"as_of": "2026-11-22"},
        {"start": "2027-02"},
        {"months": 7},
        {"providers": ["aws"]},
        {"regions": ["us-east-1"]},
        {"limits": {"purchase_options": ["on_demand"]}},
        {"allow_estimates": False},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_each_setting_that_decides_on_prices_has_a_book_of_its_own(rated, changed):
    first = open_book(request_of(), rated, load_defaults())
    assert open_book(request_of(**changed), rated, load_defaults()) is not first


@pytest.mark.parametrize("name", ["old_spot_price_days", "capacity_blocks_beyond_window"])
def test_each_assumption_that_decides_on_prices_has_a_book_of_its_own(rated, name):
    from dataclasses import replace

    assumed = load_defaults()
    other = {**assumed, name: replace(assumed[name], value=assumed[name].value + 1)}
    assert open_book(request_of(), rated, other) is not open_book(request_of(), rated, assumed)


def test_a_price_that_is_agreed_has_a_book_of_its_own(rated):
    rule = PrivatePriceRule(
        "aws", "", "p5.48xlarge", "us-east-1", "on_demand", None, 20.0, "USD", date.min, None, "agreed", "card:1"
    )
    first = open_book(request_of(), rated, load_defaults())
    agreed = adjust_catalog(agree_price(rated, rule), "USD", date(2026, 11, 21))  # as a plan takes it
    assert open_book(request_of(), agreed, load_defaults()) is not first


@given(st.integers(1, 4), st.lists(st.integers(0, 6), max_size=40))
def test_the_values_asked_for_last_are_kept(limit, keys):
    kept, computed = RecentValues[int](limit), []
    recent: list[int] = []
    for key in keys:
        known = key in recent
        assert kept.get(key, lambda key=key: computed.append(key) or key * 10) == key * 10
        assert (computed.pop() if computed else None) == (None if known else key)
        recent = [*(each for each in recent if each != key), key][-limit:]
        assert len(kept) == len(recent)


def test_threads_that_ask_at_once_have_equal_values():
    kept, both = RecentValues[str](2), Event()

    def slowly() -> str:
        both.wait(10)
        return "value"

    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(kept.get, "key", slowly) for _ in range(2)]
        both.set()
        assert [each.result() for each in asked] == ["value", "value"]
    assert len(kept) == 1


@pytest.mark.parametrize("workload", [BATCH, TRAINING, SERVICE], ids=["batch", "training", "service"])
def test_a_plan_leaves_no_cycles_to_collect(workload):
    """Workers search for cycles seldom: what a plan no longer needs is freed without a search."""
    document = BASE | {"workloads": [workload]}
    render(plan_document(document, Catalog.current()))  # whatever is loaded once
    gc.disable()
    gc.freeze()  # what other tests left is not searched: that takes seconds
    try:
        render(plan_document(document, Catalog.current()))
        assert gc.collect() < CYCLE_SEARCH_AFTER / 100
    finally:
        gc.unfreeze()
        gc.enable()
