"""The review page at `/`: its own files and the shipped examples, with strong ETags, compressed, under a strict policy.

The page asks this service alone: no other host, no inline script or style, no frame around it.
"""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import Response

from planner.service import problems
from pricing.frozen_values import dataclass

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
"""Content-Security-Policy of the page."""
HEADERS: Mapping[str, str] = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
    "vary": "accept-encoding",
}
MEDIA_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
"""Of the page's own files; the systems' tables of media types differ."""
PAGE_PATH, PAGE_FOLDER, EXAMPLES_FOLDER = "/", "/page/", "/page/examples/"
INDEX, EXAMPLES = "index.html", ("capacity-review.xlsx", "bill-focus.csv", "request.json")


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file with its strong ETag; `compressed` in gzip."""

    data: bytes
    compressed: bytes
    media_type: str
    etag: str


@cache
def read_page_files() -> Mapping[str, PageFile]:
    """The files of the page, by name."""
    folder = resources.files("planner.service") / "page"
    return {each.name: _page_file(each.name, each.read_bytes()) for each in folder.iterdir() if each.is_file()}


@cache
def read_examples() -> Mapping[str, PageFile]:
    """The examples that the wheel ships, by name; in a checkout those at its top."""
    package = Path(__file__).resolve().parents[1]
    folder = next(each for each in (package / "_shipped" / "examples", package.parent / "examples") if each.is_dir())
    return {name: _page_file(name, (folder / name).read_bytes()) for name in EXAMPLES}


def install_page(app: FastAPI) -> None:
    """Serve the page at `/`, its files below /page/ and the examples below /page/examples/."""
    app.add_api_route(PAGE_PATH, page, methods=["GET", "HEAD"], include_in_schema=False)
    app.add_api_route(f"{EXAMPLES_FOLDER}{{name}}", page_example, methods=["GET", "HEAD"], include_in_schema=False)
    app.add_api_route(f"{PAGE_FOLDER}{{name}}", page, methods=["GET", "HEAD"], include_in_schema=False)


def page(request: Request, name: str = INDEX) -> Response:
    """A file of the page."""
    return _file_response(request, read_page_files().get(name))


def page_example(request: Request, name: str) -> Response:
    """An example."""
    return _file_response(request, read_examples().get(name))


def _page_file(name: str, data: bytes) -> PageFile:
    suffix = Path(name).suffix
    media_type = MEDIA_TYPES.get(suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
    return PageFile(data, gzip.compress(data, 9, mtime=0), media_type, hashlib.sha256(data).hexdigest()[:20])


def _file_response(request: Request, file: PageFile | None) -> Response:
    if file is None:
        return problems.problem_response(404, "no-such-file", "No such file", "The page has no file of this name.")
    zipped = "gzip" in request.headers.get("accept-encoding", "")
    # a strong ETag names the bytes that are sent, and those differ by their encoding
    etag = f'"{file.etag}{"-gzip" if zipped else ""}"'
    headers = {**HEADERS, "etag": etag} | ({"content-encoding": "gzip"} if zipped else {})
    if etag in {each.strip() for each in request.headers.get("if-none-match", "").split(",")}:
        return Response(status_code=304, headers={**HEADERS, "etag": etag})
    return Response(file.compressed if zipped else file.data, headers=headers, media_type=file.media_type)
