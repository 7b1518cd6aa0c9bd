"""The files of the page as they are served: their policy, their tags, their size, and that they name no other host."""

from __future__ import annotations

import gzip
import re
from importlib import resources

import pytest

from planner.service.page_files import EXAMPLES, read_page_files
from tests.doors.conftest import serving

FOLDER = resources.files("planner.service") / "page"
NAMES = sorted(each.name for each in FOLDER.iterdir())
LINES_MAX = 300


@pytest.fixture(scope="module")
def client():
    from planner.service import ServiceLimits

    with serving(ServiceLimits(workers=0)) as client:
        yield client


def test_the_policy_allows_nothing_inline_and_no_other_host(client):
    policy = client.get("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert "frame-ancestors 'none'" in policy


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_served_once_and_then_confirmed(client, name):
    first = client.get(f"/page/{name}", headers={"accept-encoding": "gzip"})
    assert first.status_code == 200
    assert first.content == (FOLDER / name).read_bytes()
    assert first.headers["content-encoding"] == "gzip"
    assert first.headers["content-type"].startswith(("text/", "image/svg+xml"))
    tag = first.headers["etag"]
    assert not tag.startswith("W/")
    again = client.get(f"/page/{name}", headers={"accept-encoding": "gzip", "if-none-match": tag})
    assert again.status_code == 304
    assert again.content == b""
    plain = client.get(f"/page/{name}", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.headers["etag"] != tag  # other bytes


@pytest.mark.parametrize("name", NAMES)
def test_a_file_names_no_other_host_and_has_nothing_inline(name):
    text = (FOLDER / name).read_text(encoding="utf-8")
    assert set(re.findall(r"https?://[^\s\"'`)]+", text)) <= {"http://www.w3.org/2000/svg"}
    assert len(text.splitlines()) < LINES_MAX
    if name.endswith(".html"):
        assert not re.search(r"\sstyle=|\son[a-z]+=|<style|<script(?![^>]*src=)", text)
    for module in re.findall(r'from "\./([^"]+)"', text):
        assert (FOLDER / module).is_file()


def test_every_module_is_asked_for_at_once():
    """The shell names all modules, so that a browser does not find them one after the other."""
    shell = (FOLDER / "index.html").read_text(encoding="utf-8")
    assert [name for name in NAMES if name.endswith((".js", ".css")) and f'"/page/{name}"' not in shell] == []


def test_the_page_is_small():
    """All files together, as they are sent; a review adds about 50 kB."""
    assert sum(len(file.compressed) for file in read_page_files().values()) < 80_000


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_those_of_the_repository(client, name):
    from tests.page.conftest import REPOSITORY

    assert client.get(f"/page/examples/{name}").content == (REPOSITORY / "examples" / name).read_bytes()


def test_files_that_are_not_there_are_problems(client):
    for path in ("/page/nothing.js", "/page/..%2Fapp.py", "/page/examples/setup.yaml"):
        answer = client.get(path)
        assert answer.status_code == 404
        assert answer.headers["content-type"] == "application/problem+json"


def test_head_has_the_headers_of_get(client):
    assert client.head("/").headers["etag"] == client.get("/").headers["etag"]


def test_gzip_is_reproducible():
    file = read_page_files()["index.html"]
    assert gzip.compress(file.data, 9, mtime=0) == file.compressed
