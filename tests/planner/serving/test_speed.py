"""The parts of a cycle against sums by hand, and the time that the shipped coefficients make of them."""

from __future__ import annotations

import math

import pytest

from planner.performance.serving.served_models import ServedModel, served_model
from planner.performance.serving.speed_model import (
    PARTS,
    PROMPT_PARTS,
    ServingPoint,
    cache_copies,
    cycle_parts,
    cycle_seconds,
    first_token_seconds,
    read_fraction,
    split_cycle,
)
from planner.request.neural_network import NeuralNetwork
from pricing.accelerator import resolve

LLAMA = served_model(NeuralNetwork(model="llama-3-70b", run="inference"))
LATENT = ServedModel("", 671e9, 37e9, 61, 61 * 576, 1)


def point(model=LLAMA, count=2, concurrency=64, **changes):
    values = {"bits": 8.0, "compute": "fp8", "engine": "vllm", "load": "served", "input_tokens": 1000,
              "output_tokens": 400} | changes  # fmt: skip
    return ServingPoint(model=model, part=resolve("H100-80GB-SXM"), count=count, tensor=count,
                        concurrency=concurrency, **values)  # fmt: skip


def test_the_parts_of_a_cycle_are_those_by_hand():
    """Two H100: 2 x 3,350 GB/s, 2 x 1,979 TFLOPS at fp8. 70,553,706,496 weights of a byte; a token keeps
    2 x 80 layers x 8 heads x 128 = 163,840 values of two bytes; 64 requests have 1000 + 400/2 tokens each."""
    parts = dict(zip(PARTS, cycle_parts(point()), strict=True))
    assert parts["weights"] == pytest.approx(70_553_706_496 / 6.7e12)  # 10.5 ms
    assert parts["kv"] == pytest.approx(64 * 1200 * 163_840 * 2 / 6.7e12)  # 3.76 ms
    assert parts["compute"] == pytest.approx(2 * 70_553_706_496 * 64 / 3.958e15)  # 2.28 ms
    assert parts["layer"] == pytest.approx(80 * 50e-6)
    assert parts["sync"] == pytest.approx(80 * 10e-6 * (1 + 1))
    assert parts["sequence"] == pytest.approx(64 * 10e-6)
    assert parts["prefill"] == pytest.approx(64 / 400 * 2 * 70_553_706_496 * 1000 / 3.958e15)  # 5.70 ms
    width = 0.037 * 70_553_706_496 ** (2 / 3)
    assert parts["attention"] == pytest.approx(64 / 400 * 2 * width * 1000**2 / 3.958e15)
    assert parts["exchange"] == pytest.approx(64 * 4 * 2 * width * 0.5 / 900e9)
    assert parts["prefill_exchange"] == pytest.approx(64 / 400 * 1000 * 4 * 2 * width * 0.5 / 900e9)


def test_one_accelerator_exchanges_nothing():
    parts = dict(zip(PARTS, cycle_parts(point(count=1)), strict=True))
    assert (parts["sync"], parts["exchange"], parts["prefill_exchange"]) == (0.0, 0.0, 0.0)


def test_a_mixture_reads_more_weights_the_more_tokens_it_works_on():
    """37 of 671 billion: (37/671 - 0.03) / 0.97 = 2.592 % of the experts for one token; for 64 tokens
    1 - 0.97408^64 = 81.4 % of them."""
    assert read_fraction(LATENT, 1) == pytest.approx(37 / 671)
    assert read_fraction(LATENT, 64) == pytest.approx(0.03 + 0.97 * 0.8136, abs=5e-4)
    assert read_fraction(LLAMA, 1) == 1.0


def test_heads_fewer_than_accelerators_are_held_more_than_once():
    """Eight heads on 16 accelerators: twice. A latent cache is on every accelerator, unless requests are apart."""
    assert cache_copies(point(count=8)) == 1.0
    assert cache_copies(point(count=16)) == 2.0
    assert cache_copies(point(LATENT, count=8, concurrency=32)) == 8.0
    assert cache_copies(point(LATENT, count=8, concurrency=64)) == 1.0


def test_more_requests_never_make_a_cycle_shorter():
    times = [cycle_seconds(point(concurrency=requests)) for requests in (1, 2, 8, 64, 512)]
    assert times == sorted(times)
    assert times[0] > 70.55e9 / 6.7e12 / 2, "no more than twice as fast as the bandwidth allows"
    assert math.fsum(split_cycle(point()).values()) == pytest.approx(cycle_seconds(point()))


def test_tokens_in_the_prefix_cache_are_not_worked_on_again():
    """Half of 1,000 tokens found: 500 go through the weights, each sees all before it: 1000^2 - 500^2 pairs."""
    every, cached = (dict(zip(PARTS, cycle_parts(point(**more)), strict=True)) for more in ({}, {"cached": 0.5}))
    ratios = {part: cached[part] / every[part] for part in PARTS}
    assert ratios == {part: {"prefill": 0.5, "prefill_exchange": 0.5, "attention": 0.75}.get(part, 1) for part in PARTS}


def test_speculation_divides_the_steps_and_not_the_prompts():
    """2.5 tokens a step that takes 1.25 times as long: half the time; a prompt takes what it took."""
    plain, speculated = split_cycle(point()), split_cycle(point(tokens_per_step=2.5, step_ratio=1.25))
    for part in PARTS:
        assert speculated[part] == pytest.approx(plain[part] * (1 if part in PROMPT_PARTS else 0.5)), part


def test_a_first_token_waits_for_whole_steps():
    """Two tokens a step of twice the time: a token takes as long as before, a step twice. Its part of the first token
    is the difference, e^1.86719 cycles."""
    plain, speculated = point(), point(tokens_per_step=2.0, step_ratio=2.0)
    cycle = cycle_seconds(plain)
    assert cycle_seconds(speculated) == pytest.approx(cycle)
    waits = [first_token_seconds(each, split_cycle(each)) for each in (plain, speculated)]
    assert waits[1] - waits[0] == pytest.approx(math.exp(1.86719) * cycle)
