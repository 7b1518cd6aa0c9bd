"""Bands, verdicts and the smallest gang: laws that hold for every network, and what is said where nothing can be."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as some
from pydantic import ValidationError

from planner.messages import joined_text, text_of
from planner.performance.memory import (
    MemoryEstimate,
    SmallestGang,
    estimate_memory,
    judge_fit,
    smallest_gang,
)
from planner.performance.model_catalog import published_models
from planner.request.neural_network import NeuralNetwork
from planner.result.message import Message, message
from pricing.accelerator import resolve

RUNS = ("pretraining", "finetuning", "lora", "inference")
networks = some.builds(
    lambda **fields: NeuralNetwork.model_validate(fields),
    model=some.sampled_from(sorted(published_models())),
    run=some.sampled_from(RUNS),
    precision=some.sampled_from(["fp32", "bf16", "fp8"]),
    optimizer=some.sampled_from(["adamw", "adamw_8bit", "adafactor", "sgd_momentum", "sgd"]),
    sequence_length=some.sampled_from([128, 2048, 32768]),
    batch_per_device=some.sampled_from([1, 2, 16]),
    checkpointing=some.sampled_from(["none", "selective", "full"]),
    flash_attention=some.booleans(),
)
gangs = some.sampled_from([1, 2, 4, 8, 16, 64])


def told(network: NeuralNetwork, gang: float) -> MemoryEstimate:
    memory = estimate_memory(network, gang)
    assert isinstance(memory, MemoryEstimate), memory
    return memory


@given(networks, gangs)
def test_the_band_holds_the_likely_total_and_the_parts_add_up(network, gang):
    memory = told(network, gang)
    parts = (memory.weights_gib, memory.gradients_gib, memory.optimizer_gib, memory.activations_gib,
             memory.kv_cache_gib, memory.overhead_gib)  # fmt: skip
    assert all(part >= 0 for part in parts)
    assert sum(parts) == pytest.approx(memory.total_gib)
    assert memory.low_gib <= memory.total_gib <= memory.high_gib


@given(networks, gangs)
def test_more_work_at_once_never_needs_less(network, gang):
    least = told(network, gang).total_gib
    assert told(network.model_copy(update={"batch_per_device": network.batch_per_device * 2}), gang).total_gib >= least
    assert told(network.model_copy(update={"sequence_length": network.sequence_length * 2}), gang).total_gib >= least


@given(networks, gangs.filter(lambda gang: gang > 1))
def test_a_larger_gang_never_needs_more_on_each(network, gang):
    """But for the heads that cannot be shared out, which become stages: each then holds whole layers."""
    if network.run != "inference":
        assert told(network, gang * 2).low_gib <= told(network, gang).low_gib * (1 + 1e-9)


@given(networks, some.floats(1, 400), some.floats(1, 4))
def test_more_memory_never_fits_worse(network, memory_gib, times):
    order = ("no", "tight", "yes")
    memory = told(network, 8)
    assert order.index(judge_fit(memory, memory_gib * times)) >= order.index(judge_fit(memory, memory_gib))


@given(networks, some.sampled_from(["A100-80GB-SXM", "H200-141GB-SXM", "T4-16GB"]))
def test_the_smallest_gang_fits_and_half_of_it_does_not(network, name):
    part = resolve(name)
    found = smallest_gang(network, part)
    if isinstance(found, Message):
        return
    for count, judged in ((found.count, "yes"), (found.tight, "tight")):
        if count:
            assert judge_fit(estimate_memory(network, count), part.memory_gib) == judged
            assert count == 1 or judge_fit(estimate_memory(network, count // 2), part.memory_gib) != "yes"


def test_a_verdict_leaves_room_for_what_a_driver_takes(on):
    """Sure up to 0.91 of the data sheet, impossible beyond 0.99, for 10 to 12 GiB."""
    memory = replace(on(model="gpt2"), low_gib=10.0, high_gib=12.0)
    assert judge_fit(memory, 12 / 0.91 + 0.01) == "yes"
    assert judge_fit(memory, 12 / 0.91 - 0.01) == "tight"
    assert judge_fit(memory, 10 / 0.99 + 0.01) == "tight"
    assert judge_fit(memory, 10 / 0.99 - 0.01) == "no"


def test_a_stated_split_is_kept_and_multiplied():
    network = NeuralNetwork.model_validate(
        {"model": "gpt-3-175b", "parallelism": {"tensor": 8, "pipeline": 3, "zero_stage": 1}}
    )
    found = smallest_gang(network, resolve("A100-80GB-SXM"))
    assert isinstance(found, SmallestGang)
    assert (found.count or 0) % 24 == 0
    assert found.memory.parallelism == network.parallelism
    assert found.memory.explanation[1].parameters["assumed"] is False


def test_what_is_assumed_is_said(on):
    assert joined_text(on(8, model="llama-2-7b").explanation).endswith("; 8 copies sharing by ZeRO 3 (assumed)")
    split = on(16, model="llama-2-7b", run="inference").explanation[1]
    assert text_of(split) == "tensor 8 x pipeline 2 (assumed)"
    assert split == message("gang_split", tensor=8, pipeline=2, copies=1, zero_stage=0, assumed=True)
    assert text_of(on(1, model="llama-2-7b").explanation[1]) == "one accelerator"


def test_heads_that_cannot_be_shared_out_become_stages(on):
    """Falcon 7B has 71 heads, a prime number."""
    split = on(4, model="falcon-7b", run="inference").parallelism
    assert (split.tensor, split.pipeline) == (1, 4)


def test_a_shape_that_is_not_known_is_inferred_and_widens_the_band(on):
    known = on(model="qwen2.5-32b", run="inference", sequence_length=32768)
    unknown = on(parameters=32.8e9, run="inference", sequence_length=32768)
    assert unknown.basis == "inferred"
    assert unknown.explanation[0].code == "shape_inferred"
    assert "qwen2.5-32b" in unknown.explanation[0].parameters["models"]
    assert unknown.low_gib <= known.total_gib <= unknown.high_gib
    assert unknown.high_gib - unknown.low_gib > 2 * (known.high_gib - known.low_gib)


def test_a_shape_that_is_stated_is_used(on):
    """The shape of llama-2-7b in numbers gives its figures."""
    shape = {"parameters": 6_738_415_616, "layers": 32, "hidden_size": 4096, "attention_heads": 32, "vocabulary": 32000}
    stated, named = on(**shape), on(model="llama-2-7b")
    assert stated.basis == "stated"
    assert stated.total_gib == pytest.approx(named.total_gib, rel=1e-3)


@pytest.mark.parametrize(("network", "gang", "words"), [
    ({"parameters": 20_000}, 1, "no published model is of similar size"),
    ({"parameters": 9e12}, 1, "give layers, hidden_size, attention_heads, vocabulary"),
    ({"model": "gpt2", "parallelism": {"tensor": 4}}, 6, "6 accelerators are no multiple of tensor 4 x pipeline 1"),
    ({"model": "gpt2", "parallelism": {"pipeline": 16}}, 16, "a pipeline of 16 has more stages"),
])  # fmt: skip
def test_why_it_cannot_be_told(network, gang, words):
    reason = estimate_memory(NeuralNetwork.model_validate(network), gang)
    assert isinstance(reason, Message)
    assert words in text_of(reason)


def test_a_slice_is_one_accelerator(on):
    assert on(0.5, model="gpt2") == on(1, model="gpt2")


def test_where_no_gang_is_large_enough():
    network = NeuralNetwork.model_validate({"model": "megatron-530b", "run": "pretraining"})
    unknown = replace(resolve("T4-16GB"), memory_gib=None)
    assert smallest_gang(network, unknown) == message("accelerator_memory_unknown", accelerator="T4-16GB")
    reason = smallest_gang(network, resolve("T4-16GB"))
    assert isinstance(reason, Message)
    assert (reason.code, reason.parameters["gang"]) == ("network_too_large", 16_384)
    assert "or more on each of 16,384" in text_of(reason)


@pytest.mark.parametrize(("network", "words"), [
    ({}, "give a published model, or parameters"),
    ({"model": "gpt2", "run": "finetuning", "precision": "int4"}, "weights in int4 are not trained"),
    ({"parameters": "7Q"}, "valid number"),
    ({"model": "gpt2", "parallelism": {"zero_stage": 4}}, "less than or equal to 3"),
])  # fmt: skip
def test_networks_that_are_refused(network, words):
    with pytest.raises(ValidationError, match=words):
        NeuralNetwork.model_validate(network)


@pytest.mark.parametrize(("written", "parameters"), [("7B", 7e9), ("350m", 350e6), ("1.5 T", 1.5e12), (7e9, 7e9)])
def test_parameters_as_they_are_written(written, parameters):
    assert NeuralNetwork.model_validate({"parameters": written}).parameters == parameters
