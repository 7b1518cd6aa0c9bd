"""Behind `planner serving`: replicas and costs of served models, and errors on results, as text or JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner.cli._catalog_options import split_names, suggest_names
from planner.cli._exit_codes import DONE, INFEASIBLE
from planner.cli._tables import json_text, print_text
from planner.messages import text_of, with_texts
from planner.request.errors import InputProblem, InvalidRequest
from pricing.counted_nouns import format_count
from pricing.csv_tables import parse_number
from pricing.errors import UnknownName
from pricing.text_tables import align_columns

if TYPE_CHECKING:
    from planner.analysis.serving_costs import ReplicaAssessment, ReplicaMix, UnservedAccelerator
    from planner.performance.serving.second_estimator import SecondEstimate
    from planner.performance.serving.serving_results import ServingTable
    from planner.request.models import Request, Workload
    from planner.workloads.demand import WorkloadDemand
    from pricing.accelerator import Accelerator
    from pricing.catalog.price_catalog import Catalog

SERVING_OPTIONS = (
    "input_tokens", "output_tokens", "ttft_ms", "tpot_ms", "percentile", "burstiness", "engine", "trace", "measured",
    "mixed_accelerators",
)  # fmt: skip
FLAGS = {
    "input_tokens": "--input",
    "output_tokens": "--output",
    "mixed_accelerators": "--mix",
    "ttft_ms": "--ttft",
    "tpot_ms": "--tpot",
}
OPTION_PLACES = {
    **{f"workloads[0].serving.{name}": FLAGS.get(name, f"--{name}") for name in SERVING_OPTIONS},
    "workloads[0].network.model": "--model", "workloads[0].network": "--model",
    "workloads[0].network.precision": "--precision", "workloads[0].spare_replicas": "--spare",
}  # fmt: skip
"""The option of each field of the one service that options describe."""
USUAL_COUNTS = (1, 2, 4, 8)
USUAL_VENDOR = "NVIDIA"
BASES = {
    "own": "yours on it",
    "measured": "this model on it",
    "model_elsewhere": "this model elsewhere",
    "accelerator_not_served": "this model elsewhere, no result on it",
    "model_not_served": "other models",
    "neither_served": "no result of either",
    "over_nodes": "one node; none over several",
}


def report_serving(
    file: str,
    options: Mapping[str, str | bool | None],
    measured: Sequence[str],
    rate_texts: Sequence[str],
    accelerator_names: Sequence[str],
    count_texts: Sequence[str],
    format_name: str,
) -> int:
    """Print every service and return the exit code, INFEASIBLE where nothing serves one; InvalidRequest with every
    problem."""
    from planner.analysis.serving_costs import assess_serving, mix_replicas
    from planner.library.catalog_files import open_catalog

    faults: list[InputProblem] = []
    rates = _parse_numbers(rate_texts, "--rate", "requests per second above 0", faults)
    counts = [round(count) for count in _parse_numbers(count_texts, "--count", "whole numbers from 1", faults)]
    catalog, more = open_catalog(None, None)
    faults += more
    named = _match_accelerators(accelerator_names, catalog, faults)
    given: dict[str, Any] = {name: text for name, text in options.items() if text is not None}
    if own := [rate for text in measured if (rate := _parse_measured(text, faults)) is not None]:
        given["measured"] = own
    if file and given:
        faults.append(InputProblem("", "FILE", "cannot be combined with options of a service", file, "one of the two"))
    if not file and not given.get("model"):
        faults.append(InputProblem("", "--model", "no service", "", "--model NAME, or FILE"))
    if faults and not (file or given.get("model")):
        raise InvalidRequest(tuple(faults))
    request, catalog, services = _read_services(file, given, catalog, faults)
    documents, blocks, code = [], [], DONE
    for workload, own_rates in services:
        at = rates or own_rates
        parts = named or _usual_accelerators(workload, catalog)
        sizes = counts or ([round(workload.gang)] if workload.gang else list(USUAL_COUNTS))
        rows, unserved = assess_serving(request, workload, catalog, parts, sizes, at, every_size=bool(counts))
        code = code if rows else INFEASIBLE
        mixes = mix_replicas(rows, at, workload.spare_replicas) if _may_mix(workload) else []
        if format_name == "json":
            documents.append(_service_document(workload, at, rows, unserved, request.currency, mixes))
        else:
            lines = _service_lines(workload, at, rows, unserved, request.currency)
            blocks.append("\n".join([*lines, *map(partial(_mix_line, request.currency), mixes)]))
    print_text(json_text({"services": documents}) if format_name == "json" else "\n\n".join(blocks) + "\n")
    return code


def _parse_numbers(texts: Sequence[str], place: str, expected: str, faults: list[InputProblem]) -> list[float]:
    numbers = []
    for text in split_names(texts):
        number = parse_number(text)
        if number is None or number <= 0 or (place == "--count" and not number.is_integer()):
            faults.append(InputProblem("", place, "no usable number", text, expected))
        else:
            numbers.append(number)
    return numbers


def _parse_measured(text: str, faults: list[InputProblem]) -> dict[str, Any] | None:
    replica, equals, file = text.partition("=")
    accelerator, colon, count = replica.rpartition(":")
    if not (equals and file and colon and accelerator and count.isascii() and count.isdigit()):
        faults.append(InputProblem("", "--measured", "not understood", text, "ACCELERATOR:COUNT=FILE"))
        return None
    return {"accelerator": accelerator, "count": int(count), "file": file}


def _match_accelerators(texts: Sequence[str], catalog: Catalog, faults: list[InputProblem]) -> list[Accelerator]:
    matched: dict[str, Accelerator] = {}
    for text in split_names(texts):
        try:
            matched |= {part.name: part for part in catalog.names.match(text)}
        except UnknownName as unknown:
            faults.append(InputProblem("", "--accelerator", "unknown accelerator", text, suggest_names(unknown)))
    return list(matched.values())


def _usual_accelerators(workload: Workload, catalog: Catalog) -> list[Accelerator]:
    """Those that the workload allows, else all of the usual vendor that can be rented."""
    if workload.accelerators:
        return [part for written in workload.accelerators for part in catalog.names.match(written)]
    rented = {offering.accelerator for offering in catalog.priced}
    return [part for part in catalog.names.by_name.values() if part.name in rented and part.vendor == USUAL_VENDOR]


def _read_services(
    file: str, given: Mapping[str, Any], catalog: Catalog, faults: Sequence[InputProblem]
) -> tuple[Request, Catalog, list[tuple[Workload, list[float]]]]:
    """The services of the file or of the options, each with its mean arrivals in the first month and those of its
    highest hour; InvalidRequest with `faults` and every further problem."""
    from planner.application import process_document
    from planner.cli._input_problems import option_flag
    from planner.inputs.file_reader import read_isolated as read
    from planner.library.request_files import expand_document, read_bytes
    from planner.pipeline import prepare_needs

    complaints: tuple[InputProblem, ...] = tuple(faults)
    if file:
        source = read(read_bytes(file), file)
        stated, places = source.document, source.places
        complaints = (*complaints, *source.complaints)
    else:
        stated, places = _document_of_options(given), OPTION_PLACES
    document, unread = expand_document(stated, {}, file, place=option_flag)
    if not file:
        unread = [dataclasses.replace(each, path="") for each in unread]
    request, catalog, needs = process_document(
        document, catalog, lambda request: prepare_needs(request, catalog), (*complaints, *unread), places
    )
    services = [need for need in needs if need.workload.serving is not None]
    if not services:
        raise InvalidRequest((InputProblem("workloads", file, "no workload has serving", "", "serving: {...}"),))
    return request, catalog, [(need.workload, _arrival_rates(need)) for need in services]


def _arrival_rates(need: WorkloadDemand) -> list[float]:
    """Requests a second in the first month: the mean and, where it differs, that of the highest hour."""
    hours = 365 / 12 * 24
    mean = need.monthly[0] / hours / 3600
    shape = need.workload.demand.daily_shape
    if isinstance(shape, str):
        return [mean]
    return sorted({mean, mean * max(shape) * len(shape) / sum(shape)})


def _document_of_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """A request with one service."""
    from pricing.clock import today

    model = given["model"]
    network = {"config": model} if model.endswith(".json") else {"model": model, "run": "inference"}
    workload = {
        "name": Path(model).name, "kind": "inference",
        "serving": {name: given[name] for name in SERVING_OPTIONS if name in given},
        "network": network | {name: given[name] for name in ("precision",) if name in given},
        "spare_replicas": given.get("spare", 0),
        **({} if "trace" in given else {"demand": {"requests_per_second": 1}}),
    }  # fmt: skip
    return {"workloads": [workload], "as_of": today().isoformat()}


def _service_lines(
    workload: Workload, rates: Sequence[float], rows: Sequence[ReplicaAssessment],
    unserved: Sequence[UnservedAccelerator], currency: str,
) -> Iterator[str]:  # fmt: skip
    serving, network = workload.serving, workload.network
    assert serving is not None
    assert network is not None
    limits = [f"{name} {value:g} ms" for name, value in (("TTFT", serving.ttft_ms), ("TPOT", serving.tpot_ms)) if value]
    limited = f"{' and '.join(limits)} for {serving.percentile:g} % of requests" if limits else "no limits"
    yield (
        f"{workload.name}: {network.precision}, {serving.input_tokens:,.0f} tokens in, "
        f"{serving.output_tokens:,.0f} out, {limited}, {serving.engine}"
    )
    if workload.notes:
        yield f"  {workload.notes}"
    if rows:
        at = [f"at {rate:g}/s" for rate in rates]
        costs = (f"{currency}/acc-h", "per M in", "per M out")
        second = next((row.second.source for row in rows if row.second), "")
        head = ("accelerator", "count", "at once", "limit", "out tok/s", "80 % interval", *(["second"] * bool(second)),
                "TTFT ms", "TPOT ms", *at, *costs, "from results of")  # fmt: skip
        right = [name for name in head if name not in ("accelerator", "limit", "from results of")]
        yield from align_columns(head, map(_row_cells, rows), right, indent="  ")
        yield "  replicas at each rate, spares included; times at the percentile in full use, TTFT without waiting"
        if second:
            yield f"  second: output tokens a second as {second} estimates them; - where it lacks model or accelerator"
    for each in unserved:
        yield f"  {each.accelerator}: {text_of(each.reason)}"


def _may_mix(workload: Workload) -> bool:
    return workload.serving is not None and workload.serving.mixed_accelerators


def _mix_line(currency: str, mix: ReplicaMix) -> str:
    """The least costly mix at a rate, or that none costs less than one type."""
    if len(mix.parts) == 1:
        return f"  at {mix.requests_per_s:g}/s no mix of two costs less by the hour than one type alone"
    parts = " and ".join(
        f"{part.replicas:,} x {part.count} {part.accelerator} for {part.share:.0%}" for part in mix.parts
    )
    return (
        f"  at {mix.requests_per_s:g}/s {parts} of the requests: {mix.cost_per_hour:,.2f} {currency} an hour, "
        f"{mix.cost_of_one:,.2f} on one type"
    )


def _row_cells(row: ReplicaAssessment) -> tuple[str, ...]:
    replica, rate = row.replica, row.replica.rate
    costs = (row.price_per_accelerator_hour, row.cost_per_million_input, row.cost_per_million_output)
    return (
        row.accelerator,
        str(row.count),
        f"{replica.concurrency:,}",
        replica.limit.upper() if replica.limit in ("tpot", "ttft") else replica.limit,
        f"{rate.output_tokens_per_s:,.0f}",
        f"{rate.low:,.0f} to {rate.high:,.0f}",
        *([_second_cell(row.second)] if row.second else []),
        f"{1000 * replica.ttft_at_percentile_s:,.0f}",
        f"{1000 * replica.tpot_at_percentile_s:,.1f}",
        *(f"{count:,}" for count in row.replicas),
        *("-" if cost is None else f"{cost:,.3f}" for cost in costs),
        BASES[rate.basis],
    )


def _second_cell(second: SecondEstimate) -> str:
    rate = second.output_tokens_per_s
    return f"{rate:,.0f}" if isinstance(rate, float) else "-"


def _service_document(
    workload: Workload, rates: Sequence[float], rows: Sequence[ReplicaAssessment],
    unserved: Sequence[UnservedAccelerator], currency: str, mixes: Sequence[ReplicaMix],
) -> dict[str, Any]:  # fmt: skip
    assert workload.serving is not None
    return {
        "name": workload.name,
        "notes": workload.notes,
        "serving": workload.serving.model_dump(),
        "demand": workload.demand.model_dump(exclude_none=True),
        "requests_per_second": list(rates),
        "currency": currency,
        "accelerators": [_row_document(row) for row in rows],
        "mixes": [dataclasses.asdict(mix) for mix in mixes],
        "unserved": [dataclasses.asdict(with_texts(each)) for each in unserved],
    }


def _row_document(row: ReplicaAssessment) -> dict[str, Any]:
    replica, rate = row.replica, row.replica.rate
    return {
        "accelerator": row.accelerator,
        "count": row.count,
        "nodes": replica.nodes,
        "concurrency": replica.concurrency,
        "limit": replica.limit,
        "requests_per_s": replica.requests_per_s,
        "output_tokens_per_s": rate.output_tokens_per_s,
        "output_tokens_per_s_low": rate.low,
        "output_tokens_per_s_high": rate.high,
        "second": _second_document(row.second),
        "basis": rate.basis,
        "nearest": [{"source": each.source, "date": each.date} for each in rate.nearest],
        "ttft_ms": 1000 * replica.ttft_at_percentile_s,
        "tpot_ms": 1000 * replica.tpot_at_percentile_s,
        "replicas": list(row.replicas),
        "price_per_accelerator_hour": row.price_per_accelerator_hour,
        "where": row.where,
        "cost_per_million_input": row.cost_per_million_input,
        "cost_per_million_output": row.cost_per_million_output,
    }


def _second_document(second: SecondEstimate | None) -> dict[str, Any] | None:
    """The other program's estimate, or why it has none; None where it is not installed."""
    if second is None:
        return None
    rate = second.output_tokens_per_s
    if isinstance(rate, float):
        return {"source": second.source, "output_tokens_per_s": rate, "reason": None}
    return {"source": second.source, "output_tokens_per_s": None, "reason": text_of(rate)}


