"""What a further measurement is worth: against sums worked by hand, against draws, and laws."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.analysis.value_of_information import (
    SIGMAS_80,
    AcceleratorAssessment,
    assess_accelerators,
    value_measurements,
)
from planner.performance.throughput import Throughput
from planner.pipeline import prepare_needs
from planner.request.models import parse_request
from planner.result.message import message
from pricing.catalog.price_catalog import Catalog


def row(name: str, cost: float, spread: float, price: float = 10.0) -> AcceleratorAssessment:
    """A gang that costs `cost` a unit on nodes of its own, with a logarithmic standard deviation of `spread`."""
    rate, half = price / cost, math.exp(spread * SIGMAS_80 / 2)
    return AcceleratorAssessment(
        name, 1, Throughput(rate, rate / half, rate * half, "predicted", ()), None, price, "somewhere", price
    )


def of(total: float) -> SimpleNamespace:
    return SimpleNamespace(total=total)


def test_another_accelerator_by_hand():
    """Best known exactly at 1.0 a unit; another at a median of 1.0 with s = 0.3, d = ln(1/1) / 0.3 = 0.

    E[max(0, 1 - C)] = 1 x N(0) - exp(0.045) x N(-0.3) = 0.5 - 1.046028 x 0.382089 = 0.100325. For 1,000 units 100.32.
    """
    best, other = row("best", 1.0, 0.0), row("other", 1.0, 0.3)
    [found] = value_measurements([best, other], of(1000.0))
    assert found.row is other
    assert found.saving == pytest.approx(100.325, abs=0.01)
    assert found.chance == pytest.approx(0.5)
    assert found.cost == 10.0
    assert found.saving_good == pytest.approx(1000 * (1 - math.exp(-0.3 * SIGMAS_80 / 2)))


def test_the_best_itself_by_hand():
    """The best has a median of 1.0 with s = 0.2, the second exactly 1.1: d = ln(1.1) / 0.2 = 0.476551.

    E[C] = exp(0.02) = 1.020201; E[max(0, 1.1 - C)] = 1.1 x N(0.476551) - 1.020201 x N(0.276551)
    = 1.1 x 0.683159 - 1.020201 x 0.608938 = 0.130236; E[max(0, C - 1.1)] = 1.020201 - 1.1 + 0.130236 = 0.050437.
    """
    best, second = row("best", 1.0, 0.2), row("second", 1.1, 0.0)
    [found] = value_measurements([best, second], of(1.0))
    assert found.row is best
    assert found.saving == pytest.approx(0.050437, abs=1e-4)
    assert found.chance == pytest.approx(1 - 0.683159, abs=1e-4)
    assert found.instead_of == "second"


def test_the_hour_that_is_paid_is_of_whole_nodes():
    """Half a node of 20.0 an hour does the work; the measurement rents all of it."""
    best = row("best", 1.0, 0.0)
    other = replace(row("other", 1.0, 0.3, price=10.0), rent_per_hour=20.0)
    assert [one.cost for one in value_measurements([best, other], of(1000.0))] == [20.0]


def test_against_draws():
    """200,000 draws of the cost of another accelerator agree with the formula within a standard error or two."""
    chance = random.Random(1)
    best, other = row("best", 1.0, 0.0), row("other", 1.2, 0.4)
    [found] = value_measurements([best, other], of(1.0))
    draws = [max(0.0, 1.0 - 1.2 * math.exp(chance.gauss(0, 0.4))) for _ in range(200_000)]
    assert found.saving == pytest.approx(sum(draws) / len(draws), rel=0.02)


costs = st.floats(0.1, 10.0)
spreads = st.floats(0.01, 1.0)


@given(st.lists(st.tuples(costs, spreads), min_size=2, max_size=6), st.floats(1.0, 1e9))
def test_nothing_known_is_never_worth_less_than_nothing(parts, units):
    found = sorted(
        (row(f"part {n}", *each) for n, each in enumerate(parts)), key=lambda r: 10.0 / r.rate.units_per_hour
    )
    further = value_measurements(found, of(units))
    assert len(further) == len(parts)
    assert all(one.saving >= 0 and 0 <= one.chance <= 1 for one in further)
    gains = [one.saving - one.cost for one in further]
    assert gains == sorted(gains, reverse=True)
    doubled = {one.row.accelerator: one.saving for one in value_measurements(found, of(2 * units))}
    assert all(doubled[one.row.accelerator] == pytest.approx(2 * one.saving) for one in further)


@given(costs, st.floats(0.01, 0.5), st.floats(1.01, 2.0))
def test_the_less_sure_another_is_the_more_it_is_worth_to_know(cost, spread, times):
    """Where its median is that of the best."""
    best = row("best", cost, 0.0)
    [less] = value_measurements([best, row("other", cost, spread)], of(1.0))
    [more] = value_measurements([best, row("other", cost, spread * times)], of(1.0))
    assert more.saving > less.saving


def test_one_way_or_none_leaves_nothing_to_decide():
    assert value_measurements([row("only", 1.0, 0.3)], of(1.0)) == []
    assert value_measurements([], of(1.0)) == []


@pytest.fixture
def of_workload(ask):
    def make(count=None, listed=None, **workload):
        request = ask({"name": "job", "kind": "training", **workload}, providers=["aws"])
        request, catalog, [need] = prepare_needs(request, listed or Catalog.embedded())
        return assess_accelerators(request, need, catalog, count)

    return make


def test_every_accelerator_is_told_of_once(of_workload):
    """Usable ones first by cost a unit; all others with a rate and the reason why not, or with why there is no rate."""
    measured = [{"accelerator": "A100-80GB", "count": 8, "units_per_second": 4000.0, "per": "job"}]
    found = of_workload(demand={"units_per_month": 1e9}, measurements=measured, gang=8)
    assert sorted(r.accelerator for r in found) == sorted(Catalog.embedded().names.by_name)
    usable = [r for r in found if r.usable]
    assert found[: len(usable)] == usable
    each = [r.cost_per_unit(r.rate.units_per_hour) for r in usable]
    assert each == sorted(each)
    assert all(r.reason for r in found if not r.usable)
    own = next(r for r in usable if r.accelerator == "A100-80GB-SXM")
    assert (own.rate.basis, own.rate.units_per_hour) == ("measured", 4000.0 * 3600)
    assert own.spread == 0


def test_what_does_not_fit_says_so(of_workload):
    measured = [{"accelerator": "A100-80GB", "count": 1, "units_per_second": 1.0, "per": "job"}]
    found = of_workload(demand={"units_per_month": 1e6}, measurements=measured, memory_gib_per_accelerator=60)
    t4 = next(r for r in found if r.accelerator == "T4-16GB")
    assert not t4.usable
    assert t4.reason == message("memory_too_small", needed_gib=60.0)


def test_a_gang_shares_a_node_and_a_measurement_rents_it_whole(of_workload, priced):
    """One of eight A100 at 32.0 an hour: 4.0 for the work, 32.0 for an hour's measurement; one L4 at 1.0 for both."""
    small = priced(
        {
            ("aws", "us-east-1", "p4d.24xlarge", "on_demand"): 32.0,
            ("aws", "us-east-1", "g6.xlarge", "on_demand"): 1.0,
        }
    )
    measured = [{"accelerator": "A100-80GB", "count": 1, "units_per_second": 500.0, "per": "job"}]
    found = of_workload(listed=small, demand={"units_per_month": 1e9}, measurements=measured)
    usable = {r.accelerator: r for r in found if r.usable}
    assert {name: (r.price_per_hour, r.rent_per_hour) for name, r in usable.items()} == {
        "A100-40GB-SXM": (4.0, 32.0),
        "L4-24GB": (1.0, 1.0),
    }
    assert usable["A100-40GB-SXM"].rent_where == "aws us-east-1 p4d.24xlarge"


