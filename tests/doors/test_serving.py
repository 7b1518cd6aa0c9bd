"""`planner serving` as a user meets it, and services by sheet and by HTTP."""

from __future__ import annotations

import json
import math

import pytest

LLAMA = ("--model", "llama-3-70b", "--precision", "fp8", "--input", "1000", "--output", "400", "--tpot", "50")
SERVICE = """
as_of: 2026-11-21
months: 1
providers: [aws]
strategies: [cloud]
workloads:
  - name: chat
    kind: inference
    accelerators: [H100]
    network: {model: llama-3-70b, precision: fp8, run: inference}
    serving: {input_tokens: 1000, output_tokens: 400, ttft_ms: 2000, tpot_ms: 50}
    demand: {requests_per_second: 20}
"""


def test_replicas_and_costs_by_options(planner):
    """Costs of a million tokens by hand: two H100 at the price shown, 1,663 output and 2.5 times as many input tokens a
    second; prompts take 39.0 % of the time."""
    ran = planner("serving", *LLAMA, "--ttft", "2000", "--rate", "2,20,200", "--accelerator", "H100-80GB-SXM",
                  "--format", "json")  # fmt: skip
    assert ran.code == 0, ran.err
    (service,) = json.loads(ran.out)["services"]
    (row,) = service["accelerators"]
    assert (row["count"], row["concurrency"], row["limit"], row["basis"]) == (2, 78, "tpot", "measured")
    assert row["replicas"] == [1, 6, 49]
    hour = 2 * row["price_per_accelerator_hour"]
    tokens = row["output_tokens_per_s"] * 3600
    assert row["cost_per_million_output"] == pytest.approx(hour * (1 - 0.3901) / tokens * 1e6, rel=1e-3)
    assert row["cost_per_million_input"] == pytest.approx(hour * 0.3901 / (2.5 * tokens) * 1e6, rel=1e-3)
    assert "silicon_sample.csv" in row["nearest"][0]["source"]


def test_a_table_with_the_accelerators_that_cannot_serve(planner):
    ran = planner("serving", *LLAMA, "--accelerator", "H100-80GB-SXM,L4,V100-16GB-SXM2", "--count", "1,2")
    assert ran.code == 0, ran.err
    assert ran.out.count("H100-80GB-SXM  ") == 2
    assert "  L4-24GB: 2 x L4-24GB have 21.6 GiB each for the engine" in ran.out
    assert "  V100-16GB-SXM2: V100-16GB-SXM2 is of 2017; the oldest accelerator with results of served" in ran.out


def test_a_limit_that_nothing_meets_is_no_success(planner):
    """70 GB of weights are read at 3,350 GB/s in 21 ms by one H100 and in 2.6 ms by eight: no token a millisecond."""
    ran = planner("serving", "--model", "llama-3-70b", "--precision", "fp8", "--input", "1000", "--output", "400",
                  "--tpot", "1", "--accelerator", "H100")  # fmt: skip
    assert (ran.code, ran.err) == (3, "")
    assert "the limit is 1" in ran.out


def test_a_model_by_its_config(planner, tmp_path):
    config = {"hidden_size": 8192, "intermediate_size": 28672, "num_attention_heads": 64, "num_hidden_layers": 80,
              "num_key_value_heads": 8, "vocab_size": 128256}  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps(config))
    ran = planner("serving", "--model", "config.json", *LLAMA[2:], "--accelerator", "H100-80GB-SXM", "--count", "4")
    assert ran.code == 0, ran.err
    assert "other models" in ran.out, "no result is known to be of it"
    (tmp_path / "config.json").write_text("{}")
    ran = planner("serving", "--model", "config.json", *LLAMA[2:])
    assert ran.code == 2
    assert ran.err.count("is missing or no whole number above 0") == 4


