"""Sheets and bills over HTTP: the plan of the command, faults with their cells, and hostile files that harm nothing."""

from __future__ import annotations

import gzip
import io
import json
import re
import shlex
import shutil
import subprocess
import zipfile
from itertools import repeat
from pathlib import Path

import openpyxl
import pytest
import xlsxwriter

from planner.inputs.file_reader import BYTES_MAX, formats, read
from planner.inputs.sandbox import SandboxLimits, run_isolated
from planner.service.uploads import SUFFIXES

ROWS = [
    ["Workload", "GPU", "GPU-hours / month", "Provider"],
    ["Scoring", "L4", 730, "gcp"],
    ["Search", "T4", 365, "gcp"],
]
WRONG = [ROWS[0], ["Scoring", "L4", "many", "gcp"], ["Search", "T4", -1, "gcp"], ["Ranking", "L4", 730, "gpc"]]
QUERY = {"as_of": "2026-11-21", "months": "2", "strategies": "cloud"}
OPTIONS = [part for name, value in QUERY.items() for part in (f"--{name.replace('_', '-')}", value)]
OFFICE = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
)
YAML = """workloads:
- {name: Scoring, demand: {accelerator_hours_per_month: 730, accelerator: L4}, providers: [gcp]}
"""


def xlsx(rows=ROWS) -> bytes:
    target = io.BytesIO()
    book = xlsxwriter.Workbook(target, {"in_memory": True})
    sheet = book.add_worksheet("Plan")
    for number, row in enumerate(rows):
        sheet.write_row(number, 0, row)
    book.close()
    return target.getvalue()


def ods(rows=ROWS, head: str = "") -> bytes:
    def cell(value):
        kind = f'"float" office:value="{value}"' if isinstance(value, int) else '"string"'
        return f"<table:table-cell office:value-type={kind}><text:p>{value}</text:p></table:table-cell>"

    body = "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows)
    content = (
        f'{head}<office:document-content {OFFICE}><office:body><office:spreadsheet><table:table table:name="Plan">'
        f"{body}</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    return zipped({"mimetype": b"application/vnd.oasis.opendocument.spreadsheet", "content.xml": content.encode()})


def zipped(parts: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return target.getvalue()


def with_parts(book: bytes, parts: dict[str, bytes], old: bytes = b"", new: bytes = b"") -> bytes:
    """A workbook with further parts, and with `old` in its sheet replaced."""
    with zipfile.ZipFile(io.BytesIO(book)) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    assert old in found[sheet]
    return zipped(found | {sheet: found[sheet].replace(old, new, 1)} | parts)


def csv(rows=ROWS, separator: str = ",") -> bytes:
    return "".join(separator.join(map(str, row)) + "\n" for row in rows).encode()


def formed(client, name, data, **query):
    return client.post("/plan", files={"file": (name, data)}, params=QUERY | query)


def raw(client, name, data, declared="application/octet-stream", **query):
    return client.post("/plan", content=data, headers={"content-type": declared}, params=QUERY | {"name": name} | query)


def faults(answer, status=422):
    assert answer.status_code == status, answer.text[:500]
    assert answer.headers["content-type"] == "application/problem+json"
    assert "Traceback" not in answer.text
    return {fault["path"]: fault for fault in answer.json()["errors"]}


FILES = {
    "review.xlsx": xlsx(),
    "review.ods": ods(),
    "review.csv": csv(),
    "review.tsv": csv(separator="\t"),
    "large.csv": csv([*ROWS, ["a long note " * 6_000]]),
    "job.yaml": YAML.encode(),
    "job.json": b'[{"name": "a", "demand": {"accelerator_hours_per_month": 730, "accelerator": "L4"}}]',
}  # fmt: skip
DEAR = {"review.xlsx", "review.ods", "review.tsv", "large.csv", "job.json"}
TYPES = {suffix: media_type for media_type, suffix in reversed(SUFFIXES.items()) if suffix}


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow if name in DEAR else ()) for name in FILES])
def test_the_plan_of_a_file_is_that_of_the_command(client, planner, tmp_path, name):
    data = FILES[name]
    (tmp_path / name).write_bytes(data)
    told = planner("estimate", name, *OPTIONS, "--format", "json")
    assert told.code == 0, told.err
    assert formed(client, name, data).content == told.data
    assert raw(client, name, data, TYPES.get(Path(name).suffix, "text/plain")).content == told.data
    disposition = {
        "content-type": "application/octet-stream",
        "content-disposition": f"attachment; filename*=UTF-8''x%2F{name}",
    }
    assert client.post("/plan", content=data, headers=disposition, params=QUERY).content == told.data


