"""The repository as a whole: its files, its parsed Python, the program as a user runs it."""

from __future__ import annotations

import ast
import os
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from planner.cli._exit_codes import run as planner

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def project() -> dict[str, Any]:
    """What pyproject.toml says."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def files() -> tuple[Path, ...]:
    """Every file that is in git or would be with the next `git add`, relative to the root."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    return tuple(sorted(Path(name) for name in set(listed.split("\0")) if name and (ROOT / name).is_file()))


@pytest.fixture(scope="session")
def parsed(files) -> dict[Path, ast.Module]:
    """The syntax tree of every Python file."""
    return {path: ast.parse((ROOT / path).read_bytes()) for path in files if path.suffix == ".py"}


@dataclass(frozen=True)
class Done:
    """How a line ended, and what it printed."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def shell(tmp_path, monkeypatch, capfdbinary) -> Callable[[str], Done]:
    """Runs a line as a user would type it, in an empty folder that has the examples in it.

    A line that is `planner` and no more runs in this process: starting it anew costs more than most of what it is
    asked. A line with another program, or with a data folder of its own, which a process reads once, is for bash.
    """
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    monkeypatch.setenv("COLUMNS", "200")

    def run(line: str) -> Done:
        program, *words = shlex.split(line, comments=True)
        if program != "planner" or {"|", "&&", ";"} & set(words):
            done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
            return Done(done.returncode, done.stdout, done.stderr)
        files = {sign: words[words.index(sign) + 1] for sign in "<>" if sign in words}
        arguments = list(takewhile(lambda word: word not in files, words))
        given = Path(files["<"]).read_bytes() if "<" in files else b""
        monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(given), "utf-8"))
        code = planner(arguments)
        sys.stdout.flush()
        out, err = capfdbinary.readouterr()
        if ">" in files:
            Path(files[">"]).write_bytes(out)
            out = b""
        return Done(code, out.decode(), err.decode())

    return run
