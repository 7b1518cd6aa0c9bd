"""The files that a branch changes, and the files as they were before, from git."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from planner.request.errors import InputProblem, InvalidRequest
from pricing.frozen_values import dataclass
from pricing.plain_text import plain_text


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file by its path before and now, relative to the current folder; "" where there is none."""

    before: str
    now: str


def find_base(stated: str | None, environment: Mapping[str, str]) -> str:
    """The revision to compare with: as stated, or the base of the pull or merge request. Raises InvalidRequest."""
    revision = stated or environment.get("CI_MERGE_REQUEST_DIFF_BASE_SHA") or _base_of_event(environment)
    if not revision:
        expected = "a revision such as origin/main, or the environment of a pull or merge request"
        raise InvalidRequest((InputProblem("", "--base", "is missing", expected=expected),))
    if revision.startswith("-"):
        raise InvalidRequest((InputProblem("", "--base", "not a revision", revision, "a revision such as main"),))
    if not _has_commit(revision):  # a shallow checkout
        _try_git("fetch", "--no-tags", "--depth=1", "origin", revision)
    if not _has_commit(revision):
        expected = "a revision that git has: check out the whole history (fetch-depth: 0, GIT_DEPTH: 0)"
        raise InvalidRequest((InputProblem("", "--base", "unknown to git", revision, expected),))
    return _try_git("merge-base", revision, "HEAD").strip() or revision


def _has_commit(revision: str) -> bool:
    return bool(_try_git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}").strip())


def _base_of_event(environment: Mapping[str, str]) -> str:
    """The base of the pull request of a workflow of GitHub."""
    try:
        event = json.loads(Path(environment.get("GITHUB_EVENT_PATH", "")).read_bytes())
        return str(event["pull_request"]["base"]["sha"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def list_changed_files(base: str, patterns: Sequence[str]) -> list[ChangedFile]:
    """The files that match git's patterns and differ from `base`, in the order of their paths."""
    fields = run_git("diff", "--relative", "--name-status", "-z", "-M", base, "--", *patterns).split("\0")
    changed, rest = [], iter(fields)
    for status in rest:
        if not status:
            continue
        first = next(rest)
        if status[0] in "RC":
            changed.append(ChangedFile(first, next(rest)))
        else:
            changed.append(ChangedFile("" if status[0] == "A" else first, "" if status[0] == "D" else first))
    return changed


def list_files(patterns: Sequence[str]) -> list[str]:
    """The tracked files that match git's patterns."""
    return [name for name in run_git("ls-files", "-z", "--", *patterns).split("\0") if name]


@contextmanager
def check_out(base: str) -> Iterator[Path]:
    """The current folder as it was at `base`, in a working tree that is removed again."""
    prefix = run_git("rev-parse", "--show-prefix").strip()
    with tempfile.TemporaryDirectory(prefix="gpu-planner-base-") as folder:
        tree = Path(folder) / "tree"
        run_git("worktree", "add", "--quiet", "--detach", str(tree), base)
        try:
            (tree / prefix).mkdir(parents=True, exist_ok=True)
            yield tree / prefix
        finally:
            run_git("worktree", "remove", "--force", str(tree))


def run_git(*arguments: str) -> str:
    """What git prints. Raises InvalidRequest with its message."""
    done = _start_git(arguments)
    if done.returncode:
        message = plain_text(done.stderr) or f"exit code {done.returncode}"
        raise InvalidRequest((InputProblem("", f"git {arguments[0]}", message, expected="a git repository"),))
    return done.stdout


def _try_git(*arguments: str) -> str:
    """What git prints, "" where it fails."""
    done = _start_git(arguments)
    return "" if done.returncode else done.stdout


def _start_git(arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(  # noqa: S603  (no shell; revisions never begin with a dash)
            ["git", *arguments],  # noqa: S607  (git of the caller's path)
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            check=False,
        )
    except OSError:
        raise InvalidRequest((InputProblem("", "git", "is not installed"),)) from None