@pytest.mark.slow
def test_the_plan_of_a_bill_is_that_of_the_command_with_what_it_saves(client, planner, tmp_path, repository):
    path = Path(shutil.copy(repository / "examples" / "bill-focus.csv", tmp_path))
    query = {"growth": "3%", "tag": "team", "providers": "aws"}
    options = [part for name, value in query.items() for part in (f"--{name}", value)]
    told = planner("estimate", path.name, *OPTIONS, *options, "--format", "json")
    assert told.code == 0, told.err
    for answer in (
        formed(client, path.name, path.read_bytes(), **query),
        raw(client, path.name, path.read_bytes(), **query),
    ):
        assert answer.content == told.data
        assert answer.json()["inputs"]["notes"][-1].startswith("present spend against plan, over 2 months in USD")


@pytest.mark.parametrize(
    ("data", "format_name"),
    [
        pytest.param(xlsx(), "xlsx", marks=pytest.mark.slow),
        pytest.param(ods(), "ods", marks=pytest.mark.slow),
        (csv(), "csv"),
        (YAML.encode(), "yaml"),
    ],
)
def test_without_a_name_the_content_tells(client, data, format_name):
    for answer in (
        client.post("/plan", content=data, headers={"content-type": "application/octet-stream"}, params=QUERY),
        client.post("/plan", files={"file": ("blob", data)}, params=QUERY),
    ):
        assert answer.status_code == 200, answer.text[:500]
        assert answer.json()["inputs"]["format"] == format_name


def test_every_suffix_that_is_read_has_a_media_type():
    """Those without one of their own are sent as text or by name."""
    known = {suffix for each in formats() for suffix in each.suffixes}
    known -= {".json", ".txt", ".yml", ".sbatch", ".slurm"}
    assert set(SUFFIXES.values()) - {""} == known


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("name", "data"), [("review.xlsx", xlsx(WRONG)), ("review.ods", ods(WRONG))])
@pytest.mark.parametrize("send", [formed, raw])
def test_all_faults_at_once_with_their_cells(client, planner, tmp_path, name, data, send):
    found = faults(send(client, name, data, months="0", monthz="1"))
    assert found.keys() == {"?months", "?monthz", "Plan!C2", "Plan!C3", "Plan!D4"}
    assert (found["Plan!C2"]["value"], found["Plan!C2"]["expected"]) == ("many", "a number")
    assert "gcp" in found["Plan!D4"]["expected"]
    (tmp_path / name).write_bytes(data)
    told = planner("estimate", name, "--months", "0", "--strategies", "cloud").err
    for path, fault in found.items():
        if path != "?monthz":
            assert f"{path.replace('?', '--')}: {fault['message']}" in told


def test_lines_are_told_of_texts(client):
    assert faults(formed(client, "review.csv", csv(WRONG))).keys() == {
        "line 2 column 3", "line 3 column 3", "line 4 column 4",
    }  # fmt: skip
    assert faults(raw(client, "job.yaml", b"workloads:\n- {name: a}\n")).keys() == {"line 2 column 3"}


def test_what_is_said_of_a_sheet(client):
    odd = csv([["Thing", "Board", "Boards", "Hours", "Due"], ["Ranking", "L4", 2, 365, "03/04/2027"]])
    maps = ["Thing=name", "Board=accelerator", "Boards=gpus", "Due=ignore"]
    answer = formed(client, "odd.csv", odd, map=maps, dates="dmy")
    assert answer.status_code == 200, answer.text
    (workload,) = answer.json()["workloads"]
    assert workload["name"] == "Ranking"
    wrong = faults(formed(client, "odd.csv", odd, map=["Thing=nme", "x"], dates="ymd"))
    assert {"?map Thing=nme", "?map x", "?dates"} <= wrong.keys()


