"""Sweeps: what they come to as demand, how experiments share accelerators, and that none is ever part of a gang."""

from __future__ import annotations

import math
from pathlib import Path
from typing import ClassVar

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from planner.application import plan
from planner.messages import text_of
from planner.request.errors import InvalidRequest
from planner.request.models import parse_request
from planner.request.sweeps import Sweep
from planner.result.message import Message, message
from planner.workloads.demand import compute_demands
from planner.workloads.gpu_sharing import assign_share
from planner.workloads.placement import PlacementSearch, find_placements
from pricing.accelerator import embedded_names, resolve
from pricing.mig_slices import load_slices

AS_OF = "2026-11-21"
L4 = {"accelerator": "L4", "count": 1, "units_per_second": 100, "per": "job", "scaling": "replicas"}
TOTAL = {"experiments": 200, "deadline_month": 2, "units_each": 1e6}
MONTHLY = {"experiments_per_month": 100, "units_each": 1e6}


def workload(sweep: dict, *measurements: dict, **more) -> dict:
    return {"name": "hp", "unit": "samples", "sweep": sweep, "measurements": list(measurements or [L4]), **more}


def asked(sweep: dict, *measurements: dict, **more):
    request = parse_request({"as_of": AS_OF, "workloads": [workload(sweep, *measurements, **more)]})
    return request.workloads[0]


def faults(sweep: dict, *measurements: dict, **more) -> str:
    with pytest.raises(InvalidRequest) as refused:
        asked(sweep, *measurements, **more)
    return str(refused.value)


def seated(sweep: dict, part: str, per_node: float, memory_gib: float, *measurements: dict, **more):
    request = parse_request({"as_of": AS_OF, "workloads": [workload(sweep, *measurements, **more)]})
    need = compute_demands(request, 730, {}).needs[0]
    return find_placements(PlacementSearch(need, request, embedded_names(), {}), resolve(part), per_node, memory_gib)


class TestDemand:
    def test_a_total_is_due_by_its_deadline(self) -> None:
        found = asked(TOTAL)
        assert (found.demand.total_units, found.demand.deadline_month) == (200e6, 2)

    def test_or_so_many_a_month(self) -> None:
        assert asked(MONTHLY).demand.units_per_month == 100e6

    def test_experiments_are_replicas_of_a_stated_size_and_never_one_gang(self) -> None:
        found = asked(TOTAL, {**L4, "count": 8})
        assert (found.gang, found.parallel_jobs) == (1, 200)

    def test_no_more_run_at_once_than_there_are(self) -> None:
        assert asked({**TOTAL, "at_once": 16}).parallel_jobs == 16
        assert asked({**TOTAL, "at_once": 500}).parallel_jobs == 200

    def test_a_request_that_was_read_is_read_again(self) -> None:
        request = parse_request(
            {"as_of": AS_OF, "workloads": [workload({**MONTHLY, "share": "slice", "accelerators_each": "1/7"})]}
        )
        assert parse_request(request.model_dump(mode="json")) == request


