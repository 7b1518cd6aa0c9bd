"""Cells of a sheet edited in the review: kept, planned with, told, undone; a bad edit is one fault at its cell."""

from __future__ import annotations

import re

import pytest

from planner.service import ServiceLimits
from pricing.clock import today
from tests.doors.conftest import serving
from tests.page.conftest import violations

SHEET = "Workload,GPU,GPU-hours / month,Team\nA,L4,1000,Search\nB,L4,500,Ads\n"
FAULTY = SHEET.replace("1000", "lots").replace("500", "many")
CELL = "line 2 column 3"


def give(visit, text: str = SHEET) -> None:
    visit.give({"name": "teams.csv", "mimeType": "text/csv", "buffer": text.encode()})


def field(page, place: str = CELL):
    return page.locator(f"input[data-place='{place}']")


def edit(page, value: str, place: str = CELL, workload: str = "A") -> None:
    button = page.locator("#readings").get_by_role("button", name=workload, exact=True)
    if button.get_attribute("aria-expanded") == "false":
        button.click()
    with page.expect_response(lambda each: "/v1/reviews" in each.url and each.request.method in ("POST", "PUT")):
        field(page, place).fill(value)
        field(page, place).press("Tab")


def plan_of(page) -> dict:
    read = """async () => {
      const query = new URLSearchParams(location.search);
      const review = query.get('review') ? await (await fetch('/v1/reviews/' + query.get('review'))).json() : null;
      return (await fetch('/v1/plans/' + (review ? review.plan_id : query.get('plan')))).json();
    }"""
    return page.evaluate(read)


def demand(page) -> dict[str, float]:
    return {each["name"]: each["demand"][0] for each in plan_of(page)["workloads"]}


def open_sheet(visit, site: str, text: str = SHEET) -> None:
    visit.open(site)
    visit.page.locator("#settings summary").click()
    visit.page.get_by_label("Months").fill("3")
    visit.page.get_by_label("Search").select_option("quick")
    give(visit, text)


def test_a_cell_is_edited_kept_over_a_restart_planned_with_told_and_undone(tab, tmp_path):
    store = f"sqlite:///{tmp_path / 'service.sqlite'}"
    limits = ServiceLimits(workers=1, seconds=600)
    visit = tab()
    page = visit.page
    with serving(limits, store) as client:
        open_sheet(visit, str(client.base_url))
        assert demand(page) == {"A": 1000, "B": 500}
        edit(page, "2500")
        assert "1 cell is edited and not in this plan yet" in page.locator("#decision .notice").inner_text()
        assert violations(page) == []
        assert "the plan read “1000”" in page.locator("tr.cells").inner_text()
        query = page.url.partition("/?")[2]
        assert query.startswith("review=")
    with serving(limits, store) as client:  # the service was restarted: the edit is in the store
        page.goto(f"{client.base_url}/?{query}")
        page.wait_for_selector("#decision .notice")
        edits = page.locator("#readings table", has_text="The file says").locator("tbody tr").inner_text()
        assert [each.strip() for each in edits.split("\t")][:5] == [
            CELL, "“1000”", "“2500”", "not yet: plan again", today().isoformat(),
        ]  # fmt: skip
        with visit.settling():
            page.locator("#decision").get_by_role("button", name="Plan again with the edited cell").click()
        assert page.url.partition("/?")[2].partition("#")[0] == query.partition("#")[0]
        assert demand(page) == {"A": 2500, "B": 500}
        told = f"'2500', edited by hand on {today()}; the file said '1000'"
        assert told in page.locator("#risks").inner_text()
        (notice,) = page.locator("#decision .notice").all_inner_texts()
        assert notice.startswith(f"1 cell of the file is read as edited by hand: {CELL}. The present cost is")
        assert notice.endswith("higher than before the edit; cloud is recommended as before.")
        page.reload()
        page.wait_for_selector("#readings table")
        assert "“1000”" in page.locator("#readings").inner_text()
        page.get_by_role("button", name=f"Undo the edit of {CELL}").first.click()
        with visit.settling():
            page.locator("#decision").get_by_role("button", name="Plan again with the edited cell").click()
        assert demand(page) == {"A": 1000, "B": 500}
        assert plan_of(page)["inputs"]["edits"] == []
        assert "No cell of the file is edited any more" in page.locator("#decision .notice").inner_text()