def test_what_does_not_fit_is_a_fault_and_not_left_aside(client):
    said = {"growth": "0.1", "tag": "team", "substitution": "true"}
    assert {"?growth", "?tag", "?substitution"} <= faults(formed(client, "review.csv", csv(), **said)).keys()
    assert faults(raw(client, "job.yaml", YAML.encode(), map="A=name")).keys() == {"?map A=name"}
    assert faults(client.post("/plan", json={}, params={"growth": "1", "map": "A=name"})).keys() >= {
        "?growth",
        "?map A=name",
    }
    assert faults(formed(client, "review.csv", csv(), substitution="perhaps")).keys() == {"?substitution"}


def test_a_tag_that_is_not_there_is_a_fault_of_the_query(client, repository):
    bill = (repository / "examples" / "bill-focus.csv").read_bytes()
    assert faults(formed(client, "bill.csv", bill, tag="nothing")).keys() == {"?tag"}


def test_a_form_has_one_file(client):
    sheet = ("review.csv", csv())
    wrong = [
        ([("other", sheet)], {"form field other"}),
        ([("file", (None, "a,b"))], {"form field file"}),
        ([("file", sheet), ("file", sheet)], {"form"}),
        ([("file", sheet), ("x", sheet), ("months", (None, "3"))], {"form field x", "form field months"}),
    ]
    for files, paths in wrong:
        assert faults(client.post("/plan", files=files)).keys() == paths
    for declared in ("multipart/form-data", "multipart/form-data; boundary=x"):
        answer = client.post("/plan", content=b"no form", headers={"content-type": declared})
        assert "curl -F file=@" in faults(answer, 400)["form"]["expected"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the parser lets go of an open part
@pytest.mark.parametrize("sent", ["", "--x\r\ncontent-disposition: form-data; name=file; filename=a\r\n\r\nGPU"])
def test_a_form_that_is_cut_off_is_told_as_such(client, sent):
    answer = client.post("/plan", content=sent, headers={"content-type": "multipart/form-data; boundary=x"})
    assert "truncated" in faults(answer, 400)["form"]["message"]


@pytest.mark.parametrize("announced", [True, False])
def test_too_many_bytes_are_413_in_each_way_to_send_them(client, announced):
    piece = b"a,b,c\n" * 200_000
    pieces = BYTES_MAX // len(piece) + 1
    body = piece * pieces if announced else repeat(piece, pieces)
    headers = {"content-type": "text/csv"}
    assert client.post("/plan", content=body, headers=headers).status_code == 413
    head, tail = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n', b"\r\n--x--\r\n"
    body = head + piece * pieces + tail if announced else iter([head, *repeat(piece, pieces), tail])
    headers = {"content-type": "multipart/form-data; boundary=x"}
    answer = client.post("/plan", content=body, headers=headers)
    assert answer.status_code == 413
    assert f"{BYTES_MAX:,} bytes" in answer.json()["detail"]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "name", ["../../../etc/passwd", "C:\\tmp\\review.csv", "a\r\nb: c.csv", "\x1b[31m.csv", "é" * 900]
)
def test_a_name_is_only_a_name(client, name):
    answer = raw(client, name, csv())
    assert answer.status_code == 200, answer.text
    assert re.fullmatch(r"[^/\\\x00-\x1f]{1,200}", answer.json()["inputs"]["name"])


