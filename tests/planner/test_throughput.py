"""Measured values as given; the prediction rule against sums worked by hand from the accelerator table."""

from __future__ import annotations

import math

import pytest

from planner.throughput import Measured, predict


@pytest.fixture
def part(catalog):
    return catalog.names.by_name.__getitem__


def on(part, count, rate, precision="bf16", scaling="weak"):
    return Measured(part, count, rate, precision, scaling)


def test_the_measured_point_comes_back_as_it_is(part):
    found = predict([on(part("A100-80GB-SXM"), 8, 500.0)], part("A100-80GB-SXM"), 8)
    assert (found.units_per_hour, found.low, found.high, found.basis) == (500.0, 500.0, 500.0, "measured")


def test_another_accelerator_by_the_rule(part):
    """A100-80GB-SXM to H100-80GB-SXM at bf16: (989.4 / 312)^0.4 x (3350 / 2039)^0.6 x 1.00 / 1.05
    = 1.58667 x 1.34702 / 1.05 = 2.0355. Ampere to Hopper is across architectures: / and x 1.48 hold 80 % of cases."""
    found = predict([on(part("A100-80GB-SXM"), 8, 100.0)], part("H100-80GB-SXM"), 8)
    assert found.units_per_hour == pytest.approx(203.55, abs=0.1)
    assert (found.low, found.high) == pytest.approx((found.units_per_hour / 1.48, found.units_per_hour * 1.48))
    assert found.basis == "predicted_across_architectures"


def test_the_same_architecture_is_surer(part):
    found = predict([on(part("A100-80GB-SXM"), 8, 100.0)], part("A100-40GB-SXM"), 8)
    assert found.basis == "predicted_same_architecture"
    assert found.high / found.units_per_hour == pytest.approx(1.33)


def test_more_of_the_same_keeps_976_of_1000_at_each_doubling(part):
    """8 to 32 is two doublings: 4 x 0.976^2 = 3.8103."""
    found = predict([on(part("H100-80GB-SXM"), 8, 100.0)], part("H100-80GB-SXM"), 32)
    assert found.units_per_hour == pytest.approx(381.03, abs=0.01)
    assert found.basis == "predicted_count"
    assert (found.low / found.units_per_hour, found.high / found.units_per_hour) == pytest.approx((0.83, 1.08))


def test_a_fixed_job_far_beyond_its_count_follows_amdahl(part):
    """8 to 128 (16 times) with serial fraction 0.0034: S(n) = 1 / (0.0034 + 0.9966 / n); S(128) / S(8) = 89.37 /
    7.8138 = 11.437."""
    found = predict([on(part("H100-80GB-SXM"), 8, 100.0, scaling="strong")], part("H100-80GB-SXM"), 128)
    assert found.units_per_hour == pytest.approx(100 * (1 / (0.0034 + 0.9966 / 128)) / (1 / (0.0034 + 0.9966 / 8)))
    assert found.units_per_hour == pytest.approx(1143.7, abs=1)


def test_two_counts_bring_the_asker_s_own_efficiency(part):
    """100 on 1 and 180 on 2: 0.9 kept. With the default 0.976: sqrt(0.9 x 0.976) = 0.93723. From 2 to 4: 180 x 2 x
    0.93723."""
    h100 = part("H100-80GB-SXM")
    found = predict([on(h100, 1, 100.0), on(h100, 2, 180.0)], h100, 4)
    assert found.units_per_hour == pytest.approx(360 * math.sqrt(0.9 * 0.976))


def test_the_nearest_measurement_is_used(part):
    known = [on(part("V100-16GB-SXM2"), 8, 10.0), on(part("A100-40GB-SXM"), 8, 100.0)]
    found = predict(known, part("A100-80GB-SXM"), 8)
    assert "A100-40GB-SXM" in found.explanation


def test_pascal_without_fast_half_precision_counts_at_fp32(part):
    """P4: fp16 0.089 TFLOPS, fp32 5.704. T4: fp16 65. (65 / 5.704)^0.4 x (320 / 192.3)^0.6 x 0.72 = 2.646 x 1.3574 x
    0.72 = 2.587."""
    found = predict([on(part("P4-8GB"), 1, 100.0)], part("T4-16GB"), 1)
    assert found.units_per_hour == pytest.approx(258.7, abs=0.5)


def test_an_unknown_specification_is_an_answer_not_a_guess(part):
    assert predict([on(part("A100-80GB-SXM"), 1, 100.0)], part("RTX-PRO-4500-32GB"), 1).startswith("no bf16 peak rate")


def test_every_efficiency_belongs_to_an_accelerator(catalog):
    from planner.throughput import _efficiency

    assert set(_efficiency()) <= set(catalog.names.by_name)
    assert len(_efficiency()) == 60