def test_services_of_a_file(planner, tmp_path):
    (tmp_path / "chat.yaml").write_text(SERVICE)
    ran = planner("serving", "chat.yaml")
    assert ran.code == 0, ran.err
    assert ran.out.startswith("chat: fp8, 1,000 tokens in, 400 out, TTFT 2000 ms and TPOT 50 ms for 95 % of requests")
    assert "at 20/s" in ran.out
    (tmp_path / "chat.yaml").write_text(SERVICE.replace("    serving:", "    # serving:"))
    ran = planner("serving", "chat.yaml")
    assert ran.code == 2
    assert "requests a second of a described model, without their lengths" in ran.err


def test_every_fault_at_once(planner):
    ran = planner("serving", "--model", "nope", "--input", "x", "--rate", "a", "--engine", "foo", "--accelerator", "H9")
    assert ran.code == 2
    for place in ("--rate", "--accelerator", "--input", "--output", "--engine", "--model"):
        assert f"  {place}: " in ran.err


def test_errors_of_results_kept_out(planner, tmp_path):
    head = ("group,model,total_params_b,active_params_b,accelerator,accelerator_count,precision,engine,engine_version,"
            "tensor_parallel,data_parallel,expert_parallel,input_tokens,output_tokens,concurrency,ttft_ms,tpot_ms,"
            "output_tokens_per_s,requests_per_s,basis,source,date,notes")  # fmt: skip
    row = "llama-3-70b@{part},m,70.6,70.6,{part},2,fp8,vllm,,2,1,1,1000,400,64,500,40,1500,3.75,closed loop,me,2026-11,"
    lines = [head, row.format(part="H100-80GB-SXM"), row.format(part="Nothing-1")]
    (tmp_path / "new.csv").write_text("\n".join(lines) + "\n")
    ran = planner("serving", "--errors", "new.csv")
    assert ran.code == 0, ran.err
    assert ran.out.splitlines()[1].split()[:3] == ["rate", "served", "1"]
    assert "time per output token" in ran.out
    assert "2 rows" in ran.out
    assert "new.csv:3: left out: no specification of Nothing-1" in ran.out
    (tmp_path / "new.csv").write_text("a,b\n")
    assert planner("serving", "--errors", "new.csv").code == 2


def test_a_service_by_sheet_is_that_of_the_request(planner, tmp_path):
    """The same service in a sheet and in YAML cost the same; times in seconds are times."""
    (tmp_path / "chat.yaml").write_text(SERVICE)
    (tmp_path / "chat.csv").write_text(
        "Workload,Kind,Served model,Precision,Requests per second,Input tokens,Output tokens,TTFT (s),TPOT (ms),"
        "Allowed GPUs\nchat,inference,llama-3-70b,fp8,20,1000,400,2,50,H100\n"
    )
    sheet = ("--months", "1", "--as-of", "2026-11-21", "--providers", "aws", "--strategies", "cloud")
    plans = [
        json.loads(planner("estimate", "--format", "json", *options).out)
        for options in (("chat.yaml",), (*sheet, "chat.csv"))
    ]
    assert plans[0]["strategies"][0]["total_cost"] == plans[1]["strategies"][0]["total_cost"] > 0
    assert plans[1]["throughput"][0]["explanation"][0]["code"] == "replica_estimate"


def test_a_sheet_allows_several_types_for_a_service(planner, tmp_path):
    (tmp_path / "chat.csv").write_text(
        "Workload,Kind,Served model,Precision,Requests per second,Input tokens,Output tokens,TTFT (s),TPOT (ms),"
        "Allowed GPUs,Mixed accelerators\nchat,inference,llama-3-70b,fp8,20,1000,400,2,50,H100,yes\n"
    )
    sheet = ("--months", "1", "--as-of", "2026-11-21", "--providers", "aws", "--strategies", "cloud")
    ran = planner("estimate", *sheet, "chat.csv")
    assert ran.code == 0, ran.err
    assert "chat is served on one type of accelerator" in ran.out