def report_errors(file: str, format_name: str) -> int:
    """Print the errors of the estimates on the results of a file."""
    from planner.performance.serving.result_errors import summarise_errors
    from planner.performance.serving.serving_results import read_results
    from pricing.catalog.price_catalog import Catalog

    table = read_results(Path(file), Catalog.current().names)
    summaries, left = summarise_errors(table.results)
    if format_name == "json":
        refused = [dataclasses.asdict(row) for row in table.refused]
        errors = [dataclasses.asdict(each) for each in summaries]
        print_text(json_text({"errors": errors, "left_out": left, "refused": refused}))
        return DONE
    head = ("question", "load", "results", "median %", "p90 %", "in 80 % interval")
    cells = [
        (each.question, each.load, f"{each.results:,}", f"{100 * each.median:.1f}", f"{100 * each.p90:.1f}",
         "-" if each.covered is None else f"{each.covered:.0%}")
        for each in summaries
    ]  # fmt: skip
    lines = align_columns(head, cells, head[2:]) if cells else ["no result of a known load"]
    print_text("\n".join([*lines, *_left_out_lines(file, table, left)]) + "\n")
    return DONE


def _left_out_lines(file: str, table: ServingTable, left: Mapping[str, int]) -> Iterator[str]:
    yield format_count(len(table.results) + len(table.refused), "row")
    yield from (f"  {count:,} {reason}" for reason, count in sorted(left.items(), key=lambda item: (-item[1], item[0])))
    yield from (f"  {file}:{row.line}: left out: {row.reason}" for row in table.refused)
