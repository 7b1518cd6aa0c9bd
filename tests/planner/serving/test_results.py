"""The shipped results, their import, the freshness of the fit, and the errors on results kept out."""

from __future__ import annotations

import csv
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.performance.serving.model_config import network_of_config
from planner.performance.serving.rate_estimates import (
    NearResult,
    ReplicaPlace,
    ResidualCorrection,
    correct_first_token,
    correct_split,
    find_nearby,
    replica_distance,
    shipped_known,
    sum_residuals,
)
from planner.performance.serving.result_errors import summarise_errors
from planner.performance.serving.served_models import load_families
from planner.performance.serving.serving_results import RESULT_COLUMNS, RESULTS_FILE, read_results, shipped_results
from planner.performance.serving.speed_model import load_coefficients
from planner.request.errors import InvalidRequest
from pricing.accelerator import embedded_names
from pricing.errors import InvalidSnapshot
from tools.importer.serving_results import import_serving_results
from tools.serving.__main__ import main
from tools.serving.validation import _curve_of, judge_result

ROW = dict.fromkeys(RESULT_COLUMNS, "") | {
    "group": "llama-3-70b@H100-80GB-SXM", "model": "Llama-3.3-70B", "total_params_b": "70.6",
    "active_params_b": "70.6", "accelerator": "H100-80GB-SXM", "accelerator_count": "2", "precision": "fp8",
    "engine": "vLLM", "tensor_parallel": "2", "input_tokens": "1000", "output_tokens": "400", "concurrency": "64",
    "output_tokens_per_s": "1500", "basis": "vllm bench serve, closed loop", "source": "mine", "date": "2026-11-01",
}  # fmt: skip


@pytest.fixture
def written(tmp_path):
    def write(*changes):
        path = tmp_path / "results.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, RESULT_COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows({**ROW, **change} for change in changes)
        return path

    return write


def test_every_shipped_result_has_its_source(tmp_path):
    """5,879 rows of 448 sources; 449 rows have no date in theirs. Importing them again changes no byte."""
    target = tmp_path / "again.csv"
    assert import_serving_results(RESULTS_FILE, target) == {"rows": 5879, "sources": 448, "without a date": 449}
    assert target.read_bytes() == RESULTS_FILE.read_bytes()
    families = load_families()
    assert {each.group for each in shipped_results()} == set(families)


def test_rows_that_are_no_results_are_named(written, tmp_path):
    path = written({}, {"accelerator": "H1000"}, {"precision": "fp12"}, {"concurrency": "many"}, {"source": ""})
    table = read_results(path, embedded_names())
    assert [(row.line, row.reason) for row in table.refused] == [
        (3, "no specification of H1000"),
        (4, "unknown precision 'fp12'"),
        (5, "concurrency is 'many', expected a number above 0 or an empty cell"),
    ]
    target = tmp_path / "target.csv"
    with pytest.raises(InvalidSnapshot) as refused:
        import_serving_results(path, target)
    assert len(refused.value.faults) == 4  # the row without a source too
    assert not target.exists()
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(InvalidRequest):
        read_results(path, embedded_names())


@pytest.mark.parametrize(("factor", "error"), [(2.0, 0.5), (0.5, 1.0)])
def test_errors_by_hand(written, factor, error):
    """Measured at twice the estimate, the estimate errs by 50 %; at half of it by 100 %."""
    (result,) = read_results(written({}), embedded_names()).results
    split = correct_split(result.point, find_nearby(result.point, shipped_known(result.family)))
    estimate = result.point.concurrency / sum(split.values())
    table = read_results(written({"output_tokens_per_s": repr(factor * estimate)}), embedded_names())
    (rate, *_), left = summarise_errors(table.results)
    assert (rate.question, rate.load, rate.results, rate.covered, left) == ("rate", "served", 1, 0.0, {})
    assert rate.median == rate.p90 == pytest.approx(error)


@pytest.mark.parametrize("factor", [2.0, 0.5])
def test_a_result_left_out_is_measured_over_estimated(written, factor):
    """The intervals are of measured over estimated rates, as the plan applies them: a rate of twice the estimate has
    ln 2, and a time to first token of half the estimate -ln 2."""
    (result,) = read_results(written({}), embedded_names()).results
    known = shipped_known(result.family)
    nearby = find_nearby(result.point, known)
    split = correct_split(result.point, nearby)
    rate, first = result.point.concurrency / sum(split.values()), correct_first_token(result.point, split, nearby)
    changes = {"output_tokens_per_s": repr(factor * rate), "ttft_ms": repr(1000 * first / factor)}
    (result,) = read_results(written(changes), embedded_names()).results
    case = judge_result(result, "model", known, load_coefficients())
    assert case.log_ratio == pytest.approx(math.log(factor))
    assert case.first_token_log_ratio == pytest.approx(-math.log(factor))


def test_rows_without_a_known_load_are_counted(written):
    table = read_results(written({}, {"input_tokens": ""}, {"output_tokens_per_s": ""}), embedded_names())
    summaries, left = summarise_errors(table.results)
    assert summaries[0].results == 1
    assert left == {"without input_tokens": 1, "without a rate": 1}


@pytest.mark.slow
def test_the_fit_is_that_of_the_shipped_results(capsys):
    """If not: python -m tools.serving."""
    assert main(["--check"]) == 0, capsys.readouterr().out


