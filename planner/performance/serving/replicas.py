"""One replica of a service: the most requests at once within memory and limits, its rates and times.

Times are those with all places in use. A request takes O cycles of the speed model, of which its first token takes its
part (speed_model.first_token_seconds). Over requests the times vary with the prompts that fall into their decoding, B
of them on average:

    tpot               = (O cycle - first token) / (O - 1), no less than a cycle without prompts
    tpot at percentile = tpot (1 + z f sqrt((1 + v^2) / B))     f share of prompts in a cycle, v variation of inputs
    ttft at percentile = first token (1 + z v x share of the prompt in it)

with z the normal deviate of the percentile. A replica over P nodes divides the layers among them (a pipeline, with
tensor parallelism within each): B / P requests at a time are at work on each node, so that

    cycle = cycle of one node, were its memory large enough, with B / P requests + (P - 1) step + P hop

where step is the engine's own time of a step and hop the time of the activations between two nodes. No published
result is of such a replica, so its interval is the widest.

With prefill and decode apart, as measured (serving.disaggregation), first token and tpot are multiplied by their
ratios, O cycles are the first token and O - 1 times tpot, no prompts fall into decoding, and the memory is that of the
accelerators that generate. Rates that were measured so are taken as they are.

Limits have no margin for the error of the estimate: on results left out a fifth of picks then exceeds a limit by more
than 10 %; a margin leaves more throughput unused than it is worth.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
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
from planner.request.neural_network import NeuralNetwork, Parallelism
from planner.request.serving import ServedRate, Serving
from planner.result.message import Message, message
from pricing.accelerator import Accelerator, AcceleratorNames
from pricing.frozen_values import dataclass

GIB = 2**30
OWN_SOURCE = "your measurement"
MEMORY_FRACTION = 0.9
"""Of the accelerator's memory that engines take (vLLM: gpu_memory_utilization, default 0.9)."""
ACTIVATION_BYTES = 2.0
"""Of a value between layers, in half precision."""
SIZED_KEPT = 8192
"""Replicas kept: the services of a portfolio are of few kinds, and every strategy and scenario asks for them again."""
OVER_NODES = "over_nodes"
"""The basis of a replica over several nodes, of which there is no result."""
COMPUTE = {"bf16": "fp16", "fp16": "fp16", "tf32": "fp16", "fp32": "fp16", "fp8": "fp8", "int8": "fp16", "fp4": "fp4",
           "int4": "fp16"}  # fmt: skip
"""Precision of the arithmetic by that of the weights: integers are a format of storage."""


@dataclass(frozen=True, slots=True)
class Replica:
    """`count` accelerators of `nodes` with `concurrency` requests at once, as many as `limit` allows: memory, ttft,
    tpot or concurrency. Times are seconds; `ttft_s` without waiting for a place; a request holds its place for as many
    cycles as it has output tokens."""

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
    nodes: int = 1

    def replicas_for(self, requests_per_second: float) -> int:
        """Replicas that arrivals of a rate need; without spares."""
        return self.queue.count_replicas(requests_per_second, self.requests_per_s)


@dataclass(frozen=True, slots=True)
class _LoadTimes:
    """The times of a replica at a number of requests at once."""

    cycle_s: float
    mean_tpot_s: float
    tpot_s: float
    first_token_s: float
    ttft_s: float
    prompt_share: float


@dataclass(frozen=True, slots=True)
class ServedQuestion:
    """A service on `count` accelerators of a part on each of `nodes`, with the results that correct its times;
    `between_gbps` is the network of a node to others, None if unknown."""

    network: NeuralNetwork
    model: ServedModel
    serving: Serving
    part: Accelerator
    count: int
    nearby: NearbyResults
    nodes: int = 1
    between_gbps: float | None = None

    def point(self, concurrency: float) -> ServingPoint:
        """One node at work on its part of so many requests at once."""
        bits, serving = WEIGHT_BITS.get(self.network.precision, 16.0), self.serving
        speculation = serving.speculation
        return ServingPoint(
            self.model, self.part, self.count, self.count, bits, COMPUTE[self.network.precision], serving.engine,
            "served", serving.input_tokens, serving.output_tokens, concurrency / self.nodes,
            serving.prefix_cached_fraction,
            speculation.tokens_per_step if speculation else 1.0, speculation.step_time_ratio if speculation else 1.0,
            serving.expert_parallel and self.model.is_mixture and self.count > 1,
        )  # fmt: skip

    @property
    def generating(self) -> int:
        """Accelerators of a node that generate and hold the key-value cache: all but those that read prompts alone."""
        apart = self.serving.disaggregation
        return self.count - (apart.prefill_accelerators if apart is not None else 0)

    def pipeline_seconds(self, point: ServingPoint, step_s: float) -> float:
        """What a cycle takes more on several nodes than on one with its part of the requests."""
        tokens = point.concurrency * (1 + point.input_tokens * (1 - point.cached) / point.output_tokens)
        moved = tokens * self.model.depth_times_width / self.model.layers * ACTIVATION_BYTES
        hop_s = moved * 8 / (self.between_gbps * 1e9) if self.between_gbps else 0.0
        return (self.nodes - 1) * step_s + self.nodes * hop_s


