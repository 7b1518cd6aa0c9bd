"""Daly's expected time against a brute search and against a simulation of the process it describes."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.application import plan
from planner.performance.goodput import best_interval_hours, billed_per_useful_hour

checkpoints = st.floats(1e-4, 1.0)
restarts = st.floats(0, 2.0)
means = st.floats(0.5, 10_000.0)


def expected_hours(interval: float, checkpoint: float, restart: float, mean: float) -> float:
    """W / Ts as the paper prints it."""
    return mean * math.exp(restart / mean) * math.expm1((interval + checkpoint) / mean) / interval


@given(checkpoints, restarts, means)
def test_no_other_interval_is_better(checkpoint, restart, mean):
    best = billed_per_useful_hour(checkpoint, restart, mean)
    interval = best_interval_hours(checkpoint, mean)
    for factor in (0.2, 0.7, 0.95, 1.05, 1.5, 4.0):
        assert best <= expected_hours(interval * factor, checkpoint, restart, mean) * (1 + 1e-9)


@given(checkpoints, restarts, means)
def test_an_hour_of_progress_takes_at_least_an_hour(checkpoint, restart, mean):
    assert billed_per_useful_hour(checkpoint, restart, mean) >= 1


@given(checkpoints, restarts, means)
def test_rarer_interruptions_never_cost_more(checkpoint, restart, mean):
    often, seldom = (billed_per_useful_hour(checkpoint, restart, m) for m in (mean, mean * 1.5))
    assert seldom <= often * (1 + 1e-9)


def test_free_checkpoints_leave_only_restarts():
    assert billed_per_useful_hour(0, 1, 10) == pytest.approx(math.exp(0.1))


def test_young_is_the_limit_of_cheap_checkpoints():
    """For d << M the best interval nears sqrt(2 d M): sqrt(2 x 0.001 x 5000) = 3.162."""
    assert best_interval_hours(0.001, 5000) == pytest.approx(math.sqrt(10), rel=1e-3)


def test_a_simulated_spot_job_takes_the_expected_time():
    """Segments of 2 h work and 5 min checkpoint under exponential interruptions every 24 h, restarts of 10 min (also
    interruptible)."""
    chance = random.Random(7)
    work, checkpoint, restart, mean = 2.0, 5 / 60, 10 / 60, 24.0

    def segment() -> float:
        spent, need = 0.0, work + checkpoint
        while (gone := chance.expovariate(1 / mean)) < need:
            spent += gone
            need = restart + work + checkpoint
        return spent + need

    measured = sum(segment() for _ in range(40_000)) / 40_000 / work
    assert measured == pytest.approx(expected_hours(work, checkpoint, restart, mean), rel=0.01)


def test_a_described_job_pays_for_failures_as_a_measured_one_does(catalog, ask):
    """8 accelerators that fail every 80 accelerator-hours stop a job every 10 h; with free checkpoints and an hour to
    start again e^(1 / 10) hours are billed for a useful one. Accelerator-hours are billed as they are stated."""

    def hours_billed(failure_interval: float, **job: object) -> float:
        job = {"name": "job", "gang": 8, "checkpoint_minutes": 0, "restart_minutes": 60, **job}
        asked = {"months": 1, "providers": ["aws"], "regions": ["us-east-1"], "strategies": ["cloud"]}
        assumed = {"failure_interval_accelerator_hours": failure_interval}
        found = plan(ask(job, **asked, assumptions=assumed), catalog)
        assert found.status == "optimal"
        return sum(use.node_hours for use in found.strategies[0].uses)

    described = {
        "kind": "training", "unit": "tokens", "demand": {"units_per_month": 1e9}, "accelerators": ["H100"],
        "network": {"model": "llama-2-7b", "run": "pretraining"},
    }  # fmt: skip
    assert hours_billed(80, **described) == pytest.approx(hours_billed(1e12, **described) * math.exp(0.1))
    stated = {"kind": "training", "demand": {"accelerator_hours_per_month": 400, "accelerator": "H100"}}
    assert hours_billed(80, **stated) == pytest.approx(50)
