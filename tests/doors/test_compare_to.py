"""`planner estimate --compare-to OLD` as a user runs it: what changed, in every output; one answer for a bad OLD."""

from __future__ import annotations

import io
import json
import re
import zipfile

import pytest
from python_calamine import CalamineWorkbook

PLACE = {"providers": ["gcp"], "regions": ["us-central1"]}
TITLE = "Changes since the last review"


@pytest.fixture
def asked(hours, tmp_path):
    """Writes the usual request with these changes to a file; its name."""

    def make(name: str, per_month: float = 1460, **changes) -> str:
        hours["workloads"][0]["demand"]["accelerator_hours_per_month"] = per_month
        (tmp_path / f"{name}.yaml").write_text(json.dumps({**hours, **PLACE, **changes}))
        return f"{name}.yaml"

    return make


@pytest.fixture(scope="session")
def reviewed():
    """The files of the last review, once they are made."""
    return {}


@pytest.fixture
def last(planner, asked, reviewed, tmp_path):
    """The last review, as JSON and as a workbook."""
    if not reviewed:
        ran = planner("estimate", asked("last"), "-o", "last.json", "-o", "last.xlsx")
        assert ran.code == 0, ran.err
        reviewed.update({name: (tmp_path / name).read_bytes() for name in ("last.json", "last.xlsx")})
    asked("last")
    for name, content in reviewed.items():
        (tmp_path / name).write_bytes(content)


def section(text: str, mark: str = "") -> str:
    """What stands under the title, up to the next section."""
    return text.partition(f"{mark}{TITLE}")[2].partition(f"\n{mark}From runner-up" if mark else "\n\n")[0]


@pytest.mark.usefixtures("last")
def test_every_output_tells_what_changed(planner, asked, tmp_path):
    new = asked("new", 2000, assumptions={"cloud_tax_fraction": 0.05})
    outputs = ["-o", "new.json", "-o", "new.md", "-o", "new.xlsx"]
    ran = planner("estimate", new, "--full", "--compare-to", "last.json", *outputs)
    assert ran.code == 0, ran.err
    told = section(ran.out)
    assert "batch: 2,920 -> 4,000 accelerator-hours (+37.0%)" in told
    assert "What is assumed: 1 changed; cloud_tax_fraction." in told
    found = json.loads((tmp_path / "new.json").read_text())["changes"]
    assert {step["cause"] for step in found["causes"]["steps"] if step["total"]} == {"demand", "assumption"}
    assert [(c["subject"], c["then"], c["now"]) for c in found["changes"] if c["topic"] == "workload"] == [
        ("batch", 2920, 4000)
    ]
    words = (tmp_path / "new.md").read_text()
    assert f"## {TITLE}" in words
    assert "| batch | 2,920 | 4,000 | +1,080 | accelerator-hours |" in words
    sheet = CalamineWorkbook.from_path(tmp_path / "new.xlsx").get_sheet_by_name("Changes").to_python()
    assert ["workload", "batch", 2920, 4000, 1080] in [row[:5] for row in sheet]


@pytest.mark.usefixtures("last")
def test_without_it_there_is_nothing_of_it(planner, asked, tmp_path):
    ran = planner("estimate", asked("new"), "-o", "new.json", "-o", "new.xlsx")
    assert TITLE not in ran.out
    assert json.loads((tmp_path / "new.json").read_text())["changes"] is None
    assert "Changes" not in CalamineWorkbook.from_path(tmp_path / "new.xlsx").sheet_names


@pytest.mark.usefixtures("last")
def test_the_plan_keeps_its_name_and_its_figures(planner, asked, tmp_path):
    name = asked("new", 2000)
    planner("estimate", name, "-o", "alone.json")
    planner("estimate", name, "--compare-to", "last.json", "-o", "compared.json")
    alone, compared = (json.loads((tmp_path / f"{each}.json").read_text()) for each in ("alone", "compared"))
    assert compared.pop("changes")
    assert alone.pop("changes") is None
    assert compared == alone


@pytest.mark.slow
@pytest.mark.usefixtures("last")
def test_the_last_review_may_be_its_workbook_and_be_written_over(planner, asked, tmp_path):
    ran = planner("estimate", asked("new", 2000), "--compare-to", "last.xlsx", "--section", "changes",
                  "-o", "last.xlsx", "-o", "new.json")  # fmt: skip
    assert ran.code == 0, ran.err
    found = json.loads((tmp_path / "new.json").read_text())["changes"]
    assert found["causes"] is None
    assert [(c["then"], c["now"]) for c in found["changes"] if c["topic"] == "workload"] == [(2920, 4000)]
    assert "causes that add up need its plan.json" in " ".join(ran.out.split())
    assert "Changes" in CalamineWorkbook.from_path(tmp_path / "last.xlsx").sheet_names


@pytest.mark.usefixtures("last")
def test_nothing_changed(planner, asked):
    ran = planner("estimate", asked("last"), "--full", "--compare-to", "last.json")
    assert ran.code == 0
    assert "Recommended as before: cloud." in ran.out
    assert "No other changes." in ran.out


def changed(tmp_path, change) -> None:
    document = json.loads((tmp_path / "last.json").read_text())
    change(document)
    (tmp_path / "bad.json").write_text(json.dumps(document))