class TestFaults:
    @pytest.mark.parametrize(
        ("sweep", "told"),
        [
            ({"units_each": 1}, "workloads[0].sweep: give exactly one of experiments"),
            ({**TOTAL, "experiments_per_month": 3}, "workloads[0].sweep: give exactly one of experiments"),
            ({"experiments": 2, "units_each": 1}, "workloads[0].sweep: experiments and deadline_month go together"),
            ({"experiments_per_month": 2}, "workloads[0].sweep.units_each: Field required"),
            ({**MONTHLY, "accelerators_each": 0.25}, "workloads[0].sweep.accelerators_each: a part of an accelerator"),
            ({**MONTHLY, "share": "slice"}, "workloads[0].sweep.accelerators_each: share: slice needs the part"),
            ({**MONTHLY, "share": "turns"}, "workloads[0].sweep.share"),
            ({**MONTHLY, "sharing_efficiency": 0.9}, "workloads[0].sweep: sharing_efficiency goes with share: time"),
            (
                {**MONTHLY, "share": "time", "accelerators_each": 0.25},
                "sweep.sharing_efficiency: state what is kept of the work of one alone, or measure one that shares",
            ),
        ],
    )
    def test_each_is_told_with_its_place(self, sweep: dict, told: str) -> None:
        found = faults(sweep)
        assert told in found
        assert "demand" not in found

    def test_what_says_otherwise_is_refused(self) -> None:
        found = faults(MONTHLY, gang=8, parallel_jobs=3)
        assert "workloads[0].gang: the sweep says 1" in found
        assert "workloads[0].parallel_jobs: the sweep says 100" in found
        assert "a sweep is a demand by itself" in faults(MONTHLY, demand={"units_per_month": 3})
        assert "experiments are training or batch, not inference" in faults(MONTHLY, kind="inference")

    def test_without_a_sweep_a_demand_is_required_as_ever(self) -> None:
        with pytest.raises(InvalidRequest, match=r"workloads\[0\].demand: Field required"):
            parse_request({"as_of": AS_OF, "workloads": [{"name": "x", "measurements": [L4]}]})


class TestTime:
    SWEEP: ClassVar[dict] = {**MONTHLY, "share": "time", "accelerators_each": 0.25, "sharing_efficiency": 0.8}

    def test_four_take_turns_and_keep_what_the_asker_says(self) -> None:
        (fit,) = seated(self.SWEEP, "L4", 1, 24)
        assert (fit.gang, fit.gangs_per_node) == (0.25, 4)
        # 100 / s on a whole one: 360,000 an hour; four keep 80 % of it between them
        assert fit.throughput.units_per_hour == pytest.approx(360_000 * 0.8 / 4)
        assert fit.throughput.basis == "predicted_count"

    def test_what_was_measured_while_sharing_holds_its_loss_already(self) -> None:
        shared = {**L4, "count": 0.25, "units_per_second": 21}
        (fit,) = seated({**self.SWEEP, "sharing_efficiency": None}, "L4", 1, 24, shared)
        assert fit.throughput.units_per_hour == 21 * 3600
        assert fit.throughput.basis == "measured"

    def test_each_has_its_part_of_the_memory(self) -> None:
        assert isinstance(seated(self.SWEEP, "L4", 1, 24, memory_gib_per_accelerator=6), list)
        refused = seated(self.SWEEP, "L4", 1, 24, memory_gib_per_accelerator=6.1)
        assert isinstance(refused, Message)
        assert text_of(refused) == (
            "less than 6.1 GiB of memory per accelerator, 4 share one in time at an efficiency of 0.8"
        )

    def test_none_spans_two_accelerators(self) -> None:
        # 0.3 each: three on one accelerator, so 24 on eight, not the 26 that 8 / 0.3 would give
        (fit,) = seated({**self.SWEEP, "accelerators_each": 0.3}, "L4", 8, 24)
        assert fit.gangs_per_node == 24

    def test_a_part_that_is_sold_is_shared_too_or_is_too_small(self) -> None:
        (fit,) = seated(self.SWEEP, "L4", 0.5, 11)
        assert (fit.gang, fit.gangs_per_node) == (0.25, 2)
        assert seated(self.SWEEP, "L4", 0.125, 2.8) == message("slice_too_small", fraction=0.25)


