"""Files that are too large are refused before they are read."""

from __future__ import annotations

from planner.inputs.bills import is_bill
from planner.inputs.file_reader import read

HEAD = "Workload,GPU,GPU-hours / month\n"


def test_more_rows_than_a_plan_takes_are_one_problem_and_no_row_is_read():
    parsed = read((HEAD + "".join(f"w{n},L4,10\n" for n in range(1001))).encode(), "many.csv")
    assert [str(each) for each in parsed.complaints] == [
        "many.csv: 1,001 rows of workloads; expected at most 1,000 in one plan"
    ]
    assert parsed.inputs.readings == ()
    assert read((HEAD + "".join(f"w{n},L4,10\n" for n in range(1000))).encode(), "many.csv").complaints == ()


def test_a_row_of_many_megabytes_is_not_split(monkeypatch):
    monkeypatch.setattr("csv.reader", None)
    parsed = read(b"a,b\n" + b"," * 1_000_001, "row.csv")
    assert parsed.complaints[0].message == "line 2 has more than 1,000,000 characters"


def test_a_file_of_commas_is_no_bill_and_its_size_is_told_without_reading_it(tmp_path, planner):
    path = tmp_path / "commas.csv"
    path.write_bytes(b"," * 2_000_000)
    assert not is_bill(path)
    with path.open("r+b") as file:
        file.truncate(10**12)  # a sparse file: reading it would not end
    ran = planner("estimate", "commas.csv")
    assert ran.code == 2
    assert "commas.csv: the file has 1,000,000,000,000 bytes; expected at most 20,000,000 bytes, or a bill" in ran.err