@pytest.mark.slow
def test_the_least_costly_mix_of_two(planner):
    """20 requests a second take five replicas of two H200, or six of two H100. Two of H200 keep 8.52 a second and three
    of H100 11.50, which is enough together; at the shipped prices a replica of H100 costs less."""
    options = ("--input", "1000", "--output", "400", "--ttft", "2000", "--tpot", "50", "--precision", "fp8")
    asked = ("--model", "llama-3-70b", "--rate", "20", "--accelerator", "H100-80GB-SXM,H200-141GB-SXM", "--mix")
    ran = planner("serving", *asked, *options, "--format", "json")
    assert ran.code == 0, ran.err
    (service,) = json.loads(ran.out)["services"]
    price = {row["accelerator"]: row["price_per_accelerator_hour"] * row["count"] for row in service["accelerators"]}
    (mix,) = service["mixes"]
    assert [(part["accelerator"], part["replicas"]) for part in mix["parts"]] == [
        ("H200-141GB-SXM", 2), ("H100-80GB-SXM", 3),
    ]  # fmt: skip
    assert mix["cost_per_hour"] == pytest.approx(2 * price["H200-141GB-SXM"] + 3 * price["H100-80GB-SXM"])
    assert mix["cost_of_one"] == pytest.approx(5 * price["H200-141GB-SXM"])


def test_a_sheet_names_the_trace_of_a_service(planner, tmp_path):
    """Lengths and the hours of the week are those of the trace, the rate that of the sheet: as in YAML."""
    (tmp_path / "trace.csv").write_text(TRACE)
    (tmp_path / "chat.yaml").write_text(SERVICE.replace("input_tokens: 1000, output_tokens: 400", "trace: trace.csv"))
    (tmp_path / "chat.csv").write_text(
        "Workload,Kind,Served model,Precision,Requests per second,Request trace,TTFT (s),TPOT (ms),Allowed GPUs\n"
        "chat,inference,llama-3-70b,fp8,20,trace.csv,2,50,H100\n"
    )
    sheet = ("--months", "1", "--as-of", "2026-11-21", "--providers", "aws", "--strategies", "cloud")
    ran = [planner("estimate", "--format", "json", *options) for options in (("chat.yaml",), (*sheet, "chat.csv"))]
    assert [each.code for each in ran] == [0, 0], ran[1].err
    costs = [json.loads(each.out)["strategies"][0]["total_cost"] for each in ran]
    assert costs[0] == costs[1] > 0


def test_a_served_model_without_lengths_in_a_sheet(planner, tmp_path):
    (tmp_path / "chat.csv").write_text("Workload,Served model,Requests per second,TTFT\nchat,llama-3-70b,20,2000\n")
    ran = planner("estimate", "chat.csv")
    assert ran.code == 2
    for problem in ("without input tokens", "without output tokens", "'TTFT' has no unit"):
        assert problem in ran.err


BENCH = {"backend": "vllm", "model_id": "m", "completed": 300, "total_input_tokens": 300_000,
         "total_output_tokens": 120_000, "request_throughput": 5.0, "output_throughput": 2000.0, "mean_ttft_ms": 400.0,
         "mean_tpot_ms": 35.0, "mean_e2el_ms": 14_365.0, "max_concurrency": 72}  # fmt: skip
TRACE = "TIMESTAMP,ContextTokens,GeneratedTokens\n" + "".join(
    f"2023-11-16 {18 + at // 3600}:{at // 60 % 60:02}:{at % 60:02}.5000000,{500 + 1000 * (at % 2)},400\n"
    for at in [*range(3600), *range(3600, 7200, 4)]
)
"""A request a second from 18 to 19 on a Thursday, one every four seconds from 19 to 20: 1 and 0.25 a second."""


