"""Whole reviews in a browser: every example, questions, cancel, restart, sharing, print, and the rules of access."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from pypdf import PdfReader

from planner.reports._content.repricing import LedgerRepricing
from planner.reports.json import loads
from planner.service.page_files import EXAMPLES
from tests.doors.conftest import HOURS, serving
from tests.doors.test_uncertainty import ASKED, REQUEST
from tests.intake.team_sheets import team_sheets
from tests.page.conftest import PLAN_MS, violations
from tests.page.test_figures import ORDERED

pytestmark = pytest.mark.slow

PARTS = ("The decision", "Cash", "Cost centres", "Orders", "Risks and sources")
"""As the workbook's review edition prints them: Summary, Cash, Cost centres, Orders, Risks and sources."""
WIDTHS = ((1280, 900), (820, 1100), (390, 844))


BYTES_MAX = 400_000
"""Of the page with a review, compressed."""


def sent_bytes(page) -> int:
    """What the page and its review are, as they were sent."""
    return page.evaluate("performance.getEntries().reduce((sum, each) => sum + (each.encodedBodySize ?? 0), 0)")


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
    assert 0 < sent_bytes(visit.page) < BYTES_MAX
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
    visit.page.clock.install()
    visit.open(site)
    visit.page.set_input_files("#file", path)
    cancel = visit.page.get_by_role("button", name="Cancel")
    cancel.wait_for()
    visit.page.wait_for_selector("#progress button:not([disabled])")
    progress = visit.page.locator("#progress")
    progress.get_by_text("Searching the best plan, strategy hybrid").wait_for(timeout=PLAN_MS)
    progress.get_by_text("Best plan of it so far").wait_for(timeout=PLAN_MS)
    visit.page.clock.fast_forward(31_000)
    progress.get_by_text("This is taking a while").wait_for()
    assert violations(visit.page) == []
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
        page.get_by_text("Kept in the store").wait_for()
        page.get_by_role("button", name="Copy read-only link").click()
        page.get_by_text("Read-only link copied").first.wait_for()
        shared = page.evaluate("navigator.clipboard.readText()").partition("/#")[2]
        query = page.url.partition("/?")[2]
        assert query.startswith("review=")
    with serving(ServiceLimits(workers=1, seconds=600), store) as client:
        other = tab()
        other.open(f"{client.base_url}/#{shared}")
        other.page.wait_for_selector("#review section")
        assert other.page.locator(".headline").inner_text() == headline
        assert other.page.locator("#figures strong").inner_text() == moved
        assert "dear" in other.page.locator("#scenarios thead").inner_text()
        assert other.page.get_by_role("button", name="Plan again").count() == 0
        assert other.page.get_by_label("Download as").count() == 0
        assert other.page.locator("#intake").is_hidden()
        assert violations(other.page) == []

        # the empty page lists the review; from it, the plan is made again from the store, without the file
        other.page.goto("about:blank")
        other.page.goto(str(client.base_url))
        other.page.locator("#kept a").click()
        other.page.wait_for_selector("#review section")
        assert other.page.url.partition("/?")[2].startswith(query.partition("#")[0])
        assert other.page.locator("#figures strong").inner_text() == moved
        assert "dear" in other.page.locator("#scenarios thead").inner_text()
        before = other.page.locator("#plan-name").inner_text()
        with other.settling():
            other.page.get_by_role("button", name="Plan again with these figures").click()
        assert "?plan=" in other.page.url
        assert other.page.locator("#plan-name").inner_text() != before
        assert "stated by the request" in other.page.evaluate(
            "fetch('/v1/plans/' + new URLSearchParams(location.search).get('plan')).then(a => a.json())"
            ".then(p => p.assumptions.some(a => a.overridden) ? 'stated by the request' : '')"
        )


def test_cost_centres_follow_a_moved_figure(tab, site, small):
    """One workload, so its cost centre is charged with all of the cost: the total of the decision."""
    visit = tab()
    visit.open(site)
    visit.give(small)
    page = visit.page
    for is_moved in (False, True):
        if is_moved:
            page.locator("#figures input[type=range]").first.focus()
            page.keyboard.press("End")
        chosen = page.locator("#decision dl div", has_text="Total").locator("dd").inner_text()
        charged = page.locator("#centres table").first.locator("tbody tr").first.locator("td").first.inner_text()
        assert charged == chosen
        assert ("as you moved them" in page.locator("#centres").inner_text()) == is_moved


