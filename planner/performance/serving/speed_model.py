"""Seconds that a replica takes for one more token of each of its requests: a sum of parts, each a roofline or a count.

A replica of n accelerators works on B requests at once, each of I input and O output tokens. In a closed loop every
request takes O cycles, so that

    output tokens a second = B / cycle        cycle = e x sum over parts of exp(c + effects) x part

    weights    bytes of the weights that a step of B tokens reads / (n x bandwidth)
    kv         B (I + O/2) bytes of a token's cache / (n x bandwidth), repeated where heads are fewer than accelerators
    compute    2 A B / (n x peak)             A weights that work on a token
    step       1 ms; layer: 50 us a layer; sync: 10 us a layer (1 + log2 n) if n > 1; sequence: 10 us a request
    exchange   4 bytes x 2 layers x width x (n - 1)/n a token / link, of B tokens
    prefill    B/O prompts a step: 2 A I / (n x peak); attention: 2 layers x width I^2 / (n x peak); start: 1 ms;
               prefill_exchange: the exchange of I tokens

Of a prompt of which the fraction c is found in the prefix cache, prefill and exchange are of (1 - c) I tokens, and
attention of I^2 - (c I)^2. Speculative decoding multiplies everything but prompts by the time of a step, over that of a
step without it, and divides by the tokens that a step yields. Neither is in the published results.

A mixture of experts with the fraction s of its experts at work on a token reads 0.03 + 0.97 (1 - (1 - s)^B) of its
weights. data/coefficients.csv has c and the effects of engine, kind of model, bits and kind of load, fitted by
`python -m tools.serving` to published results of served load and of static batches separately: they are never mixed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from planner.performance.serving.served_models import ServedModel
from planner.performance.throughput.accelerator_scores import missing_specification, peak_tflops, read_table
from planner.result.message import Message
from pricing.accelerator import Accelerator
from pricing.frozen_values import dataclass

COEFFICIENTS_FILE = Path(__file__).parent / "data" / "coefficients.csv"
COEFFICIENT_COLUMNS = ("fit", "part", "term", "level", "value")
PARTS = (
    "weights", "kv", "compute", "step", "layer", "sync", "sequence", "exchange", "prefill", "attention", "start",
    "prefill_exchange",
)  # fmt: skip
FACTORS = {
    "weights": "memory", "kv": "cache", "compute": "compute", "step": "fixed", "layer": "fixed", "sync": "sync",
    "sequence": "sequence", "exchange": "exchange", "prefill": "prompt", "attention": "prompt", "start": "prompt",
    "prefill_exchange": "exchange",
}  # fmt: skip
"""The factor that scales each part: parts of one factor have the same effects."""
ALL = "all"
SERVED, STATIC = "served", "static"
DENSE_FRACTION = 0.03
"""Of a mixture of experts: weights outside the experts, which every token reads."""
SEPARATE_ATTENTION_REQUESTS = 64
SEPARATE_ATTENTION_COUNT = 4
"""From so many requests on so many accelerators, engines give each accelerator requests of its own for the latent
attention of a mixture of experts (data-parallel attention), so that its cache is not repeated."""
LINK_GBS = 64.0
"""Of accelerators without a link of their own: PCIe 5.0 x16 (pcisig.com, 32 GT/s x 16 lanes)."""
CACHE_BYTES = 2.0
WEIGHT_BITS = {"fp16": 16.0, "fp8": 8.0, "int8": 8.0, "fp4": 4.5, "int4": 4.5}
"""Four bits carry scales: half a bit of each weight."""


@dataclass(frozen=True, slots=True)
class ServingPoint:
    """A replica at work: `tensor` of its `count` accelerators hold one copy of the weights; `bits` a weight, `compute`
    the precision of the arithmetic; `load` is served, offline, steady or static. `cached` is the fraction of input
    tokens found in the prefix cache; a step yields `tokens_per_step` and takes `step_ratio` of one without
    speculation. `expert_parallel`: each accelerator has whole experts of a mixture, not a part of every one."""

    model: ServedModel
    part: Accelerator
    count: float
    tensor: float
    bits: float
    compute: str
    engine: str
    load: str
    input_tokens: float
    output_tokens: float
    concurrency: float
    cached: float = 0.0
    tokens_per_step: float = 1.0
    step_ratio: float = 1.0
    expert_parallel: bool = False

    @property
    def fit(self) -> str:
        return STATIC if self.load == STATIC else SERVED


PROMPT_PARTS = ("prefill", "attention", "start", "prefill_exchange")
PROMPT_TERMS = ("prompt", "queue", "power", "cycles", "fixed")
Effects = Mapping[tuple[str, str, str, str], float]
"""By fit, part or factor, term and level."""


def missing_figure(part: Accelerator, compute: str) -> Message | None:
    """The specification without which a part has no speed; None where all are known."""
    return missing_specification(part, compute)


def cycle_parts(point: ServingPoint) -> tuple[float, ...]:
    """Seconds of each of PARTS before coefficients."""
    model, requests, count = point.model, point.concurrency, point.count
    bandwidth = count * (point.part.memory_bandwidth_gbs or math.nan) * 1e9
    operations = count * (peak_tflops(point.part, point.compute) or math.nan) * 1e12
    prompts = requests / point.output_tokens
    new_tokens, new_pairs = point.input_tokens * (1 - point.cached), point.input_tokens**2 * (1 - point.cached**2)
    exchange = 0.0
    if point.tensor > 1:
        link = (point.part.interconnect_gbs or LINK_GBS) * 1e9
        exchange = 4 * 2 * model.depth_times_width * (point.tensor - 1) / point.tensor / link
    context = point.input_tokens + point.output_tokens / 2
    cached = context * model.kv_values_per_token * CACHE_BYTES * cache_copies(point)
    return (
        model.parameters * point.bits / 8 * read_fraction(model, requests) / bandwidth,
        requests * cached / bandwidth,
        2 * model.active_parameters * requests / operations,
        1e-3,
        model.layers * 50e-6,
        model.layers * 10e-6 * (1 + math.log2(point.tensor)) if point.tensor > 1 else 0.0,
        requests * 10e-6,
        requests * exchange,
        prompts * 2 * model.active_parameters * new_tokens / operations,
        prompts * 2 * model.depth_times_width * new_pairs / operations,
        prompts * 1e-3,
        prompts * new_tokens * exchange,
    )


def read_fraction(model: ServedModel, requests: float) -> float:
    """The fraction of the weights that a step of so many tokens reads."""
    if not model.is_mixture:
        return 1.0
    at_work: float = max(0.0, (model.active_parameters / model.parameters - DENSE_FRACTION) / (1 - DENSE_FRACTION))
    return DENSE_FRACTION + (1 - DENSE_FRACTION) * (1 - float((1 - at_work) ** requests))


def cache_copies(point: ServingPoint) -> float:
    """How often the cache of a token is repeated within its tensor parallel group."""
    model = point.model
    separate = point.count >= SEPARATE_ATTENTION_COUNT and point.concurrency >= SEPARATE_ATTENTION_REQUESTS
    if model.kv_heads == 1 and model.is_mixture and separate:
        return 1.0
    return max(1.0, point.tensor / model.kv_heads)


def list_levels(point: ServingPoint) -> Iterator[tuple[str, str, str]]:
    """Factor, term and level of every effect on a point; those that were not fitted count as 0."""
    engine, kind = point.engine, "mixture" if point.model.is_mixture else "dense"
    bits, architecture = f"{point.bits:g}", point.part.architecture
    yield ALL, "engine", engine
    yield ALL, "engine_kind", f"{engine}|{kind}"
    yield "fixed", "engine", engine
    yield "memory", "kind", kind
    yield "compute", "kind", kind
    yield "memory", "bits", bits
    if point.fit == SERVED:
        yield ALL, "load", point.load
        yield "fixed", "kind", kind
        yield "sequence", "kind", kind
        yield "sync", "kind", kind
        return
    # Of static batches engines differ by architecture; of served load their ranking is the same on all of them.
    on = f"{engine}|{architecture}"
    yield ALL, "engine_architecture", on
    for factor in ("fixed", "memory", "cache"):
        yield factor, "engine_architecture", on
    for factor in ("prompt", "sequence", "sync"):
        yield factor, "engine", engine


def split_cycle(point: ServingPoint, coefficients: Effects | None = None) -> dict[str, float]:
    """Seconds of each part of a cycle as fitted; their sum is the time of one more token of every request."""
    known = load_coefficients() if coefficients is None else coefficients
    effects: dict[str, float] = {}
    for factor, term, level in list_levels(point):
        effects[factor] = effects.get(factor, 0.0) + known.get((point.fit, factor, term, level), 0.0)
    whole = effects.get(ALL, 0.0)
    speculated = point.step_ratio / point.tokens_per_step
    return {
        part: (seconds if part in PROMPT_PARTS else seconds * speculated)
        * math.exp(known[point.fit, part, "", ""] + effects.get(FACTORS[part], 0.0) + whole)
        for part, seconds in zip(PARTS, cycle_parts(point), strict=True)
    }


def cycle_seconds(point: ServingPoint, coefficients: Effects | None = None) -> float:
    """Seconds of one more token of every request; output tokens a second are concurrency / cycle."""
    return math.fsum(split_cycle(point, coefficients).values())


def prompt_seconds(point: ServingPoint, split: Mapping[str, float]) -> float:
    """Seconds of work on the prompt of one request, from the parts of a cycle."""
    return math.fsum(split[part] for part in PROMPT_PARTS) * point.output_tokens / point.concurrency


def first_token_seconds(point: ServingPoint, split: Mapping[str, float], coefficients: Effects | None = None) -> float:
    """Seconds from the start of a request to its first token at full load, without waiting for a place:

    exp(prompt) P (1 + exp(queue) B^power) + exp(cycles) step + exp(fixed), for P the seconds of one prompt; a step is a
    cycle without speculation.
    """
    known = load_coefficients() if coefficients is None else coefficients
    prompt, queue, power, cycles, fixed = (known["first_token", name, "", ""] for name in PROMPT_TERMS)
    own = prompt_seconds(point, split) * math.exp(prompt) * (1 + math.exp(queue) * math.pow(point.concurrency, power))
    return own + math.exp(cycles) * math.fsum(split.values()) * point.tokens_per_step + math.exp(fixed)


def output_token_seconds(point: ServingPoint, split: Mapping[str, float], first_token_s: float) -> float:
    """Mean seconds of an output token after the first, of requests that take a cycle for each of their tokens: no less
    than a cycle without prompts."""
    cycle, tokens = math.fsum(split.values()), point.output_tokens
    generation = cycle - math.fsum(split[part] for part in PROMPT_PARTS)
    return max(generation, (tokens * cycle - first_token_s) / (tokens - 1))


@cache
def load_coefficients() -> Effects:
    """The coefficients that are shipped."""
    return {
        (row["fit"], row["part"], row["term"], row["level"]): float(row["value"])
        for row in read_table(COEFFICIENTS_FILE, COEFFICIENT_COLUMNS)
    }
