"""Two price lists compared: by hand, and the laws of a comparison."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pricing.price import Price
from pricing.regions import strip_source_date
from pricing.snapshots.price_changes import compare_prices, rank_price_moves, summarize_changes

BASE = Price(
    provider="acme",
    region="here-1",
    instance_type="a.large",
    purchase_option="on_demand",
    kind="on_demand",
    term_months=0,
    upfront="",
    offering_class="",
    price_per_hour=10.0,
    currency="USD",
    as_of=date(2026, 1, 1),
    source_id="src1",
    method="listed",
    note="",
)
MIRROR = {"new": "gone", "gone": "new", "up": "down", "down": "up", "same": "same", "currency": "currency"}

prices = st.builds(
    replace,
    st.just(BASE),
    provider=st.sampled_from(["acme", "zeus"]),
    region=st.sampled_from(["here-1", "there-1"]),
    instance_type=st.sampled_from(["a.large", "b.old"]),
    purchase_option=st.sampled_from(["on_demand", "spot"]),
    price_per_hour=st.floats(0.001, 1000),
    currency=st.sampled_from(["USD", "EUR"]),
    source_id=st.sampled_from(["src1", "src2"]),
)
lists = st.lists(prices, max_size=12, unique_by=lambda price: price.key)


def test_a_change_is_told_by_key_with_its_percentage():
    old = [BASE, replace(BASE, region="b"), replace(BASE, region="c"), replace(BASE, region="d")]
    new = [
        replace(BASE, price_per_hour=12.5),  # 12.5 / 10 - 1 = +25 %
        replace(BASE, region="b", price_per_hour=5),  # 5 / 10 - 1 = -50 %
        replace(BASE, region="c", as_of=date(2026, 2, 1), source_id="src2"),  # the same price, told by another
        replace(BASE, region="e"),
    ]
    found = {change.key[1]: (change.what, change.percent) for change in compare_prices(old, new)}
    assert found == {
        "here-1": ("up", 25.0),
        "b": ("down", -50.0),
        "c": ("same", 0.0),
        "d": ("gone", None),
        "e": ("new", None),
    }
    (tally,) = summarize_changes(compare_prices(old, new))
    assert (tally.new, tally.gone, tally.up, tally.down, tally.same, tally.told_otherwise) == (1, 1, 1, 1, 1, 1)
    assert tally.median_percent == -12.5  # between +25 and -50
    assert tally.largest_percent == -50.0  # a halving is further than a quarter more
    assert [change.key[1] for change in rank_price_moves(compare_prices(old, new))] == ["b", "here-1"]


def test_prices_in_two_currencies_are_not_compared():
    (change,) = compare_prices([BASE], [replace(BASE, currency="EUR", price_per_hour=9)])
    assert (change.what, change.percent) == ("currency", None)
    assert rank_price_moves([change]) == ()


def test_an_equal_price_that_was_listed_and_is_derived_now_is_told():
    (change,) = compare_prices([BASE], [replace(BASE, method="derived")])
    assert (change.what, change.told_otherwise) == ("same", True)
    (change,) = compare_prices([BASE], [replace(BASE, as_of=date(2026, 9, 9))])
    assert (change.what, change.told_otherwise) == ("same", False)


@given(lists)
def test_a_list_does_not_differ_from_itself(one):
    found = compare_prices(one, one)
    assert {change.what for change in found} <= {"same"}
    assert len(found) == len(one)
    assert not any(tally.told_otherwise for tally in summarize_changes(found))


@given(lists, lists)
def test_the_way_back_mirrors_the_way_there(one, two):
    there, back = compare_prices(one, two), compare_prices(two, one)
    assert [change.key for change in there] == [change.key for change in back]
    for go, come in zip(there, back, strict=True):
        assert (come.before, come.after) == (go.after, go.before)
        assert come.what == MIRROR[go.what]
        if go.percent is not None:
            assert (1 + go.percent / 100) * (1 + come.percent / 100) == pytest.approx(1)


@given(lists, lists)
def test_every_price_is_counted_once(one, two):
    counted = sum(
        t.new + t.gone + t.up + t.down + t.same + t.currency for t in summarize_changes(compare_prices(one, two))
    )
    assert counted == len({price.key for price in (*one, *two)})


def test_a_source_that_a_snapshot_dated_is_the_same_source():
    assert strip_source_date("karp-aws.2026-07-20") == strip_source_date("karp-aws") == "karp-aws"
    assert strip_source_date("moto.2026-01-01+skypilot-aws-v8.2025-12-12") == "moto+skypilot-aws-v8"
    assert strip_source_date("sparecores-0.1.0") == "sparecores-0.1.0"
