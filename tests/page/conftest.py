"""The service with a store of its own, and a browser that looks at its page; tests are skipped where there is none."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Error, Page, sync_playwright

from tests.doors.conftest import HOURS, serving

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PLAN_MS = 300_000
REPOSITORY = Path(__file__).parents[2]
SETTLED = "#review section, #problem h2"
"""What is on the page when a plan has ended, one way or the other."""


POLICY_WATCH = """
document.addEventListener('securitypolicyviolation', (event) => console.error(`policy: ${event.violatedDirective}`));
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> str:
    return f"sqlite:///{tmp_path_factory.mktemp('store') / 'service.sqlite'}"


@pytest.fixture(scope="module")
def site(store) -> Iterator[str]:
    """The address of a service with one worker."""
    from planner.service import ServiceLimits

    with serving(ServiceLimits(workers=1, seconds=600), store) as client:
        yield str(client.base_url).rstrip("/")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Playwright's own Chromium, else the machine's."""
    with sync_playwright() as playwright:
        started = _start_browser(playwright)
        if started is None:
            pytest.skip(
                f"no browser: neither Playwright's (playwright install chromium) nor one of {', '.join(BROWSERS)}"
            )
        yield started
        started.close()


def _start_browser(playwright: Any) -> Browser | None:
    # a container has no sandbox for another one; the pages are our own
    for path in (None, *filter(None, map(shutil.which, BROWSERS))):
        with suppress(Error):
            return playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
    return None


AXE_RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}}


def violations(page: Page) -> list[str]:
    """What axe finds against WCAG 2.1 AA and its best practice."""
    results = Axe().run(page, options=AXE_RULES)
    return [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in results.response["violations"]]


@dataclass
class Watched:
    """A tab, with everything that went wrong in it and every host that it asked."""

    page: Page
    faults: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)

    def open(self, address: str) -> None:
        self.page.goto(address)
        self.page.wait_for_load_state("load")

    def give(self, path: Path | dict[str, Any]) -> None:
        """Choose a file, and wait for what comes of it."""
        with self.settling():
            self.page.set_input_files("#file", path)

    @contextmanager
    def settling(self) -> Iterator[None]:
        """Waits after the block until the page shows a review or a problem that it did not show before."""
        self.page.evaluate("s => document.querySelectorAll(s).forEach(e => e.setAttribute('data-seen', ''))", SETTLED)
        yield
        fresh = ", ".join(f"{each.strip()}:not([data-seen])" for each in SETTLED.split(","))
        self.page.wait_for_selector(fresh, timeout=PLAN_MS)


@pytest.fixture
def tab(browser) -> Iterator[Callable[..., Watched]]:
    """Opens tabs; what they report against the content policy, or as an error, fails the test."""
    contexts: list[BrowserContext] = []
    tabs: list[Watched] = []

    def make(**options: Any) -> Watched:
        context = browser.new_context(
            **{"viewport": {"width": 1280, "height": 900}, "accept_downloads": True, **options}
        )
        contexts.append(context)
        watched = Watched(context.new_page())
        page = watched.page
        page.on("request", lambda request: watched.hosts.add(request.url.partition("://")[2].partition("/")[0]))
        page.on("pageerror", lambda error: watched.faults.append(str(error)))
        # a problem of the input is an answer of 4xx, which a browser logs as an error
        page.on(
            "console",
            lambda m: watched.faults.append(m.text) if m.type == "error" and "status of 4" not in m.text else None,
        )
        page.add_init_script(POLICY_WATCH)
        tabs.append(watched)
        return watched

    yield make
    faults = [fault for watched in tabs for fault in watched.faults]
    for context in contexts:
        context.close()
    assert faults == []


@pytest.fixture
def small(tmp_path) -> Path:
    """A request that is planned in a second, with all strategies."""
    import json

    path = tmp_path / "small.json"
    workload = {"name": "batch", "team": "Search", "budget_per_month": 1000.0, **HOURS["workloads"][0]}
    path.write_text(json.dumps({**HOURS, "strategies": ["cloud", "onprem", "hybrid"], "workloads": [workload]}))
    return path
