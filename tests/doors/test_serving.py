"""`planner serving` as a user meets it, and services by sheet and by HTTP."""

from __future__ import annotations

import json

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
    """Costs of a million tokens by hand: two H100 at the price shown, 1,622 output and 2.5 times as many input tokens a
    second; prompts take 38.0 % of the time."""
    ran = planner("serving", *LLAMA, "--ttft", "2000", "--rate", "2,20,200", "--accelerator", "H100-80GB-SXM",
                  "--format", "json")  # fmt: skip
    assert ran.code == 0, ran.err
    (service,) = json.loads(ran.out)["services"]
    (row,) = service["accelerators"]
    assert (row["count"], row["concurrency"], row["limit"], row["basis"]) == (2, 73, "tpot", "measured")
    assert row["replicas"] == [1, 6, 50]
    hour = 2 * row["price_per_accelerator_hour"]
    tokens = row["output_tokens_per_s"] * 3600
    assert row["cost_per_million_output"] == pytest.approx(hour * (1 - 0.3802) / tokens * 1e6, rel=1e-3)
    assert row["cost_per_million_input"] == pytest.approx(hour * 0.3802 / (2.5 * tokens) * 1e6, rel=1e-3)
    assert "silicon_sample.csv" in row["nearest"][0]["source"]


def test_a_table_with_the_accelerators_that_cannot_serve(planner):
    ran = planner("serving", *LLAMA, "--accelerator", "H100-80GB-SXM,L4,V100-16GB-SXM2", "--count", "1,2")
    assert ran.code == 0, ran.err
    assert ran.out.count("H100-80GB-SXM  ") == 2
    assert "  L4-24GB: 2 x L4-24GB have 21.6 GiB each for the engine" in ran.out
    assert "  V100-16GB-SXM2: V100-16GB-SXM2 is of 2017; the oldest accelerator with results of served" in ran.out


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


def test_a_served_model_without_lengths_in_a_sheet(planner, tmp_path):
    (tmp_path / "chat.csv").write_text("Workload,Served model,Requests per second,TTFT\nchat,llama-3-70b,20,2000\n")
    ran = planner("estimate", "chat.csv")
    assert ran.code == 2
    for problem in ("without input tokens", "without output tokens", "'TTFT' has no unit"):
        assert problem in ran.err