def zipped(**parts: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return out.getvalue()


@pytest.mark.one_in(10)
@pytest.mark.usefixtures("last")
@pytest.mark.parametrize(
    ("data", "words"),
    [
        (None, "cannot be read"),
        (b"", "is no JSON"),
        (b"\xff\x00", "is no JSON"),
        (b"{}", "is no plan"),
        (b"[" * 100_000, "is no JSON"),
        (b'{"schema_version": "3"}', "is a plan of schema version 3"),
        (b'{"schema_version": "2"}', "is no plan"),
        (b"PK\x03\x04 and nothing else", "damaged workbook"),
        (zipped(a="b"), "not an Excel workbook"),
    ],
)
def test_a_bad_last_review(planner, asked, tmp_path, data, words):
    if data is not None:
        (tmp_path / "bad.json").write_bytes(data)
    ran = planner("estimate", asked("new"), "--compare-to", "bad.json", "-o", "new.json")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("  bad.json: ") == 1
    assert words in ran.err
    assert "Traceback" not in ran.err
    assert not (tmp_path / "new.json").exists()
    if data is not None:
        assert "`planner estimate -o plan.json`" in ran.err


@pytest.mark.usefixtures("last")
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d["strategies"][0].update(total_cost=1.0), "strategies[0].total_cost: is 1.00, but the payments"),
        (lambda d: d["strategies"][0]["cash"][0].update(amount=1e308), "strategies[0]"),
        (lambda d: d.update(month_names=[]), "2 months with 0 names"),
        (lambda d: [s.update(status="infeasible") for s in d["strategies"]], "is infeasible"),
    ],
)
def test_a_last_review_that_was_tampered_with(planner, asked, tmp_path, change, words):
    changed(tmp_path, change)
    ran = planner("estimate", asked("new"), "--compare-to", "bad.json")
    assert ran.code == 2, ran.out
    assert words in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.usefixtures("last")
def test_it_is_told_together_with_every_other_fault(planner, tmp_path):
    (tmp_path / "bad.csv").write_text("workload,gpus\n")
    ran = planner("estimate", "bad.csv", "--compare-to", "missing.json", "--discount-rate", "much")
    assert ran.code == 2
    assert "missing.json: cannot be read" in ran.err
    assert "--discount-rate" in ran.err


@pytest.mark.slow
@pytest.mark.usefixtures("last")
def test_an_impossible_plan_tells_what_changed_too(planner, impossible, tmp_path):
    (tmp_path / "request.json").write_text(json.dumps(impossible))
    ran = planner("estimate", "request.json", "--compare-to", "last.json")
    assert ran.code == 3
    assert "Recommended then cloud, now none." in ran.out
    assert planner("estimate", "request.json", "-o", "never.json", "-o", "never.xlsx").code == 3
    for name in ("never.json", "never.xlsx"):
        ran = planner("estimate", "request.json", "--compare-to", name)
        assert ran.code == 2
        assert f"{name}: is infeasible" in ran.err


@pytest.mark.usefixtures("last")
def test_text_of_the_last_review_is_made_harmless(planner, asked, tmp_path):
    evil = "=cmd|'/c calc'!A0\x1b]0;owned\x07"

    def spoil(document: dict) -> None:
        document["workloads"][0]["name"] = evil
        document["assumptions"][0].update(source=evil, value=1.0)
        document["gaps"].append(
            {"kind": evil, "subject": evil, "effect": {"code": evil, "parameters": {}, "text": evil}, "workload": ""}
        )
        for strategy in document["strategies"]:
            for use in strategy["uses"]:
                use["workload"] = evil

    changed(tmp_path, spoil)
    ran = planner("estimate", asked("new"), "--compare-to", "bad.json", "-o", "new.xlsx", "-o", "new.md")
    assert ran.code == 0, ran.err
    assert "\x1b" not in ran.out + (tmp_path / "new.md").read_text()
    with zipfile.ZipFile(tmp_path / "new.xlsx") as archive:
        parts = [archive.read(name) for name in archive.namelist()]
    formulas = [text for part in parts for text in re.findall(rb"<f>(.*?)</f>", part)]
    assert len(formulas) > 10
    assert not any(b"cmd" in text for text in formulas)
    assert any(b"=cmd|" in part for part in parts)


@pytest.mark.slow
def test_the_service_compares_with_a_plan_that_it_keeps(client, hours):
    query = {"as_of": "2026-11-21", "strategies": "cloud"}
    last = client.post("/plan", json={**hours, **PLACE}, params=query).json()
    assert last["changes"] is None
    query |= {"compare_to": last["plan_id"]}
    hours["workloads"][0]["demand"]["accelerator_hours_per_month"] *= 2
    now = client.post("/plan", json={**hours, **PLACE}, params=query).json()
    costs = [plan["strategies"][0]["total_cost"] for plan in (last, now)]
    told = {(each["topic"], each["subject"]): each for each in now["changes"]["changes"]}
    cost = told["cost", "cloud: total cost"]
    assert (cost["then"], cost["now"]) == pytest.approx(costs)
    assert costs[1] == pytest.approx(2 * costs[0])
    gone = client.post("/plan", json=hours, params={**query, "compare_to": "0123456789ab"})
    assert (gone.status_code, gone.json()["title"]) == (404, "No such plan")
