"""Output tokens a second as NVIDIA's aiconfigurator-core estimates them, where it knows the model and the accelerator.

It is optional (`gpu-planner[serving]`) and comes with times of single operations that NVIDIA measured, from which it
adds up the steps of an engine. With d the step that generates a token for each of B requests and m the one that also
reads a prompt of I tokens, and O output tokens a request,

    cycle = d + B / O (m - d)        output tokens a second = B / cycle

On the 693 shipped results of served load in the models and accelerators named here, version 0.12 errs by 15 % in the
median and 44 % at the ninth decile; some of them are among its own data.
data/second_estimator.csv has its names of models, by family of results, and of accelerators.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from planner.performance.serving.served_models import served_model
from planner.performance.throughput.accelerator_scores import read_table
from planner.request.neural_network import NeuralNetwork
from planner.request.serving import Serving
from planner.result.message import Message, message
from pricing.accelerator import Accelerator

if TYPE_CHECKING:
    from aiconfigurator_core.sdk import EngineHandle

DISTRIBUTION = "aiconfigurator-core"
NAMES_FILE = Path(__file__).parent / "data" / "second_estimator.csv"
NAME_COLUMNS = ("kind", "name", "known_as")
FORMATS: Mapping[str, tuple[str | None, ...]] = {
    "bf16": (None,), "fp16": (None,), "fp8": ("fp8", "fp8_block"), "int8": ("int8_wo",), "int4": ("int4_wo",),
    "fp4": ("nvfp4",),
}  # fmt: skip
"""Its formats of weights by our precision: the first that it has data of is taken."""


class SecondEstimate(NamedTuple):
    """Output tokens a second of a replica, or the reason why it has none; `source` is the program and its version."""

    source: str
    output_tokens_per_s: float | Message


def second_estimate(
    network: NeuralNetwork, serving: Serving, part: Accelerator, count: int, concurrency: int
) -> SecondEstimate | None:
    """The estimate for so many requests at once; None where the program is not installed."""
    try:
        source = f"{DISTRIBUTION} {version(DISTRIBUTION)}"
    except PackageNotFoundError:
        return None
    model = served_model(network)
    names = _read_names()
    known_model = names.get(("family", model.family if not isinstance(model, Message) else ""))
    system = names.get(("accelerator", part.name))
    if serving.disaggregation is not None:
        return SecondEstimate(source, message("second_estimator_lacks", lacking="your prefill and decode apart"))
    if known_model is None or system is None or network.precision not in FORMATS:
        lacking = part.name if system is None else f"{network.model or 'a model of its own'} in {network.precision}"
        return SecondEstimate(source, message("second_estimator_lacks", lacking=lacking))
    return SecondEstimate(source, _estimate(known_model, system, network.precision, serving, count, concurrency))


def _estimate(
    model: str, system: str, precision: str, serving: Serving, count: int, concurrency: int
) -> float | Message:
    faults: list[str] = []
    for weights in FORMATS[precision]:
        try:
            cycle_s = _cycle_seconds(_compile(model, system, serving.engine, count, weights), serving, concurrency)
        except (RuntimeError, ValueError, LookupError, AssertionError) as fault:  # raised without data
            faults.append(str(fault).partition("\n")[0][:200])
        else:
            return concurrency / cycle_s
    return message("second_estimator_has_no_data", reasons=faults)


def _cycle_seconds(engine: EngineHandle, serving: Serving, concurrency: int) -> float:
    prompt, generated = round(serving.input_tokens), round(serving.output_tokens)
    prefix = round(serving.input_tokens * serving.prefix_cached_fraction)
    step: float = engine.decode_step_latency(concurrency, prompt, generated)
    mixed: float = engine.mixed_step_latency(prompt - prefix, concurrency, prompt, generated, prefix)
    speculated = serving.speculation
    ratio = speculated.step_time_ratio / speculated.tokens_per_step if speculated else 1.0
    return (step * ratio + concurrency / serving.output_tokens * (mixed - step)) / 1000


@cache
def _compile(model: str, system: str, engine: str, count: int, weights: str | None) -> EngineHandle:
    from aiconfigurator_core.sdk import EngineHandle
    from aiconfigurator_core.sdk.common import DefaultHFModels

    if model not in DefaultHFModels:  # it would ask a public server for its configuration
        raise LookupError(f"no configuration of {model}")
    logging.getLogger("aiconfigurator_core").setLevel(logging.CRITICAL)  # it warns of every table that it reads
    return EngineHandle.compile(
        model, system, engine, tp_size=count, moe_tp_size=count, moe_ep_size=1, gemm_quant_mode=weights,
        moe_quant_mode=weights,
    )  # fmt: skip


@cache
def _read_names() -> Mapping[tuple[str, str], str]:
    return {(row["kind"], row["name"]): row["known_as"] for row in read_table(NAMES_FILE, NAME_COLUMNS)}
