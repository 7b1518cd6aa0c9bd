"""The site: built without a warning, loads nothing from elsewhere, and can be searched where no network is."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml

from tests.page.conftest import browser  # noqa: F401  (a fixture)

ROOT = Path(__file__).parents[2]
LOADING = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "object": "data",
    "link": "href",
}
"""Elements that make a browser load something, and where they say what."""
FREE = ("prev", "next", "canonical", "alternate")
"""Kinds of <link> that nothing is loaded for."""


def build(config: Path, site: Path) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--config-file",
        str(config),
        "--site-dir",
        str(site),
    ]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, cwd=config.parent, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = build(ROOT / "mkdocs.yml", folder)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


class Loaded(HTMLParser):
    """What a page loads, and the places in it that can be linked to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.urls: list[str] = []
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.ids.add(values.get("id", ""))
        if tag == "a":
            self.links.append(values.get("href", ""))
        if tag in LOADING and LOADING[tag] in values and values.get("rel") not in FREE:
            self.urls.append(values[LOADING[tag]])


@pytest.fixture(scope="module")
def pages(site) -> dict[Path, Loaded]:
    return {path: Loaded(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


@pytest.mark.slow
def test_every_page_is_in_it(site):
    made = {path.relative_to(site).with_suffix("") for path in site.rglob("*.html")}
    written = {path.relative_to(ROOT / "docs").with_suffix("") for path in (ROOT / "docs").rglob("*.md")}
    assert len(written) > 90
    assert written <= made


@pytest.mark.slow
def test_nothing_is_loaded_from_another_host(pages, site):
    assert sum(len(page.urls) for page in pages.values()) > 500
    assert {url for page in pages.values() for url in page.urls if re.match(r"(\w+:)?//", url)} == set()
    for sheet in site.rglob("*.css"):
        loaded = re.findall(r"url\(\s*[\"']?([^)\"']+)|@import\s+[\"']([^\"']+)", sheet.read_text(encoding="utf-8"))
        assert [url for found in loaded for url in found if re.match(r"(https?:)?//", url)] == [], sheet


@pytest.mark.slow
def test_every_link_within_the_site_leads_somewhere(pages):
    """MkDocs looks at the links of Markdown; this looks at what came of them, menus included."""
    dead = []
    for path, page in pages.items():
        for link in page.links:
            target, _, anchor = link.partition("#")
            if re.match(r"\w+:", link) or path.name == "404.html":
                continue
            file = (path.parent / target).resolve() if target else path
            file = file / "index.html" if file.is_dir() else file
            known = file in pages or file.is_file()
            if not known or (anchor and file in pages and anchor not in pages[file].ids):
                dead.append((path.name, link))
    assert dead == []


@pytest.mark.slow
def test_links_to_the_repository_name_files_that_it_has(pages):
    repository = "https://github.com/gpu-planner/gpu-planner/"
    links = {link for page in pages.values() for link in page.links if link.startswith(repository)}
    paths = [
        re.sub(r"^(blob|tree)/main/|#.*$", "", link.removeprefix(repository)) for link in links if "/main/" in link
    ]
    assert len(paths) >= 3
    assert [path for path in paths if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("spoiled", ["[x](no-such-page.md)", "[x](words.md#no-such-heading)", "[x](../no-such-file)"])
@pytest.mark.slow
def test_a_dead_link_fails_the_build(spoiled, tmp_path):
    for name in ("docs", "planner/service"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for path in [*ROOT.glob("*.md"), ROOT / "mkdocs.yml"]:
        shutil.copy(path, tmp_path)
    page = tmp_path / "docs/index.md"
    page.write_text(page.read_text(encoding="utf-8") + f"\n{spoiled}\n", encoding="utf-8")
    done = build(tmp_path / "mkdocs.yml", tmp_path / "site")
    assert done.returncode != 0
    assert "no-such" in done.stderr


def test_each_guide_is_sorted_by_who_needs_it():
    """Guides that are not listed in mkdocs.yml stand below «Other guides»."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    nav = yaml.safe_load(text[text.index("\nnav:") :])["nav"]
    listed = re.findall(r"guides/([\w-]+)\.md", str(nav))
    assert sorted(listed) == sorted(path.stem for path in (ROOT / "docs/guides").glob("*.md"))


@pytest.mark.slow
def test_files_are_named_above_their_blocks(site):
    text = (site / "guides/reviews.html").read_text(encoding="utf-8")
    assert '<span class="filename">november.yaml</span>' in text


@pytest.mark.slow
@pytest.mark.parametrize("width", [pytest.param(360, marks=pytest.mark.slow), 1280])
def test_pages_opened_as_files_are_searched_and_ask_nobody(site, browser, width):  # noqa: F811
    context = browser.new_context(viewport={"width": width, "height": 800})
    page = context.new_page()
    asked, errors = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((site / "guides/risk.html").as_uri())
    if width < 600:
        page.locator("label[for=__search]").first.click()
    page.locator("input.md-search__input").press_sequentially("capacity block", delay=20)
    page.locator(".md-search-result__item a").first.wait_for(timeout=60_000)
    assert page.locator(".md-search-result__item").count() >= 3
    page.locator(".md-search-result__item a").first.click()
    page.wait_for_load_state()
    assert page.url.startswith(site.as_uri())
    assert [url for url in asked if not url.startswith(("file:", "data:", "about:"))] == []
    assert errors == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    context.close()
