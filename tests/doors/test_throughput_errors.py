"""`planner throughput --errors` on a file of results."""

from __future__ import annotations

import json

import pytest

from planner.performance.throughput.published_results import MEASUREMENTS
from tests.result_rows import COLUMNS, row, write_table


@pytest.fixture
def table(tmp_path):
    """Writes a file of rows of results."""
    return lambda *rows: write_table(tmp_path / "new.csv", *rows)


def test_errors_on_a_file_of_measurements(planner, table):
    """A100 100, H100 200 a second: two predictions, one either way. The plain ratio is 2.2826, so its errors are 14.1
    and 12.4 %; a row of no known part is named."""
    path = table(row(), row("H100-80GB-SXM", 200.0), row("Nothing-1"))
    ran = planner("throughput", "--errors", str(path))
    assert ran.code == 0, ran.err
    line = next(line for line in ran.out.splitlines() if line.startswith("another accelerator"))
    assert line.split("count")[1].split()[:2] == ["2", "1"]
    assert line.split()[-3:-1] == ["13.3", "14.1"]
    assert "3 rows: 2 used, 1 left out" in ran.out
    assert f"{path}:4: left out: no specification of Nothing-1" in ran.out
    document = json.loads(planner("throughput", "--errors", str(path), "--format", "json").out)
    assert document["rows"] == {"rows": 3, "used": 2, "left_out": 1, "alone": 0, "mixed": 0, "shipped": 0}
    assert [one["title"] for one in document["errors"]] == ["accelerator", "same_vendor", "training"]


def test_every_row_of_a_file_is_accounted_for(planner, table):
    """By its own line, past an empty one: a short row, a long one, one alone; one that the project has already."""
    shipped = MEASUREMENTS.read_text(encoding="utf-8").splitlines()[1]
    alone = row().replace("mine:job,job", "mine:lone,lone")
    short = "mine:job,job,v1,training,A100-80GB-SXM"
    path = table(row(), "", row("H100-80GB-SXM"), short, row("H100-80GB-SXM") + ",more", alone, shipped)
    ran = planner("throughput", "--errors", str(path))
    assert ran.code == 0, ran.err
    assert ran.out.splitlines()[-5:] == [
        "6 rows: 4 used, 2 left out",
        "2 of those used have no other result to compare with",
        "1 of those used are among the shipped measurements: the fit has seen them",
        f"  {path}:5: left out: no count or no rate",
        f"  {path}:6: left out: more cells than columns",
    ]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\xff\xfe\x00", "no UTF-8 text"),
        (COLUMNS.encode() + b"\na,b\n", ":2: left out"),
        (COLUMNS.encode() + b"\n" + row().encode(), "no two results"),
        (b"", "no column group"),
        (b"a,b\n1,2\n", "no column group"),
    ],
)
def test_a_file_without_comparable_results_is_a_fault(planner, tmp_path, data, words):
    path = tmp_path / "bad.csv"
    path.write_bytes(data)
    ran = planner("throughput", "--errors", str(path))
    assert ran.code == 2
    assert words in ran.err
    assert ran.out == ""
