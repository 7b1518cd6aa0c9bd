"""Tiered prices: sums by hand at the edges, and the laws that any tier table keeps."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pricing.transfer_storage_prices import Tier, tiered_cost


def steps(*pairs):
    return tuple(
        Tier("acme", "here-1", "egress_internet", start, price, "USD", date(2026, 1, 1), "src")
        for start, price in pairs
    )


tables = st.lists(
    st.tuples(st.floats(0.001, 100_000), st.floats(0.0001, 1)), max_size=5, unique_by=lambda pair: pair[0]
).flatmap(lambda rest: st.floats(0.0001, 1).map(lambda first: steps((0.0, first), *sorted(rest))))


def test_a_sum_across_two_edges():
    table = steps((0, 0.09), (10240, 0.085), (51200, 0.07))
    # 10,240 x 0.09 = 921.60; 40,960 x 0.085 = 3,481.60; 8,800 x 0.07 = 616.00; together 5,019.20
    assert tiered_cost(table, 60_000) == pytest.approx(5019.20)
    assert tiered_cost(table, 10_240) == pytest.approx(921.60)
    assert tiered_cost(table, 0) == 0


@pytest.mark.parametrize("bad", [(), steps((1, 0.1)), steps((0, 0.1), (0, 0.2)), steps((0, 0.1), (5, 0.1), (3, 0.1))])
def test_a_table_that_is_none_is_refused(bad):
    with pytest.raises(ValueError, match="tiers must"):
        tiered_cost(bad, 10)


def test_a_negative_volume_is_refused():
    with pytest.raises(ValueError, match="negative"):
        tiered_cost(steps((0, 0.1)), -1)


@given(tables, st.floats(0, 200_000), st.floats(0, 200_000))
def test_more_volume_never_costs_less(table, one, other):
    less, more = sorted((one, other))
    assert tiered_cost(table, less) <= tiered_cost(table, more) * (1 + 1e-12) + 1e-9


@given(tables, st.floats(0.0001, 0.01))
def test_the_cost_does_not_jump_at_an_edge(table, step):
    dearest = max(t.price_per_gb for t in table)
    for tier in table:
        at = tiered_cost(table, tier.from_gb)
        assert tiered_cost(table, tier.from_gb + step) - at <= dearest * step + 1e-6
        assert at - tiered_cost(table, max(0.0, tier.from_gb - step)) <= dearest * step + 1e-6


@given(tables, st.floats(0, 200_000))
def test_the_mean_price_lies_between_the_cheapest_and_the_dearest_step(table, volume):
    prices = [t.price_per_gb for t in table]
    cost = tiered_cost(table, volume)
    assert min(prices) * volume * (1 - 1e-9) - 1e-9 <= cost <= max(prices) * volume * (1 + 1e-9) + 1e-9
