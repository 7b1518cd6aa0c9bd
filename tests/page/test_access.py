"""A service that requires keys: the page opens, asks for one, and plans and reads with it."""

from __future__ import annotations

import pytest

from planner.service import ServiceLimits
from planner.service.gate.settings import AccessSettings
from planner.service.store import open_store
from tests.doors.conftest import serving


@pytest.fixture
def guarded(tmp_path):
    """The address of a service that requires keys, and its store."""
    url = f"sqlite:///{tmp_path / 'service.sqlite'}"
    store = open_store(url)
    with serving(ServiceLimits(workers=0, seconds=600), url, access=AccessSettings(key_required=True)) as client:
        yield str(client.base_url), store
    store.close()


@pytest.mark.slow
def test_a_key_is_asked_for_and_opens_the_review(tab, guarded, small):
    address, store = guarded
    planning = store.keys.create("research", "engineer", ("plan", "read"), None)[0]
    reading = store.keys.create("research", "reviewer", ("read",), None)[0]
    elsewhere = store.keys.create("finance", "other", ("read",), None)[0]
    visit = tab()
    visit.open(address)
    visit.give(small)
    page = visit.page
    assert page.locator("#problem h2").inner_text() == "This service asks for a key"
    page.get_by_label("API key").fill(planning)
    with visit.settling():
        page.get_by_role("button", name="Go on").click()
    headline, link = page.locator(".headline").inner_text(), page.url

    reader = tab()
    reader.open(link)
    reader.page.get_by_label("API key").fill(reading)
    with reader.settling():
        reader.page.get_by_role("button", name="Go on").click()
    assert reader.page.locator(".headline").inner_text() == headline
    assert planning not in reader.page.evaluate("JSON.stringify(localStorage) + document.cookie")

    stranger = tab()
    stranger.open(link)
    stranger.page.get_by_label("API key").fill(elsewhere)
    with stranger.settling():
        stranger.page.get_by_role("button", name="Go on").click()
    assert "No such plan" in stranger.page.locator("#problem h2").inner_text()


def test_a_shared_link_opens_the_review_without_a_key(tab, guarded, small):
    address, store = guarded
    planning = store.keys.create("research", "engineer", ("plan", "read"), None)[0]
    visit = tab(permissions=["clipboard-read", "clipboard-write"])
    visit.open(address)
    visit.give(small)
    visit.page.get_by_label("API key").fill(planning)
    with visit.settling():
        visit.page.get_by_role("button", name="Go on").click()
    headline = visit.page.locator(".headline").inner_text()
    visit.page.get_by_role("button", name="Copy read-only link").click()
    visit.page.get_by_text("Read-only link copied").first.wait_for()
    link = visit.page.evaluate("navigator.clipboard.readText()")
    assert "#shared=" in link

    reader = tab()
    reader.open(link)
    reader.page.wait_for_selector("#review section")
    assert reader.page.locator(".headline").inner_text() == headline
    slider = reader.page.locator("#figures input[type=range]").first
    slider.focus()
    reader.page.keyboard.press("End")
    assert reader.page.locator("#decision .notice").count() == 1
    assert reader.page.url == link

    (review,) = store.reviews.list("research")
    store.reviews.end_links(review)
    reader.page.reload()
    reader.page.wait_for_selector("#problem h2")
    assert reader.page.locator("#problem h2").inner_text() == "No such link"
