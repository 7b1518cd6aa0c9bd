"""Comments on a pull request of GitHub or a merge request of GitLab: written once, then updated in place.

Both services list, create and change comments in the same way, at other addresses:
https://docs.github.com/en/rest/issues/comments and https://docs.gitlab.com/api/notes/#merge-requests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import Request, urlopen

from planner.library.file_problems import unreadable_file
from planner.request.errors import InputProblem
from pricing.frozen_values import dataclass
from pricing.plain_text import plain_text

SECONDS = 30.0
PAGE_SIZE = 100
FORBIDDEN = 403
LOOPBACK = ("127.0.0.1", "::1", "localhost")
_NEXT_PAGE = re.compile(r'<([^>]+)>\s*;\s*rel="?next"?')


@dataclass(frozen=True, slots=True)
class CommentService:
    """Where the comments of one request are: `list_url` lists and creates them, `item_url` with an id changes one."""

    name: str
    list_url: str
    item_url: str
    change_method: str
    headers: Mapping[str, str]
    length_max: int
    """Characters of a comment."""


class CommentFailure(Exception):
    """A comment that could not be written; `status` is that of HTTP, 0 where there was no answer."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(message)


def github_service(environment: Mapping[str, str]) -> CommentService | list[InputProblem]:
    """The comments of the pull request that a workflow of GitHub runs for, or the missing settings."""
    names = ("GITHUB_API_URL", "GITHUB_REPOSITORY", "GITHUB_EVENT_PATH", "GITHUB_TOKEN")
    if missing := _missing_variables(environment, names):
        return missing
    try:
        event = json.loads(Path(environment["GITHUB_EVENT_PATH"]).read_bytes())
    except (OSError, ValueError) as error:
        return [unreadable_file(f"GITHUB_EVENT_PATH {environment['GITHUB_EVENT_PATH']}", error)]
    number = event.get("pull_request", {}).get("number") if isinstance(event, dict) else None
    if not isinstance(number, int):
        expected = "an event on: pull_request, or --comment none"
        return [InputProblem("", "GITHUB_EVENT_PATH", "is not the event of a pull request", expected=expected)]
    issues = f"{environment['GITHUB_API_URL']}/repos/{quote(environment['GITHUB_REPOSITORY'])}/issues"
    headers = {
        "Accept": "application/vnd.github+json",
        "Authorization": f"Bearer {environment['GITHUB_TOKEN']}",
        "X-GitHub-Api-Version": "2022-11-28",
    }
    return CommentService("GitHub", f"{issues}/{number}/comments", f"{issues}/comments", "PATCH", headers, 65_536)


def gitlab_service(environment: Mapping[str, str]) -> CommentService | list[InputProblem]:
    """The comments of the merge request that a job of GitLab runs for, or the missing settings."""
    names = ("CI_API_V4_URL", "CI_PROJECT_ID", "CI_MERGE_REQUEST_IID", "GITLAB_TOKEN")
    if missing := _missing_variables(environment, names):
        return missing
    url, project, request = (environment[name] for name in names[:3])
    notes = f"{url}/projects/{quote(project, safe='')}/merge_requests/{quote(request, safe='')}/notes"
    return CommentService("GitLab", notes, notes, "PUT", {"PRIVATE-TOKEN": environment["GITLAB_TOKEN"]}, 1_000_000)


SERVICES = {"github": github_service, "gitlab": gitlab_service}


def _missing_variables(environment: Mapping[str, str], names: tuple[str, ...]) -> list[InputProblem]:
    return [
        InputProblem("", name, "the environment variable is missing", expected="its value, or --comment none")
        for name in names
        if not environment.get(name)
    ]


def write_comment(service: CommentService, marker: str, text: str, *, only_update: bool = False) -> str:
    """The action on the comment that begins with `marker`: created, updated, unchanged, or "" for nothing.

    `only_update`: no comment is created. Raises CommentFailure.
    """
    earlier = next((each for each in _list_comments(service) if _begins_with(each, marker)), None)
    if earlier is None:
        if only_update:
            return ""
        _call_service(service, "POST", service.list_url, {"body": text})
        return "created"
    if earlier["body"] == text:
        return "unchanged"
    _call_service(service, service.change_method, f"{service.item_url}/{earlier['id']}", {"body": text})
    return "updated"


def _begins_with(comment: Any, marker: str) -> bool:
    return isinstance(comment, dict) and str(comment.get("body", "")).startswith(marker) and not comment.get("system")


def _list_comments(service: CommentService) -> Iterator[Any]:
    """Every comment, page by page; a page elsewhere would be sent the token, and is not read."""
    url = f"{service.list_url}?per_page={PAGE_SIZE}"
    while url.startswith(service.list_url):
        comments, links = _call_service(service, "GET", url)
        yield from comments if isinstance(comments, list) else []
        match = _NEXT_PAGE.search(links)
        url = match[1] if match else ""


def _call_service(service: CommentService, method: str, url: str, document: object = None) -> tuple[Any, str]:
    """The answer of the service and its header Link. A token is sent to the address itself, never after a redirect."""
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
        raise CommentFailure(0, f"{service.name}: {parts.scheme}://{parts.netloc} is not https: no token is sent there")
    data = None if document is None else json.dumps(document).encode()
    request = Request(url, data, {"Content-Type": "application/json", "User-Agent": "gpu-planner"}, method=method)  # noqa: S310  (the scheme is checked above)
    for name, value in service.headers.items():
        request.add_unredirected_header(name, value)
    try:
        with urlopen(request, timeout=SECONDS) as answer:  # noqa: S310  (as above)
            return json.loads(answer.read() or b"null"), answer.headers.get("Link", "")
    except HTTPError as error:
        details = plain_text(error.read(500).decode("utf-8", "replace"))
        raise CommentFailure(error.code, f"{service.name} answered {method} with {error.code}: {details}") from None
    except (URLError, ValueError, TimeoutError) as error:
        raise CommentFailure(0, f"{service.name} did not answer {method}: {plain_text(str(error))}") from None
