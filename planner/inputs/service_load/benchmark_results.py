"""Results of load generators as measured rates of a served model: one table of formats.

The fields are those that the programs write:

    vLLM            result_json of github.com/vllm-project/vllm vllm/benchmarks/serve.py (benchmark_serving before)
    SGLang          result of github.com/sgl-project/sglang python/sglang/bench_serving.py, one JSON line a run
    GuideLLM        GenerativeMetrics of github.com/vllm-project/guidellm src/guidellm/benchmark/schemas/generative
    MLPerf          mlperf_log_summary.txt of github.com/mlcommons/inference loadgen/results.cc
    aiconfigurator  ColumnsAgg of github.com/ai-dynamo/aiconfigurator src/aiconfigurator/sdk/common.py
    Prometheus      history of vLLM's metrics (metric_history.py)

The mean number of requests at once is, where it is not printed, rate x mean time of a request (Little). What a file
does not tell (usually the accelerator and how many) stands beside it in the request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from planner.inputs.service_load.load_records import Figures, MissingFigure, Record, UnknownLoad, list_records
from planner.inputs.service_load.metric_history import is_history, read_curve
from planner.request.errors import InputProblem
from pricing.frozen_values import dataclass

Expression = Callable[[Figures], float]
REQUIRED = ("accelerator", "count", "concurrency", "output_tokens_per_s")


@dataclass(frozen=True, slots=True)
class ResultFormat:
    """How the records of one program are told (`marks`, paths that each has) and read: for each figure the
    expressions to try in order; `texts` are paths of text; `refusals` are reasons why a record is no measurement."""

    title: str
    marks: tuple[str, ...]
    figures: Mapping[str, tuple[Expression, ...]]
    texts: Mapping[str, str]
    refusals: Sequence[tuple[Callable[[Figures], bool], str]] = ()
    estimated: bool = False


def _guidellm(name: str, status: str) -> Expression:
    return lambda figure: figure(f"metrics.{name}.{status}.mean")


BENCHMARKED: Mapping[str, tuple[Expression, ...]] = {
    "output_tokens_per_s": (lambda figure: figure("output_throughput"),),
    "input_tokens": (lambda figure: figure("total_input_tokens") / figure("completed"),),
    "output_tokens": (lambda figure: figure("total_output_tokens") / figure("completed"),),
    "ttft_ms": (lambda figure: figure("mean_ttft_ms"),),
}
"""What SGLang's benchmark took over from vLLM's."""
NONE_COMPLETED = (lambda figure: figure("completed") == 0, "no request was completed")

FORMATS = (
    ResultFormat(
        "SGLang bench_serving", ("output_throughput", "completed", "mean_e2e_latency_ms"),
        {"concurrency": (lambda figure: figure("concurrency"),
                         lambda figure: figure("request_throughput") * figure("mean_e2e_latency_ms") / 1000),
         **BENCHMARKED},
        {}, (NONE_COMPLETED,),
    ),
    ResultFormat(
        "vLLM bench serve", ("output_throughput", "completed", "model_id"),
        {"concurrency": (lambda figure: figure("request_throughput") * figure("mean_e2el_ms") / 1000,
                         lambda figure: figure("request_throughput") / 1000 * (
                             figure("mean_ttft_ms") + figure("mean_tpot_ms")
                             * (figure("total_output_tokens") / figure("completed") - 1)),
                         lambda figure: figure("max_concurrency")),
         **BENCHMARKED},
        {}, (NONE_COMPLETED,),
    ),
    ResultFormat(
        "GuideLLM", ("metrics.request_concurrency", "metrics.output_tokens_per_second"),
        {"concurrency": (_guidellm("request_concurrency", "total"), _guidellm("request_concurrency", "successful")),
         "output_tokens_per_s": (_guidellm("output_tokens_per_second", "total"),
                                 _guidellm("output_tokens_per_second", "successful")),
         "input_tokens": (_guidellm("prompt_token_count", "successful"),),
         "output_tokens": (_guidellm("output_token_count", "successful"),),
         "ttft_ms": (_guidellm("time_to_first_token_ms", "successful"),)},
        {},
    ),
    ResultFormat(
        "MLPerf inference", ("Scenario", "Result is"),
        {"concurrency": (lambda figure: figure("Completed samples per second") * figure("Mean latency (ns)") / 1e9,),
         "output_tokens_per_s": (lambda figure: figure("Completed tokens per second"),
                                 lambda figure: figure("Tokens per second")),
         "output_tokens": (
             lambda figure: figure("Completed tokens per second") / figure("Completed samples per second"),
             lambda figure: figure("Tokens per second") / figure("Samples per second")),
         "ttft_ms": (lambda figure: figure("Mean First Token latency (ns)") / 1e6,)},
        {}, ((lambda figure: figure.find("Result is") != "VALID", "the run is not VALID by its own rules"),),
    ),
    ResultFormat(
        "aiconfigurator", ("tokens/s", "isl", "osl", "concurrency"),
        {"concurrency": (lambda figure: figure("concurrency"),),
         "output_tokens_per_s": (lambda figure: figure("tokens/s"),),
         "input_tokens": (lambda figure: figure("isl"),),
         "output_tokens": (lambda figure: figure("osl"),),
         "ttft_ms": (lambda figure: figure("ttft"),),
         "count": (lambda figure: figure("num_total_gpus"),)},
        {"accelerator": "system"},
        ((lambda figure: figure.find("(p)workers") not in (None, ""), "prefill and decode apart: no replica alone"),),
        estimated=True,
    ),
)  # fmt: skip


def read_rates(
    data: bytes, name: str, stated: Mapping[str, Any], path: str = ""
) -> tuple[list[dict[str, Any]], list[InputProblem]]:
    """Every measured rate of a file as fields of a ServedRate, and every fault with its place.

    `stated` are the fields that the request states beside the file: they go before those of the file. `path` is the
    field that names the file.
    """
    rates: list[dict[str, Any]] = []
    problems: list[InputProblem] = []

    def refuse(place: str, why: str, expected: str = "") -> None:
        problems.append(InputProblem(path, f"{name}:{place}" if place else name, why, "", expected))

    try:
        records = list_records(data)
        curve = read_curve(records) if is_history(records) else None
        if not records:
            raise UnknownLoad("no result in it")
    except UnknownLoad as fault:
        refuse(fault.place, str(fault), EXPECTED)
        return [], problems
    for place, record in curve if curve is not None else records:
        try:
            figures_of_run = dict(record) if curve is not None else _read_record(record)
        except UnknownLoad as fault:
            refuse(place, str(fault), "" if _find_format(record) else EXPECTED)
            continue
        rate = {"source": name, **figures_of_run, **stated}
        missing = [figure for figure in REQUIRED if rate.get(figure) is None]
        if missing:
            refuse(place, f"the file does not tell {' or '.join(missing)}", f"{', '.join(missing)} stated beside it")
        else:
            rates.append(rate)
    return rates, problems


EXPECTED = f"a result of {', '.join(each.title for each in FORMATS)}, or a Prometheus history of vLLM"


def _find_format(record: Record) -> ResultFormat | None:
    figures = Figures(record)
    return next((each for each in FORMATS if all(figures.find(mark) is not None for mark in each.marks)), None)


def _read_record(record: Record) -> dict[str, Any]:
    """The figures that a record has. Raises UnknownLoad."""
    known = _find_format(record)
    if known is None:
        raise UnknownLoad("a result of no known program")
    figures = Figures(record)
    for applies, why in known.refusals:
        if applies(figures):
            raise UnknownLoad(why)
    rate: dict[str, Any] = {name: figures.find(path) for name, path in known.texts.items()}
    for name, expressions in known.figures.items():
        for expression in expressions:
            try:
                rate[name] = expression(figures)
            except MissingFigure:
                continue
            except ZeroDivisionError:
                raise UnknownLoad(f"{name} cannot be computed: a figure that it is divided by is 0") from None
            break
    if zero := [name for name in REQUIRED if rate.get(name) == 0]:
        raise UnknownLoad(f"{zero[0]} is 0")
    if "count" in rate:
        rate["count"] = round(rate["count"])
    rate = {name: value for name, value in rate.items() if value}
    return rate | ({"estimated": True, "source": known.title} if known.estimated else {})
