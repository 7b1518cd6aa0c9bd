"""What better use of the accelerators would save: sums by hand, the shipped gains, and the plan that tells it."""

from __future__ import annotations

import pytest

from planner.analysis.utilisation_worth import fed_saving, speed_saving
from planner.application import plan
from planner.performance.throughput.published_results import MEASUREMENTS, read_results
from planner.performance.throughput.tuning_gains import GAINS_FILE, find_precision_gain, gains_csv, load_gains
from pricing.catalog.price_catalog import Catalog
from tools.throughput.tuning_gains import fit_gains

NAMES = Catalog.embedded().names
P3 = ("aws", "us-east-1", "p3.2xlarge", "on_demand")


@pytest.mark.parametrize(
    ("utilisation", "saved"),
    [(0.34, 62_222.22), (0.45, 50_000.0), (0.9, 0.0), (1.0, 0.0)],
)
def test_feeding_saves_the_hours_of_waiting(utilisation, saved):
    """Of 100,000 a year at 34 %: 34 / 90 of the hours are left, 1 - 0.3778 = 62,222 saved."""
    assert fed_saving(100_000, utilisation) == pytest.approx(saved, abs=0.01)


def test_speed_saves_of_the_time_at_work_only():
    """At 34 % and twice as fast: half of 34,000 is 17,000; slower work saves nothing."""
    assert speed_saving(100_000, 0.34, 2.0) == pytest.approx(17_000)
    assert speed_saving(100_000, 0.34, 0.9) == 0


def test_gains_are_those_of_the_published_results():
    assert gains_csv(fit_gains(read_results(MEASUREMENTS, NAMES).results, NAMES)) == GAINS_FILE.read_text()
    volta = load_gains()["half precision from fp32", "Volta"]
    assert volta.low < 2 < volta.median < volta.high  # NVIDIA's examples on V100: mostly 1.3 to 4 times
    assert all(gain.low <= gain.median <= gain.high and gain.groups > 1 for gain in load_gains().values())


@pytest.mark.parametrize(
    ("part", "precision", "change"),
    [
        ("V100-16GB-SXM2", "fp32", "half precision from fp32"),
        ("V100-16GB-SXM2", "tf32", "half precision from fp32"),  # it has no TF32
        ("A100-80GB-SXM", "tf32", "half precision from tf32"),
        ("A100-80GB-SXM", "bf16", None),
        ("GTX-1080-Ti-11GB", "fp16", None),
        ("MI300X-192GB", "fp32", None),
    ],
)
def test_half_precision_gains_where_a_wider_one_is_computed_at(part, precision, change):
    gain = find_precision_gain(NAMES.by_name[part], precision)
    assert (gain and gain.change) == change


def test_a_plan_tells_what_its_waiting_costs(priced, ask):
    """One V100 at 3 USD an hour, 1,000 units an hour: 730,000 a month are 730 hours, 2,190 USD; 26,280 a year and its
    boot disk. At 34 %: 26,280 x (1 - 0.34 / 0.9) = 16,352."""
    measured = {"accelerator": "V100-16GB-SXM2", "units_per_hour": 1000, "per": "job", "precision": "fp32",
                "utilisation": 0.34}  # fmt: skip
    job = {"name": "train", "kind": "training", "unit": "samples", "demand": {"units_per_month": 730_000},
           "accelerators": ["V100-16GB-SXM2"], "measurements": [measured]}  # fmt: skip
    found = plan(ask(job, months=2, strategies=["cloud"]), priced({P3: 3.0}))
    (told,) = [reason for reason in found.recommendation.reasons if reason.code == "utilisation_worth"]
    cost = told.parameters["cost_per_year"]
    assert cost == pytest.approx(26_280, rel=0.003)
    fed, mixed, batch = told.parameters["changes"]
    assert fed.parameters["saving"] == pytest.approx(16_352, rel=0.003)
    gain = load_gains()["half precision from fp32", "Volta"].median
    assert mixed.parameters["saving"] == pytest.approx(cost * 0.34 * (1 - 1 / gain))
    assert batch.parameters["change"] == "twice the batch"
    assert "worked 34% of the time" in str(told)
    assert "data loading that keeps it at work 90% of the time 16,3" in str(told)
    silent = plan(ask({**job, "measurements": [{**measured, "utilisation": None}]}, months=2), priced({P3: 3.0}))
    assert "utilisation_worth" not in [reason.code for reason in silent.recommendation.reasons]
