"""`planner memory`: a table and JSON of one network or of a file's, and every fault at once."""

from __future__ import annotations

import json

import pytest

FILE = """\
as_of: 2026-11-21
workloads:
  - name: tune
    gang: 8
    demand: {accelerator_hours_per_month: 10, accelerator: H100}
    network: {model: llama-3-8b, run: finetuning, sequence_length: 8192, checkpointing: full}
  - name: no network
    demand: {accelerator_hours_per_month: 10, accelerator: H100}
  - name: serve
    demand: {accelerator_hours_per_month: 10, accelerator: H100}
    network: {parameters: 30B, run: inference, precision: int4}
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "job.yaml"
    path.write_text(FILE)
    return path


def test_a_table_of_parts_and_of_accelerators(planner):
    """Weights of llama-2-7b in 16 bits: 2 x 6,738,415,616 bytes = 12.55 GiB; 12 bytes for AdamW 75.31."""
    done = planner("memory", "--model", "llama-2-7b", "--run", "finetuning", "--sequence", "4096", "--batch", "1")
    assert done.code == 0
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert {"weights 12.55", "gradients 12.55", "optimizer 75.31"} <= set(lines)
    assert any(line.startswith("A100-80GB-SXM 80 4 2 ") for line in lines)
    assert any(line.endswith("the memory of CPU-EPYC-7763-64c is unknown") for line in lines)
    assert any("huggingface.co/meta-llama/Llama-2-7b-hf" in line for line in lines)


def test_json_has_the_same_figures(planner):
    done = planner("memory", "--model", "llama-2-7b", "--accelerator", "H100-80GB-SXM,T4", "--format", "json")
    (network,) = json.loads(done.out)["networks"]
    assert network["network"]["model"] == "llama-2-7b"
    assert network["memory"]["weights_gib"] == pytest.approx(12.551, abs=1e-3)
    h100, t4 = network["accelerators"]
    assert (h100["accelerator"], h100["count"], h100["tight"]) == ("H100-80GB-SXM", 2, None)
    assert h100["memory"]["parallelism"]["zero_stage"] == 3
    split = h100["memory"]["explanation"][1]
    assert (split["code"], split["parameters"]["copies"]) == ("gang_split", 2)
    assert split["text"] == "2 copies sharing by ZeRO 3 (assumed)"
    assert t4["memory_gib"] == 16


def test_the_same_question_gives_the_same_bytes(planner):
    first, second = (planner("memory", "--model", "gpt2", "--format", "json").data for _ in range(2))
    assert first == second


def test_each_workload_of_a_file_that_has_a_network(planner, file):
    done = planner("memory", str(file), "--accelerator", "H100", "--format", "json")
    tune, serve = json.loads(done.out)["networks"]
    assert (tune["name"], tune["count"], serve["name"], serve["count"]) == ("tune", 8, "serve", 1)
    assert tune["memory"]["basis"] == "published"
    assert serve["memory"]["basis"] == "inferred"


def test_standard_input(planner):
    done = planner("memory", "-", "--accelerator", "H100", stdin=FILE.encode())
    assert done.code == 0
    assert "tune: finetuning in bf16" in done.out


def test_every_fault_of_options_at_once(planner):
    done = planner("memory", "--model", "llama-2-7bx", "--run", "finetning", "--sequence", "x", "--tensor", "0",
                   "--precision", "bf17", "--count", "none", "--accelerator", "H10O")  # fmt: skip
    assert done.code == 2
    assert done.out == ""
    for place in ("--model", "--run", "--sequence", "--tensor", "--precision", "--count", "--accelerator"):
        assert f"\n  {place}: " in done.err
    assert "7 problems" in done.err
    assert "nearest: llama-2-7b," in done.err


def test_every_fault_of_a_file_with_its_line(planner, file):
    file.write_text(FILE.replace("full}", "ful, layrs: 3}").replace("gang: 8", "gang: x").replace("30B", "-1"))
    done = planner("memory", str(file))
    assert done.code == 2
    for place in ("line 4 column 11", "line 6 column", "line 11 column"):
        assert f"\n  {place}" in done.err
    assert "4 problems" in done.err


@pytest.mark.parametrize(("arguments", "words"), [
    ((), "--model: give a published model, or parameters"),
    (("missing.yaml",), "missing.yaml: cannot be read"),
    (("--model", "gpt2", "missing.yaml"), "--model: cannot be combined with a file"),
    (("--model", "gpt2", "--run", "finetuning", "--precision", "int4"), "weights in int4 are not trained"),
])  # fmt: skip
def test_asked_wrongly(planner, arguments, words):
    done = planner("memory", *arguments)
    assert done.code == 2
    assert words in done.err


def test_a_file_without_networks(planner, job):
    done = planner("memory", str(job))
    assert done.code == 2
    assert "no workload has a network" in done.err


def test_a_name_cannot_steer_the_terminal(planner):
    text = FILE.replace("name: tune", 'name: "tu\\e[31mne"')
    assert "\x1b" not in planner("memory", "-", "--accelerator", "T4", stdin=text.encode()).out


def test_what_cannot_be_told_says_why(planner):
    done = planner("memory", "--parameters", "20K", "--accelerator", "T4")
    assert done.code == 0
    assert "unknown: no published model is of similar size" in done.out


def test_the_models_are_listed_with_their_sources(planner):
    done = planner("memory", "--models")
    assert any(line.startswith("llama-3.1-405b") and "405.85B" in line for line in done.out.splitlines())
    rows = json.loads(planner("memory", "--models", "--format", "json").out)["models"]
    assert len(rows) >= 25
    assert all(row["source"] and row["source_date"] for row in rows)