@lru_cache(maxsize=SIZED_KEPT)
def size_replica(
    network: NeuralNetwork,
    serving: Serving,
    part: Accelerator,
    count: int,
    names: AcceleratorNames,
    nodes: int = 1,
    between_gbps: float | None = None,
) -> Replica | Message:
    """The replica with the most requests at once on `count` accelerators, as many on each of its `nodes`, or the reason
    why there is none. `between_gbps`: the network of a node to others, Gbit/s."""
    model = served_model(network)
    if isinstance(model, Message):
        return model
    problem = _age_problem(part) or missing_figure(part, COMPUTE[network.precision])
    if problem is not None:
        return problem
    none = NearbyResults((), part_known=False, part=part.name)
    question = ServedQuestion(network, model, serving, part, count // nodes, none, nodes, between_gbps)
    question = _find_results(question, names)
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
    part, count, serving = question.part.name, question.count * question.nodes, question.serving
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
    basis, nearest = question.nearby.judge(question.point(concurrency).concurrency)
    if question.nodes > 1 and basis != OWN:
        basis = OVER_NODES
    low, high = load_intervals()["served", "neither_served" if basis == OVER_NODES else basis]
    rate = RateEstimate(tokens_per_s, tokens_per_s * low, tokens_per_s * high, basis, nearest)
    requests_per_s = tokens_per_s / serving.output_tokens
    wait = concurrency / requests_per_s if serving.ttft_ms is None else serving.ttft_ms / 1000 - times.ttft_s
    queue = ServiceQueue(concurrency, wait, serving.percentile, serving.burstiness, serving.output_variation)
    return Replica(
        question.part.name, question.count * question.nodes, concurrency, limit, rate, requests_per_s,
        times.first_token_s, times.ttft_s,
        times.mean_tpot_s, times.tpot_s, times.cycle_s, times.prompt_share, queue,
        question.nodes,
    )  # fmt: skip


def _find_results(question: ServedQuestion, names: AcceleratorNames) -> ServedQuestion:
    """The question with the published results of the model's family and the asker's own measurements; a model without
    published results is a family of its own once it was measured."""
    measured, model = question.serving.measured, question.model
    if measured and not model.family:
        model = replace(model, family="as measured")
    known: KnownResults = shipped_known(model.family)
    question = replace(question, model=model)
    own = [_own_result(question, line, rate, names) for line, rate in enumerate(measured, 1)]
    results = add_results(known, own) if own else known
    return replace(question, nearby=find_nearby(question.point(1), results))


def _own_result(question: ServedQuestion, line: int, rate: ServedRate, names: AcceleratorNames) -> ServingResult:
    """A rate of the request as a result of the question's model; of as many accelerators over nodes, that of a node."""
    nodes = question.nodes if rate.count == question.count * question.nodes else 1
    count = rate.count / nodes
    point = replace(
        question.point(1), part=names.resolve(rate.accelerator), count=count, tensor=count,
        input_tokens=rate.input_tokens or question.serving.input_tokens,
        output_tokens=rate.output_tokens or question.serving.output_tokens, concurrency=rate.concurrency / nodes,
    )  # fmt: skip
    ttft_s = rate.ttft_ms / 1000 if rate.ttft_ms else None
    return ServingResult(
        line, OWN, question.model.family, point, "", rate.output_tokens_per_s / nodes, ttft_s, None,
        question.network.precision,
        rate.source or OWN_SOURCE, "", ESTIMATED if rate.estimated else OWN,
    )  # fmt: skip


def _requests_in_memory(question: ServedQuestion) -> int | Message:
    """Requests whose whole context fits beside the weights, or the reason why none does."""
    part, serving = question.part, question.serving
    if part.memory_gib is None:
        return message("accelerator_memory_unknown", accelerator=part.name)
    changes: dict[str, object] = {"sequence_length": 1, "batch_per_device": 1}
    count = question.generating * question.nodes
    if question.nodes > 1:
        changes["parallelism"] = Parallelism(tensor=question.count, pipeline=question.nodes)
    alone = estimate_memory(question.network.model_copy(update=changes), count)
    if isinstance(alone, Message):
        return alone
    fixed = alone.total_gib - alone.kv_cache_gib
    point = replace(question.point(1), tensor=question.generating)
    context = serving.input_tokens + serving.output_tokens
    each = context * question.model.kv_values_per_token * CACHE_BYTES * cache_copies(point) / count / GIB
    fits = math.floor((MEMORY_FRACTION * part.memory_gib - fixed) / each)
    if fits < 1:
        return message("replica_memory_too_small", accelerator=part.name, count=count, needed_gib=fixed + each,
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
    split, is_measured = correct_split(point, question.nearby), question.nearby.is_measured(point.concurrency)
    first = correct_first_token(point, split, question.nearby)
    if question.nodes > 1 and not is_measured:  # a measurement includes it
        between = question.pipeline_seconds(point, split["step"])
        first += between
        split = {**split, "step": split["step"] + between}
    cycle, prompts = math.fsum(split.values()), math.fsum(split[part] for part in PROMPT_PARTS)
    tpot = output_token_seconds(point, split, first)
    deviate = NormalDist().inv_cdf(serving.percentile / 100)
    spread = prompts / cycle * math.sqrt((1 + serving.input_variation**2) / point.concurrency)
    own = min(1.0, prompts * serving.output_tokens / point.concurrency / first)
    prompt_share, apart = prompts / cycle, serving.disaggregation
    if apart is not None:
        prompt_share, spread = 1 - question.generating / question.count, 0.0
        if not is_measured:
            first, tpot = first * apart.ttft_ratio, tpot * apart.tpot_ratio
            cycle = (first + (serving.output_tokens - 1) * tpot) / serving.output_tokens
    return _LoadTimes(
        cycle, tpot, tpot * (1 + deviate * spread), first, first * (1 + deviate * serving.input_variation * own),
        prompt_share,
    )  # fmt: skip
