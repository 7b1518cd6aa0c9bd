"""The steady window, its interval and its warnings, against series whose truth is known."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.measure.steady_state import (
    SteadyWindow,
    batches_of,
    drift_of,
    find_steady_window,
    rates_of,
    student_t,
    total_at,
    warm_up,
)
from planner.messages import text_of
from planner.result.message import message


def sums(rates: list[float], each: float = 1.0) -> list[tuple[float, float]]:
    """Points of a job that ran at these rates, one after the other."""
    done = itertools.accumulate((rate * each for rate in rates), initial=0.0)
    return [(number * each, total) for number, total in enumerate(done)]


def noisy(count: int, mean: float, spread: float, seed: int = 1) -> list[float]:
    noise = random.Random(seed)
    return [noise.gauss(mean, spread) for _ in range(count)]


def test_students_t_is_that_of_scipy():
    special = pytest.importorskip("scipy.special")  # scipy.stats asks it, and takes a second to load
    for degrees in range(1, 40):
        assert student_t(degrees) == pytest.approx(special.stdtrit(degrees, 0.975), rel=1e-9)


def test_a_warm_up_is_left_out():
    """30 s at 20 units/s (compiling), then 300 s at 100: the rate is 100, not (600 + 30,000) / 330 = 92.7."""
    found = find_steady_window(sums(noisy(30, 20, 1) + noisy(300, 100, 2)))
    assert isinstance(found, SteadyWindow)
    assert found.is_steady
    assert found.start >= 30 - 5
    assert found.rate == pytest.approx(100, rel=0.01)
    assert found.low < 100 < found.high


def test_what_the_user_calls_warm_up_is_left_out_too():
    found = find_steady_window(sums(noisy(200, 100, 2)), not_before=120.0)
    assert found.start >= 120


def test_a_rate_that_drifts_is_not_steady():
    found = find_steady_window(sums([100 + number * 0.5 for number in range(200)]))
    assert not found.is_steady
    assert found.why_not.code in {"rate_drifts", "rate_still_changing"}


def test_a_change_late_in_the_run_is_not_steady():
    found = find_steady_window(sums(noisy(150, 20, 1) + noisy(50, 100, 1)))
    assert not found.is_steady
    assert found.why_not == message("rate_still_changing")


def test_few_reports_give_a_rate_that_is_not_called_steady():
    found = find_steady_window([(0.0, 0.0), (1.0, 10.0), (2.0, 20.0), (3.0, 30.0)])
    assert found.rate == pytest.approx(10)
    assert found.why_not.code == "too_few_intervals"


def test_no_rate_at_all():
    reason = find_steady_window([(0.0, 1.0)])
    assert reason == message("too_few_progress_reports", reports=1, after_warm_up=False)
    assert text_of(reason) == "1 reports of progress; two are needed"
    assert find_steady_window([]).code == "too_few_progress_reports"
    assert find_steady_window([(0.0, 5.0), (9.0, 5.0)]) == message("no_progress")
    late = find_steady_window([(0.0, 5.0), (9.0, 6.0)], not_before=8.0)
    assert text_of(late) == "1 reports of progress after the warm-up; two are needed"


def test_a_rate_without_any_noise_has_no_width():
    found = find_steady_window(sums([50.0] * 100))
    assert found.is_steady
    assert found.half_width == pytest.approx(0, abs=1e-9)


def test_mser_by_hand():
    """1, then five times 10: leaving one out leaves no error at all, and the mean is 10."""
    assert warm_up([1, 10, 10, 10, 10, 10]) == (1, False)
    assert warm_up([10.0] * 8) == (0, False)


def test_intervals_of_equal_length_hold_all_the_work():
    """Reports at 0, 1, 4 s of 0, 3, 9 units: two intervals of 2 s, 3 + 2 units (a third of 6) and 4 units."""
    rates, width = rates_of([(0, 0), (1, 3), (4, 9)])
    assert width == 2
    assert rates == pytest.approx([2.5, 2.0])
    assert total_at([(0, 0), (1, 3), (4, 9)], 2) == pytest.approx(5)


def test_batches_leave_the_start_out():
    assert batches_of([9.0, *([1.0] * 20), *([3.0] * 20)]) == [1.0] * 10 + [3.0] * 10


def test_drift_by_hand():
    """A line from 95.5 to 104.5 in ten batches: 1 a batch, ten batches long, over a mean of 100: 10 %."""
    assert drift_of([95.5 + number for number in range(10)]) == pytest.approx(0.10)
    assert drift_of([100.0, 101.0] * 5) is None


@pytest.mark.one_in(2)
@pytest.mark.parametrize("correlation", [0.0, 0.6])
def test_nineteen_intervals_of_twenty_hold_the_truth(correlation):
    """300 runs of 400 rates around 100, independent and correlated from one to the next: coverage of the 95 % interval
    is at least 90 % in both (the plain standard error covers 68 % in the second)."""
    noise = random.Random(7)
    held = 0
    for _ in range(300):
        value, rates = noise.gauss(0, 1), []
        for _ in range(400):
            value = correlation * value + math.sqrt(1 - correlation**2) * noise.gauss(0, 1)
            rates.append(100 + 5 * value)
        found = find_steady_window(sums(rates))
        held += found.low <= 100 <= found.high
    assert held / 300 >= 0.90


@given(st.lists(st.floats(0.01, 1000), min_size=2, max_size=120), st.floats(0.1, 10))
def test_the_rate_is_between_the_least_and_the_most(rates, each):
    found = find_steady_window(sums(rates, each))
    assert isinstance(found, SteadyWindow)
    assert min(rates) * (1 - 1e-9) <= found.rate <= max(rates) * (1 + 1e-9)
    assert 0 <= found.start <= found.end
    if found.low is not None:
        assert 0 <= found.low <= found.rate <= found.high


@given(st.lists(st.floats(0.5, 100), min_size=5, max_size=80), st.integers(1, 6), st.integers(0, 10))
def test_seconds_and_units_may_be_counted_otherwise(rates, shift, power):
    """Twice the units are twice the rate, and when the clock started makes no difference."""
    plain = find_steady_window(sums(rates))
    other = find_steady_window([(at + shift, total * 2**power) for at, total in sums(rates)])
    assert other.rate == pytest.approx(plain.rate * 2**power)
    assert other.why_not == plain.why_not
