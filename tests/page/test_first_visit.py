"""A first visit in a browser: a file is given, planned and read; the short sibling of test_reviews."""

from __future__ import annotations

import json

from tests.page.conftest import violations


def test_a_request_becomes_a_review_whose_figures_end_at_prices(tab, site, small):
    visit = tab()
    visit.open(site)
    assert visit.page.locator("h1").inner_text().startswith("What does your GPU work cost")
    visit.give(small)
    page = visit.page
    assert "?plan=" in page.url
    assert "Rent" in page.locator(".headline").inner_text()

    # a figure ends at its price row with source and date
    page.locator("#decision button.figure").first.click()
    source = page.locator("dialog[open]")
    assert "Where " in source.locator("h2").inner_text()
    assert "USD an hour" in source.inner_text()
    assert source.locator("time").first.inner_text().startswith("202")
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0

    # a slider changes the figures, and the address keeps it
    before = page.locator("#figures strong").inner_text()
    slider = page.locator("#figures input[type=range]").first
    slider.focus()
    page.keyboard.press("End")
    assert page.locator("#figures strong").inner_text() != before
    assert page.locator("#decision .notice").count() == 1
    page.reload()
    page.wait_for_selector("#decision .notice")
    page.get_by_role("button", name="Back to the planned figures").click()
    assert page.locator("#figures strong").inner_text() == before

    assert visit.hosts == {site.removeprefix("http://")}


def test_faults_are_shown_with_their_places(tab, site, tmp_path):
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps({"months": -3, "workloads": [{"name": "x", "demand": {"accelerator": "H1000"}}]}))
    visit = tab()
    visit.open(site)
    visit.give(wrong)
    problem = visit.page.locator("#problem")
    assert "problems in wrong.json" in problem.locator("h2").inner_text()
    assert "-3" in problem.locator("tbody").inner_text()
    assert "line 1 column" in problem.locator("tbody").inner_text()
    assert visit.page.evaluate("document.activeElement.id") == "problem-title"


def test_a_link_to_no_plan_says_so(tab, site):
    visit = tab()
    visit.open(f"{site}/?plan=000000000000")
    visit.page.wait_for_selector("#problem h2")
    assert "No such plan" in visit.page.locator("#problem h2").inner_text()


DROP = """([text, name]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  document.getElementById('drop').dispatchEvent(new DragEvent('drop', { bubbles: true, dataTransfer: data }));
}"""


def test_a_file_is_dropped_and_numbers_are_of_the_readers_locale(tab, site, small):
    english, german = tab(locale="en-US"), tab(locale="de-DE")
    totals = []
    for visit in (english, german):
        visit.open(site)
        visit.page.wait_for_selector("#examples button:not([disabled])")
        with visit.settling():
            visit.page.evaluate(DROP, [small.read_text(), "small.json"])
        totals.append(visit.page.locator("#decision dl div", has_text="Total").locator("dd").inner_text())
    assert "," in totals[0]
    assert totals[1] == totals[0].replace(",", ".")


def test_a_service_that_is_away_is_asked_again(tab, site, small):
    visit = tab()
    visit.open(site)
    visit.page.route("**/v1/plans/file**", lambda route: route.abort())
    visit.give(small)
    assert "cannot be reached" in visit.page.locator("#problem h2").inner_text()
    assert violations(visit.page) == []
    visit.page.unroute("**/v1/plans/file**")
    with visit.settling():
        visit.page.get_by_role("button", name="Try again").click()
    assert visit.page.locator("#review section").count() == 9
    visit.faults.clear()  # the browser logs the request that failed