class TestSlices:
    SWEEP: ClassVar[dict] = {**MONTHLY, "share": "slice", "accelerators_each": "1/7"}
    A100: ClassVar[dict] = {**L4, "accelerator": "A100-80GB"}

    @pytest.mark.parametrize(
        ("part", "each", "wanted_gib", "profile", "instances", "speed"),
        [
            ("A100-80GB", 1 / 7, 8, "1g.10gb", 7, 1 / 8),
            ("A100-80GB", 1 / 7, 15, "1g.20gb", 4, 1 / 7),  # a seventh of the processors, a quarter of the memory
            ("A100-80GB", 0.14, 30, "3g.40gb", 2, 3 / 7),
            ("A100-80GB", 0.25, 8, "2g.20gb", 3, 1 / 4),
            ("A30", 0.25, 5, "1g.6gb", 4, 1 / 4),
            ("H200", 0.14, 17, "1g.18gb", 7, 1 / 8),
            ("B200", 0.14, 20, "1g.23gb", 7, 1 / 8),
        ],
    )
    def test_the_slice_that_most_of_fit(self, part, each, wanted_gib, profile, instances, speed) -> None:
        sweep = Sweep(**{**MONTHLY, "share": "slice", "accelerators_each": each})
        accelerator = resolve(part)
        found = assign_share(sweep, accelerator, 8, accelerator.memory_gib, wanted_gib)
        assert not isinstance(found, Message)
        assert found.description == message("slice_profile", profile=profile, instances=instances)
        assert text_of(found.description) == f"in a slice {profile}, {instances} to an accelerator"
        assert (found.gang, found.speed) == (pytest.approx(1 / instances), pytest.approx(speed))
        assert found.memory_gib >= wanted_gib

    def test_eight_accelerators_of_seven_slices_seat_56(self) -> None:
        (fit,) = seated(self.SWEEP, "A100-80GB", 8, 80, self.A100)
        assert (fit.nodes_per_gang, fit.gangs_per_node) == (1, 56)
        assert fit.throughput.units_per_hour == pytest.approx(360_000 / 8)

    def test_what_was_measured_in_a_slice_is_that_of_a_slice(self) -> None:
        (fit,) = seated(self.SWEEP, "A100-80GB", 8, 80, {**self.A100, "count": 1 / 7, "units_per_second": 40})
        assert (fit.throughput.units_per_hour, fit.throughput.basis) == (40 * 3600, "measured")
        assert fit.throughput.explanation == (
            message("measured_on", count=0.143, accelerator="A100-80GB-SXM"),
            message("slice_profile", profile="1g.10gb", instances=7),
        )

    def test_parts_without_slices_are_refused_by_name(self) -> None:
        assert seated(self.SWEEP, "L4", 1, 24) == message("no_slices_known", accelerator="L4-24GB")
        refused = seated({**self.SWEEP, "accelerators_each": 0.6}, "A100-80GB", 8, 80)
        assert refused == message("no_slice_large_enough", accelerator="A100-80GB-SXM", fraction=0.6)

    def test_a_type_that_is_sold_as_a_part_is_a_slice_already(self) -> None:
        (fit,) = seated({**self.SWEEP, "accelerators_each": 0.125}, "L4", 0.125, 2.8)
        assert (fit.gang, fit.gangs_per_node) == (0.125, 1)
        assert fit.throughput.units_per_hour == pytest.approx(360_000 / 8)

    def test_too_large_for_every_slice_says_so(self) -> None:
        refused = seated(self.SWEEP, "A100-80GB", 8, 80, self.A100, memory_gib_per_accelerator=60)
        assert refused.parameters["reason"] == message("memory_too_small", needed_gib=60.0)
        assert refused.parameters["share"].code == "slice_profile"

    def test_fewer_at_once_than_places_pay_for_the_node(self) -> None:
        (fit,) = seated({**self.SWEEP, "at_once": 10}, "A100-80GB", 8, 80, self.A100)
        assert fit.gangs_per_node == 10


class TestTable:
    def test_its_parts_are_in_the_catalogue_and_fit_in_a_whole_one(self) -> None:
        for name, rows in load_slices().items():
            assert name in embedded_names().by_name
            for row in rows:
                assert row.instances * row.speed_fraction <= 1 + 1e-9
                assert row.instances * row.memory_fraction <= 1 + 1e-9

    def test_the_size_in_a_profile_is_its_part_of_the_memory(self) -> None:
        for name, rows in load_slices().items():
            whole = embedded_names().by_name[name].memory_gib
            for row in rows:
                said = float(row.profile.partition(".")[2].removesuffix("gb"))
                assert said == pytest.approx(whole * row.memory_fraction, abs=0.6)  # names are rounded


