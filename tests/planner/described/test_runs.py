"""Public rows as utilisation, by hand and against what the sources print themselves."""

from __future__ import annotations

import csv
import re

import pytest

from planner.performance.network_arithmetic import operations_per_token
from planner.performance.throughput.accelerator_scores import PRECISION_FALLBACKS
from planner.performance.throughput.network_estimates import public_runs
from planner.performance.throughput.network_estimates.benchmark_runs import (
    MOST_UTILISATION,
    NETWORKS,
    PRECISIONS,
    load_networks,
)
from planner.performance.throughput.network_estimates.roofline import NetworkJob
from pricing.accelerator import resolve

WORDS, POSITIONS = 50_368, 2_048
"""Of the MPT networks: vocabulary and positions learned, both as wide as the network."""


def test_a_7b_row_of_llm_foundry_by_hand(run_of):
    """37,130 tokens/s on 8 A100 = 4,641 each. Operations a token: 6 x 6,658,859,008 + 12 x 32 x 4,096 x 2,048 =
    39.953e9 + 3.221e9 = 43.174e9. 37,130 x 43.174e9 / (8 x 312e12) = 0.6423; the source prints 64.23 %."""
    run = run_of("llm-foundry:mpt-7b", accelerator="A100-80GB-SXM", config="seq 2048", accelerator_count="8")
    assert run.utilisation == pytest.approx(0.6423, abs=5e-5)
    assert (run.network, run.job.precision, run.source) == ("mpt-7b", "bf16", "mosaicml/llm-foundry")


def test_every_utilisation_that_a_source_prints_comes_out(measurements):
    """Within 4 %: the source counts positions of long sequences as weights, this table takes the network at 2,048."""
    printed = [(r, m[1]) for r in measurements if (m := re.search(r"\bMFU ([\d.]+)", r["notes"]))]
    assert len(printed) > 100
    for row, percent in printed:
        (run,) = public_runs([row])
        assert run.utilisation == pytest.approx(float(percent) / 100, rel=0.04), row


def test_a_lora_row_of_mlperf_by_hand(run_of):
    """2.155 sequences/s of 8,192 tokens on 8 H100. Frozen weights: 4 x 68,976,648,192 + 12 x 80 x 8,192 x 8,192 =
    275.907e9 + 64.425e9 = 340.331e9 a token, 2.78799e15 a sequence. 2.155 x 2.78799e15 / (8 x 1,979e12) = 0.3795."""
    run = run_of("mlperf-train:llama2-70b-lora", throughput="2.155")
    assert run.utilisation == pytest.approx(0.3795, abs=1e-4)
    assert run.job.run == "lora"


def test_a_row_with_only_its_time_counts_the_tokens_it_took_to_converge(run_of):
    """TPU v5e: 44.6484 min for 1.226e9 tokens = 457,650 tokens/s. 6 x 175e9 + 12 x 96 x 12,288 x 2,048 = 1.07899e12.
    457,650 x 1.07899e12 / (4,096 x 197e12) = 0.612: no FP8 there, so the half-precision peak."""
    run = run_of("mlperf-train:gpt3-175b", accelerator="TPU-v5e")
    assert run.utilisation == pytest.approx(0.612, abs=1e-3)


def test_a_decoded_token_reads_every_weight_once(run_of):
    """46.51 tokens/s x 8,030,261,248 x 2 bytes / 936.2e9 bytes/s = 0.7979."""
    run = run_of("llamacpp:llama3-8B-F16-tg", accelerator="RTX-3090-24GB", accelerator_count="1")
    assert run.utilisation == pytest.approx(0.7979, abs=1e-4)


def test_layers_and_width_of_mpt_give_the_parameters_that_are_printed():
    """12 L h^2 of the layers, h of each word and position; what is left over (norms) is below 1 %."""
    seen = {e.network: e for group in load_networks().values() for e in group if e.network.startswith("mpt-")}
    assert len(seen) == 7
    with NETWORKS.open(encoding="utf-8", newline="") as file:
        own = {r["network"]: r for r in csv.DictReader(file) if r["layers"]}
    for name in ("mpt-125m", "mpt-350m", "mpt-760m"):
        layers, width = int(own[name]["layers"]), int(own[name]["hidden_size"])
        assert 12 * layers * width**2 + (WORDS + POSITIONS) * width == pytest.approx(seen[name].parameters, rel=0.01)


def test_the_tokens_to_converge_are_what_rows_that_print_both_show(measurements):
    both = sorted(
        float(r["throughput"]) * float(r["time_to_train_minutes"]) * 60
        for r in measurements
        if r["group"] == "mlperf-train:gpt3-175b" and r["throughput"] and r["time_to_train_minutes"]
    )
    (told,) = {e.units_to_converge for e in load_networks()["mlperf-train:gpt3-175b"]}
    assert told == pytest.approx(both[len(both) // 2], rel=0.01)
    assert both[0] > told * 0.95
    assert both[-1] < told * 1.1


def test_rows_of_a_cell_weigh_together_as_the_root_of_their_number(runs):
    cell = [r for r in runs if r.cell == ("llm-foundry:mpt-7b", "A100-80GB-SXM", "fp16")]
    assert sum(r.weight for r in cell) == pytest.approx(len(cell) ** 0.5)


def test_no_run_does_more_than_there_is(runs):
    assert max(r.utilisation for r in runs) <= MOST_UTILISATION
    assert min(r.utilisation for r in runs) > 0


def test_every_line_of_the_table_has_rows_and_a_source(measurements):
    groups = {r["group"] for r in measurements}
    assert load_networks().keys() <= groups
    assert all(e.source for group in load_networks().values() for e in group)


def test_every_precision_that_is_written_is_known():
    assert set(PRECISIONS.values()) <= PRECISION_FALLBACKS.keys() | {"int4", "int8"}


@pytest.mark.parametrize(
    ("part", "precision", "expected"),
    [
        ("A100-80GB-SXM", "fp8", ("fp16", 312e12)),
        ("H100-80GB-SXM", "fp8", ("fp8", 1979e12)),
        ("H100-80GB-SXM", "int4", ("fp16", 989.4e12)),
        ("GTX-1080-Ti-11GB", "fp16", ("fp32", 11.34e12)),
        ("CPU-Xeon-8380", "bf16", ("fp32", 5.9e12)),
    ],
)
def test_the_peak_is_that_of_the_precision_or_the_next_wider(part, precision, expected):
    limit = NetworkJob("training", "pretraining", 1e9, 1.0, precision, resolve(part), 1).limit
    assert (limit.precision, limit.units_per_second) == expected


@pytest.mark.parametrize(("parameters", "layers", "width"), [(6.74e9, 32, 4096), (69e9, 80, 8192), (175e9, 96, 12288)])
def test_an_untold_shape_costs_what_published_ones_do(parameters, layers, width):
    """Attention is 7 % of the work of 7B at 2,048 tokens; a shape off by 6 % is 0.4 % of it."""
    published = operations_per_token("pretraining", parameters, layers * width, 2048)
    assert operations_per_token("pretraining", parameters, None, 2048) == pytest.approx(published, rel=0.01)
