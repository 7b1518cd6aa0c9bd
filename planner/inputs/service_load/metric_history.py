"""A Prometheus history of vLLM: the measured curve of its replicas, and the arrivals by hour of the week.

The file is the answer of a range query of raw series, for example

    curl -G .../api/v1/query_range --data-urlencode 'query={__name__=~"vllm:.+",model_name="..."}' \\
         -d start=... -d end=... -d step=60

(prometheus.io/docs/prometheus/latest/querying/api, resultType matrix; series by docs.vllm.ai/en/stable/usage/metrics),
or several such answers as a JSON list or one a line. Counters may start again at 0. Times are UTC.

Points of the curve are means over samples of one replica (series that differ in no other label) with about the same
number of requests at once, half a doubling wide: tokens that were generated over the time.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from planner.inputs.service_load.load_records import Figures, Record, UnknownLoad
from planner.inputs.service_load.weekly_arrivals import HOUR_S, WEEK_HOURS, ObservedTraffic, describe_span
from pricing.frozen_values import dataclass

PREFIX = "vllm:"
REQUESTS, PROMPTS, GENERATED = "request_success_total", "prompt_tokens_total", "generation_tokens_total"
RUNNING = "num_requests_running"
FIRST_TOKEN_SUM, FIRST_TOKEN_COUNT = "time_to_first_token_seconds_sum", "time_to_first_token_seconds_count"
TOKEN_TIMES = ("request_time_per_output_token_seconds", "time_per_output_token_seconds", "inter_token_latency_seconds")
CACHE_HITS, CACHE_QUERIES = "prefix_cache_hits_total", "prefix_cache_queries_total"
COUNTERS = {
    REQUESTS, PROMPTS, GENERATED, FIRST_TOKEN_SUM, FIRST_TOKEN_COUNT, CACHE_HITS, CACHE_QUERIES,
    *(f"{name}_{part}" for name in TOKEN_TIMES for part in ("sum", "count")),
}  # fmt: skip
OWN_LABELS = ("__name__", "le", "finished_reason")
"""Labels in which the series of one replica differ."""
WIDTH = 2.0
"""Points of the curve in a doubling of the requests at once."""
FEWEST_SAMPLES = 5
"""Of a point of the curve."""
LATEST = datetime(9999, 1, 1, tzinfo=UTC).timestamp()


@dataclass(slots=True)
class Sampled:
    """One replica by cell of time (its end): increases of the counters, and the mean of the gauge."""

    increases: dict[str, dict[int, float]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(float)))
    running: dict[int, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MetricHistory:
    """Replicas of one model, sampled every `step_s` seconds."""

    replicas: Mapping[tuple[tuple[str, str], ...], Sampled]
    step_s: float


def is_history(records: Sequence[tuple[str, Record]]) -> bool:
    """Whether the records of a file are answers of Prometheus."""
    return bool(records) and all(Figures(record).find("data.resultType") is not None for _, record in records)


def read_curve(records: Sequence[tuple[str, Record]]) -> list[tuple[str, dict[str, float]]]:
    """The points of the measured curve of a replica, each with what it is of. Raises UnknownLoad."""
    history = _sample(records)
    sums: dict[int, list[float]] = {}
    for replica in history.replicas.values():
        for cell, running in replica.running.items():
            rate = _tokens_per_s(replica, cell, running, history.step_s)
            if running < 1 or rate is None:
                continue
            total = sums.setdefault(math.floor(WIDTH * math.log2(running) + 0.5), [0.0] * 5)
            firsts = [replica.increases[name][cell] for name in (FIRST_TOKEN_SUM, FIRST_TOKEN_COUNT)]
            for index, value in enumerate((1.0, running, rate, *firsts)):
                total[index] += value
    points = [
        (
            f"{running / samples:.0f} requests at once",
            {"concurrency": running / samples, "output_tokens_per_s": rate / samples}
            | ({"ttft_ms": 1000 * seconds / count} if count and seconds else {}),
        )
        for _, (samples, running, rate, seconds, count) in sorted(sums.items())
        if samples >= FEWEST_SAMPLES and rate
    ]
    if not points:
        needed = f"{PREFIX}{RUNNING} with {PREFIX}{GENERATED} or a time per output token"
        raise UnknownLoad(f"no curve in it: {needed} are needed, at least {FEWEST_SAMPLES} samples at work")
    lengths = _mean_lengths(history)
    return [(place, {**point, **lengths}) for place, point in points]


def read_traffic(records: Sequence[tuple[str, Record]], name: str) -> ObservedTraffic:
    """Arrivals by hour of the week and mean lengths. Raises UnknownLoad."""
    history = _sample(records)
    lengths = _mean_lengths(history)
    if len(lengths) < 2:
        raise UnknownLoad(f"no lengths in it: {PREFIX}{REQUESTS}, {PREFIX}{PROMPTS} and {PREFIX}{GENERATED} are needed")
    cells: dict[int, float] = defaultdict(float)
    for replica in history.replicas.values():
        for cell, increase in replica.increases[REQUESTS].items():
            cells[cell] += increase
    arrivals, seconds = [0.0] * WEEK_HOURS, [0.0] * WEEK_HOURS
    for cell, increase in cells.items():
        middle = datetime.fromtimestamp((cell - 0.5) * history.step_s, UTC)
        hour = 24 * middle.weekday() + middle.hour
        arrivals[hour] += increase
        seconds[hour] += history.step_s
    hits, queries = (_total(history, each) for each in (CACHE_HITS, CACHE_QUERIES))
    return ObservedTraffic(
        arrivals, seconds, lengths["input_tokens"], lengths["output_tokens"], None, None, None,
        hits / queries if queries else None,
        describe_span(sum(arrivals), sum(seconds), f"{name} (UTC)"),
    )  # fmt: skip


def _mean_lengths(history: MetricHistory) -> dict[str, float]:
    requests = _total(history, REQUESTS)
    tokens = {"input_tokens": _total(history, PROMPTS), "output_tokens": _total(history, GENERATED)}
    return {name: total / requests for name, total in tokens.items() if total and requests}


def _total(history: MetricHistory, name: str) -> float:
    return math.fsum(math.fsum(replica.increases[name].values()) for replica in history.replicas.values())


def _tokens_per_s(replica: Sampled, cell: int, running: float, step_s: float) -> float | None:
    """Tokens generated a second in a cell: by their counter, else requests at once over the time per token."""
    if GENERATED in replica.increases:
        return replica.increases[GENERATED].get(cell, 0.0) / step_s if cell in replica.increases[GENERATED] else None
    for name in TOKEN_TIMES:
        seconds, count = (replica.increases[f"{name}_{part}"].get(cell, 0.0) for part in ("sum", "count"))
        if seconds and count:
            return running * count / seconds
    return None


def _sample(records: Sequence[tuple[str, Record]]) -> MetricHistory:
    """The samples of all series. Raises UnknownLoad with the place of the first that cannot be used."""
    series = list(_list_series(records))
    if not series:
        raise UnknownLoad(f"no series of {PREFIX} in it")
    if len(models := sorted({labels.get("model_name", "") for _, labels, _ in series})) > 1:
        raise UnknownLoad(f"series of {len(models)} models ({', '.join(models)}): one at a time")
    step = min(after - at for _, _, values in series for (at, _), (after, _) in pairwise(values))
    if not 1 <= step <= HOUR_S:
        raise UnknownLoad(f"samples are {step:g} s apart, expected a second to an hour")
    replicas: dict[tuple[tuple[str, str], ...], Sampled] = defaultdict(Sampled)
    for name, labels, values in series:
        replica = replicas[tuple(sorted((key, text) for key, text in labels.items() if key not in OWN_LABELS))]
        for (at, value), (after, following) in pairwise(values):
            cells = round((after - at) / step)
            if cells * step > HOUR_S:  # not observed in between
                continue
            for cell in range(round(at / step) + 1, round(at / step) + 1 + cells):
                if name == RUNNING:
                    replica.running[cell] = (value + following) / 2
                else:
                    replica.increases[name][cell] += (following - value if following >= value else following) / cells
    return MetricHistory(dict(replicas), step)


def _list_series(
    records: Sequence[tuple[str, Record]],
) -> Iterator[tuple[str, Mapping[str, str], list[tuple[float, float]]]]:
    """Name without prefix, labels and samples in order of each series that is used."""
    for place, record in records:
        figures = Figures(record)
        if figures.find("data.resultType") != "matrix":
            raise UnknownLoad("no answer of a range query (resultType matrix)", place)
        result = figures.find("data.result")
        for index, each in enumerate(result if isinstance(result, list) else ()):
            at = f"{place}{'.' if place else ''}data.result[{index}]"
            labels = each.get("metric") if isinstance(each, Mapping) else None
            if not isinstance(labels, Mapping) or not isinstance(labels.get("__name__"), str):
                raise UnknownLoad("a series without __name__: export the counters as they are, not their rate", at)
            name = labels["__name__"].partition(PREFIX)[2]
            if name not in COUNTERS and name != RUNNING:
                continue
            samples = list(_list_samples(each.get("values"), at))
            if len(samples) > 1:
                yield name, labels, samples


def _list_samples(values: Any, place: str) -> Iterator[tuple[float, float]]:
    before = -math.inf
    for pair in values if isinstance(values, Iterable) and not isinstance(values, str) else ():
        try:
            at, value = float(pair[0]), float(pair[1])
        except (TypeError, ValueError, IndexError, KeyError, OverflowError):
            raise UnknownLoad(f"a sample is {str(pair)[:40]}, expected a time and a number", place) from None
        if not 0 <= at < LATEST or at <= before:
            raise UnknownLoad("samples are not Unix times in their order", place)
        before = at
        if math.isfinite(value):  # a gauge may be NaN
            if value < 0:
                raise UnknownLoad(f"a sample is {value:g}, expected no number below 0", place)
            yield at, value
