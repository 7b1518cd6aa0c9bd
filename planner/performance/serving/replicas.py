"""One replica of a service: the most requests at once within memory and limits, its rates and times.

Times are those with all places in use. A request takes O cycles of the speed model, of which its first token takes its
part (speed_model.first_token_seconds). Over requests the times vary with the prompts that fall into their decoding, B
of them on average:

    tpot               = (O cycle - first token) / (O - 1), no less than a cycle without prompts
    tpot at percentile = tpot (1 + z f sqrt((1 + v^2) / B))     f share of prompts in a cycle, v variation of inputs
    ttft at percentile = first token (1 + z v x share of the prompt in it)

with z the normal deviate of the percentile. Limits have no margin for the error of the estimate: on results left out
a fifth of picks then exceeds a limit by more than 10 %; a margin leaves more throughput unused than it is worth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import NormalDist

from planner.performance.memory import estimate_memory
from planner.performance.serving.rate_estimates import (
    KnownResults,
    NearbyResults,
    RateEstimate,
    add_results,
    correct_first_token,
    correct_split,
    find_nearby,
    load_intervals,
    oldest_year,
    shipped_known,
)
from planner.performance.serving.served_models import ServedModel, served_model
from planner.performance.serving.serving_results import ESTIMATED, OWN, ServingResult
from planner.performance.serving.speed_model import (
    CACHE_BYTES,
    PROMPT_PARTS,
    WEIGHT_BITS,
    ServingPoint,
    cache_copies,
    missing_figure,
    output_token_seconds,
)
from planner.performance.serving.staffing import ServiceQueue
from planner.request.neural_network import NeuralNetwork
from planner.request.serving import ServedRate, Serving
from planner.result.message import Message, message
from pricing.accelerator import Accelerator, AcceleratorNames

GIB = 2**30
OWN_SOURCE = "your measurement"
MEMORY_FRACTION = 0.9
"""Of the accelerator's memory that engines take (vLLM: gpu_memory_utilization, default 0.9)."""
COMPUTE = {"bf16": "fp16", "fp16": "fp16", "tf32": "fp16", "fp32": "fp16", "fp8": "fp8", "int8": "fp16", "fp4": "fp4",
           "int4": "fp16"}  # fmt: skip
"""Precision of the arithmetic by that of the weights: integers are a format of storage."""


@dataclass(frozen=True, slots=True)
class Replica:
    """`count` accelerators with `concurrency` requests at once, as many as `limit` allows: memory, ttft, tpot or
    concurrency. Times are seconds; `ttft_s` without waiting for a place; a request holds its place for as many cycles
    as it has output tokens."""

    accelerator: str
    count: int
    concurrency: int
    limit: str
    rate: RateEstimate
    requests_per_s: float
    ttft_s: float
    ttft_at_percentile_s: float
    tpot_s: float
    tpot_at_percentile_s: float
    cycle_s: float
    prompt_share: float
    queue: ServiceQueue

    def replicas_for(self, requests_per_second: float) -> int:
        """Replicas that arrivals of a rate need; without spares."""
        return self.queue.count_replicas(requests_per_second, self.requests_per_s)


@dataclass(frozen=True, slots=True)
class _LoadTimes:
    """The times of a replica at a number of requests at once, and the basis of the estimate."""

    cycle_s: float
    mean_tpot_s: float
    tpot_s: float
    first_token_s: float
    ttft_s: float
    prompt_share: float
    basis: str
    nearest: tuple[ServingResult, ...]


@dataclass(frozen=True, slots=True)
class ServedQuestion:
    """A service on `count` accelerators of a part, with the results that correct its times."""

    network: NeuralNetwork
    model: ServedModel
    serving: Serving
    part: Accelerator
    count: int
    nearby: NearbyResults

    def point(self, concurrency: float) -> ServingPoint:
        bits, serving = WEIGHT_BITS.get(self.network.precision, 16.0), self.serving
        speculation = serving.speculation
        return ServingPoint(
            self.model, self.part, self.count, self.count, bits, COMPUTE[self.network.precision], serving.engine,
            "served", serving.input_tokens, serving.output_tokens, concurrency, serving.prefix_cached_fraction,
            speculation.tokens_per_step if speculation else 1.0, speculation.step_time_ratio if speculation else 1.0,
        )  # fmt: skip


def size_replica(
    network: NeuralNetwork, serving: Serving, part: Accelerator, count: int, names: AcceleratorNames
) -> Replica | Message:
    """The replica with the most requests at once on `count` accelerators, or the reason why there is none."""
    model = served_model(network)
    if isinstance(model, Message):
        return model
    problem = _age_problem(part) or missing_figure(part, COMPUTE[network.precision])
    if problem is not None:
        return problem
    question = _ask(network, model, serving, part, count, names)
    fits = _requests_in_memory(question)
    if isinstance(fits, Message):
        return fits
    most = min(fits, serving.concurrency_max)
    if (unmet := _unmet_limit(question)) is not None:
        return unmet
    low, high = 1, most
    while low < high:  # times grow with the requests at once
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _time_limit(question, middle) is None else (low, middle - 1)
    limit = _time_limit(question, low + 1) if low < most else "memory" if most == fits else "concurrency"
    return _build_replica(question, low, limit or "memory")


def _age_problem(part: Accelerator) -> Message | None:
    """The reason why engines of today may not run on a part: it is older than every one with results."""
    oldest = oldest_year()
    if (part.release_year or math.inf) >= oldest:
        return None
    return message("accelerator_older_than_results", accelerator=part.name, year=part.release_year, oldest_year=oldest)