@pytest.mark.slow
def test_files_of_measurements_and_traces_by_options(planner, tmp_path):
    """3,600 requests in the first hour and 900 in the second, 4,500 / 7,196 s = 0.6253 a second; on every day 1 from 18
    to 19 and 0.25 from 19 to 20, the other hours as the mean: (7 x 1 + 7 x 0.25 + 154 x 0.6253) / 168 = 0.6253. 1,800
    of 4,500 prompts have 1,500 tokens, the others 500: 900, with a deviation of sqrt(0.4 x 0.6) x 1,000."""
    (tmp_path / "bench.json").write_text(json.dumps(BENCH))
    (tmp_path / "trace.csv").write_text(TRACE)
    asked = ("serving", "--model", "llama-3-70b", "--precision", "fp8", "--tpot", "50", "--ttft", "2000",
             "--accelerator", "H100-80GB-SXM,H200-141GB-SXM", "--count", "2", "--trace", "trace.csv", "--measured",
             "H100:2=bench.json")  # fmt: skip
    ran = planner(*asked, "--format", "json")
    assert ran.code == 0, ran.err
    (service,) = json.loads(ran.out)["services"]
    assert service["serving"]["input_tokens"] == 900
    assert service["serving"]["input_variation"] == pytest.approx(math.sqrt(0.4 * 0.6) * 1000 / 900, rel=1e-5)
    assert service["requests_per_second"] == pytest.approx([0.6254, 1], rel=2e-3)
    bases = {row["accelerator"]: (row["basis"], row["nearest"][0]["source"]) for row in service["accelerators"]}
    assert bases["H100-80GB-SXM"] == ("own", "bench.json")
    assert bases["H200-141GB-SXM"][0] == "model_elsewhere"
    text = planner(*asked).out
    assert "arrivals and lengths: 4,500 requests in 119.9 minutes of trace.csv" in text
    assert "yours on it" in text


def test_a_published_trace_is_planned(planner, tmp_path, repository):
    """150 requests of Azure's conversation trace as published (tests/intake/recorded): 2.96 a second of 902 and 217
    tokens, with 8.3 times the variance of Poisson arrivals. A replica of two H100 keeps 5.4 a second in full use: one
    node of eight does it."""
    trace = repository / "tests/intake/recorded/azure-conversation-2023.csv"
    (tmp_path / "trace.csv").write_bytes(trace.read_bytes())
    stated = SERVICE.replace("input_tokens: 1000, output_tokens: 400", "trace: trace.csv").replace(
        "    demand: {requests_per_second: 20}\n", ""
    )
    (tmp_path / "chat.yaml").write_text(stated.replace("accelerators: [H100]", "accelerators: [H100]\n    gang: 2"))
    ran = planner("estimate", "--format", "json", "chat.yaml")
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    assert found["status"] == "optimal"
    assert {use["nodes"] for use in found["strategies"][0]["uses"]} == {1}


def test_files_of_a_service_in_a_request(planner, tmp_path):
    """The same plan as with the figures of the files written out; fields beside a file go before it."""
    (tmp_path / "bench.json").write_text(json.dumps(BENCH))
    (tmp_path / "trace.csv").write_text(TRACE)
    config = {"hidden_size": 8192, "intermediate_size": 28672, "num_attention_heads": 64, "num_hidden_layers": 80,
              "num_key_value_heads": 8, "vocab_size": 128256}  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps(config))
    files = SERVICE.replace("model: llama-3-70b, precision: fp8, run: inference", "config: config.json, precision: fp8")
    files = files.replace("input_tokens: 1000, output_tokens: 400,", (
        "input_tokens: 1000, input_variation: 1, output_variation: 1, burstiness: 1, trace: trace.csv,"
        "measured: [{file: bench.json, accelerator: H100, count: 2, source: lab}],"))  # fmt: skip
    files = files.replace("{requests_per_second: 20}", "{requests_per_second: 20, daily_shape: flat}")
    shape = ("parameters: 70553444352, layers: 80, hidden_size: 8192, attention_heads: 64, kv_heads: 8, head_size: 128,"
             " vocabulary: 128256, feed_forward_size: 28672, precision: fp8, run: inference")  # fmt: skip
    written = SERVICE.replace("model: llama-3-70b, precision: fp8, run: inference", shape)
    written = written.replace("output_tokens: 400,", (
        "output_tokens: 400, measured: [{accelerator: H100, count: 2, concurrency: 71.825, output_tokens_per_s: 2000,"
        "input_tokens: 1000, output_tokens: 400, ttft_ms: 400, source: lab}],"))  # fmt: skip
    plans = []
    for name, text in (("files.yaml", files), ("written.yaml", written)):
        (tmp_path / name).write_text(text)
        ran = planner("estimate", name, "--format", "json")
        assert ran.code == 0, ran.err
        plans.append(json.loads(ran.out))
    costs = [plan["strategies"][0]["total_cost"] for plan in plans]
    assert costs[0] == costs[1] > 0
    assert plans[0]["throughput"][0]["basis"] == "measured"


