"""Replicas of llama-3-70b in fp8: 1,000 tokens in, 400 out, TTFT 2 s and TPOT 50 ms for 95 % of requests."""

from __future__ import annotations

import math

import pytest

from planner.performance.serving.replicas import Replica
from planner.result.message import Message

BYTES_OF_A_REQUEST = 1400 * 163_840 * 2


@pytest.mark.parametrize(
    ("accelerator", "count", "at_once", "tokens_per_s", "basis", "replicas"),
    [
        ("H100-80GB-SXM", 2, 73, 1622, "measured", (1, 6, 50)),
        ("H200-141GB-SXM", 2, 83, 1848, "model_elsewhere", (1, 5, 44)),
        ("B200-180GB-SXM", 1, 105, 2299, "measured", (1, 4, 36)),
        ("MI300X-192GB", 2, 106, 2333, "accelerator_not_served", (1, 4, 35)),
        ("L40S-48GB", 8, 17, 435, "accelerator_not_served", (3, 20, 188)),
    ],
)
def test_the_worked_service(sized, accelerator, count, at_once, tokens_per_s, basis, replicas):
    """By hand from the shipped fit, of H100: a cycle of 73 requests is 45.02 ms, so 73 / 0.04502 = 1,622 tokens and
    1,622 / 400 = 4.054 requests a second; a request takes its place for 400 x 45.02 ms = 18.01 s. At 2, 20 and 200
    requests a second 36.0, 360.1 and 3,601 are at once (Little), in 0.49, 4.93 and 49.3 replicas of 73 places. One
    leaves 37 places, 6.2 deviations of sqrt(36); five leave 4.9 of 19.0, 0.26 deviations: 55 % wait longer than the
    0.97 s that TTFT leaves, so six. 50 leave 48.6, 0.81 deviations of 60: 1 / (1 + 0.81 x 2.507 x e^0.328 x 0.791) =
    31 % wait, longer than 0.97 s e^(-48.6 x 0.972 / 18.01) = 7.3 % of those. Others alike with 44.92, 45.68, 45.43
    and 39.05 ms.
    """
    replica = sized(accelerator, count)
    assert isinstance(replica, Replica)
    assert (replica.concurrency, replica.rate.basis) == (at_once, basis)
    assert replica.rate.output_tokens_per_s == pytest.approx(tokens_per_s, rel=0.005)
    assert replica.requests_per_s == pytest.approx(at_once / (400 * replica.tpot_s))
    assert tuple(replica.replicas_for(rate) for rate in (2, 20, 200)) == replicas
    assert replica.tpot_at_percentile_s <= 0.050
    assert replica.ttft_at_percentile_s + replica.queue.wait_limit_s == pytest.approx(2.0)
    assert replica.rate.low < replica.rate.output_tokens_per_s < replica.rate.high


def test_tpot_at_the_percentile_by_hand(sized):
    """73 requests on two H100: prompts are 38.0 % of a cycle of 45.02 ms, and vary over requests by
    sqrt((1 + 1) / 73) = 16.6 %: 45.02 x (1 + 1.645 x 0.380 x 0.166) = 49.7 ms; 74 would take more than 50."""
    replica = sized("H100-80GB-SXM", 2)
    assert replica.limit == "tpot"
    assert replica.prompt_share == pytest.approx(0.380, abs=1e-3)
    by_hand = replica.tpot_s * (1 + 1.6449 * replica.prompt_share * math.sqrt(2 / 73))
    assert replica.tpot_at_percentile_s == pytest.approx(by_hand, rel=1e-4)
    assert sized("H100-80GB-SXM", 2, percentile=50).concurrency > 73


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


def test_a_replica_measured_by_the_asker_decides(sized):
    """Twice the tokens of the estimate, measured at its own concurrency: the estimate follows it nearly there."""
    before = sized("MI300X-192GB", 1, concurrency_max=32, tpot_ms=200, ttft_ms=8000)
    rate = 2 * before.rate.output_tokens_per_s
    own = {"accelerator": "MI300X-192GB", "count": 1, "concurrency": 32, "output_tokens_per_s": rate}
    after = sized("MI300X-192GB", 1, concurrency_max=32, tpot_ms=200, ttft_ms=8000, measured=[own])
    assert (before.rate.basis, after.rate.basis) == ("accelerator_not_served", "measured")
    assert after.rate.nearest[0].source == "your measurement"
    assert 0.85 * rate < after.rate.output_tokens_per_s <= rate


def test_no_limit_at_all_is_held_by_memory_or_the_most_at_once(sized):
    free = {"tpot_ms": None, "ttft_ms": None}
    assert sized("H100-80GB-SXM", 8, **free).limit == "concurrency"
    assert sized("H100-80GB-SXM", 8, **free, concurrency_max=8192).limit == "memory"
