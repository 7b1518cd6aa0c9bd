"""Workload files and measured use with random damage: read or refused, never an error of ours."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
import yaml

from planner.inputs.file_reader import read
from planner.inputs.sheet_options import SheetOptions
from pricing.catalog.price_catalog import Catalog

FILES = Path(__file__).parents[1]
TEXTS = [
    path.read_text() for path in (*FILES.glob("intake/workload_files/slurm/*.sbatch"), *FILES.glob("usage/sacct/*.txt"))
]
DOCUMENTS = [
    list(yaml.safe_load_all(path.read_text()))
    for folder in ("skypilot", "kubernetes")
    for path in sorted((FILES / "intake/workload_files" / folder).iterdir())
    if path.name not in ("expected.yaml", "21-not-yaml.yaml")
]
SAMPLES = [[1788220800 + 3600 * hour, "50"] for hour in range(4)]
SERIES = {"metric": {"__name__": "DCGM_FI_DEV_GPU_UTIL", "UUID": "a"}, "values": SAMPLES}
METRICS = {"data": {"resultType": "matrix", "result": [SERIES]}}
ALLOCATIONS = {"data": [{"a": {"name": "a", "start": "2026-09-01", "end": "2026-09-02", "gpuHours": 1, "gpuCost": 1}}]}
JUNK: list[Any] = [
    None,
    5,
    -1,
    0,
    1e308,
    "x",
    "",
    [],
    {},
    ["a"],
    {"a": 1},
    True,
    "9" * 30,
    "1e999",
    "-",
    [[1, 2]],
    10**40,
]
SIGNS = ["", "|", "-", "0", "=", "\n", ":", "9" * 12, "[", "é", "_", ".", " ", "%"]


def damage(value: Any, chance: random.Random) -> Any:
    """The value with one part of it replaced or left out."""
    if isinstance(value, dict) and value and chance.random() < 0.9:
        key = chance.choice(list(value))
        if chance.random() < 0.1:
            return {name: each for name, each in value.items() if name != key}
        return {**value, key: damage(value[key], chance)}
    if isinstance(value, list) and value and chance.random() < 0.9:
        index = chance.randrange(len(value))
        return [*value[:index], damage(value[index], chance), *value[index + 1 :]]
    return chance.choice(JUNK)


def damaged_files(chance: random.Random) -> list[bytes]:
    text = list(chance.choice(TEXTS))
    for _ in range(chance.randrange(1, 6)):
        text[chance.randrange(len(text))] = chance.choice(SIGNS)
    documents = chance.choice(DOCUMENTS)
    for _ in range(chance.randrange(1, 4)):
        documents = damage(documents, chance)
    dumped = yaml.safe_dump_all(documents if isinstance(documents, list) else [documents])
    more = [json.dumps(damage(each, chance)) for each in (METRICS, ALLOCATIONS)]
    return [each.encode() for each in ("".join(text), dumped, *more)]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", range(3))
def test_damaged_files_are_read_or_refused(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(60):
        for data in damaged_files(chance):
            parsed = read(data, "-", SheetOptions(catalog=Catalog.embedded()))
            is_request = parsed.inputs.format in ("yaml", "json")  # what damage made of it is judged with the request
            assert is_request or parsed.complaints or parsed.document["workloads"], data
