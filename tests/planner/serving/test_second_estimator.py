"""The estimates of NVIDIA's aiconfigurator-core beside ours; tests that need it are skipped where it is absent."""

from __future__ import annotations

import importlib.metadata

import pytest

from planner.performance.serving import second_estimator
from planner.performance.serving.second_estimator import second_estimate
from planner.performance.serving.served_models import load_families
from planner.request.neural_network import NeuralNetwork
from planner.request.serving import Serving
from planner.result.message import Message
from pricing.accelerator import embedded_names

SERVING = Serving(input_tokens=1000, output_tokens=400, ttft_ms=2000, tpot_ms=50)
FP8_70B = NeuralNetwork(model="llama-3-70b", precision="fp8", run="inference")


@pytest.fixture
def asked():
    pytest.importorskip("aiconfigurator_core")

    def ask(accelerator, count, concurrency, network=FP8_70B, **changes):
        serving = SERVING.model_copy(update=changes)
        estimate = second_estimate(network, serving, embedded_names().resolve(accelerator), count, concurrency)
        assert estimate is not None
        assert estimate.source.startswith("aiconfigurator-core 0.")
        return estimate.output_tokens_per_s

    return ask


def test_without_it_there_is_none(monkeypatch):
    def is_absent(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(second_estimator, "version", is_absent)
    assert second_estimate(FP8_70B, SERVING, embedded_names().resolve("H100"), 2, 78) is None


def test_its_names_stand_for_ours():
    families = {row.family for row in load_families().values()}
    for kind, name in second_estimator._read_names():
        assert name in (families if kind == "family" else embedded_names().by_name)


def test_a_rate_by_hand(asked):
    """Version 0.12 on two H100: a step of 78 requests takes 25.23 ms, and 118.31 with a prompt of 1,000 tokens beside;
    78 prompts in 400 steps: 25.23 + 0.195 x (118.31 - 25.23) = 43.38 ms a cycle, 78 / 0.04338 = 1,798 tokens a second.
    """
    assert asked("H100-80GB-SXM", 2, 78) == pytest.approx(78 / (25.226 + 0.195 * (118.311 - 25.226)) * 1000, rel=1e-3)
    assert asked("H100-80GB-SXM", 2, 78, prefix_cached_fraction=0.5) > asked("H100-80GB-SXM", 2, 78)


def test_what_it_does_not_know_has_a_reason(asked):
    for answer, code in (
        (asked("MI300X-192GB", 2, 78), "second_estimator_lacks"),
        (asked("H100-80GB-SXM", 2, 78, NeuralNetwork(model="llama-2-70b", run="inference")), "second_estimator_lacks"),
        (asked("A100-80GB-SXM", 2, 20), "second_estimator_has_no_data"),
        (asked("H100-80GB-SXM", 3, 20), "second_estimator_has_no_data"),
    ):
        assert isinstance(answer, Message)
        assert answer.code == code


def test_every_model_comes_with_it():
    common = pytest.importorskip("aiconfigurator_core.sdk.common")
    names = second_estimator._read_names()
    assert {name for (kind, _), name in names.items() if kind == "family"} <= common.DefaultHFModels