@given(each=st.floats(0.02, 0.99), efficiency=st.floats(0.1, 1.0), count=st.sampled_from([1, 4, 8]))
def test_those_that_share_never_do_more_than_the_whole(each: float, efficiency: float, count: int) -> None:
    sweep = Sweep(**MONTHLY, share="time", accelerators_each=each, sharing_efficiency=efficiency)
    found = assign_share(sweep, resolve("A100-80GB"), count, 80.0)
    assert not isinstance(found, Message)
    number = round(1 / found.gang)
    assert number * found.gang == pytest.approx(1)
    assert number * found.speed <= 1 + 1e-9
    assert found.gang >= each * 0.99
    assert number * (found.memory_gib or 0) == pytest.approx(80)


@given(each=st.floats(0.02, 0.42))
def test_slices_are_never_smaller_than_asked_nor_more_than_the_whole(each: float) -> None:
    found = assign_share(Sweep(**MONTHLY, share="slice", accelerators_each=each), resolve("H100"), 8, 80.0)
    assert not isinstance(found, Message)
    assert found.fraction >= each * 0.99
    assert found.speed / found.gang <= 1 + 1e-9


class TestPlans:
    def test_a_plan_pays_for_the_experiments_and_says_how_they_run(self, priced, ask) -> None:
        catalog = priced({("aws", "us-east-1", "g6.xlarge", "on_demand"): 1.0})
        request = ask(workload({**MONTHLY, "units_each": 1.8e6, "at_once": 20}), months=1, strategies=["cloud"])
        found = plan(request, catalog)
        # 100 experiments of 1.8e6 at 360,000 an hour: 5 hours each, 500 in all; failures of nodes add a little
        assert found.strategy("cloud").total_cost == pytest.approx(500, rel=0.01)
        assert found.strategy("cloud").total_cost > 500
        told = found.recommendation.reasons[0].text
        assert "hp: 100 experiments a month of 1,800,000 samples, each alone, at most 20 at once" in told
        assert "one takes 5 hours on 1 x L4-24GB" in told
        assert "in month 1, the busiest, 0.686 run at once on average" in told  # 500 / 730, and what failures repeat

    def test_no_more_than_at_once_run_and_so_a_deadline_may_be_missed(self, priced, ask) -> None:
        catalog = priced({("aws", "us-east-1", "g6.xlarge", "on_demand"): 1.0})
        # 10 experiments of 400 hours, 4 at once: 1,000 hours on end, more than a month of 730
        sweep = {"experiments": 10, "deadline_month": 1, "units_each": 400 * 360_000}
        assert plan(ask(workload({**sweep, "at_once": 4}), strategies=["cloud"]), catalog).status == "infeasible"
        assert plan(ask(workload({**sweep, "at_once": 6}), strategies=["cloud"]), catalog).status == "optimal"

    def test_sharing_costs_its_part(self, priced, ask) -> None:
        catalog = priced({("aws", "us-east-1", "g6.xlarge", "on_demand"): 1.0})
        cost = {}
        for efficiency in (1.0, 0.8):
            sweep = {**MONTHLY, "share": "time", "accelerators_each": 0.25, "sharing_efficiency": efficiency}
            cost[efficiency] = plan(ask(workload(sweep), strategies=["cloud"]), catalog).strategy("cloud").total_cost
        assert math.isclose(cost[0.8] * 0.8, cost[1.0], rel_tol=1e-6)


def test_the_example_runs_seven_on_an_accelerator(catalog) -> None:
    document = yaml.safe_load((Path(__file__).parents[2] / "examples" / "sweep.yaml").read_text(encoding="utf-8"))
    request = parse_request(document)
    found = plan(request, catalog)
    assert found.status == "optimal"
    assert request.workloads[0].parallel_jobs == 56
    assert {round(1 / rate.gang) for rate in found.throughput} == {7}
    reasons = " ".join(map(str, found.recommendation.reasons))
    assert "200 experiments of 60,000,000 samples, each in a slice of its own" in reasons
