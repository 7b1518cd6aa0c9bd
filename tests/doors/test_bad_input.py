"""Asked wrongly: every fault with its place, exit code 2, nothing written; a bug: an id and a log, no traceback."""

from __future__ import annotations

import io
import json

import openpyxl
import pytest

GOOD = "workload,GPU,GPU hours per month,region\nfine,L4,100,us-east-1\n"


def workbook(rows) -> bytes:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    data = io.BytesIO()
    book.save(data)
    return data.getvalue()


def refused(ran, written, *expected):
    """Exit code 2, every expected piece told, no traceback, no file but the input."""
    assert ran.code == 2, ran.err
    assert ran.out == ""
    for piece in expected:
        assert piece in ran.err, ran.err
    assert "Traceback" not in ran.err
    assert not [name for name in written() if "plan" in name or name.startswith("tmp")]
    number = int(ran.err.split("error: ")[1].split()[0])
    assert number == len(ran.err.strip().splitlines()) - 1


@pytest.mark.parametrize("suffix", ["xlsx", "csv", "yaml", "json"])
def test_an_empty_file(planner, written, tmp_path, suffix):
    (tmp_path / f"in.{suffix}").write_bytes(b"")
    refused(planner("estimate", f"in.{suffix}", "-o", "plan.json"), written, f"in.{suffix}", "empty")


def test_a_file_that_is_no_sheet(planner, written, tmp_path):
    (tmp_path / "in.xlsx").write_bytes(bytes(range(256)) * 8)
    refused(planner("estimate", "in.xlsx", "-o", "plan.json"), written, "in.xlsx")


def test_a_file_that_does_not_exist(planner, written):
    refused(planner("estimate", "nowhere.csv", "-o", "plan.json"), written, "nowhere.csv: cannot be read: No such file")


def test_a_folder(planner, written, tmp_path):
    words = "a folder without a file of a known billing export"
    refused(planner("estimate", str(tmp_path), "-o", "plan.json"), written, words)


def test_a_missing_column(planner, written, tmp_path):
    (tmp_path / "in.csv").write_text("team,price\nsearch,3\n")
    refused(planner("estimate", "in.csv", "-o", "plan.json"), written, "in.csv", "column")


def test_faults_of_a_csv_each_with_its_place(planner, written, tmp_path):
    rows = "text,L4,lots,us-east-1\nnegative,L4,-5,us-east-1\nunknown,H1000,7,us-east-1\nfine,L4,7,us-east-1\n"
    (tmp_path / "in.csv").write_text(GOOD + rows)
    refused(
        planner("estimate", "in.csv", "-o", "plan.json"),
        written,
        "line 3 column 3: text instead of a number",
        "line 4 column 3: a negative number",
        "line 5 column 2: unknown accelerator; read H1000; expected one of H100",
        "line 6 column 1: a second workload of this name",
    )


def test_both_faults_of_one_row_are_told(planner, written, tmp_path):
    (tmp_path / "in.csv").write_text("workload,GPU,GPU hours per month\nA,H1000,abc\nB,L4,730\n")
    ran = planner("estimate", "in.csv", "-o", "plan.json")
    number, name = "line 2 column 3: text instead of a number", "line 2 column 2: unknown accelerator; read H1000"
    refused(ran, written, "2 problems", number, name)


def test_faults_of_a_workbook_each_with_its_cell(planner, written, tmp_path):
    header = ["workload", "GPU", "GPU hours per month"]
    rows = [["text", "L4", "lots"], ["negative", "L4", -5], ["unknown", "H1000", 7], ["negative", "L4", 7]]
    (tmp_path / "in.xlsx").write_bytes(workbook([header, *rows]))
    ran = planner("estimate", "in.xlsx", "-o", "plan.json")
    refused(ran, written, "C2: text", "C3: a negative number", "B4: unknown accelerator; read H1000", "A5: a second")


@pytest.mark.parametrize("months", ["0", "1000", "-3", "many", "1.5"])
def test_a_horizon_that_is_none(planner, written, job, months):
    refused(planner("estimate", str(job), "--months", months, "-o", "plan.json"), written, "--months: ", months)


