"""Replicas of llama-3-70b in fp8: 1,000 tokens in, 400 out, TTFT 2 s and TPOT 50 ms for 95 % of requests."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from planner.performance.network_arithmetic import DEPTH_TIMES_WIDTH
from planner.performance.serving.replicas import Replica, size_replica
from planner.request.neural_network import NeuralNetwork
from planner.request.serving import Serving
from planner.result.message import Message
from pricing.accelerator import embedded_names

BYTES_OF_A_REQUEST = 1400 * 163_840 * 2


@pytest.mark.parametrize(
    ("accelerator", "count", "at_once", "tokens_per_s", "basis", "replicas"),
    [
        ("H100-80GB-SXM", 2, 78, 1663, "measured", (1, 6, 49)),
        ("H200-141GB-SXM", 2, 89, 1887, "model_elsewhere", (1, 5, 43)),
        ("B200-180GB-SXM", 1, 113, 2355, "measured", (1, 4, 35)),
        ("MI300X-192GB", 2, 114, 2381, "accelerator_not_served", (1, 4, 34)),
        ("L40S-48GB", 8, 19, 458, "accelerator_not_served", (3, 19, 178)),
    ],
)
def test_the_worked_service(sized, accelerator, count, at_once, tokens_per_s, basis, replicas):
    """By hand from the shipped fit, of H100: a cycle of 78 requests is 46.90 ms, so 78 / 0.04690 = 1,663 tokens and
    1,663 / 400 = 4.158 requests a second; a request takes its place for 400 x 46.90 ms = 18.76 s. At 2, 20 and 200
    requests a second 37.5, 375.2 and 3,752 are at once (Little), in 0.48, 4.81 and 48.1 replicas of 78 places. One
    leaves 40.5 places, 6.6 deviations of sqrt(37.5); five leave 14.8 of 19.4, 0.76 deviations: 33 % wait, 43 % of those
    longer than the 1.08 s that TTFT leaves, so six. 49 leave 70, 1.14 deviations of 61.3: 17 % wait, longer than
    1.08 s e^(-70 x 1.078 / 18.76) = 1.8 % of those; 48 have fewer places than requests.
    """
    replica = sized(accelerator, count)
    assert isinstance(replica, Replica)
    assert (replica.concurrency, replica.rate.basis) == (at_once, basis)
    assert replica.rate.output_tokens_per_s == pytest.approx(tokens_per_s, rel=0.005)
    assert replica.requests_per_s == pytest.approx(at_once / (400 * replica.cycle_s))
    assert tuple(replica.replicas_for(rate) for rate in (2, 20, 200)) == replicas
    assert replica.tpot_at_percentile_s <= 0.050
    assert replica.ttft_at_percentile_s + replica.queue.wait_limit_s == pytest.approx(2.0)
    assert replica.rate.low < replica.rate.output_tokens_per_s < replica.rate.high


def test_tpot_at_the_percentile_by_hand(sized):
    """78 requests on two H100: 400 cycles of 46.90 ms less 0.768 s to the first token are 399 of 45.09 ms. Prompts are
    39.0 % of a cycle, and vary over requests by sqrt((1 + 1) / 78) = 16.0 %: 45.09 x (1 + 1.645 x 0.390 x 0.160) =
    49.7 ms; 79 would take more than 50."""
    replica = sized("H100-80GB-SXM", 2)
    assert replica.limit == "tpot"
    assert replica.prompt_share == pytest.approx(0.390, abs=1e-3)
    assert replica.tpot_s == pytest.approx((400 * 0.046897 - 0.768) / 399, rel=1e-3)
    by_hand = replica.tpot_s * (1 + 1.6449 * replica.prompt_share * math.sqrt(2 / 78))
    assert replica.tpot_at_percentile_s == pytest.approx(by_hand, rel=1e-4)
    assert sized("H100-80GB-SXM", 2, percentile=50).concurrency > 78


def test_memory_holds_a_replica(sized):
    """One H100 has 72 GiB for the engine; weights and the working memory of one request take about 68.4, and a request
    of 1,400 tokens 0.427 GiB: eight."""
    replica = sized("H100-80GB-SXM", 1)
    assert (replica.concurrency, replica.limit) == (8, "memory")
    assert pytest.approx(0.427, abs=1e-3) == BYTES_OF_A_REQUEST / 2**30
    assert 8 <= (72 - 68.36) / 0.427 < 9


def test_a_limit_that_nothing_meets(sized):
    """70.55 GB in 3 ms would take 23.5 TB/s; two H200 have 9.6."""
    refused = sized("H200-141GB-SXM", 2, tpot_ms=3)
    assert isinstance(refused, Message)
    assert refused.code == "tpot_limit_unmet"
    assert refused.parameters["least_ms"] > 70.55e9 / 9.6e12 * 1000
    assert sized("H200-141GB-SXM", 2, ttft_ms=4, tpot_ms=None).code == "ttft_limit_unmet"


def test_a_model_that_fits_nowhere(sized):
    """405 billion weights of two bytes are 756 GiB; eight L40S have 8 x 43.2 for an engine."""
    refused = sized("L40S-48GB", 8, model="llama-3.1-405b", precision="bf16")
    assert refused.code == "replica_memory_too_small"
    assert refused.parameters["needed_gib"] > 756 / 8


LOOSE = {"concurrency_max": 32, "tpot_ms": 200, "ttft_ms": 8000}


def measured(rate, concurrency=32, accelerator="MI300X-192GB", count=1, **more):
    return {
        "accelerator": accelerator,
        "count": count,
        "concurrency": concurrency,
        "output_tokens_per_s": rate,
        **more,
    }


def test_a_rate_measured_by_the_asker_goes_before_published_ones(sized):
    """At its own load the estimate is the rate; at half of that load the residual counts by e^-0.1."""
    before = sized("MI300X-192GB", 1, **LOOSE)
    rate = 2 * before.rate.output_tokens_per_s
    twice, four_times = (sized("MI300X-192GB", 1, **LOOSE, measured=[measured(each)]) for each in (rate, 2 * rate))
    assert (before.rate.basis, twice.rate.basis) == ("accelerator_not_served", "own")
    assert twice.rate.nearest[0].source == "your measurement"
    assert [each.rate.output_tokens_per_s for each in (twice, four_times)] == [
        pytest.approx(rate),
        pytest.approx(2 * rate),
    ]
    half = {**LOOSE, "concurrency_max": 16}
    halves = [sized("MI300X-192GB", 1, **half, measured=[measured(each)]) for each in (rate, 2 * rate)]
    gain = halves[1].rate.output_tokens_per_s / halves[0].rate.output_tokens_per_s
    assert gain == pytest.approx(2 ** math.exp(-0.1))


def test_a_rate_elsewhere_or_at_another_size_is_no_measurement_of_this_replica(sized):
    """On another accelerator the published results still count; at eight accelerators instead of one the distance is
    2 x 0.4 x 3^2 = 7.2."""
    rate = measured(3000)
    assert sized("H100-80GB-SXM", 2, measured=[rate]).rate.basis == "measured"
    assert sized("MI300X-192GB", 8, **LOOSE, measured=[rate]).rate.basis == "model_elsewhere"


def test_lengths_of_a_measurement_are_its_own(sized):
    """The same tokens a second with prompts of a tenth are less of an achievement: the estimate is lower."""
    same, short = (
        sized("MI300X-192GB", 1, **LOOSE, measured=[measured(1500, **more)]).rate.output_tokens_per_s
        for more in ({}, {"input_tokens": 100})
    )
    assert short < 0.95 * same


def test_an_estimate_of_another_program_does_not_go_before_results(sized):
    """It counts as far as a measurement on another accelerator: beside a published result at distance 0.5 it weighs
    e^-2.5 of it, and it never becomes a measurement."""
    wild = measured(20000, 64, "H100-80GB-SXM", 2)
    before = sized("H100-80GB-SXM", 2)
    estimated = sized("H100-80GB-SXM", 2, measured=[{**wild, "estimated": True}])
    own = sized("H100-80GB-SXM", 2, measured=[wild])
    assert (estimated.rate.basis, own.rate.basis) == ("measured", "own")
    gain = estimated.rate.output_tokens_per_s / before.rate.output_tokens_per_s
    assert 1.0 < gain < 1.6 < own.rate.output_tokens_per_s / before.rate.output_tokens_per_s


def test_a_measured_time_to_first_token_counts(sized):
    """With the rate as estimated and three times the time to first token, the estimate is three times as long."""
    before = sized("MI300X-192GB", 1, **LOOSE, measured=[measured(1500)])
    slow = 3000 * before.ttft_s
    after = sized("MI300X-192GB", 1, **LOOSE, measured=[measured(1500, ttft_ms=slow)])
    assert after.ttft_s == pytest.approx(3 * before.ttft_s)
    assert after.concurrency == before.concurrency


def test_no_limit_at_all_is_held_by_memory_or_the_most_at_once(sized):
    free = {"tpot_ms": None, "ttft_ms": None}
    assert sized("H100-80GB-SXM", 8, **free).limit == "concurrency"
    assert sized("H100-80GB-SXM", 8, **free, concurrency_max=8192).limit == "memory"


def test_prefix_cache_and_speculation_scale_what_is_measured(sized):
    """Prompts are 39 % of a cycle of 78 requests: with half of them cached, less is left, and more requests fit within
    the same limit. Speculation at 2 tokens a step of 1.5 times does it for the rest. A rate of the asker's is already
    with both: at its own load the estimate is the rate."""
    plain = sized("H100-80GB-SXM", 2)
    cached = sized("H100-80GB-SXM", 2, prefix_cached_fraction=0.5)
    speculation = {"tokens_per_step": 2, "step_time_ratio": 1.5}
    speculated = sized("H100-80GB-SXM", 2, speculation=speculation)
    for each in (cached, speculated):
        assert each.concurrency > plain.concurrency
        assert each.rate.output_tokens_per_s > plain.rate.output_tokens_per_s
    assert cached.prompt_share < plain.prompt_share < speculated.prompt_share
    both = {"prefix_cached_fraction": 0.5, "speculation": speculation, "concurrency_max": 64}
    own = sized("H100-80GB-SXM", 2, **both, measured=[measured(3000, 64, "H100", 2)])
    assert own.concurrency == 64
    assert own.rate.output_tokens_per_s == pytest.approx(3000)


def test_without_gain_speculation_changes_nothing(sized):
    same = sized("H100-80GB-SXM", 2, speculation={"tokens_per_step": 1, "step_time_ratio": 1})
    assert same == sized("H100-80GB-SXM", 2)


def test_a_replica_over_two_nodes(sized):
    """405 billion weights of two bytes are 756 GiB: 94.5 on each of eight H100, 47.2 on each of sixteen. On two nodes
    32 requests take two of 16 each: the cycle is that of 16 on one node that had the memory, and a step more of
    1.10 ms; at 100 Gbit/s also two hops of 16 x (1 + 1,000 / 400) tokens of 16,384 values (14,460 as its active weights
    imply) of two bytes."""
    asked = {"model": "llama-3.1-405b", "precision": "bf16", "ttft_ms": 8000, "tpot_ms": 200}
    assert sized("H100-80GB-SXM", 8, **asked).parameters["needed_gib"] > 94.5
    over, slow = (
        sized("H100-80GB-SXM", 16, nodes=2, between_gbps=gbps, **asked, concurrency_max=32) for gbps in (None, 100)
    )
    assert (over.count, over.nodes, over.rate.basis, over.concurrency) == (16, 2, "over_nodes", 32)
    roomy = replace(embedded_names().resolve("H100-80GB-SXM"), memory_gib=200.0)
    alone = size_replica(
        NeuralNetwork(model="llama-3.1-405b", precision="bf16", run="inference"),
        Serving(input_tokens=1000, output_tokens=400, ttft_ms=8000, tpot_ms=200, concurrency_max=16),
        roomy, 8, embedded_names(),
    )  # fmt: skip
    assert 0.0005 < over.cycle_s - alone.cycle_s < 0.005
    width = DEPTH_TIMES_WIDTH * 405.853e9 ** (2 / 3) / 126
    assert slow.cycle_s - over.cycle_s == pytest.approx(2 * 16 * 3.5 * width * 2 * 8 / 100e9, rel=1e-3)
    assert over.rate.low == pytest.approx(0.729 * over.rate.output_tokens_per_s)
    own = {"accelerator": "H100", "count": 16, "concurrency": 32, "output_tokens_per_s": 500}
    measured = sized("H100-80GB-SXM", 16, nodes=2, **asked, concurrency_max=32, measured=[own])
    assert (measured.rate.basis, measured.rate.output_tokens_per_s) == ("own", pytest.approx(500))


def test_prefill_and_decode_apart_by_hand(sized):
    """On four H100, of which one reads prompts, at 64 requests at once: half the time to first token and 0.7 of the
    time per output token give 400 cycles of first + 399 x tpot; no prompt falls into decoding. Memory is that of three:
    less than three quarters of it is left beside the weights."""
    loose = {"tpot_ms": 500, "ttft_ms": 20000, "concurrency_max": 64}
    together = sized("H100-80GB-SXM", 4, **loose)
    ratios = {"prefill_accelerators": 1, "ttft_ratio": 0.5, "tpot_ratio": 0.7}
    apart = sized("H100-80GB-SXM", 4, **loose, disaggregation=ratios)
    assert (together.concurrency, apart.concurrency) == (64, 64)
    assert apart.ttft_s == pytest.approx(0.5 * together.ttft_s)
    assert apart.tpot_s == apart.tpot_at_percentile_s == pytest.approx(0.7 * together.tpot_s)
    assert apart.cycle_s == pytest.approx((apart.ttft_s + 399 * apart.tpot_s) / 400)
    assert apart.rate.output_tokens_per_s == pytest.approx(64 / apart.cycle_s)
    assert apart.prompt_share == 0.25
    roomy = {"tpot_ms": 5000, "ttft_ms": 200000, "concurrency_max": 8192}
    full = [sized("H100-80GB-SXM", 4, **roomy, **more) for more in ({}, {"disaggregation": ratios})]
    assert [each.limit for each in full] == ["memory", "memory"]
    assert full[1].concurrency < 0.75 * full[0].concurrency


def test_rates_measured_with_prefill_apart_are_taken_as_they_are(sized):
    own = {"accelerator": "H100", "count": 4, "concurrency": 64, "output_tokens_per_s": 3000, "ttft_ms": 300}
    ratios = {"prefill_accelerators": 1, "ttft_ratio": 0.5, "tpot_ratio": 0.7}
    loose = {"tpot_ms": 500, "ttft_ms": 20000, "concurrency_max": 64}
    measured = sized("H100-80GB-SXM", 4, **loose, measured=[own], disaggregation=ratios)
    assert measured.rate.output_tokens_per_s == pytest.approx(3000)
    assert measured.ttft_s == pytest.approx(0.3)


def test_expert_parallel_takes_the_results_that_were_run_so(sized):
    """Published results of qwen3-235b-a22b on eight H100 were run with expert parallelism: a replica run otherwise is
    further from them, so that they correct its estimate less. A dense model has no experts."""
    apart, together = (
        sized("H100-80GB-SXM", 8, model="qwen3-235b-a22b", expert_parallel=each) for each in (True, False)
    )
    assert all(near.point.expert_parallel for near in apart.rate.nearest)
    assert apart.rate.output_tokens_per_s != together.rate.output_tokens_per_s
    dense = [sized("H100-80GB-SXM", 2, expert_parallel=each) for each in (True, False)]
    assert dense[0] == dense[1]


def test_a_replica_that_was_sized_is_kept(sized):
    """10,000 services of a hundred kinds are sized in the time of a hundred: 1.4 ms each."""
    size_replica.cache_clear()
    first = sized("H100-80GB-SXM", 2)
    assert sized("H100-80GB-SXM", 2) is first
    assert sized("H100-80GB-SXM", 2, tpot_ms=51) != first
    assert size_replica.cache_info().misses == 2
