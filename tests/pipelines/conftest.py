"""A server that keeps comments as GitHub and GitLab do, and a git repository with capacity files."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

ROOT = Path(__file__).parents[2]
SMALL_PAGE = 3
"""Comments of a page, whatever is asked for: as where there are more than 100."""
GITHUB = re.compile(r"/repos/acme/capacity/issues/(?:(?P<request>7)/comments|comments/(?P<comment>\d+))$")
GITLAB = re.compile(r"/api/v4/projects/42/merge_requests/(?P<request>7)/notes(?:/(?P<comment>\d+))?$")
REQUEST = {
    "as_of": "2026-11-21",
    "months": 2,
    "strategies": ["cloud"],
    "workloads": [{"name": "batch", "demand": {"accelerator_hours_per_month": 1460, "accelerator": "L4"}}],
}


@dataclass
class CommentServer:
    """The comments of one request by id, and the calls that were made."""

    url: str = ""
    token: str = "secret"
    comments: dict[int, str] = field(default_factory=dict)
    calls: list[tuple[str, str]] = field(default_factory=list)
    refuses: int = 0
    """A status with which every call that writes is answered."""

    def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> tuple[int, object, str]:
        """Status, document and header Link."""
        parts = urlsplit(path)
        is_github = "X-Github-Api-Version" in headers
        match = (GITHUB if is_github else GITLAB).match(parts.path)
        self.calls.append((method, parts.path))
        right = f"Bearer {self.token}" if is_github else self.token
        if headers.get("Authorization" if is_github else "Private-Token") != right:
            return 401, {"message": "Bad credentials"}, ""
        if match is None:
            return 404, {"message": "Not Found"}, ""
        if method == "GET" and not match["comment"]:
            return self._page(parts)
        if self.refuses:
            return self.refuses, {"message": "Resource not accessible by integration"}, ""
        text = json.loads(body)["body"]
        if len(text) > (65_536 if is_github else 1_000_000):
            return 422, {"message": "body is too long"}, ""
        if method == "POST" and not match["comment"]:
            number = max(self.comments, default=100) + 1
        elif method == ("PATCH" if is_github else "PUT") and int(match["comment"] or 0) in self.comments:
            number = int(match["comment"])
        else:
            return 404, {"message": "Not Found"}, ""
        self.comments[number] = text
        return (201 if method == "POST" else 200), {"id": number, "body": text}, ""

    def _page(self, parts) -> tuple[int, object, str]:
        page = int(parse_qs(parts.query).get("page", ["1"])[0])
        listed = sorted(self.comments.items())
        shown = listed[(page - 1) * SMALL_PAGE : page * SMALL_PAGE]
        more = f'<{self.url}{parts.path}?page={page + 1}>; rel="next"' if len(listed) > page * SMALL_PAGE else ""
        return 200, [{"id": number, "body": text, "system": False} for number, text in shown], more


@pytest.fixture
def server(monkeypatch) -> Iterator[CommentServer]:
    keeper = CommentServer()

    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.title(): value for name, value in self.headers.items()}
            status, document, link = keeper.answer(self.command, self.path, headers, body)
            data = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            if link:
                self.send_header("Link", link)
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = do_PUT = _serve  # noqa: N815  (the library's names)

        def log_message(self, *_: object) -> None:
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    keeper.url = f"http://127.0.0.1:{httpd.server_address[1]}"
    thread = threading.Thread(target=httpd.serve_forever)
    thread.start()
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    yield keeper
    httpd.shutdown()
    thread.join()
    httpd.server_close()


class Repository:
    """A git repository with one branch for a change."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("config", "user.name", "A")
        self.git("config", "user.email", "a@example.com")
        self.git("config", "commit.gpgsign", "false")

    def git(self, *arguments: str) -> str:
        command = ["git", *arguments]
        return subprocess.run(command, cwd=self.folder, check=True, capture_output=True, text=True).stdout.strip()

    def write(self, name: str, content: object) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1))

    def commit(self) -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "a change")
        return self.git("rev-parse", "HEAD")


def hours(amount: float) -> dict:
    """The request, with other hours."""
    changed = json.loads(json.dumps(REQUEST))
    changed["workloads"][0]["demand"]["accelerator_hours_per_month"] = amount
    return changed


@pytest.fixture
def repository(tmp_path, monkeypatch) -> Repository:
    """Two requests on main, one of them with twice the hours on the branch that is checked out."""
    for name in [name for name in os.environ if name.startswith(("GITHUB_", "CI_", "GITLAB_"))]:
        monkeypatch.delenv(name)
    folder = tmp_path / "capacity-repo"
    folder.mkdir()
    made = Repository(folder)
    made.write("capacity/train.json", REQUEST)
    made.write("capacity/same.json", {**hours(100), "months": 3})
    made.write("README.md", "capacity of acme\n")
    made.commit()
    made.git("checkout", "--quiet", "-b", "more")
    made.write("capacity/train.json", hours(2920))
    made.commit()
    monkeypatch.chdir(folder)
    return made


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


@pytest.fixture
def shell(tmp_path) -> Callable[..., Ran]:
    """Runs a script with bash as a runner does, with `planner` of this environment and these variables."""
    programs = Path(sys.executable).parent
    (tmp_path / "gpu-planner").mkdir(exist_ok=True)
    (tmp_path / "gpu-planner/bin").symlink_to(programs)

    def run(script: str, **variables: str) -> Ran:
        environment = {**os.environ, "RUNNER_TEMP": str(tmp_path), **variables}
        environment["PATH"] = os.pathsep.join([str(programs), os.environ["PATH"]])
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        return Ran(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture(scope="session")
def action() -> dict:
    return yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def template() -> dict:
    return yaml.safe_load((ROOT / ".gitlab/gpu-plan.gitlab-ci.yml").read_text(encoding="utf-8"))
