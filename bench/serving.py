"""Replicas of served models: whether they keep their limits in a simulation, and how fast they are sized."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from measure import Figure
from served_requests import draw_requests, draw_trace, simulate

from planner.inputs.service_load.request_trace import observe_trace, read_trace
from planner.performance.serving.replicas import Replica, size_replica
from planner.performance.serving.served_models import served_model
from planner.performance.serving.speed_model import ServingPoint, cycle_seconds
from planner.request.neural_network import NeuralNetwork
from planner.request.serving import Serving
from planner.result.message import Message
from pricing.accelerator import embedded_names

SERVICES, KINDS = 10_000, 100


def mean_cycle(network: NeuralNetwork, serving: Serving, accelerator: str, replica: Replica) -> Callable[[int], float]:
    """Seconds of a cycle by the requests at once, at the level that the replica was sized with."""
    model = served_model(network)
    assert not isinstance(model, Message)
    part = embedded_names().resolve(accelerator)
    compute, bits = ("fp8", 8.0) if network.precision == "fp8" else ("fp16", 16.0)

    def modelled(requests: float) -> float:
        return cycle_seconds(
            ServingPoint(model, part, replica.count, replica.count, bits, compute, serving.engine, "served",
                         serving.input_tokens, serving.output_tokens, requests)
        )  # fmt: skip

    level = replica.cycle_s / modelled(replica.concurrency)
    by_requests = [0.0, *(level * modelled(requests) for requests in range(1, replica.concurrency + 1))]
    return by_requests.__getitem__


def replayed_trace(network: NeuralNetwork) -> Iterator[Figure]:
    """Replicas for a bursty trace in the form of the public one, with its own arrivals and lengths; and those that it
    would have without its burstiness."""
    trace = read_trace(draw_trace(5.0, is_bursty=True).encode())
    observed = observe_trace(trace, "the trace")
    requests = list(zip((at - trace.times[0] for at in trace.times), trace.output_tokens, strict=True))
    for accelerator, count in (("H100-80GB-SXM", 2), ("L40S-48GB", 8)):
        for changes in ({}, {"burstiness": 1}):
            asked = Serving.model_validate({**observed.serving(), "ttft_ms": 3000, "tpot_ms": 50, **changes})
            replica = size_replica(network, asked, embedded_names().resolve(accelerator), count, embedded_names())
            assert isinstance(replica, Replica)
            needed = replica.replicas_for(observed.demand()["requests_per_second"])
            kept = simulate(replica, asked, needed, requests, mean_cycle(network, asked, accelerator, replica))
            yield Figure(
                f"{needed} x {count} {accelerator}, a bursty trace, burstiness {asked.burstiness:.3g}",
                100 * kept.waited, kept.waited / (asked.percentile / 100) if not changes else None,
                "of the percentile", 1.0, at_most=False, unit="%",
            )  # fmt: skip


def serving() -> Iterator[Figure]:
    """Replicas that are recommended, in a simulation of single requests; and the time to size services."""
    network = NeuralNetwork(model="llama-3-70b", precision="fp8", run="inference")
    for accelerator, count, burstiness, rates in (
        ("H100-80GB-SXM", 2, 1.0, (2.0, 20.0, 200.0)),
        ("H100-80GB-SXM", 2, 4.0, (2.0, 20.0, 200.0)),
        ("L40S-48GB", 4, 1.0, (2.0, 20.0)),
    ):
        asked = Serving(input_tokens=1000, output_tokens=400, ttft_ms=2000, tpot_ms=50, burstiness=burstiness)
        replica = size_replica(network, asked, embedded_names().resolve(accelerator), count, embedded_names())
        assert isinstance(replica, Replica)
        cycle = mean_cycle(network, asked, accelerator, replica)
        for rate in rates:
            needed = replica.replicas_for(rate)
            drawn = list(draw_requests(asked, rate))
            kept = simulate(replica, asked, needed, drawn, cycle)
            one_less = simulate(replica, asked, needed - 1, drawn, cycle) if needed > 1 else None
            less = "" if one_less is None else f"; one less: {one_less.waited:.1%}"
            yield Figure(
                f"{needed} x {count} {accelerator}, {rate:g}/s, burstiness {burstiness:g}, waits within limit{less}",
                100 * kept.waited, kept.waited / (asked.percentile / 100), "of the percentile", 1.0, at_most=False,
                unit="%",
            )  # fmt: skip
            yield Figure("  TPOT within its limit", 100 * kept.generated, unit="%")
    yield from replayed_trace(network)
    part, sized = embedded_names().resolve("H100-80GB-SXM"), 500
    began = time.perf_counter()
    for number in range(sized):  # no two alike
        size_replica(network, Serving(input_tokens=900 + number, output_tokens=400, tpot_ms=50), part, 2,
                     embedded_names())  # fmt: skip
    yield Figure("a replica sized, of another service each time", 1000 * (time.perf_counter() - began) / sized)
    kinds = [Serving(input_tokens=500 + 10 * number, output_tokens=300, tpot_ms=50) for number in range(KINDS)]
    size_replica.cache_clear()
    began = time.perf_counter()
    for number in range(SERVICES):
        replica = size_replica(network, kinds[number % KINDS], part, 2, embedded_names())
        assert isinstance(replica, Replica)
        replica.replicas_for(1 + number / 10)
    took = time.perf_counter() - began
    yield Figure(f"{SERVICES:,} services of {KINDS} kinds sized", 1000 * took, took, "a second", 1.0)
