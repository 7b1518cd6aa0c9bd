"""What is answered for a described job, and what is not."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.messages import joined_text, text_of
from planner.performance.throughput.intervals import MEASURED, NEW, load_estimate_intervals
from planner.performance.throughput.network_estimates import estimate_throughput
from planner.request.neural_network import NeuralNetwork
from planner.result.message import Message
from pricing.accelerator import resolve


def test_from_one_run_by_hand(runs, tell):
    """One run, mpt-7b on 8 A100 at MFU 0.6423, asked on the same: 8 x 312e12 x 0.6423 / 43.174e9 = 37,130 tokens/s,
    that is 133.67e6 an hour: one run gives itself, whatever it weighs."""
    row = next(
        r
        for r in runs
        if r.network == "mpt-7b" and r.job.accelerator.name == "A100-80GB-SXM" and abs(r.utilisation - 0.6423) < 1e-4
    )
    found = tell("A100-80GB-SXM", 8, among=(row,), model="mpt-7b")
    assert found.units_per_hour == pytest.approx(37_130 * 3600, rel=1e-6)
    spread = load_estimate_intervals()["training", MEASURED]
    assert (found.low, found.high) == pytest.approx(
        (found.units_per_hour * spread.low, found.units_per_hour * spread.high)
    )
    assert found.basis == "described"


def test_from_two_runs_by_hand(runs, tell):
    """At u = 0.64 (x 1) and 0.16 (precision or count alike, weight 1): both weigh w, the mean of logarithms is the
    root of the product, sqrt(0.64 x 0.16) = 0.32, half of 0.64."""
    row = next(r for r in runs if r.network == "mpt-7b" and r.job.accelerator.name == "A100-80GB-SXM")
    two = (replace(row, utilisation=0.64), replace(row, utilisation=0.16))
    alone = tell("A100-80GB-SXM", 8, among=two[:1], model="mpt-7b")
    both = tell("A100-80GB-SXM", 8, among=two, model="mpt-7b")
    assert both.units_per_hour == pytest.approx(alone.units_per_hour / 2)


def test_another_accelerator_by_hand(runs, tell):
    """A100 to H100 at half precision: peak x 3.171, balance (989.4 / 3,350) / (312 / 2,039) = 1.930, utilisation
    x 1.930^-0.4 = 0.7687: 3.171 x 0.7687 = 2.438 times as fast."""
    row = next(r for r in runs if r.network == "mpt-7b" and r.job.accelerator.name == "A100-80GB-SXM")
    ratio = tell("H100", 8, among=(row,), model="mpt-7b").units_per_hour
    ratio /= tell("A100-80GB-SXM", 8, among=(row,), model="mpt-7b").units_per_hour
    assert ratio == pytest.approx(2.438, abs=2e-3)


def test_a_sample_is_a_sequence_of_tokens(tell):
    tokens = tell("H100", 8, parameters="7B", sequence_length=4096)
    samples = tell("H100", 8, "samples", parameters="7B", sequence_length=4096)
    assert samples.units_per_hour * 4096 == pytest.approx(tokens.units_per_hour)


def test_a_named_model_is_its_parameters(tell):
    assert tell("H100", 8, model="llama-2-7b").units_per_hour == pytest.approx(
        tell("H100", 8, parameters=6738415616, layers=32, hidden_size=4096).units_per_hour
    )


def test_a_precision_without_a_peak_runs_at_the_next_wider(tell):
    as_fp8 = tell("A100-80GB-SXM", 8, parameters="7B", precision="fp8")
    assert as_fp8.units_per_hour == tell("A100-80GB-SXM", 8, parameters="7B", precision="bf16").units_per_hour
    assert "of the fp16 peak" in joined_text(as_fp8.explanation)


def test_the_answer_says_which_runs_it_rests_on(tell, runs):
    found = tell("A100-80GB-SXM", 8, parameters="7B")
    explanation = joined_text(found.explanation)
    assert explanation.startswith("described, not measured: 7B parameters at ")
    assert "first of all mpt-7b on A100-80GB-SXM (mosaicml/llm-foundry, 2025-07 snapshot)" in explanation
    like = sum(run.job.family == "training" for run in runs)
    assert f" of {like} public runs of training a language model (" in explanation
    assert found.explanation[0].parameters["runs"] == like


def test_an_accelerator_without_runs_is_less_sure(tell):
    spread = load_estimate_intervals()["training", NEW]
    found = tell("Gaudi3", 8, parameters="7B")
    assert (found.low / found.units_per_hour, found.high / found.units_per_hour) == pytest.approx(
        (spread.low, spread.high)
    )


@pytest.mark.parametrize(
    ("part", "unit", "network", "reason"),
    [
        ("H100", "steps", {"parameters": "7B"}, "is in tokens"),
        ("H100", "", {"parameters": "7B"}, "not in 'no unit'"),
        ("H100", "samples", {"parameters": "7B", "run": "inference"}, "tokens (generated) or prompt tokens (read)"),
        ("H100", "tokens", {"model": "mixtral-8x7b"}, "mixture of experts"),
        ("H100", "tokens", {"parameters": "40B", "active_parameters": "10B"}, "mixture of experts"),
        ("H100", "tokens", {"parameters": "7B", "run": "lora", "precision": "int4"}, "no public run trains in int4"),
        ("H100", "tokens", {"parameters": "7B", "run": "inference", "batch_per_device": 8}, "many requests at once"),
        ("H100", "tokens", {"parameters": "10T"}, "none is near 10T"),
        ("H100", "tokens", {"parameters": "1M"}, "none is near 1M"),
        ("CPU-Xeon-8592+", "tokens", {"parameters": "7B"}, "another CPU of Intel"),
        ("MI300X", "tokens", {"parameters": "8B", "run": "inference"}, "another accelerator of AMD"),
        ("K80-12GB-die", "tokens", {"parameters": "350M"}, "is of 2014"),
        ("MI25-16GB", "tokens", {"parameters": "1B"}, "is of 2017"),
    ],
)
def test_what_nothing_is_like_is_unknown_with_the_reason(tell, part, unit, network, reason):
    found = tell(part, 8, unit, **network)
    assert isinstance(found, Message)
    assert reason in text_of(found)


@pytest.mark.parametrize("missing", ["memory_bandwidth_gbs", "peak"])
def test_an_accelerator_without_a_rate_is_unknown(runs, missing):
    part = resolve("H100")
    gone = ("memory_bandwidth_gbs",) if missing != "peak" else ("fp32_tflops", "fp16_tflops")
    blind = replace(part, **dict.fromkeys(gone))
    found = estimate_throughput(NeuralNetwork(parameters=7e9), "tokens", blind, 8, runs)
    assert isinstance(found, Message)
    assert found.code == ("peak_rate_unknown" if missing == "peak" else "memory_bandwidth_unknown")


def test_the_upper_end_is_not_above_the_peak(runs, tell):
    """A run at 0.9 of the peak: 0.9 x 1.487 would be 1.34 of it; all of it is 1 / 0.9 of what is told."""
    row = next(r for r in runs if r.network == "mpt-7b" and r.job.accelerator.name == "A100-80GB-SXM")
    found = tell("A100-80GB-SXM", row.job.count, among=(replace(row, utilisation=0.9),), model="mpt-7b")
    assert found.high == pytest.approx(found.units_per_hour / 0.9)


def test_more_than_the_peak_is_no_answer(runs, tell):
    """A P100 does 29 operations a byte at half precision, a V100 139: one run at all of its peak would be
    (139 / 29)^0.4 = 1.87 of the other's, and a second one, at single precision, hardly changes that."""
    on = [r for r in runs if r.job.accelerator.name == "V100-16GB-SXM2"]
    half = next(r for r in on if r.limit.precision == "fp16")
    single = next(r for r in on if r.limit.precision == "fp32")
    found = tell("P100-16GB-SXM2", 1, among=[replace(r, utilisation=1.0) for r in (half, single)], parameters="340M")
    assert isinstance(found, Message)
    assert found.code == "estimate_above_peak"


@given(
    size=st.floats(2e8, 4e11),
    count=st.sampled_from([1, 2, 8, 64, 1024]),
    part=st.sampled_from(["H100", "A100-80GB-SXM", "V100-32GB-SXM2", "TPU-v5p", "MI300X", "Trainium1"]),
)
def test_laws_of_an_answer(runs, size, count, part):
    """In order, no more than the peak allows, and more accelerators never do less."""
    network = NeuralNetwork(parameters=size)
    found = estimate_throughput(network, "tokens", resolve(part), count, runs)
    if isinstance(found, Message):
        return
    assert 0 < found.low < found.units_per_hour < found.high
    assert math.isfinite(found.high)
    twice = estimate_throughput(network, "tokens", resolve(part), 2 * count, runs)
    assert twice.units_per_hour > found.units_per_hour
    assert found.units_per_hour * 6 * size / 3600 < count * (resolve(part).fp16_tflops or 0) * 1e12
