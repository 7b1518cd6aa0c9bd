"""Square-root staffing against sums by hand, the exact M/M/k queue, and single requests simulated."""

from __future__ import annotations

import importlib.util
import math
import sys
from pathlib import Path

import pytest

from planner.inputs.service_load.request_trace import observe_trace, read_trace
from planner.performance.serving.staffing import ServiceQueue
from planner.request.serving import Serving

BENCH = Path(__file__).parents[3] / "bench"


def test_the_margin_by_hand():
    """20 requests a second that hold a place for 17.5 s are 350 at once (Little). Six replicas of 70 places leave 70:
    beta = 70 / sqrt(350) = 3.742; 1 / (1 + 3.742 x sqrt(2 pi) e^7 x 0.99991) = 9.7e-5 wait at all; longer than 1 s
    e^(-70 / 17.5) = 1.83 % of those."""
    queue = ServiceQueue(70, 1.0, 95, 1.0, 1.0)
    assert queue.count_replicas(20, 4.0) == 6
    assert queue.wait_probability(6, 350, 17.5) == pytest.approx(9.72e-5 * math.exp(-4), rel=5e-3)
    assert queue.wait_probability(5, 350, 17.5) == 1.0  # as many places as requests: the queue grows


def test_burstier_arrivals_need_more():
    """At 16 times the variance the margin is a quarter as many deviations: 70 / (4 x 18.7) = 0.935, 25.0 % wait;
    they wait (16 + 1) / 2 times as long: e^(-4 / 8.5) = 62.5 % of them more than 1 s. Seven replicas: beta 1.871."""
    calm, bursty = ServiceQueue(70, 1.0, 95, 1.0, 1.0), ServiceQueue(70, 1.0, 95, 16.0, 1.0)
    assert bursty.wait_probability(6, 350, 17.5) == pytest.approx(0.2504 * 0.625, rel=2e-3)
    assert (calm.count_replicas(20, 4.0), bursty.count_replicas(20, 4.0)) == (6, 7)


def test_nothing_to_serve_needs_nothing():
    assert ServiceQueue(8, 1.0, 95, 1.0, 1.0).count_replicas(0, 4.0) == 0


@pytest.mark.parametrize(("load", "places", "within"), [(4.0, 6, 0.22), (40.0, 48, 0.13), (350.0, 380, 0.08)])
def test_the_rule_is_near_the_exact_queue(load, places, within):
    """Erlang's C by its recursion: the approximation of Halfin and Whitt is 22 % below it at a load of
    four requests at once, 13 % at 40, 7 % at
    350."""
    blocked = 1.0
    for server in range(1, places + 1):
        blocked = load * blocked / (server + load * blocked)
    waits = blocked / (1 - load / places * (1 - blocked))
    queue = ServiceQueue(1, 0.0, 95, 1.0, 1.0)
    assert queue.wait_probability(places, load, 1.0) == pytest.approx(waits, rel=within)


@pytest.fixture(scope="module")
def bench():
    spec = importlib.util.spec_from_file_location("served_requests", BENCH / "served_requests.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["served_requests"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("burstiness", [1.0, 4.0])
def test_the_recommended_replicas_keep_the_percentile(bench, sized, burstiness):
    """L40S replicas have few places, so that waiting is what decides; every request takes a full cycle."""
    replica = sized("L40S", 4, burstiness=burstiness)
    serving = Serving(input_tokens=1000, output_tokens=400, ttft_ms=2000, tpot_ms=50, burstiness=burstiness)
    needed = replica.replicas_for(1.0)
    requests = list(bench.draw_requests(serving, 1.0, 3000))
    kept = bench.simulate(replica, serving, needed, requests, lambda _: replica.cycle_s)
    assert kept.waited >= 0.95
    assert bench.simulate(replica, serving, needed - 2, requests, lambda _: replica.cycle_s).waited < 0.95


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("accelerator", "count", "is_bursty"), [("H100", 2, True), ("L40S", 8, True),
                                                                ("L40S", 8, False)])  # fmt: skip
def test_replicas_for_a_trace_keep_the_percentile_on_the_trace(bench, sized, accelerator, count, is_bursty):
    """An hour of some 17,500 requests: its own arrivals and lengths, not drawn ones. Without its burstiness more than
    half wait too long of a bursty one."""
    trace = read_trace(bench.draw_trace(5.0, is_bursty=is_bursty).encode())
    observed = observe_trace(trace, "trace.csv")
    requests = list(zip((at - trace.times[0] for at in trace.times), trace.output_tokens, strict=True))

    def simulate(burstiness):
        fields = {**observed.serving(), "ttft_ms": 3000, "burstiness": burstiness}
        replica = sized(accelerator, count, **fields)
        needed = replica.replicas_for(observed.demand()["requests_per_second"])
        serving = Serving.model_validate(fields)
        return bench.simulate(replica, serving, needed, requests, lambda _: replica.cycle_s).waited

    assert observed.burstiness > 10 if is_bursty else observed.burstiness < 1.2
    assert simulate(observed.burstiness) >= 0.95
    assert (simulate(1.0) < 0.5) == is_bursty