BOMB = with_parts(xlsx(), {"xl/media/a.xml": bytes(30_000_000)})
FAR = with_parts(xlsx(), {}, b"</sheetData>", b'<row r="9"><c r="XFD1048576"><v>1</v></c></row></sheetData>')
ENTITIES = b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd"><!ENTITY b "&a;&a;">]><worksheet '
BILL_HEAD = b"BilledCost,EffectiveCost,ChargeCategory,BillingCurrency,ChargePeriodStart,ProviderName,ServiceName\n"
HOSTILE = {
    "bomb.xlsx": (BOMB, "it unpacks to"),
    "bomb.ods": (ods(head=" " * 30_000_000), "it unpacks to"),
    "far.xlsx": (FAR, "a cell in column 16,384"),
    "entities.xlsx": (with_parts(xlsx(), {}, b"<worksheet ", ENTITIES), "document type"),
    "entities.ods": (ods(head='<!DOCTYPE x [<!ENTITY a "b">]>'), "document type"),
    "password.xlsx": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(9_000), "password"),
    "cut.xlsx": (xlsx()[:-200], "damaged"),
    "not.xlsx": (b"\x89PNG" + bytes(9_000), "a PNG picture"),
    "deep.yaml": (b"[" * 100_000, "nested too deep"),
    "deep.json": (b"[" * 100_000, "nested too deep"),
    "no.parquet": (b"PAR1" + bytes(9_000) + b"PAR1", "Parquet"),
    "bomb.csv.gz": (gzip.compress(bytes(30_000_000), 1), "a gzip archive"),
    "bill.csv.gz": (gzip.compress(BILL_HEAD + b"1" * 30_000_000, 1), "bill.csv.gz"),
    "wide.csv": (b"Job,GPU," * 200_000, "wide.csv"),
    "nothing.xlsx": (b"", "the file is empty"),
}
EVERY_DAY = {"bomb.ods", "entities.xlsx", "deep.yaml", "no.parquet", "nothing.xlsx"}
"""Of each way to do harm the cheapest file."""


@pytest.mark.parametrize(
    "name", [name if name in EVERY_DAY else pytest.param(name, marks=pytest.mark.slow) for name in HOSTILE]
)
def test_a_hostile_file_is_one_clear_answer_and_the_next_is_a_plan(client, name):
    data, words = HOSTILE[name]
    assert len(data) < BYTES_MAX
    found = faults(formed(client, name, data))
    (fault,) = found.values()
    assert words in f"{fault['path']}: {fault['message']}"
    assert len(json.dumps(fault)) < 1_000
    assert formed(client, "review.csv", FILES["review.csv"]).status_code == 200


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ["bomb.ods", "bomb.xlsx", "far.xlsx", "wide.csv", "deep.json"])
def test_a_hostile_file_takes_little_memory(name):
    """Far less than the reader may use: the guard refuses it first."""
    assert run_isolated(read, HOSTILE[name][0], name, bounds=SandboxLimits(300 * 2**20, 600)).complaints


def test_macros_are_said_and_never_run(client):
    answer = formed(client, "review.xlsm", with_parts(xlsx(), {"xl/vbaProject.bin": b"x"}))
    assert "the workbook has macros; they were not run" in answer.json()["inputs"]["notes"]


@pytest.mark.slow
def test_another_writer_of_workbooks(client):
    book, target = openpyxl.Workbook(), io.BytesIO()
    for row in ROWS:
        book.active.append(row)
    book.save(target)
    assert formed(client, "review.xlsx", target.getvalue()).status_code == 200


@pytest.mark.slow
def test_the_guide_tells_what_works(client, repository, tmp_path):
    """Its curl lines, sent to this service."""
    if shutil.which("curl") is None:
        pytest.skip("no curl here")  # it is the reader's tool, none of ours; the routes are tested above without it
    text = (repository / "docs/guides/the-spreadsheet.md").read_text(encoding="utf-8")
    (tmp_path / "examples").symlink_to(repository / "examples")
    for name, contents in re.findall(r"```(?:csv|yaml) (\S+)\n(.*?)```", text, re.DOTALL):
        (tmp_path / name).write_text(contents.partition("cells:")[0])  # the rest of its answers is of another file
    lines = [line for line in text.splitlines() if line.startswith("curl ")]
    assert len(lines) >= 3
    for line in lines:
        sent = line.replace("localhost:8000", str(client.base_url).removeprefix("http://").rstrip("/"))
        done = subprocess.run([*shlex.split(sent), "--fail"], cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == 0, line
        assert b"strateg" in done.stdout.lower(), line
