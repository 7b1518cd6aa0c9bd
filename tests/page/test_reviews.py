"""Whole reviews in a browser: every example, questions, cancel, restart, sharing, print, and the rules of access."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from pypdf import PdfReader

from planner.service.page_files import EXAMPLES
from tests.doors.conftest import HOURS, serving
from tests.intake.team_sheets import team_sheets

pytestmark = pytest.mark.slow

PARTS = ("The decision", "Cash", "Cost centres", "Orders", "Risks and sources")
"""As the workbook's review edition prints them: Summary, Cash, Cost centres, Orders, Risks and sources."""
WIDTHS = ((1280, 900), (820, 1100), (390, 844))
AXE_RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}}


def violations(page) -> list[str]:
    results = Axe().run(page, options=AXE_RULES)
    return [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in results.response["violations"]]


def many(count: int) -> dict:
    workloads = [
        {
            "name": f"job {n}",
            "team": f"team {n % 12}",
            "demand": {"accelerator_hours_per_month": 100 + n, "accelerator": "L4"},
        }
        for n in range(count)
    ]
    return {**HOURS, "effort": "quick", "workloads": workloads}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_becomes_a_review_without_a_fault(tab, site, name):
    visit = tab()
    visit.open(site)
    assert violations(visit.page) == []
    with visit.settling():
        visit.page.locator(f"[data-example='{name}']").click()
    assert visit.page.locator("#review section").count() == 9, visit.page.locator("#problem").inner_text()
    assert violations(visit.page) == []
    visit.page.locator("#decision button.figure").first.click()
    assert violations(visit.page) == []
    visit.page.keyboard.press("Escape")
    for width, height in WIDTHS:
        visit.page.set_viewport_size({"width": width, "height": height})
        assert visit.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    printed = PdfReader(io.BytesIO(visit.page.pdf()))
    assert len(printed.pages) == len(PARTS)
    for page, title in zip(printed.pages, PARTS, strict=True):
        assert title in page.extract_text()
    assert visit.hosts == {site.removeprefix("http://")}


def test_dark_and_phone_have_no_violation(tab, site, small):
    visit = tab(color_scheme="dark", viewport={"width": 390, "height": 844})
    visit.open(site)
    visit.give(small)
    assert violations(visit.page) == []


def test_a_question_is_answered_in_place_and_remembered(tab, site):
    sheet = next(each for each in team_sheets() if each.name == "17_en_team_sheets")
    file = {"name": "teams.xlsx", "mimeType": "application/octet-stream", "buffer": sheet.workbook()}
    visit = tab()
    visit.open(site)
    visit.give(file)
    page = visit.page
    assert "1 question about teams.xlsx" in page.locator("#problem h2").inner_text()
    assert violations(page) == []
    assert page.locator("input[type=radio]:checked").get_attribute("value") == "all"
    page.locator("label", has_text="Ads").last.click()
    with visit.settling():
        page.get_by_role("button", name="Plan with these answers").click()
    read = page.locator("#readings").inner_text()
    assert "Read as Ads, as answered" in read
    page.goto(site)
    visit.give(file)
    assert page.locator("input[type=radio]:checked").get_attribute("value") == "Ads"
    assert "your last answer" in page.locator("#problem").inner_text()


def test_a_plan_is_cancelled(tab, site, tmp_path):
    path = tmp_path / "many.json"
    path.write_text(json.dumps({**many(60), "months": 24, "strategies": ["hybrid"], "effort": "proof"}))
    visit = tab()
    visit.open(site)
    visit.page.set_input_files("#file", path)
    cancel = visit.page.get_by_role("button", name="Cancel")
    cancel.wait_for()
    visit.page.wait_for_selector("#progress button:not([disabled])")
    cancel.click()
    visit.page.wait_for_selector("#intake:not([hidden])")
    assert "?plan=" not in visit.page.url


