"""What a plan chose from: every offering and system, in every way of paying, each with one end and its reasons."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.analysis.alternatives import (
    ATTACHED_PART_ONLY,
    NO_PRICE,
    NO_QUOTA,
    OWNING_NOT_REQUESTED,
    TOO_LATE,
)
from planner.application import plan
from planner.messages import text_of
from planner.result.alternatives import OfferOutcome
from planner.result.message import message
from planner.supply.price_rules import MAY_BE_INTERRUPTED, WHOLE_DAYS
from pricing.catalog.adjusted_prices import select_for_plan

HOURLY = ("aws", "us-east-1", "g6.xlarge", "on_demand")
YEAR = ("aws", "us-east-1", "g6.xlarge", "reserved_1y_no_upfront")
SPOT = ("aws", "us-east-1", "g6.xlarge", "spot")
DEAR = ("aws", "eu-west-1", "g6.xlarge", "on_demand")
TWICE = ("aws", "us-east-1", "g6.2xlarge", "on_demand")
BIG = ("aws", "us-east-1", "p5.48xlarge", "on_demand")


def row(answer, name, option=None):
    """The row of an offering or system, of one purchase option where it has several."""
    found = [one for one in answer.considered if one.name == name and option in (None, *one.purchase_options.split())]
    assert len(found) == 1, found
    return found[0]


def told(one: OfferOutcome) -> dict[str, int]:
    """The reasons with the number of workloads."""
    return {str(each.reason): each.workloads for each in one.refusals}


def every_offer(catalog, systems=()):
    """By rights: (provider, type, option) of every price, the type alone where it has none, and every system; clouds
    that plans use only on request are asked for by nobody here."""
    rows = set()
    for offering in select_for_plan(catalog, ()).offerings.values():
        options = {quote.price.purchase_option for quote in catalog.of_type(offering)}
        rows |= {(*offering.key, option) for option in options or {""}}
    return rows | {("", system.name, "owned") for system in (*catalog.systems, *systems)}


def rows_of(answer):
    return [
        (one.provider, one.name, option) for one in answer.considered for option in one.purchase_options.split() or [""]
    ]


@settings(max_examples=settings.default.max_examples // 10)
@given(
    accelerators=st.lists(st.sampled_from(["L4", "H100", "T4", "A100"]), min_size=1, max_size=3),
    providers=st.sampled_from([(), ("aws",), ("gcp", "azure")]),
    strategies=st.sampled_from([("cloud",), ("cloud", "onprem", "hybrid")]),
    interruptible=st.booleans(),
)
def test_every_offer_of_the_catalogue_is_told_once(
    ask, hours, catalog, accelerators, providers, strategies, interruptible
):
    """Chosen + considered + refused = all; and of all workloads, those that it can serve + those refused."""
    jobs = [
        hours(part, 100 * (index + 1), f"job {index}", interruptible=interruptible and index > 0)
        for index, part in enumerate(accelerators)
    ]
    answer = plan(ask(*jobs, providers=list(providers), strategies=list(strategies)), catalog)
    rows = rows_of(answer)
    assert len(rows) == len(set(rows))
    assert set(rows) == every_offer(catalog)
    for one in answer.considered:
        assert one.serves + sum(told(one).values()) == len(jobs), one
        assert (one.outcome == "refused") == (one.serves == 0)
        assert one.price_per_hour is not None or one.serves == 0


def test_what_is_used_is_chosen_and_nothing_else(ask, hours, catalog):
    answer = plan(ask(hours("L4", 700), hours("T4", 300, "two", interruptible=True)), catalog)
    used = {(u.provider, u.name, u.purchase_option) for s in answer.strategies for u in s.uses}
    used |= {(p.provider, p.name, p.purchase_option) for s in answer.strategies for p in s.purchases}
    chosen = {(one.provider, one.name, one.purchase_options) for one in answer.considered if one.outcome == "chosen"}
    assert chosen == used


def test_the_chosen_and_what_is_dearer_by_hand(ask, hours, priced):
    """One L4 each: 730 hours at 1.00 or at 1.30; of a year at 0.90 only a third is used, so an hour of use costs 2.70.

    At full use the year would cost 0.90 of what is chosen: told, since idle hours are not in that figure.
    """
    catalog = priced({HOURLY: 1.0, YEAR: 0.9, TWICE: 1.3, BIG: 50.0, DEAR: 1.1})
    answer = plan(ask(hours("L4", 730 / 3), strategies=["cloud"]), catalog)
    chosen, year, twice = (
        row(answer, "g6.xlarge", "on_demand"),
        row(answer, "g6.xlarge", YEAR[3]),
        row(answer, "g6.2xlarge"),
    )
    assert (chosen.outcome, chosen.price_per_hour, chosen.region, chosen.regions) == ("chosen", 1.0, "us-east-1", 2)
    assert chosen.against_chosen == pytest.approx(1.0)
    assert (year.outcome, year.against_chosen) == ("not_chosen", pytest.approx(0.9))
    assert (twice.outcome, twice.against_chosen, twice.best_for) == ("outdone", pytest.approx(1.3), "job")
    big = row(answer, "p5.48xlarge")
    assert big.outcome == "refused"
    assert told(big) == {"not on L4-24GB": 1}
    assert big.price_per_hour == 50.0
    assert big.against_chosen is None


def test_reasons_are_counted_by_workload(ask, hours, priced):
    """Spot is for one of two; of the third nothing fits: its accelerator is another."""
    catalog = priced({HOURLY: 1.0, SPOT: 0.4, BIG: 50.0})
    jobs = (hours("L4", 100, "a"), hours("L4", 100, "b", interruptible=True), hours("H100", 80, "c"))
    answer = plan(ask(*jobs, strategies=["cloud"]), catalog)
    spot = row(answer, "g6.xlarge", "spot")
    assert (spot.outcome, spot.serves) == ("chosen", 1)
    assert told(spot) == {"not on H100-80GB-SXM": 1, text_of(MAY_BE_INTERRUPTED): 1}
    assert row(answer, "g6.xlarge", "on_demand").serves == 2


def test_what_has_no_price_is_a_part_or_is_retired_says_so(ask, hours, catalog):
    answer = plan(ask(hours("L4", 100), strategies=["cloud"]), catalog)
    unpriced = {offering.key for offering in catalog.unpriced()}
    said = {(one.provider, one.name): told(one) for one in answer.considered}
    assert unpriced
    assert all(said[key] == {text_of(NO_PRICE): 1} for key in unpriced if not catalog.offerings[key].part)
    retired = [o for o in catalog.offerings.values() if o.status == "retired"]
    assert retired
    for offering in retired:
        words = f"retired; its successor is {offering.successor}" if offering.successor else "retired"
        assert said[offering.key] == {words: 1}
    parts = [o for o in catalog.offerings.values() if o.part and o.status != "retired"]
    assert parts
    assert all(said[offering.key] == {text_of(ATTACHED_PART_ONLY): 1} for offering in parts)


def test_systems_say_why_they_cannot_be_owned(ask, hours, catalog):
    job = hours("H100", 5000)
    cloud = plan(ask(job, strategies=["cloud"]), catalog)
    assert told(row(cloud, "8x H100 server")) == {text_of(OWNING_NOT_REQUESTED): 1}
    late = plan(ask(job, strategies=["cloud", "hybrid"], assumptions={"lead_time_months": 12}), catalog)
    assert told(row(late, "8x H100 server")) == {text_of(TOO_LATE): 1}
    soon = plan(ask(job, strategies=["cloud", "hybrid"], assumptions={"lead_time_months": 1}), catalog)
    one = row(soon, "8x H100 server")
    assert (one.outcome != "refused", one.serves, one.provider, one.purchase_options) == (True, 1, "", "owned")
    even = next(b for b in soon.break_even if b.system == "8x H100 server")
    assert one.price_per_hour == pytest.approx(even.own_cost_per_accelerator_hour * 8)  # 8 accelerators a node


def test_a_service_is_not_run_by_the_day(ask, catalog):
    demand = {"requests_per_second": 5.0, "daily_shape": "business_hours"}
    measurement = {"accelerator": "H100", "count": 8, "units_per_second": 4.0, "per": "job"}
    job = {"name": "chat", "kind": "inference", "demand": demand, "measurements": [measurement]}
    answer = plan(ask(job, providers=["aws"], strategies=["cloud"]), catalog)
    blocks = [one for one in answer.considered if "capacity_block" in one.purchase_options.split() and "p5" in one.name]
    assert blocks
    assert all(one.outcome == "refused" for one in blocks)
    assert any(WHOLE_DAYS.code in {each.reason.code for each in one.refusals} for one in blocks)


def test_a_quota_of_none_is_a_reason_where_it_holds(ask, hours, priced):
    quota = {
        "provider": "aws", "region": "us-east-1", "code": "L-1", "title": "G", "unit": "vcpu", "limit": 2.0,
        "used": 0.0, "types": "g6.*", "kinds": "on_demand", "as_of": "2026-11-20", "source_id": "mine",
    }  # fmt: skip
    catalog = priced({HOURLY: 1.0, ("gcp", "us-central1", "g2-standard-4", "on_demand"): 2.0})
    answer = plan(ask(hours("L4", 100), strategies=["cloud"], quotas=[quota], limits={"quotas": "hold"}), catalog)
    one = row(answer, "g6.xlarge")
    assert (one.outcome, told(one)) == ("refused", {text_of(NO_QUOTA): 1})  # 4 vCPUs a node, room for 2
    assert row(answer, "g2-standard-4").outcome == "chosen"


def test_a_plan_of_nothing_still_tells_what_was_refused(ask, hours, catalog):
    answer = plan(ask(hours("H100", 100, memory_gib_per_accelerator=5000)), catalog)
    assert answer.status == "infeasible"
    assert {one.outcome for one in answer.considered} == {"refused"}
    assert set(rows_of(answer)) == every_offer(catalog)
    assert all(one.against_chosen is None for one in answer.considered)
    assert any("less than 5000 GiB" in one.refusals_text for one in answer.considered)


def test_equal_reasons_are_counted_together_however_they_write_a_number():
    one, other = message("node_too_small", needed_accelerators=1), message("node_too_small", needed_accelerators=1.0)
    assert one == other
    assert hash(one) == hash(other)
    assert list(Counter((one, other)).values()) == [2]