def test_another_count_of_what_was_measured_is_worth_measuring(of_workload):
    """64 of the accelerator that was measured in eights are not known exactly: an hour of them may pay."""
    measured = [{"accelerator": "A100-80GB", "count": 8, "units_per_second": 4000.0, "per": "job"}]
    found = of_workload(64, demand={"units_per_month": 1e12}, measurements=measured, accelerators=["A100", "H100"])
    own = next(r for r in found if r.accelerator == "A100-80GB-SXM")
    assert (own.gang, own.rate.basis) == (64, "predicted_count")
    assert own.spread > 0
    [told] = [one for one in value_measurements(found, of(1e12)) if one.row is own]
    assert told.saving > told.cost == own.rent_per_hour


NAMED = (
    "K80", "M60", "P4", "P40", "P100", "V100", "T4", "MI25", "GTX 1080", "RTX 2080 Ti", "RTX 3090", "TITAN V",
    "TITAN RTX", "Quadro P5000", "TPU-v2", "TPU-v3", "TPU-v4", "TPU-v5e", "TPU-v5p", "TPU-v6e", "Trainium", "Trainium2",
    "Gaudi", "Gaudi2", "Gaudi3", "MI300X", "CPU-Xeon-8380", "CPU-EPYC-7763-64c",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMED)
def test_every_part_that_users_name_answers_or_says_why_not(of_training, name):
    """A rate within its interval, or a reason; and a price or a reason."""
    for part in Catalog.embedded().names.match(name):
        told = of_training[part.name]
        assert told.reason or told.price_per_hour > 0
        if told.rate is None:
            assert told.reason.code in {"peak_rate_unknown", "memory_bandwidth_unknown"}
        else:
            assert 0 < told.rate.low < told.rate.units_per_hour < told.rate.high
            assert told.rate.basis.startswith("predicted_")


def test_parts_without_a_data_sheet_come_last_and_say_so(of_training):
    *_, last = of_training.values()
    unknown = [r for r in of_training.values() if r.rate is None]
    assert unknown[-1] is last
    assert {r.accelerator for r in unknown} >= {"K520-4GB", "FPGA-AWS-F1-VU9P"}
    assert {r.reason.code for r in unknown} <= {"peak_rate_unknown", "memory_bandwidth_unknown"}
    assert list(of_training.values())[-len(unknown) :] == unknown


@pytest.fixture(scope="module")
def of_training():
    """A job measured on one A100, on every accelerator, by name."""
    workload = {
        "name": "job",
        "kind": "training",
        "demand": {"units_per_month": 1e6},
        "measurements": [{"accelerator": "A100-80GB", "count": 1, "units_per_second": 1.0, "per": "job"}],
    }
    request, catalog, [need] = prepare_needs(
        parse_request({"as_of": "2026-11-21", "workloads": [workload]}), Catalog.embedded()
    )
    return {r.accelerator: r for r in assess_accelerators(request, need, catalog)}


def test_a_described_job_is_told_too(of_workload):
    network = {"model": "llama-2-7b", "sequence_length": 4096}
    found = of_workload(demand={"total_units": 1e9, "deadline_month": 2}, unit="tokens", network=network)
    assert {r.rate.basis for r in found if r.usable} == {"described"}
    assert all(r.spread > 0 for r in found if r.usable)