@pytest.mark.parametrize("day", ["86400", "1700000000", "2026-11-21T00:00", "21.11.2026"])
def test_a_date_is_written_as_one(planner, written, job, day):
    expected = f"--as-of: expected a date such as 2026-11-21; read '{day}'"
    refused(planner("estimate", str(job), "--as-of", day, "-o", "plan.json"), written, expected)


@pytest.mark.parametrize("months", [0, 1000])
def test_the_same_in_the_file(planner, written, hours, tmp_path, months):
    (tmp_path / "in.json").write_text(json.dumps(hours | {"months": months}))
    refused(planner("estimate", "in.json", "-o", "plan.json"), written, f"read {months}")


def test_two_workloads_of_one_name(planner, written, hours, tmp_path):
    (tmp_path / "in.json").write_text(json.dumps(hours | {"workloads": hours["workloads"] * 2}))
    refused(planner("estimate", "in.json", "-o", "plan.json"), written, "two workloads of one name, 'batch'")


def test_faults_of_options_file_and_names_come_in_one_answer(planner, written, tmp_path):
    (tmp_path / "in.csv").write_text(GOOD + "text,L4,lots,us-east-1\nunknown,H1000,7,us-east-1\n")
    (tmp_path / "ours.yaml").write_text("pue: 1.2\npeu: 1\nlead_time_months: soon\n")
    ran = planner(
        "estimate", "in.csv", "-o", "plan.json", "-o", "noidea.what", "--months", "0", "--strategies", "clod",
        "--providers", "awz", "--discount-rate", "8%%", "--as-of", "yesterday", "--assumptions", "ours.yaml",
    )  # fmt: skip
    refused(
        ran,
        written,
        "-o noidea.what: ",
        "--months: ",
        "--strategies: ",
        "--providers: unknown provider; read awz",
        "--discount-rate: ",
        "--as-of: ",
        "ours.yaml line 2 column 6: unknown assumption; read peu; expected one of pue",
        "ours.yaml line 3 column 19: ",
        "line 3 column 3: text instead of a number",
        "line 4 column 2: unknown accelerator; read H1000",
    )
    assert "15 problems" not in ran.err
    assert ran.err.count("\n  ") == 10


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ("--format", "jsn"),
            "--format: unknown format; read jsn; expected one of csv, focus, github, html, infracost",
        ),
        (("--format", "json", "-o", "plan.xlsx"), "--format: no output has this format"),
        (("-o", "plan.xlsx", "-o", "./plan.xlsx"), "-o ./plan.xlsx: named twice"),
        (("-o", "plan"), "-o plan: no known suffix"),
        (("-o", "/proc/nowhere/plan.json"), "-o /proc/nowhere/plan.json: cannot be written"),
        (("--assumptions", "nofile.yaml"), "--assumptions nofile.yaml: cannot be read"),
    ],
)
def test_outputs_and_files_that_cannot_be(planner, written, job, arguments, expected):
    refused(planner("estimate", str(job), *arguments), written, expected)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            b"pue: 1.2\npue: 1.3\n",
            "ours.yaml line 2 column 1: the key 'pue' occurs twice; the first is at line 1 column 1",
        ),
        (b"- pue\n", "ours.yaml: no list of assumptions; expected one `name: value` a line"),
        (b"5\n", "ours.yaml line 1 column 1: not a request; read 5; expected one `name: value` a line"),
        (b"pue: [\n", "ours.yaml line 2 column 1: not YAML"),
        (b"", "ours.yaml: the document is empty; expected one `name: value` a line"),
        (b"\xff", "ours.yaml: not text: byte 0 is not UTF-8"),
        (
            b"a: &a [x, x, x, x, x, x, x, x, x, x]\n"
            + b"".join(b"%c: &%c [%s]\n" % (c, c, b", ".join([b"*%c" % (c - 1)] * 10)) for c in b"bcdefgh"),
            "aliases that grow without end",
        ),
    ],
)
def test_an_assumptions_file_that_is_none(planner, written, job, tmp_path, content, expected):
    (tmp_path / "ours.yaml").write_bytes(content)
    ran = planner("estimate", str(job), "--assumptions", "ours.yaml", "-o", "plan.json")
    refused(ran, written, expected)
    assert ran.err.startswith("error: 1 problem in the input; no files were written")