def test_an_assumption_that_changes_what_can_be_planned_is_planned_with(tab, site, small):
    visit = tab()
    visit.open(site)
    visit.give(small)
    page = visit.page
    page.locator("#figures details.further summary").click()
    page.get_by_label("Assumption", exact=True).select_option("lead_time_months")
    assert "planned with" in page.locator("#further-meaning").inner_text()
    page.get_by_label("Value", exact=True).fill("9")
    assert violations(page) == []
    with visit.settling():
        page.get_by_role("button", name="Plan again with it").click()
    stated = page.evaluate(
        "fetch('/v1/plans/' + new URLSearchParams(location.search).get('plan')).then(a => a.json())"
        ".then(p => p.assumptions.filter(a => a.overridden).map(a => [a.name, a.value]))"
    )
    assert stated == [["lead_time_months", 9]]


def test_a_plan_over_scenarios_shows_its_ladder(tab, site, tmp_path):
    """What to commit to now and later stands beside the orders, as in the plan."""
    path = tmp_path / "uncertain.yaml"
    path.write_text(REQUEST + ASKED, encoding="utf-8")
    visit = tab()
    visit.open(site)
    visit.give(path)
    page = visit.page
    plan = page.evaluate("fetch('/v1/plans/' + new URLSearchParams(location.search).get('plan')).then(a => a.json())")
    ladder = page.locator("#orders table", has_text="The ladder").locator("tbody tr")
    assert ladder.count() == len(plan["uncertainty"]["ladder"]) > 0
    now = [step for step in plan["uncertainty"]["ladder"] if step["is_now"]]
    shown = [row for row in ladder.all_inner_texts() if row.startswith("now")]
    assert len(shown) == len(now) > 0
    for row, step in zip(shown, now, strict=True):
        assert step["name"] in row
        assert "none: decide now" in row
    assert violations(page) == []


def test_two_people_name_scenarios_of_one_review(tab, site, small):
    one, other = tab(), tab()
    one.open(site)
    one.give(small)
    name_scenario(one.page, "ours")
    other.open(one.page.url)
    other.page.wait_for_selector("#scenarios thead")
    name_scenario(one.page, "later")
    name_scenario(other.page, "theirs")
    other.page.locator("#scenarios thead th", has_text="later").wait_for()
    titles = other.page.locator("#scenarios thead th").all_inner_texts()
    assert sorted(titles[2:]) == ["later", "ours", "theirs"]
    one.page.reload()
    one.page.wait_for_selector("#scenarios thead")
    assert one.page.locator("#scenarios thead th").all_inner_texts() == titles


def name_scenario(page, name: str) -> None:
    page.locator("#figures input[type=range]").first.focus()
    page.keyboard.press("End")
    page.get_by_label("Name for the figures").fill(name)
    changes = ("POST", "PUT")  # after a conflict, the review is read before it is changed
    with page.expect_response(lambda each: each.request.method in changes and each.status in (200, 201)):
        page.get_by_role("button", name="Keep as a scenario").click()
    page.locator("#scenarios thead th", has_text=name).wait_for()


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
    assert 0 < sent_bytes(page) < BYTES_MAX
    page.locator("#readings").get_by_role("button", name="Show all 100").click()
    assert page.locator("#readings tbody > tr:visible").count() >= 100
    assert violations(page) == []
    assert len(PdfReader(io.BytesIO(page.pdf())).pages) == len(PARTS)


def test_every_slider_on_the_page_says_what_the_server_does(tab, site, tmp_path):
    """At both ends of each slider, as whole money: the present cost of every strategy."""
    path = tmp_path / "both.json"
    path.write_text(json.dumps(ORDERED["both"][0]))
    visit = tab()
    visit.open(site)
    visit.give(path)
    page = visit.page
    page.locator("#figures details summary").first.click()
    stored = page.evaluate(
        "fetch('/v1/plans/' + new URLSearchParams(location.search).get('plan')).then((answer) => answer.text())"
    )
    plan = loads(stored.encode())
    repricing = LedgerRepricing(plan)
    names = [each.name for each in plan.strategies if each.status != "infeasible"]
    sliders = page.locator("#figures input[type=range]")
    assert sliders.count() == len(repricing.read_assumptions & {each.name for each in plan.assumptions}) > 20
    for slider in sliders.all():
        for key in ("Home", "End"):
            slider.focus()
            page.keyboard.press(key)
            moves = {slider.get_attribute("id").removeprefix("slider-"): float(slider.input_value())}
            costs = [f"{name} {repricing.costs(name, moves)[1]:,.0f}" for name in names]
            assert page.locator("#figures strong").inner_text() == f"Present cost, USD: {', '.join(costs)}."
        reset = page.locator("#figures").get_by_role("button", name="reset")
        if reset.count():  # its end may be its planned value
            reset.click()


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
