"""A trace of requests: when each arrived, and how many tokens went in and out.

Formats by their columns, of a CSV file with a head or of JSON lines:

    Azure LLM inference trace 2023 and 2024  TIMESTAMP, ContextTokens, GeneratedTokens
                                             (github.com/Azure/AzurePublicDataset, AzureLLMInferenceDataset2023.md)
    BurstGPT                                 Timestamp (s), Request tokens, Response tokens (github.com/HPMLL/BurstGPT)
    Mooncake                                 timestamp (ms), input_length, output_length
                                             (github.com/kvcache-ai/Mooncake, FAST25-release/traces)
    any other                                time (a date, or seconds), input_tokens, output_tokens

Dates stay in the zone of the file. Seconds without a date begin on Monday at midnight. A Prometheus history of vLLM
is read as well, without the lengths of single requests (metric_history.py).
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

from planner.inputs.service_load.load_records import (
    Record,
    UnknownLoad,
    decode_text,
    iterate_json_lines,
    iterate_rows,
    list_records,
)
from planner.inputs.service_load.metric_history import is_history, read_traffic
from planner.inputs.service_load.weekly_arrivals import (
    HOUR_S,
    WEEK_HOURS,
    ObservedTraffic,
    describe_span,
    measure_burstiness,
)
from planner.request.errors import InputProblem
from pricing.frozen_values import dataclass

FAULTS_SHOWN = 10
FEWEST_REQUESTS, LONGEST_S = 2, 10 * 366 * 86_400
MONDAY = datetime(1970, 1, 5)  # noqa: DTZ001  (of no zone)


def _seconds(scale: float) -> Callable[[Any], float]:
    return lambda value: float(value) * scale


def _date_seconds(value: Any) -> float:
    """Seconds of a date since a Monday, by its own clock."""
    return (datetime.fromisoformat(value).replace(tzinfo=None) - MONDAY) / timedelta(seconds=1)


def _date_or_seconds(value: Any) -> float:
    try:
        return float(value)
    except ValueError:
        return _date_seconds(value)


@dataclass(frozen=True, slots=True)
class TraceFormat:
    """Columns of the time, of tokens in and out, and how a time is read."""

    time: str
    input_tokens: str
    output_tokens: str
    read_time: Callable[[Any], float]


TRACES = (
    TraceFormat("TIMESTAMP", "ContextTokens", "GeneratedTokens", _date_seconds),
    TraceFormat("Timestamp", "Request tokens", "Response tokens", _seconds(1)),
    TraceFormat("timestamp", "input_length", "output_length", _seconds(1e-3)),
    TraceFormat("time", "input_tokens", "output_tokens", _date_or_seconds),
)
COLUMNS = ", or ".join(f"{each.time}, {each.input_tokens} and {each.output_tokens}" for each in TRACES)
EXPECTED = f"columns {COLUMNS}; or a Prometheus history of vLLM"


@dataclass(frozen=True, slots=True)
class RequestTrace:
    """Requests in the order of their arrival: seconds since a Monday at midnight, tokens in and out."""

    times: Sequence[float]
    input_tokens: Sequence[float]
    output_tokens: Sequence[float]


def read_trace_file(data: bytes, name: str, path: str = "") -> ObservedTraffic | tuple[InputProblem, ...]:
    """What a trace or a history tells of arrivals and lengths, or every fault of the file (the first lines of many)."""
    try:
        if data.lstrip()[:1] in (b"{", b"["):
            records = list_records(data)
            if is_history(records):
                return read_traffic(records, name)
        trace = read_trace(data)
        return observe_trace(trace, name)
    except UnknownLoad as fault:
        places = [(fault.place, str(fault))] if not isinstance(fault, UnknownLines) else fault.faults
        expected = "" if isinstance(fault, UnknownLines) else EXPECTED
        return tuple(InputProblem(path, f"{name}:{at}" if at else name, why, "", expected) for at, why in places)


class UnknownLines(UnknownLoad):
    """Lines of a trace that cannot be used, each with the reason."""

    def __init__(self, faults: list[tuple[str, str]]) -> None:
        super().__init__("lines that cannot be used")
        self.faults = faults


def read_trace(data: bytes) -> RequestTrace:
    """The requests of a trace. Raises UnknownLoad."""
    times, inputs, outputs = array("d"), array("d"), array("d")
    faults: list[tuple[str, str]] = []
    more = 0
    known, rows = _open_rows(data)
    for line, row in rows:
        try:
            at = known.read_time(row[known.time])
            before, after = float(row[known.input_tokens]), float(row[known.output_tokens])
            if not (math.isfinite(at) and 0 <= before < math.inf and 0 <= after < math.inf):
                raise ValueError
        except (KeyError, TypeError, ValueError, OverflowError):
            if len(faults) < FAULTS_SHOWN:
                written = ", ".join(
                    str(row.get(name)) for name in (known.time, known.input_tokens, known.output_tokens)
                )
                faults.append((f"line {line}", f"no request: {written[:80]}"))
            else:
                more += 1
            continue
        times.append(at)
        inputs.append(before)
        outputs.append(after)
    if more:
        faults.append(("", f"{more:,} more lines like these"))
    if faults:
        raise UnknownLines(faults)
    if len(times) < FEWEST_REQUESTS:
        raise UnknownLoad(f"{len(times)} requests are no trace")
    order = sorted(range(len(times)), key=times.__getitem__)
    return RequestTrace(*([column[place] for place in order] for column in (times, inputs, outputs)))


def _open_rows(data: bytes) -> tuple[TraceFormat, Iterator[tuple[int, Record]]]:
    """The format of a trace, and its rows with their line."""
    text = decode_text(data)
    written = iterate_json_lines(text) if text.lstrip()[:1] == "{" else iterate_rows(text)
    rows = ((line, {str(name).strip(): value for name, value in row.items()}) for line, row in written)
    first = next(rows, None)
    columns = first[1].keys() if first is not None else set[str]()
    known = next((each for each in TRACES if {each.time, each.input_tokens, each.output_tokens} <= columns), None)
    if first is None or known is None:
        raise UnknownLoad("no trace of requests")
    return known, chain((first,), rows)


def observe_trace(trace: RequestTrace, name: str) -> ObservedTraffic:
    """Arrivals by hour of the week, lengths with their variation, and burstiness. Raises UnknownLoad."""
    first, last = trace.times[0], trace.times[-1]
    if last <= first:
        raise UnknownLoad("all requests arrive at once")
    if last - first > LONGEST_S:
        raise UnknownLoad(f"from the first to the last request are {(last - first) / 86_400:,.0f} days, too long")
    arrivals, seconds = [0.0] * WEEK_HOURS, [0.0] * WEEK_HOURS
    by_hour: dict[int, list[float]] = {}
    for at in trace.times:
        by_hour.setdefault(math.floor(at / HOUR_S), []).append(at)
    for hour in range(math.floor(first / HOUR_S), math.floor(last / HOUR_S) + 1):
        start, end = max(first, hour * HOUR_S), min(last, (hour + 1) * HOUR_S)
        arrivals[hour % WEEK_HOURS] += len(by_hour.get(hour, ()))
        seconds[hour % WEEK_HOURS] += end - start
    bursts = [
        (len(times), burstiness) for times in by_hour.values() if (burstiness := measure_burstiness(times)) is not None
    ]
    weight = sum(count for count, _ in bursts)
    (input_mean, input_variation), (output_mean, output_variation) = map(
        _describe_lengths, (trace.input_tokens, trace.output_tokens)
    )
    if input_mean == 0 or output_mean == 0:
        raise UnknownLoad("all prompts or all answers are empty")
    return ObservedTraffic(
        arrivals, seconds, input_mean, output_mean, input_variation, output_variation,
        sum(count * burstiness for count, burstiness in bursts) / weight if weight else None, None,
        describe_span(len(trace.times), last - first, name),
    )  # fmt: skip


def _describe_lengths(tokens: Sequence[float]) -> tuple[float, float]:
    """Mean, and standard deviation over mean."""
    mean = math.fsum(tokens) / len(tokens)
    if mean == 0:
        return 0.0, 0.0
    return mean, math.sqrt(math.fsum((each - mean) ** 2 for each in tokens) / len(tokens)) / mean
