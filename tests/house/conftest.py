"""The repository as a whole: its files, its parsed Python, the program as a user runs it."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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


@pytest.fixture
def shell(tmp_path) -> Callable[[str], subprocess.CompletedProcess[str]]:
    """Runs a line as a user would type it, in an empty folder that has the examples in it."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])

    def run(line: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
        command = ["bash", "-c", line]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    return run
