"""A faulty case is told with every fault and its place; a file without cases is refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.request.errors import InvalidRequest
from planner.studies import UnreadExample
from planner.studies.examples import read_examples

GOOD = {
    "method": "linear_breakeven",
    "inputs": {"capex_usd": 1000, "onprem_usd_per_hour": 1, "cloud_usd_per_hour": {"a": 2}},
    "expected": {"breakeven_hours": {"a": 1000}},
}


def faults(document) -> dict[str, str]:
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    try:
        found = read_examples(data, "f.json")
    except InvalidRequest as refused:
        problems = refused.complaints
    else:
        problems = tuple(problem for each in found if isinstance(each, UnreadExample) for problem in each.problems)
    assert problems
    return {each.place: f"{each.message}; {each.expected}" for each in problems}


def test_three_forms_of_a_file():
    forms = ({"version": 1, "examples": [GOOD]}, [GOOD], GOOD)
    found = [read_examples(json.dumps(form).encode(), "f.json") for form in forms]
    assert [examples[0].inputs for examples in found] == [found[0][0].inputs] * 3
    assert [examples[0].id for examples in found] == ["examples[0]", "[0]", "[0]"]


@pytest.mark.parametrize(
    ("data", "place", "told"),
    [
        (b"", "f.json line 1 column 1", "no JSON"),
        (b'{"examples": [}', "f.json line 1 column 15", "no JSON"),
        (b"\xff\xfe\x00", "f.json", "not UTF-8"),
        (b'{"examples": [{"x": NaN}]}', "f.json", "NaN is no number"),
        (b"[" * 100_000, "f.json", "not read"),
        (b"3", "f.json [0]", "no example"),
        (b"[]", "f.json", "no examples"),
        (b"{}", "f.json examples", "no examples"),
        (b'{"examples": {}}', "f.json examples", "no examples"),
    ],
)
def test_a_file_that_is_none(data, place, told):
    found = faults(data)
    assert list(found) == [place]
    assert told in found[place]


def test_every_fault_at_once():
    bad_inputs = {"capex_usd": "x", "cloud_usd_per_hour": {"a": -1, "b": True}}
    found = faults(
        {
            "examples": [
                {**GOOD, "inputs": bad_inputs, "title": 7},
                {**GOOD, "method": "linear_break"},
                {**GOOD, "expected": {"a": [True, {}]}, "tolerance": {"a": {"abs": -1}, "b": "x"}},
                {"method": "daly"},
                None,
            ]
        }
    )
    assert list(found) == [
        "f.json examples[0].title",
        "f.json examples[0].inputs.capex_usd",
        "f.json examples[0].inputs.cloud_usd_per_hour.a",
        "f.json examples[0].inputs.cloud_usd_per_hour.b",
        "f.json examples[1].method",
        "f.json examples[2].expected.a[0]",
        "f.json examples[2].expected.a[1]",
        "f.json examples[2].tolerance.a.abs",
        "f.json examples[2].tolerance.b",
        "f.json examples[3].expected",
        "f.json examples[3].inputs.cases",
        "f.json examples[4]",
    ]
    assert "one of linear_breakeven, api_breakeven, annuity, " in found["f.json examples[1].method"]


def test_what_must_be_told_in_one_of_two_ways():
    found = faults({**GOOD, "inputs": {"capex_usd": 1, "cloud_usd_per_hour": 2}})
    assert "neither onprem_usd_per_hour nor onprem_hourly_parts" in found["f.json [0].inputs"]


def test_a_fault_in_an_entry_that_stands_at_the_top():
    found = faults({"method": "gpu_tco", "inputs": {"X": {"gpus": 0}, "years": 5}, "expected": {"X": {"total_usd": 1}}})
    assert list(found) == ["f.json [0].inputs.X.gpus", "f.json [0].inputs.X.gpu_usd"]


def test_too_deep_is_told():
    expected: object = 1
    for _ in range(300):
        expected = {"a": expected}
    (message,) = faults({**GOOD, "expected": expected}).values()
    assert "more than 20 levels deep" in message


def test_what_has_no_effect_is_listed():
    inputs = {**GOOD["inputs"], "colour": "red", "cases": []}
    (example,) = read_examples(json.dumps({**GOOD, "inputs": inputs}).encode(), "f.json")
    assert example.inputs.not_used() == ("colour", "cases")


json_values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=8), below, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(["method", "inputs", "expected", "tolerance", "title", "id"]), json_values)
def test_anything_in_any_place_is_read_or_refused(key, value):
    (found,) = read_examples(json.dumps({**GOOD, key: value}).encode(), "f.json")
    if isinstance(found, UnreadExample):
        assert found.problems
        assert all(each.place and each.message for each in found.problems)
