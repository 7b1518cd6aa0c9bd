"""Errors of predictions: on results of your own (`planner throughput --errors`), and on results left out of the fit."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from planner.performance.throughput.intervals import LogInterval
from planner.performance.throughput.published_results import MEASUREMENTS, PublishedResult, merge_results, read_results
from planner.performance.throughput.result_errors import (
    PredictedStep,
    Residual,
    predict_pair,
    summarise,
    summarise_cases,
)
from planner.performance.throughput.result_pairs import ResultPair, growth_between
from pricing.catalog.price_catalog import Catalog
from tests.result_rows import row, write_table
from tools.throughput.__main__ import main
from tools.throughput.errors import cross_validate
from tools.throughput.measured_rates import nested_interval, validate_years

NAMES = Catalog.embedded().names


@pytest.fixture
def fit(capsys):
    """Runs the command: exit code and what was printed."""

    def run(*arguments):
        code = main(arguments)
        printed = capsys.readouterr()
        return SimpleNamespace(code=code, out=printed.out, err=printed.err)

    return run


@pytest.fixture
def table(tmp_path):
    """Writes a file of rows of results."""
    return lambda *rows: write_table(tmp_path / "new.csv", *rows)


def test_rows_are_read_as_their_source_means_them(table):
    """NVFP4 is not half precision; the batch of llm-foundry is that of the job: 504 on 8 is 63 on each."""
    path = table(
        row(precision="nvfp4"), row(precision="Q4_K_M"), row(precision=""),
        row(count=8, batch=504, source="mosaicml/llm-foundry"), row(precision="int8"),
        row(notes="8-GPU values are superlinear"), row(batch='"131,072"'),
    )  # fmt: skip
    read = read_results(path, NAMES)
    assert [result.precision for result in read.results] == ["fp4", "fp16", "fp16", "fp16", "fp16"]
    assert [result.batch for result in read.results] == [8, 8, 8, 63, 131_072]
    assert {result.year for result in read.results} == {2026}
    assert [(one.line, one.reason) for one in read.refused] == [
        (6, "unknown precision 'int8'"), (7, "superlinear, says its note"),
    ]  # fmt: skip


def result(part="A100-80GB-SXM", count=1, rate=1.0, batch=None, precision="fp16", group="a:b", submitter="me"):
    return PublishedResult(
        "throughput", group, f"{group}|{precision}", "training", precision, "weak", part, count, submitter, "me", rate,
        batch, 2026,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("one", "eight", "growth"),
    [(None, None, "weak"), (64, 64, "weak"), (1_048_576, 131_072, "strong"), (64, 32, None), (64, None, None)],
)
def test_batches_tell_how_a_job_grew(one, eight, growth):
    """NCF of NVIDIA's examples keeps the batch of the job: 1,048,576 on one, 131,072 on each of eight."""
    assert growth_between(result(batch=one), result(count=8, batch=eight)) == growth


def test_results_of_several_setups_are_not_mixed():
    """1,209 and 165 images a second of one setup are two networks (EfficientNet B0 and B4 of NVIDIA's examples); 100
    and 121 are one: their median is the root of both, 110."""
    mixed = [result(rate=1209.0), result(rate=165.0)]
    alike = [result("H100-80GB-SXM", rate=100.0), result("H100-80GB-SXM", rate=121.0)]
    (left,) = merge_results([*mixed, *alike], by_setup=False)
    assert (left.accelerator, left.rate) == ("H100-80GB-SXM", pytest.approx(110.0))


def test_the_plain_ratio_by_hand():
    """A100-80GB-SXM (312 TFLOPS, 2039 GB/s) to two H100-80GB-SXM (989.4, 3350): 2 x sqrt(989.4 x 3350 / (312 x 2039))
    = 4.565; measured 4, so ln(4.565 / 4) = 0.1321."""
    pair = ResultPair("both", result(rate=1.0), result("H100-80GB-SXM", count=2, rate=4.0), "weak")
    assert predict_pair(pair, NAMES.by_name).ratio_error == pytest.approx(0.1321, abs=1e-4)


def test_an_fp32_prediction_is_the_ratio():
    pair = ResultPair(
        "accelerator", result("V100-16GB-SXM2", precision="fp32"), result("RTX-2080-Ti-11GB", precision="fp32"), "weak"
    )
    case = predict_pair(pair, NAMES.by_name)
    assert case.log_error == pytest.approx(case.ratio_error)
    assert list(case.subject.titles) == ["accelerator", "same_vendor", "training", "fp32"]


def test_a_source_s_interval_is_made_without_it():
    """Errors of 0.5 in source a, of 0.1 in b: the interval of a is b's, and the other way round."""
    step = PredictedStep("accelerator", ("same_vendor",), "training", "same_vendor", "fp16")
    cases = [Residual(step, group, error, 1.0, error) for group, error in (("a:x", 0.5), ("b:x", 0.1), ("b:y", 0.1))]
    interval = nested_interval(cases, {"a:x": "a", "b:x": "b", "b:y": "b"})
    assert [interval(case).high for case in cases] == [0.1, 0.5, 0.5]
    (all_of_them, *_) = summarise_cases(cases, interval)
    assert all_of_them.covered == pytest.approx(2 / 3)


def test_a_later_year_is_not_known_before():
    """Results of 2023 change nothing of what was judged of 2022, the first year with three publishers before it."""
    dated = [one for one in read_results(MEASUREMENTS, NAMES).results if one.kind == "throughput" and one.year]
    until_2022, until_2023 = ([one for one in dated if one.year <= year] for year in (2022, 2023))
    before, after = validate_years(until_2022, NAMES), validate_years(until_2023, NAMES)
    assert 0 < len(before) < len(after)
    assert after[: len(before)] == before
    assert validate_years([one for one in dated if one.year <= 2021], NAMES) == []


@pytest.mark.parametrize(
    "options", [("--errors", "--check"), ("--errors", "nothing"), ("--networks", "--take", "new.csv")]
)
def test_options_that_exclude_each_other_are_refused(fit, options):
    with pytest.raises(SystemExit) as refused:
        fit(*options)
    assert refused.value.code == 2


def test_folds_share_no_part_of_their_key():
    """Keys (1, a), (1, b), (2, b): the first and the last share no part, the middle one shares one with each."""
    items = [("1", "a"), ("1", "b"), ("2", "b")]

    def predict(is_left_out, rest):
        return [Residual((item, *rest), "group", 0.0) for item in filter(is_left_out, items)]

    residuals = cross_validate(items, lambda item: item, predict)
    assert [residual.subject for residual in residuals] == [(items[0], items[2]), (items[2], items[0])]


def test_a_summary_by_hand():
    """Predicted over actual 1.1, 0.5 and 1.3: errors of 10, 50 and 30 %; two of three within a factor of 1.5."""
    residuals = [Residual(None, group, math.log(ratio)) for group, ratio in (("a", 1.1), ("a", 0.5), ("b", 1.3))]
    summary = summarise("all", residuals, lambda _: LogInterval.symmetric(math.log(1.5)))
    assert (summary.cases, summary.groups) == (3, 2)
    assert (summary.median, summary.p90, summary.covered) == pytest.approx((0.3, 0.5, 2 / 3))


def test_independent_intervals_add_in_squares():
    both = LogInterval.combine([0.3, 0.4])
    assert both == LogInterval(pytest.approx(-0.5), pytest.approx(0.5))
    assert both.around(10.0, maximum=12.0) == pytest.approx((10 * math.exp(-0.5), 12.0))
    assert both.holds(0.49)
    assert not both.holds(-0.51)