def test_one_output_that_cannot_be_written_keeps_the_others_from_being(planner, written, job):
    refused(planner("estimate", str(job), "-o", "plan.json", "-o", "/proc/nowhere/p.csv"), written, "cannot be written")


@pytest.mark.parametrize(
    "document",
    [
        b"[]",
        b"{}",
        b"[1, 2]",
        b'{"workloads": {"a": 3}, "assumptions": 5}',
        b"1: 2\nworkloads: [3, {name: x, 7: 8}]\n",
        b"workloads: [{name: x, demand: {units_per_month: .nan}}]",
        b'{"workloads": [{"name": "x", "demand": {"accelerator_hours_per_month": 1e400, "accelerator": "L4"}}]}',
        b"\xff\xfe\x00\x00",
        b"- - - -",
        b"a: &x [*x]",
        b"!!python/object:os.system {}",
    ],
)
def test_documents_that_are_no_request_are_refused_not_crashed_on(planner, written, document):
    refused(planner("estimate", "-", "-o", "plan.json", stdin=document), written)


def test_unknown_options_and_commands_are_refused(planner):
    for arguments in (("estimate", "--monthz", "3"), ("estimat",), ("offers", "--gpu", "x")):
        ran = planner(*arguments)
        assert ran.code == 2
        assert "Traceback" not in ran.err
        assert "Usage:" in ran.err


def test_a_bug_is_told_with_an_id_and_its_details_are_in_a_log(planner, job, monkeypatch, tmp_path):
    def broken(*_, **__):
        raise ZeroDivisionError("a secret detail")

    monkeypatch.setattr("planner.application.process_document", broken)
    ran = planner("estimate", str(job), "-o", "plan.json")
    assert ran.code == 1
    assert ran.out == ""
    assert "Traceback" not in ran.err
    assert "a secret detail" not in ran.err
    [log] = (tmp_path / "tmp").iterdir()
    assert str(log) in ran.err
    assert log.stem.removeprefix("planner-") in ran.err
    assert "ZeroDivisionError: a secret detail" in log.read_text()
    assert not (tmp_path / "plan.json").exists()


ENDED = [  # a cell of a sheet, and a piece of the answer
    ("GPU", "K80", "Standard_NC6 (1 x K80-12GB-die), not sold since 2022-08-31; instead Standard_NC4as_T4_v3"),
    ("GPU", "M60", "g3.4xlarge (1 x M60-8GB-die); instead g4dn.4xlarge, from 1.2040 USD"),
    ("GPU", "MI25", "not sold since 2026-09-30; instead Standard_NV6ads_A10_v5, from 0.4540 USD"),
    ("GPU", "GTX 1080", "no provider of the catalogue rents GTX-1080-8GB"),
    ("GPU", "GTX 1030", "no provider of the catalogue rents GT-1030-2GB-GDDR5"),
    ("GPU", "P2", "aws p2.xlarge (1 x K80-12GB-die); instead p3.2xlarge, from 3.0600 USD"),
    ("GPU", "G2", "aws g2.2xlarge (1 x K520-4GB); no successor is recorded"),
    ("GPU", "eg1.medium", "(Elastic Graphics), not sold since 2024-01-08; instead g4dn.xlarge, from 0.5260 USD"),
    ("instance type", "eg1.medium", "(Elastic Graphics), not sold since 2024-01-08; instead g4dn.xlarge"),
    ("instance type", "Elastic Inference", "not sold since 2024-04; instead inf2.xlarge, from 0.7582 USD"),
    ("instance type", "p2.xlarge", "aws p2.xlarge (1 x K80-12GB-die); instead p3.2xlarge, from 3.0600 USD"),
    ("instance type", "g2.2xlarge", "aws g2.2xlarge (1 x K520-4GB); no successor is recorded"),
]


@pytest.mark.parametrize(("column", "name", "answer"), ENDED)
def test_a_cell_that_names_what_has_ended_says_what_is_there_instead(planner, written, column, name, answer):
    sheet = f"workload,{column},GPUs,hours per month\nold,{name},1,100\n"
    refused(planner("estimate", "-", stdin=sheet.encode()), written, "line 2 column 2: ", answer)
