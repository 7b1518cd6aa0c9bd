"""YAML and JSON: forms, places, doubled keys, and what a hostile or broken document gets for an answer."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.inputs.file_reader import read
from planner.inputs.parsed_file import ParsedFile
from planner.request.errors import InvalidRequest
from planner.request.models import parse_request

YAML = b"""\
# a portfolio
months: 6
workloads:
  - name: train
    demand:
      total_units: 1e12
      deadline_month: 3
    regions: [NO, us-east-1]
    interruptible: yes
"""


def told(found: ParsedFile) -> list[tuple[str, str]]:
    return [(complaint.place, complaint.message) for complaint in found.complaints]


def test_every_path_has_its_line_and_column() -> None:
    found = read(YAML, "request.yaml")
    assert found.complaints == ()
    assert found.places["months"] == "line 2 column 9"
    assert found.places["workloads[0]"] == "line 4 column 5"
    assert found.places["workloads[0].demand.total_units"] == "line 6 column 20"
    assert found.places["workloads[0].regions[1]"] == "line 8 column 19"
    text = '{"months": 6,\n\t"workloads": [\n {"name": "a\\n", "demand": {"units_per_month": 5}}]}'
    found = read(text.encode(), "request.json")
    assert found.document["workloads"] == [{"name": "a\n", "demand": {"units_per_month": 5}}]
    assert found.places["workloads[0].demand.units_per_month"] == "line 3 column 48"


def test_plain_words_mean_what_they_say() -> None:
    workload = read(YAML, "request.yaml").document["workloads"][0]
    assert workload["regions"] == ["NO", "us-east-1"]
    assert workload["demand"]["total_units"] == 1e12
    found = read(
        b"name: w\ndemand: {a: 010, b: 12:30, c: 1_000, d: .5, e: ~, f: 2026-12, g: 2026-12-01, h: '5', i: true}",
        "w.yaml",
    )
    assert found.document["workloads"][0]["demand"] == {
        "a": 10,
        "b": "12:30",
        "c": 1000,
        "d": 0.5,
        "e": None,
        "f": "2026-12",
        "g": date(2026, 12, 1),
        "h": "5",
        "i": True,
    }


ONE: dict[str, Any] = {"name": "w", "demand": {"units_per_month": 5}}


@pytest.mark.parametrize("name", ["x.yaml", "x.json", "-"])
@pytest.mark.parametrize(
    ("form", "path"),
    [({"workloads": [ONE]}, "workloads[0]"), (ONE, "workloads[0]"), ([ONE, {**ONE, "name": "v"}], "workloads[1]")],
)
def test_a_request_a_workload_and_a_list_of_workloads_are_all_requests(form: Any, path: str, name: str) -> None:
    found = read(json.dumps(form, indent=1).encode(), name)
    assert found.complaints == ()
    assert found.document["workloads"][0] == ONE
    assert f"{path}.demand.units_per_month" in found.places
    parse_request({"as_of": date(2026, 11, 21), **found.document}, (), found.places)


def test_doubled_keys_are_refused_with_both_places() -> None:
    for data, name in (
        (b"name: a\ndemand: {units_per_month: 1}\nname: b\n", "x.yaml"),
        (b'{"name": "a", "demand": {},\n"name": "b"}', "x.json"),
    ):
        (complaint,) = read(data, name).complaints
        assert (
            complaint.message
            == f"the key 'name' occurs twice; the first is at line 1 column {1 if name == 'x.yaml' else 2}"
        )
        assert complaint.place == ("line 3 column 1" if name == "x.yaml" else "line 2 column 1")


@pytest.mark.parametrize(
    ("data", "name", "place", "says"),
    [
        (b"a: [1,\nb: 2", "x.yaml", "x.yaml line 3 column 1", "not YAML"),
        (b"a: 1\n\tb: 2\n", "x.yaml", "x.yaml line 2 column 1", "not YAML"),
        (b'{"a": 1,}', "x.json", "x.json line 1 column 9", "not JSON"),
        (b'{"a": NaN}', "x.json", "x.json", "NaN is not a number"),
        (b'{"a": 1} {"b": 2}', "x.json", "x.json line 1 column 10", "not JSON: Extra data"),
        (b"a: 1\n---\nb: 2\n", "x.yaml", "x.yaml line 3 column 1", "not YAML"),
        (b"# nothing but a remark\n", "x.yaml", "x.yaml", "the document is empty"),
        (b"a: \xff\xfe", "x.yaml", "x.yaml", "is not UTF-8"),
        (b"[" * 5000, "x.json", "x.json", "nested too deep"),
        (b"[" * 90 + b"]" * 90, "x.yaml", "x.yaml line 1 column 41", "nested too deep"),
        (b"just: *nowhere", "x.yaml", "x.yaml line 1 column 7", "not YAML"),
        (b"&a [*a]", "x.yaml", "x.yaml", "nested too deep"),
    ],
)
def test_a_broken_document_is_one_complaint_with_its_place(data: bytes, name: str, place: str, says: str) -> None:
    (complaint,) = read(data, name).complaints
    assert complaint.place == place
    assert says in complaint.message


def test_aliases_cannot_grow_without_end() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"] + [
        f"a{i}: &a{i} [{', '.join(['*a' + str(i - 1)] * 10)}]" for i in range(1, 10)
    ]
    (complaint,) = read("\n".join(lines).encode(), "bomb.yaml").complaints
    assert "aliases" in complaint.message


def test_tags_make_nothing_but_text() -> None:
    found = read(b"name: !!python/object/apply:os.system ['exit 1']\ndemand: !!python/name:os.system x\n", "x.yaml")
    assert found.document["workloads"][0] == {"name": ["exit 1"], "demand": "x"}


def test_a_fault_of_the_request_has_its_line() -> None:
    found = read(b"workloads:\n  - name: a\n    demand: {units_per_month: -5}\n    gang: many\n", "x.yaml")
    with pytest.raises(InvalidRequest) as refusal:
        parse_request({"as_of": date(2026, 11, 21), **found.document}, (), found.places)
    assert {complaint.place for complaint in refusal.value.complaints} >= {"line 3 column 31", "line 4 column 11"}


SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8)
)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(TREES, st.sampled_from([None, 1, "\t"]))
def test_json_is_read_as_the_standard_reader_reads_it(tree: Any, indent: Any) -> None:
    found = read(json.dumps({"workloads": tree}, indent=indent).encode(), "x.json")
    assert found.complaints == ()
    assert found.document == {"workloads": tree}


def test_a_field_that_is_none_is_named_with_its_line_and_the_nearest() -> None:
    text = b"discount rate: 0.1\nworkloads:\n  - {name: a, acelerators: [H100], demand: {units_per_month: 1}}\n"
    source = read(text, "plan.yaml")
    with pytest.raises(InvalidRequest) as refused:
        parse_request(source.document, source.complaints, source.places)
    told_of = {fault.value: (fault.place, fault.message, fault.expected) for fault in refused.value.complaints}
    assert told_of["discount rate"] == ("line 1 column 16", "unknown field", "discount_rate_annual")
    assert told_of["acelerators"] == ("line 3 column 28", "unknown field", "accelerators")


def test_too_many_workloads_are_counted_in_words() -> None:
    line = {"demand": {"units_per_month": 1}}
    with pytest.raises(InvalidRequest) as refused:
        parse_request(
            {"as_of": date(2026, 11, 21), "workloads": [{"name": f"w{number}", **line} for number in range(1_001)]}
        )
    (fault,) = refused.value.complaints
    assert (fault.path, fault.message, fault.value, fault.expected) == (
        "workloads",
        "too many",
        "1,001",
        "at most 1,000 together",
    )


def test_two_workloads_of_one_name_are_found_at_the_second() -> None:
    source = read(
        b"workloads:\n  - {name: a, demand: {units_per_month: 1}}\n  - {name: A, demand: {units_per_month: 1}}\n",
        "p.yaml",
    )
    with pytest.raises(InvalidRequest) as refused:
        parse_request({"as_of": date(2026, 11, 21), **source.document}, source.complaints, source.places)
    (fault,) = refused.value.complaints
    assert (fault.path, fault.place) == ("workloads[1].name", "line 3 column 12")