LLAMA = {
    "hidden_size": 8192, "intermediate_size": 28672, "num_attention_heads": 64, "num_hidden_layers": 80,
    "num_key_value_heads": 8, "tie_word_embeddings": False, "vocab_size": 128256, "model_type": "llama",
}  # fmt: skip
"""Of meta-llama/Llama-3.3-70B-Instruct, as kept in github.com/ai-dynamo/aiconfigurator model_configs."""
GLM = {
    "num_hidden_layers": 78, "hidden_size": 6144, "num_attention_heads": 64, "num_key_value_heads": 64, "head_dim": 64,
    "intermediate_size": 12288, "vocab_size": 154880, "n_routed_experts": 256, "n_shared_experts": 1,
    "num_experts_per_tok": 8, "moe_intermediate_size": 2048, "first_k_dense_replace": 3, "kv_lora_rank": 512,
    "q_lora_rank": 2048, "qk_nope_head_dim": 192, "qk_rope_head_dim": 64, "v_head_dim": 256,
    "tie_word_embeddings": False,
}  # fmt: skip
"""Of zai-org/GLM-5-FP8, as kept there: 744 billion parameters, 40 billion active in the shipped results."""


def test_a_config_tells_the_weights():
    """Embeddings 2 x 128,256 x 8,192; a layer 2 x 8,192 x 128 x (64 + 8) and 3 x 8,192 x 28,672; 161 norms."""
    network, faults = network_of_config(LLAMA)
    assert faults == ()
    by_hand = 2 * 128256 * 8192 + 80 * (2 * 8192 * 128 * 72 + 3 * 8192 * 28672) + 161 * 8192
    assert network["parameters"] == by_hand == 70_553_706_496
    assert (network["kv_heads"], network["head_size"]) == (8, 128)
    assert "active_parameters" not in network


def test_a_config_of_experts_with_latent_attention():
    """A token keeps 512 + 64 values a layer: one head of 288 for keys and values each."""
    network, faults = network_of_config({"text_config": GLM})
    assert faults == ()
    assert network["parameters"] == pytest.approx(744e9, rel=0.01)
    assert network["active_parameters"] == pytest.approx(40e9, rel=0.05)
    assert (network["kv_heads"], network["head_size"]) == (1, 288)


def test_layers_without_a_full_cache_count_in_the_mean():
    """15 of 60 layers attend to everything (Qwen3.5-397B-A17B): heads of 256 / 4 = 64 values on average."""
    kinds = (["linear_attention"] * 3 + ["full_attention"]) * 15
    network, _ = network_of_config({**LLAMA, "num_hidden_layers": 60, "head_dim": 256, "layer_types": kinds})
    assert network["head_size"] == 64


def test_faults_of_a_config_are_told_together():
    assert network_of_config({"hidden_size": "big"})[1] == tuple(
        f"{name} is missing or no whole number above 0"
        for name in ("num_hidden_layers", "hidden_size", "num_attention_heads", "vocab_size")
    )
    without = json.loads(json.dumps(GLM))
    del without["num_experts_per_tok"]
    assert network_of_config(without)[1] == ("num_experts_per_tok is missing or no whole number above 0",)


def test_results_are_of_one_curve_only_with_the_same_software_and_parallelism(written):
    """Version, day, model and parallelism are no part of a question; what the asker measures has his own."""
    changes = ({}, {"concurrency": "8"}, {"engine_version": "0.20"}, {"date": "2026-10-01"}, {"expert_parallel": "2"})
    results = read_results(written(*changes), embedded_names()).results
    curves = [_curve_of(each) for each in results]
    assert curves[0] == curves[1]
    assert len(set(curves)) == 4


MIXTURE = {
    "group": "qwen3-235b-a22b@H100-80GB-SXM", "model": "Qwen3-235B", "total_params_b": "235", "active_params_b": "22",
    "accelerator_count": "8", "tensor_parallel": "8",
}  # fmt: skip


def test_expert_parallel_is_told_of_mixtures_alone(written):
    rows = ({**MIXTURE, "expert_parallel": "8"}, {**MIXTURE, "expert_parallel": "1"}, {"expert_parallel": "8"}, MIXTURE)
    results = read_results(written(*rows), embedded_names()).results
    assert [each.point.expert_parallel for each in results] == [True, False, False, False]


def test_distances_by_hand(written):
    """Twice the input: 0.1; half the accelerators, and half of them in tensor parallel: 0.4 each; another engine: 2;
    expert parallel: 2."""
    rows = (
        {}, {"input_tokens": "2000"}, {"accelerator_count": "1", "tensor_parallel": "1"}, {"engine": "sglang"},
        {"accelerator": "H200-141GB-SXM"}, {"precision": "bf16"}, MIXTURE, {**MIXTURE, "expert_parallel": "8"},
    )  # fmt: skip
    results = read_results(written(*rows), embedded_names()).results
    places = [ReplicaPlace.from_point(each.point) for each in results]
    distances = [replica_distance(places[0], each) for each in places[:6]]
    assert distances == pytest.approx([0, 0.1, 0.8, 2, 3, 2])
    assert replica_distance(places[6], places[7]) == 2


@given(
    residuals=st.lists(
        st.tuples(st.sampled_from([0.0, 1.0, 3.0, 9.0]), st.floats(0, 12), st.floats(-2, 2)), min_size=1
    ),
    log=st.floats(0, 9),
)
def test_sums_by_load_are_those_over_single_results(residuals, log):
    """sum k r / sum k with k = exp(-distance - 0.1 (log - log of the result)^2), over every result."""
    near = [NearResult(distance, at, value) for at, distance, value in residuals]
    found = ResidualCorrection(sum_residuals(near, lambda value: value)).at(log)
    weights = [math.exp(-each.distance_at(log)) for each in near]
    mean = math.fsum(weight * each.known for weight, each in zip(weights, near, strict=True)) / math.fsum(weights)
    assert found == pytest.approx(mean * max(weights) / (max(weights) + 0.02), abs=1e-9)