def test_every_file_of_a_service_that_tells_nothing_is_named(planner, tmp_path):
    (tmp_path / "bench.json").write_text("{}")
    (tmp_path / "trace.csv").write_text("time,input_tokens,output_tokens\nsoon,1,1\n")
    (tmp_path / "chat.yaml").write_text(
        SERVICE.replace("model: llama-3-70b, precision: fp8, run: inference", "config: none.json").replace(
            "input_tokens: 1000,", "trace: trace.csv, measured: [{file: bench.json}, {accelerator: Z9, count: 1,"
            " concurrency: 1, output_tokens_per_s: 5}],"))  # fmt: skip
    for command in ("estimate", "serving"):
        ran = planner(command, "chat.yaml")
        assert ran.code == 2
        for said in ("none.json: cannot be read", "trace.csv:line 2: no request: soon, 1, 1",
                     "bench.json: a result of no known program"):  # fmt: skip
            assert said in ran.err
        assert "Traceback" not in ran.err
    (tmp_path / "chat.yaml").write_text(SERVICE.replace(
        "input_tokens: 1000,", "input_tokens: 1000, measured: [{accelerator: Z9, count: 1, concurrency: 1,"
        " output_tokens_per_s: 5}],"))  # fmt: skip
    ran = planner("estimate", "chat.yaml")
    assert ran.code == 2
    assert "unknown accelerator; read Z9" in ran.err
    ran = planner("serving", *LLAMA, "--measured", "H100=x", "--trace", "none.csv")
    assert ran.code == 2
    assert "--measured: not understood; read H100=x; expected ACCELERATOR:COUNT=FILE" in ran.err
    assert "none.csv: cannot be read" in ran.err


def test_a_service_over_http(client):
    """The plan of the service in YAML, by the same request as JSON; files that a caller names are not read."""
    workload = {
        "name": "chat", "kind": "inference", "accelerators": ["H100"],
        "network": {"model": "llama-3-70b", "precision": "fp8", "run": "inference"},
        "serving": {"input_tokens": 1000, "output_tokens": 400, "ttft_ms": 2000, "tpot_ms": 50},
        "demand": {"requests_per_second": 20},
    }  # fmt: skip
    request = {"as_of": "2026-11-21", "months": 1, "providers": ["aws"], "strategies": ["cloud"]}
    answer = client.post("/plan", json={**request, "workloads": [workload]})
    assert answer.status_code == 200, answer.text
    plan = answer.json()
    assert plan["throughput"][0]["explanation"][0]["code"] == "replica_estimate"
    assert plan["strategies"][0]["total_cost"] > 0
    for field, changed in (
        ("serving", {**workload["serving"], "trace": "/etc/hostname"}),
        ("serving", {**workload["serving"], "measured": [{"file": "/etc/hostname"}]}),
        ("network", {"config": "/etc/hostname"}),
    ):
        answer = client.post("/plan", json={**request, "workloads": [{**workload, field: changed}]})
        assert answer.status_code == 422
        assert "only commands read a file that is named here" in answer.text