def test_a_bad_edit_is_one_fault_at_its_cell(tab, site):
    visit = tab()
    open_sheet(visit, site)
    page = visit.page
    for value, place, words in (("lots", CELL, "number"), ("H1000", "line 2 column 2", "accelerator")):
        edit(page, value, place)
        page.locator("#decision").get_by_role("button", name="Plan again with the edited cell").click()
        fault = page.locator("#readings .alarm")
        fault.wait_for()
        assert fault.count() == 1
        assert words in fault.inner_text()
        assert field(page, place).input_value() == value
        assert field(page, place).get_attribute("aria-invalid") == "true"
        assert page.evaluate("document.activeElement.dataset.place") == place
        assert page.locator("#problem").is_hidden()
        assert violations(page) == []
        page.locator("tr.cells").get_by_role("button", name=f"Undo the edit of {place}").click()
        assert page.locator("#readings .alarm, #decision .notice").count() == 0


def test_faults_of_a_dropped_file_are_mended_in_place(tab, site):
    visit = tab()
    visit.open(site)
    give(visit, FAULTY)
    page = visit.page
    assert "2 problems in teams.csv" in page.locator("#problem h2").inner_text()
    assert violations(page) == []
    page.get_by_label(f"Read in {CELL} instead").fill("70")
    with visit.settling():
        page.get_by_role("button", name="Plan with these cells").click()
    assert "1 problem in teams.csv" in page.locator("#problem h2").inner_text()
    page.get_by_label("Read in line 3 column 3 instead").fill("90")
    with visit.settling():
        page.get_by_role("button", name="Plan with these cells").click()
    assert demand(page) == {"A": 70, "B": 90}
    assert {each["said"] for each in plan_of(page)["inputs"]["edits"]} == {"lots", "many"}


def test_a_unit_in_a_header_is_edited_by_its_place(tab, site):
    """GPU-hours a week instead of a month: 1,000 a week are 1,000 x 52.14 / 12 a month, or 730 / 168."""
    visit = tab()
    open_sheet(visit, site)
    page = visit.page
    page.locator("#readings .other-cell summary").click()
    page.get_by_label("Cell", exact=True).fill("line 1 column 3")
    page.get_by_label("Read instead", exact=True).fill("GPU-hours / week")
    with page.expect_response(lambda each: "/v1/reviews" in each.url):
        page.get_by_role("button", name="Edit this cell").click()
    with visit.settling():
        page.locator("#decision").get_by_role("button", name="Plan again with the edited cell").click()
    assert demand(page)["A"] == pytest.approx(1000 * 730 / 168)
    assert re.search(r"GPU-hours / month", page.locator("#readings").inner_text())


def test_a_reader_of_a_link_sees_edits_and_makes_none(tab, site):
    visit = tab(permissions=["clipboard-read", "clipboard-write"])
    open_sheet(visit, site)
    edit(visit.page, "2500")
    visit.page.get_by_role("button", name="Copy read-only link").click()
    visit.page.get_by_text("Read-only link copied").first.wait_for()
    reader = tab()
    reader.open(visit.page.evaluate("navigator.clipboard.readText()"))
    reader.page.wait_for_selector("#decision .notice")
    assert "“2500”" in reader.page.locator("#readings").inner_text()
    reader.page.locator("#readings").get_by_role("button", name="A", exact=True).click()
    assert reader.page.locator("input.cell").count() == 0
    assert reader.page.get_by_role("button", name="Plan again with the edited cell").count() == 0
