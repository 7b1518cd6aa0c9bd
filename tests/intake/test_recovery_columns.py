"""Disaster recovery in a sheet: a level and a place, or a fault that names what is missing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from planner.inputs.parsed_file import ParsedFile

HEADER = ["Workload", "Kind", "GPU", "GPU-hours / month", "Disaster recovery", "Recovery place"]


@pytest.mark.parametrize(
    ("level", "read"),
    [
        ("Warm standby", "warm_standby"),
        ("pilot light", "pilot_light"),
        ("active in two places", "active_active"),
        ("Active/active", "active_active"),
    ],
)
def test_a_row_has_its_second_place(read_rows: Callable[..., ParsedFile], level: str, read: str) -> None:
    found = read_rows([HEADER, ["Chat", "inference", "L4", 1460, level, "aws eu-north-1"]])
    assert found.complaints == ()
    assert found.document["workloads"][0]["recovery"] == {"level": read, "place": "aws eu-north-1"}


def test_a_row_without_one_has_none(read_rows: Callable[..., ParsedFile]) -> None:
    rows = [["A", "inference", "L4", 1460, "none", ""], ["B", "inference", "L4", 1460, "", ""]]
    found = read_rows([HEADER, *rows])
    assert found.complaints == ()
    assert ["recovery" in workload for workload in found.document["workloads"]] == [False, False]


@pytest.mark.parametrize(
    ("level", "place", "message"),
    [
        ("hot", "aws eu-north-1", "not a level of recovery"),
        ("warm standby", "", "a second place needs a level and a place"),
        ("", "aws eu-north-1", "a second place needs a level and a place"),
    ],
)
def test_half_a_second_place_is_a_fault(
    read_rows: Callable[..., ParsedFile], level: str, place: str, message: str
) -> None:
    found = read_rows([HEADER, ["Chat", "inference", "L4", 1460, level, place]])
    assert [complaint.message for complaint in found.complaints] == [message]
