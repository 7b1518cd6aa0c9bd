"""One workload, written in every format that the folder holds, asks for the same thing."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
import yaml

from planner.inputs.file_reader import formats, read
from planner.request.models import parse_request

HEADER = [
    "Workload",
    "Team",
    "Type",
    "GPU",
    "GPUs",
    "GPU-hours / month",
    "Region",
    "Spot OK",
    "Checkpoint (min)",
    "Storage (GB)",
    "Notes",
]
REQUESTS = sorted(each.name for each in formats() if not each.is_usage and (each.is_sheet or not each.asks))
"""The formats that can write a request down. Bills and measured use hold the past, and workload files say no hours:
test_workload_files.py and tests/usage have the tests that these share."""
ROW = ["Ranking", "Search", "training", "A100-80GB", 8, 1200.5, "us-east-1", "yes", 15, 400, "naïve, weekly"]
WORKLOAD: dict[str, Any] = {
    "name": "Ranking",
    "team": "Search",
    "kind": "training",
    "demand": {"accelerator_hours_per_month": 1200.5, "accelerator": "A100-80GB"},
    "gang": 8,
    "regions": ["us-east-1"],
    "interruptible": True,
    "checkpoint_minutes": 15,
    "storage_gb": 400,
    "notes": "naïve, weekly",
}


@pytest.fixture(scope="module")
def written(
    as_csv: Callable[..., bytes], as_xlsx: Callable[..., bytes], as_ods: Callable[..., bytes]
) -> dict[str, list[bytes]]:
    texts = as_csv([HEADER, ROW]).decode()
    others = [as_csv([HEADER, ROW], separator=separator) for separator in (";", "\t", "|")]
    marked = [texts.encode(encoding) for encoding in ("utf-8-sig", "utf-16", "utf-16-le", "cp1252")]
    return {
        "csv": [texts.encode(), texts.replace("\r\n", "\n").encode(), *others, *marked],
        "xlsx": [as_xlsx([HEADER, ROW]), as_xlsx([["Review"], [], HEADER, ROW])],
        "ods": [as_ods([HEADER, ROW]), as_ods([["Review"], [], HEADER, ROW])],
        "json": [
            json.dumps(form, ensure_ascii=escaped).encode()
            for form in ({"workloads": [WORKLOAD]}, WORKLOAD, [WORKLOAD])
            for escaped in (True, False)
        ],
        "yaml": [
            yaml.safe_dump(form, allow_unicode=True).encode()
            for form in ({"workloads": [WORKLOAD]}, WORKLOAD, [WORKLOAD])
        ],
    }


@pytest.mark.parametrize("format_name", REQUESTS)
def test_the_same_workload_in_every_format(format_name: str, written: dict[str, list[bytes]]) -> None:
    (suffix, *_) = next(each.suffixes for each in formats() if each.name == format_name)
    for data in written[format_name]:
        found = read(data, f"review{suffix}")
        assert found.complaints == ()
        assert found.inputs.format == format_name
        assert found.document["workloads"] == [WORKLOAD]
        request = parse_request({"as_of": date(2026, 11, 21), **found.document}, found.complaints, found.places)
        assert request.workloads[0].gang == 8


@pytest.mark.parametrize("format_name", REQUESTS)
def test_standard_input_is_told_by_its_content(format_name: str, written: dict[str, list[bytes]]) -> None:
    for data in written[format_name]:
        assert read(data, "-").inputs.format == format_name


@pytest.mark.parametrize("format_name", REQUESTS)
def test_every_leaf_has_a_place_and_the_bytes_a_digest(format_name: str, written: dict[str, list[bytes]]) -> None:
    found = read(written[format_name][0], "review." + format_name)
    assert len(found.inputs.sha256) == 64
    for path in (
        "workloads[0]",
        "workloads[0].name",
        "workloads[0].demand.accelerator",
        "workloads[0].regions[0]",
        "workloads[0].storage_gb",
    ):
        assert found.places[path]


def test_formats_are_found_by_walking_the_folder() -> None:
    suffixes = [suffix for each in formats() for suffix in each.suffixes]
    assert len(suffixes) == len(set(suffixes))
    assert all(suffix == suffix.casefold() and suffix.startswith(".") for suffix in suffixes)
