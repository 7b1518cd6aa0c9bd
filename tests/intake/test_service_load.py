"""Measurements, histories and traces of a service, in every form that is read: the same figures, the same faults.

The files are made here, in the form that the programs document; figures follow from the sums beside them.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from planner.inputs.service_load.benchmark_results import FORMATS, read_rates
from planner.inputs.service_load.request_trace import TRACES, read_trace_file
from planner.inputs.service_load.weekly_arrivals import ObservedTraffic, measure_burstiness

RECORDED = Path(__file__).parent / "recorded"
STATED = {"accelerator": "H100", "count": 2}
RATE = {"concurrency": 60.0, "output_tokens_per_s": 1200.0, "input_tokens": 1000.0, "output_tokens": 400.0,
        "ttft_ms": 500.0}  # fmt: skip
"""What every file below tells: 3 requests a second of 400 tokens, each 20 s: 60 at once (Little)."""
BENCHMARK = {
    "backend": "vllm", "duration": 100.0, "completed": 300, "total_input_tokens": 300_000,
    "total_output_tokens": 120_000, "request_throughput": 3.0, "output_throughput": 1200.0, "mean_ttft_ms": 500.0,
    "mean_tpot_ms": 19_500 / 399, "request_rate": "inf",
}  # fmt: skip


def distribution(mean, status="successful"):
    return {status: {"mean": mean, "median": mean, "std_dev": 0.0, "count": 300}}


MLPERF = """
================================================
MLPerf Results Summary
================================================
SUT name : PySUT
Scenario : Server
Mode     : PerformanceOnly
Completed samples per second    : 3.00
Completed tokens per second: 1200.00
Result is : VALID
  Performance constraints satisfied : Yes