def test_a_review_opens_after_a_restart_and_is_shared_read_only(tab, tmp_path, small):
    from planner.service import ServiceLimits

    store = f"sqlite:///{tmp_path / 'service.sqlite'}"
    visit = tab(permissions=["clipboard-read", "clipboard-write"])
    page = visit.page
    with serving(ServiceLimits(workers=1, seconds=600), store) as client:
        visit.open(str(client.base_url))
        visit.give(small)
        page.locator("#figures input[type=range]").first.focus()
        page.keyboard.press("End")
        page.get_by_label("Name for the figures").fill("dear")
        page.get_by_role("button", name="Keep as a scenario").click()
        headline, moved = page.locator(".headline").inner_text(), page.locator("#figures strong").inner_text()
        page.get_by_role("button", name="Copy read-only link").click()
        query = page.evaluate("navigator.clipboard.readText()").partition("/?")[2]
    with serving(ServiceLimits(workers=1, seconds=600), store) as client:
        other = tab()
        other.open(f"{client.base_url}/?{query}")
        other.page.wait_for_selector("#review section")
        assert other.page.locator(".headline").inner_text() == headline
        assert other.page.locator("#figures strong").inner_text() == moved
        assert "dear" in other.page.locator("#scenarios thead").inner_text()
        assert other.page.get_by_role("button", name="Plan again").count() == 0
        assert other.page.locator("#intake").is_hidden()

        # whoever has the other link plans again from the store, without the file
        other.page.goto(f"{client.base_url}/?{query.replace('&read', '')}")
        before = other.page.url.partition("?plan=")[2][:12]
        with other.settling():
            other.page.get_by_role("button", name="Plan again with these figures").click()
        assert other.page.url.partition("?plan=")[2][:12] != before
        assert "stated by the request" in other.page.evaluate(
            "fetch('/v1/plans/' + new URLSearchParams(location.search).get('plan')).then(a => a.json())"
            ".then(p => p.assumptions.some(a => a.overridden) ? 'stated by the request' : '')"
        )


@pytest.mark.parametrize("kind", ["xlsx", "html", "csv", "json", "markdown", "focus"])
def test_a_review_is_taken_along(tab, site, small, kind):
    visit = tab()
    visit.open(site)
    visit.give(small)
    with visit.page.expect_download() as taken:
        option = visit.page.locator(f"option[value*='/reports/{kind} ']").get_attribute("value")
        visit.page.get_by_label("Download as").select_option(option)
    assert Path(taken.value.path()).stat().st_size > 500


def test_terraform_is_taken_along_by_provider(tab, site, small):
    visit = tab()
    visit.open(site)
    visit.give(small)
    option = visit.page.locator("option[value*='/terraform?provider=']").first.get_attribute("value")
    with visit.page.expect_download() as taken:
        visit.page.get_by_label("Download as").select_option(option)
    assert Path(taken.value.path()).read_bytes()[:2] == b"PK"


def test_a_hundred_workloads_are_readable(tab, site, tmp_path):
    path = tmp_path / "hundred.json"
    path.write_text(json.dumps(many(100)))
    visit = tab()
    visit.open(site)
    visit.give(path)
    page = visit.page
    assert page.locator("#readings tbody > tr:visible").count() <= 21
    page.locator("#readings").get_by_role("button", name="Show all 100").click()
    assert page.locator("#readings tbody > tr:visible").count() >= 100
    assert violations(page) == []
    assert len(PdfReader(io.BytesIO(page.pdf())).pages) == len(PARTS)


def test_nothing_is_possible_is_a_review_with_reasons(tab, site, tmp_path):
    from tests.doors.conftest import IMPOSSIBLE

    path = tmp_path / "impossible.json"
    path.write_text(json.dumps(IMPOSSIBLE))
    visit = tab()
    visit.open(site)
    visit.give(path)
    assert "Why not cloud" in visit.page.locator("#decision").inner_text()
    assert violations(visit.page) == []


def test_a_review_is_operated_by_keys_alone(tab, site, small):
    visit = tab()
    visit.open(site)
    page = visit.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    visit.give(small)
    page.locator("#decision button.figure").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("dialog[open]").count() == 1
    assert page.evaluate("document.querySelector('dialog').contains(document.activeElement)")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.className") == "figure"