def _unmet_limit(question: ServedQuestion) -> Message | None:
    """The limit that even one request alone exceeds, with the least time that would do."""
    exceeded, times = _time_limit(question, 1), _load_times(question, 1)
    part, count, serving = question.part.name, question.count, question.serving
    if exceeded == "tpot":
        least = 1000 * times.tpot_s
        return message("tpot_limit_unmet", accelerator=part, count=count, least_ms=least, limit_ms=serving.tpot_ms)
    if exceeded == "ttft":
        least = 1000 * times.ttft_s
        return message("ttft_limit_unmet", accelerator=part, count=count, least_ms=least, limit_ms=serving.ttft_ms)
    return None


def _build_replica(question: ServedQuestion, concurrency: int, limit: str) -> Replica:
    serving, times = question.serving, _load_times(question, concurrency)
    tokens_per_s = concurrency / times.cycle_s
    low, high = load_intervals()["served", times.basis]
    rate = RateEstimate(tokens_per_s, tokens_per_s * low, tokens_per_s * high, times.basis, times.nearest)
    requests_per_s = tokens_per_s / serving.output_tokens
    wait = concurrency / requests_per_s if serving.ttft_ms is None else serving.ttft_ms / 1000 - times.ttft_s
    queue = ServiceQueue(concurrency, wait, serving.percentile, serving.burstiness, serving.output_variation)
    return Replica(
        question.part.name, question.count, concurrency, limit, rate, requests_per_s, times.first_token_s, times.ttft_s,
        times.mean_tpot_s, times.tpot_s, times.cycle_s, times.prompt_share, queue,
    )  # fmt: skip


def _ask(
    network: NeuralNetwork, model: ServedModel, serving: Serving, part: Accelerator, count: int, names: AcceleratorNames
) -> ServedQuestion:
    """The question with the published results of the model's family and the asker's own measurements; a model without
    published results is a family of its own once it was measured."""
    if serving.measured and not model.family:
        model = replace(model, family="as measured")
    known: KnownResults = shipped_known(model.family)
    question = ServedQuestion(network, model, serving, part, count, NearbyResults((), part_known=False, part=part.name))
    own = [_own_result(question, line, rate, names) for line, rate in enumerate(serving.measured, 1)]
    results = add_results(known, own) if own else known
    return replace(question, nearby=find_nearby(question.point(1), results))


def _own_result(question: ServedQuestion, line: int, rate: ServedRate, names: AcceleratorNames) -> ServingResult:
    """A rate of the request as a result of the question's model."""
    count = float(rate.count)
    point = replace(
        question.point(rate.concurrency), part=names.resolve(rate.accelerator), count=count, tensor=count,
        input_tokens=rate.input_tokens or question.serving.input_tokens,
        output_tokens=rate.output_tokens or question.serving.output_tokens,
    )  # fmt: skip
    ttft_s = rate.ttft_ms / 1000 if rate.ttft_ms else None
    return ServingResult(
        line, OWN, question.model.family, point, "", rate.output_tokens_per_s, ttft_s, None, question.network.precision,
        rate.source or OWN_SOURCE, "", ESTIMATED if rate.estimated else OWN,
    )  # fmt: skip


def _requests_in_memory(question: ServedQuestion) -> int | Message:
    """Requests whose whole context fits beside the weights, or the reason why none does."""
    part, serving = question.part, question.serving
    if part.memory_gib is None:
        return message("accelerator_memory_unknown", accelerator=part.name)
    lengths = {"sequence_length": 1, "batch_per_device": 1}
    alone = estimate_memory(question.network.model_copy(update=lengths), question.count)
    if isinstance(alone, Message):
        return alone
    fixed = alone.total_gib - alone.kv_cache_gib
    point = question.point(1)
    context = serving.input_tokens + serving.output_tokens
    each = context * question.model.kv_values_per_token * CACHE_BYTES * cache_copies(point) / question.count / GIB
    fits = math.floor((MEMORY_FRACTION * part.memory_gib - fixed) / each)
    if fits < 1:
        return message("replica_memory_too_small", accelerator=part.name, count=question.count, needed_gib=fixed + each,
                       has_gib=MEMORY_FRACTION * part.memory_gib)  # fmt: skip
    return fits


def _time_limit(question: ServedQuestion, concurrency: int) -> str | None:
    """The limit that so many requests at once break; None where both are met."""
    serving, times = question.serving, _load_times(question, concurrency)
    if serving.tpot_ms is not None and times.tpot_s > serving.tpot_ms / 1000:
        return "tpot"
    if serving.ttft_ms is not None and times.ttft_s > serving.ttft_ms / 1000:
        return "ttft"
    return None


def _load_times(question: ServedQuestion, concurrency: int) -> _LoadTimes:
    point, serving = question.point(concurrency), question.serving
    split, basis, nearest = correct_split(point, question.nearby)
    cycle, prompts = math.fsum(split.values()), math.fsum(split[part] for part in PROMPT_PARTS)
    first = correct_first_token(point, split, question.nearby)
    tpot = output_token_seconds(point, split, first)
    deviate = NormalDist().inv_cdf(serving.percentile / 100)
    spread = prompts / cycle * math.sqrt((1 + serving.input_variation**2) / concurrency)
    own = min(1.0, prompts * serving.output_tokens / concurrency / first)
    return _LoadTimes(
        cycle, tpot, tpot * (1 + deviate * spread), first, first * (1 + deviate * serving.input_variation * own),
        prompts / cycle, basis, nearest,
    )  # fmt: skip