================================================
Additional Stats
================================================
Mean latency (ns)               : 20000000000
Mean First Token latency (ns)               : 500000000
"""
ESTIMATE = "model,isl,osl,prefix,concurrency,ttft,tpot,seq/s,tokens/s,num_total_gpus,tp,backend,version,system"
FILES = {
    "vLLM bench serve": json.dumps({"model_id": "m", "max_concurrency": 64, "mean_e2el_ms": 20_000, **BENCHMARK}),
    "SGLang bench_serving": json.dumps({**BENCHMARK, "mean_e2e_latency_ms": 20_000, "concurrency": 60.0}) + "\n",
    "GuideLLM": json.dumps({"args": {}, "benchmarks": [{"metrics": {
        "request_concurrency": distribution(60.0, "total"), "output_tokens_per_second": distribution(1200.0, "total"),
        "prompt_token_count": distribution(1000.0), "output_token_count": distribution(400.0),
        "time_to_first_token_ms": distribution(500.0)}}]}),
    "MLPerf inference": MLPERF,
    "aiconfigurator": f"{ESTIMATE}\nllama,1000,400,0,60,500,48.9,3,1200,2,2,trtllm,1.0.0,h100_sxm\n",
}  # fmt: skip


def test_the_suite_has_every_format():
    assert FILES.keys() == {each.title for each in FORMATS}


@pytest.mark.parametrize("title", FILES)
def test_every_format_tells_the_rate(title):
    """MLPerf prints no lengths of prompts; aiconfigurator tells accelerator and count, and only estimates."""
    rates, problems = read_rates(FILES[title].encode(), "run.out", STATED)
    assert problems == []
    (rate,) = rates
    lacking = {"input_tokens"} if title == "MLPerf inference" else set()
    for name in RATE.keys() - lacking:
        assert rate[name] == pytest.approx(RATE[name]), name
    assert lacking.isdisjoint(rate)
    assert rate["accelerator"], rate["count"] == ("H100", 2)
    assert rate.get("estimated", False) == (title == "aiconfigurator")


@pytest.mark.parametrize("title", FILES)
def test_what_is_stated_beside_a_file_goes_before_it(title):
    rates, _ = read_rates(FILES[title].encode(), "run.out", {**STATED, "concurrency": 70, "source": "lab"})
    assert (rates[0]["concurrency"], rates[0]["source"]) == (70, "lab")


@pytest.mark.parametrize("title", FILES)
def test_a_rate_that_is_no_number_is_refused_with_its_place(title):
    """The rate of 1200 is replaced by a word."""
    wrong = FILES[title].replace("1200.00", "fast").replace("1200.0", '"fast"').replace(",1200,", ",fast,")
    rates, problems = read_rates(wrong.encode(), "run.out", STATED, "workloads[0].serving.measured[0].file")
    assert rates == []
    assert "is 'fast', expected a number not below 0" in problems[0].message
    assert problems[0].place.startswith("run.out")
    assert problems[0].path == "workloads[0].serving.measured[0].file"


def test_what_a_file_does_not_tell_is_asked_for():
    _, (problem,) = read_rates(FILES["vLLM bench serve"].encode(), "run.json", {})
    assert problem.message == "the file does not tell accelerator or count"
    offline = MLPERF.replace("Server", "Offline").replace("Completed samples", "Samples").replace(
        "Completed tokens", "Tokens").replace("Samples per", "Samples per")  # fmt: skip
    _, (problem,) = read_rates(offline.encode(), "mlperf_log_summary.txt", STATED)
    assert problem.message == "the file does not tell concurrency"


def test_requests_at_once_of_an_open_loop_follow_from_their_times():
    """Without the time of whole requests: 0.5 s to the first token and 399 x 48.87 ms are 20 s, 3 a second."""
    rates, _ = read_rates(json.dumps({"model_id": "m", "max_concurrency": None, **BENCHMARK}).encode(), "a", STATED)
    assert rates[0]["concurrency"] == pytest.approx(60)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "an empty file"),
        ("{}", "a result of no known program"),
        ("[1]", "no JSON object"),
        ('{"a": 1}\n{"b"', "no JSON"),
        ("a,b\n1,2\n", "a result of no known program"),
        (MLPERF.replace("VALID", "INVALID"), "the run is not VALID by its own rules"),
        (json.dumps({"model_id": "m", **BENCHMARK, "completed": 0}), "no request was completed"),
        (json.dumps({"model_id": "m", **BENCHMARK, "output_throughput": 0.0}), "output_tokens_per_s is 0"),
        (json.dumps({"model_id": "m", **BENCHMARK, "output_throughput": -1.0}), "expected a number not below 0"),
        (json.dumps({"model_id": "m", **BENCHMARK, "output_throughput": float("nan")}), "expected a number"),
        (f"{ESTIMATE},(p)workers\nm,1000,400,0,60,1,1,1,9,2,2,v,1,h100_sxm,2\n", "prefill and decode apart"),
    ],
)
def test_what_is_not_understood_is_refused(text, why):
    rates, problems = read_rates(text.encode(), "run", STATED)
    assert rates == []
    assert why in problems[0].message
    assert problems[0].place.startswith("run")


# Prometheus: two replicas, a sample a minute from Monday 2026-11-16 09:00 UTC for two hours. In the first hour each
# has 10 requests at once and generates 400 tokens a second, in the second 40 and 800; each completes 1 and 2 requests
# a second. Of 1,000 tokens of a prompt 250 are found in the cache; first tokens take 200 ms.
START, STEP = 1_794_819_600, 60


def series(name, replica, values):
    pairs = [[START + STEP * index, str(value)] for index, value in enumerate(values)]
    return {"metric": {"__name__": f"vllm:{name}", "model_name": "llama", "instance": replica}, "values": pairs}


def counter(per_second, before=1000.0, resets=False):
    """121 samples of a counter with a rate for each hour; it starts again at 0 in the middle of the first hour."""
    total, found = before, [before]
    for minute in range(120):
        increase = per_second[minute // 60] * STEP
        total = increase if resets and minute == 30 else total + increase
        found.append(total)
    return found


def history(**changes):
    found = []
    for replica in ("a:8000", "b:8000"):
        found += [
            series("request_success_total", replica, counter((1, 2), resets=replica.startswith("b"))),
            series("prompt_tokens_total", replica, counter((1000, 2000))),
            series("generation_tokens_total", replica, counter((400, 800))),
            series("time_to_first_token_seconds_sum", replica, counter((0.2, 0.4))),
            series("time_to_first_token_seconds_count", replica, counter((1, 2))),
            series("prefix_cache_hits_total", replica, counter((250, 500))),
            series("prefix_cache_queries_total", replica, counter((1000, 2000))),
            series("num_requests_running", replica, [10] * 61 + [40] * 60),
            series("kv_cache_usage_perc", replica, [0.5] * 121),
        ]
    return {"status": "success", "data": {"resultType": "matrix", "result": found}} | changes


@pytest.mark.parametrize("form", ["document", "list", "lines"])
def test_a_history_is_a_measured_curve(form):
    """A sample between the hours has 25 requests at once and is too few for a point of its own."""
    first, second = history(), history()
    first["data"]["result"], second["data"]["result"] = (history()["data"]["result"][part::2] for part in (0, 1))
    text = {"document": json.dumps(history()), "list": json.dumps([first, second]),
            "lines": f"{json.dumps(first)}\n{json.dumps(second)}\n"}[form]  # fmt: skip
    rates, problems = read_rates(text.encode(), "prometheus.json", STATED)
    assert problems == []
    assert [(round(each["concurrency"], 6), round(each["output_tokens_per_s"], 6)) for each in rates] == [
        (10, 400), (40, 800)]  # fmt: skip
    for each in rates:
        assert each["ttft_ms"] == pytest.approx(200)
        assert (each["input_tokens"], each["output_tokens"]) == (pytest.approx(1000), pytest.approx(400))


def test_a_history_tells_arrivals_by_hour_of_the_week():
    """Two replicas: 2 requests a second from 9 to 10 on Monday and 4 from 10 to 11. The same hours of the other days
    are as those, the other 22 of each day as the mean of both, 3."""
    observed = read_trace_file(json.dumps(history()).encode(), "prometheus.json")
    assert isinstance(observed, ObservedTraffic)
    rates = observed.weekly_rates()
    assert rates[9:11] == [pytest.approx(2), pytest.approx(4)]
    assert rates[24 + 9 : 24 + 11] == [pytest.approx(2), pytest.approx(4)]
    assert rates[0] == pytest.approx(3)
    demand = observed.demand()
    assert demand["requests_per_second"] == pytest.approx(3)
    assert demand["daily_shape"][9] == pytest.approx(2 / 3, abs=1e-6)
    assert observed.serving() == {"input_tokens": 1000, "output_tokens": 400, "prefix_cached_fraction": 0.25}


def test_a_history_without_generated_tokens_has_their_time():
    """10 requests at once of 25 ms a token are 400 a second."""
    found = history()
    kept = [each for each in found["data"]["result"] if "generation" not in each["metric"]["__name__"]]
    for replica in ("a:8000", "b:8000"):
        kept += [series("request_time_per_output_token_seconds_sum", replica, counter((0.025, 0.1))),
                 series("request_time_per_output_token_seconds_count", replica, counter((1, 2)))]  # fmt: skip
    found["data"]["result"] = kept
    rates, _ = read_rates(json.dumps(found).encode(), "p", STATED)
    assert [round(each["output_tokens_per_s"], 6) for each in rates] == [400, 800]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"data": {"resultType": "vector", "result": []}}, "no answer of a range query"),
        ({"data": {"resultType": "matrix", "result": []}}, "no series of vllm: in it"),
        ({"data": {"resultType": "matrix", "result": [{"metric": {}, "values": []}]}}, "a series without __name__"),
        ({"data": {"resultType": "matrix", "result": [
            series("generation_tokens_total", "a", [1, 2]),
            {**series("generation_tokens_total", "a", [1, 2]),
             "metric": {"__name__": "vllm:generation_tokens_total", "model_name": "other"}}]}}, "series of 2 models"),
        ({"data": {"resultType": "matrix", "result": [series("generation_tokens_total", "a", [1, "x"])]}},
         "a sample is"),
        ({"data": {"resultType": "matrix", "result": [series("generation_tokens_total", "a", [1, 2])]}},
         "are needed"),
    ],
)  # fmt: skip
def test_a_history_that_tells_nothing_is_refused(changes, why):
    text = json.dumps(history(**changes)).encode()
    _, problems = read_rates(text, "prometheus.json", STATED)
    refused = read_trace_file(text, "prometheus.json")
    assert why in problems[0].message
    assert isinstance(refused, tuple)
    assert why in refused[0].message


# Traces: a request every 2 s for an hour from Thursday 2023-11-16 18:00, prompts of 500 and 1,500 tokens in turn,
# answers of 100. The first request is at 18:00:00, the last at 18:59:58.
REQUESTS = [(2 * number, 500 + 1000 * (number % 2), 100) for number in range(1800)]
WRITTEN = {
    "TIMESTAMP": "TIMESTAMP,ContextTokens,GeneratedTokens\n" + "".join(
        f"2023-11-16 18:{at // 60:02}:{at % 60:02}.0000000,{before},{after}\n" for at, before, after in REQUESTS),
    "Timestamp": "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n" + "".join(
        f"{at},ChatGPT,{before},{after},{before + after},API log\n" for at, before, after in REQUESTS),
    "timestamp": "".join(
        json.dumps({"timestamp": 1000 * at, "input_length": before, "output_length": after, "hash_ids": [0]}) + "\n"
        for at, before, after in REQUESTS),
    "time": "time,input_tokens,output_tokens\n" + "".join(
        f"2023-11-16T18:{at // 60:02}:{at % 60:02}Z,{before},{after}\n" for at, before, after in REQUESTS),
}  # fmt: skip


def test_the_suite_has_every_form_of_a_trace():
    assert WRITTEN.keys() == {each.time for each in TRACES}


@pytest.mark.parametrize("form", WRITTEN)
def test_every_form_of_a_trace_tells_arrivals_and_lengths(form):
    """1,800 requests in 3,598 s; prompts of 1,000 tokens with a deviation of 500; even arrivals are no bursts."""
    observed = read_trace_file(WRITTEN[form].encode(), "trace")
    assert isinstance(observed, ObservedTraffic)
    assert observed.demand() == {"requests_per_second": pytest.approx(1800 / 3598)}
    assert observed.serving() == {
        "input_tokens": 1000, "output_tokens": 100, "input_variation": 0.5, "output_variation": 0, "burstiness": 1,
    }  # fmt: skip
    hour = 3 * 24 + 18 if form in ("TIMESTAMP", "time") else 0
    assert observed.arrivals[hour] == 1800
    assert observed.about == "1,800 requests in 60.0 minutes of trace"


@pytest.mark.parametrize("form", WRITTEN)
def test_lines_of_a_trace_that_are_no_request_are_all_named(form):
    """The answers of 1,800 requests are made negative: ten are shown, the others counted."""
    wrong = WRITTEN[form].replace(",100", ",-100").replace('_length": 100', '_length": -100')
    found = read_trace_file(wrong.encode(), "trace", "workloads[0].serving.trace")
    assert isinstance(found, tuple)
    assert len(found) == 11
    first = 1 if form == "timestamp" else 2
    assert found[0].place == f"trace:line {first}"
    assert found[-1].message == "1,790 more lines like these"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no trace of requests"),
        ("a,b,c\n1,2,3\n", "no trace of requests"),
        ("time,input_tokens,output_tokens\n5,1,1\n", "1 requests are no trace"),
        ("time,input_tokens,output_tokens\n5,1,1\n5,1,1\n", "all requests arrive at once"),
        ("time,input_tokens,output_tokens\n5,0,1\n6,0,1\n", "all prompts or all answers are empty"),
        ("time,input_tokens,output_tokens\nsoon,1,1\n6,1,1\n", "no request: soon, 1, 1"),
        ("time,input_tokens,output_tokens\n5,1\n6,1,1\n", "no request: 5, 1, None"),
    ],
)
def test_what_is_no_trace_is_refused(text, why):
    (problem, *_) = read_trace_file(text.encode(), "trace.csv")
    assert why in problem.message


def test_burstiness_of_known_arrivals():
    """Poisson arrivals have 1. Where each comes twice, gaps are 0 or exponential, each half of them: mean 1/2 and mean
    square 1 of the exponential mean, 1 / 0.25 - 1 = 3. The sampling error of 20,000 arrivals is a few per cent."""
    chance = random.Random(1)
    times, now = [], 0.0
    for _ in range(20_000):
        now += chance.expovariate(5.0)
        times.append(now)
    assert measure_burstiness(times) == pytest.approx(1, abs=0.15)
    assert measure_burstiness(sorted(times * 2)) == pytest.approx(3, abs=0.2)
    assert measure_burstiness(times[:99]) is None


HUGE = "9" * 5000
HOSTILE = [
    b"\xff\xfe\x00", b"\x00\x01", b"[" * 100_000, b'{"a":' * 100_000, HUGE.encode(), f"[{HUGE}]".encode(),
    *(FILES["vLLM bench serve"].replace("1200.0", each).encode() for each in (HUGE, "1e999", "true", "[]", "{}", '""')),
    *(json.dumps(history()).replace("1794819660", each).encode() for each in (HUGE, "1e300", "-5", '"x"', "null")),
    *(WRITTEN["Timestamp"].replace("\n5,", f"\n{each},").replace("\n6,", f"\n{each},").encode()
      for each in ("1e300", "nan", HUGE, "")),
    WRITTEN["TIMESTAMP"].replace("2023-11-16", "0001-01-01", 1).encode(),
    json.dumps(history()).replace("1794819660", "1794819600.0001").encode(),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_hostile_files_are_refused_or_read_and_never_a_bug(number):
    data = HOSTILE[number]
    rates, problems = read_rates(data, "file", STATED)
    assert rates or problems
    assert isinstance(read_trace_file(data, "file"), ObservedTraffic | tuple)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("title", [*FILES, "history", *WRITTEN])
def test_broken_files_are_refused_or_read_and_never_a_bug(title):
    """Cut off, and with a stretch of characters left out or replaced, at 40 places each."""
    chance = random.Random(title)
    whole = {**FILES, **WRITTEN, "history": json.dumps(history())}[title]
    whole = whole if title == "history" else whole[:2000]
    for _ in range(40):
        place, length = chance.randrange(len(whole)), chance.randint(1, 30)
        filler = chance.choice(["", "", "9", ",", '"', "}", "e9", "-", "\n"])
        for text in (whole[:place], whole[:place] + filler + whole[place + length :]):
            read_rates(text.encode(), "file", STATED)
            read_trace_file(text.encode(), "file")


def test_a_published_trace_as_it_is():
    """The first 150 requests of Azure's conversation trace: 135,354 tokens in and 32,595 out, from 18:15:46.68059 to
    18:16:37.311677. 13, 18, 28, 30 and 58 come in its windows of 10 s: mean 29.4, variance 243.84."""
    observed = read_trace_file((RECORDED / "azure-conversation-2023.csv").read_bytes(), "azure-conversation-2023.csv")
    assert isinstance(observed, ObservedTraffic)
    serving = observed.serving()
    assert serving["input_tokens"] == pytest.approx(135_354 / 150)
    assert serving["output_tokens"] == pytest.approx(32_595 / 150)
    assert serving["input_variation"] == pytest.approx(1.0776, rel=1e-3)
    assert serving["output_variation"] == pytest.approx(0.6763, rel=1e-3)
    assert observed.demand()["requests_per_second"] == pytest.approx(150 / 50.6311, rel=1e-5)
    assert serving["burstiness"] == pytest.approx(243.84 / 29.4)
