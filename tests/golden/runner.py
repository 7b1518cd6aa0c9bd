"""Runs the command line in this process, in a folder of its own, and collects what it prints and writes.

The only thing imported of the product is `planner.cli.main`, the entry point of the command `planner`.
"""

from __future__ import annotations

import contextlib
import gc
import io
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

ENVIRONMENT = {"COLUMNS": "120", "NO_COLOR": "1", "TZ": "UTC", "LC_ALL": "C.UTF-8"}
DATA_FOLDER = ".data"
"""Below the folder of a case: what the user keeps (own clouds, private prices). Empty unless the case fills it."""


@dataclass(frozen=True)
class Answer:
    """What one command gave: the exit code and what it printed."""

    code: int
    printed: bytes
    errors: str


def run_command(arguments: Sequence[str]) -> Answer:
    """Run `planner ARGUMENTS` in the current folder."""
    from planner.cli import main

    printed, errors = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    code: object = 0
    try:
        with (
            mock.patch.object(sys, "argv", ["planner", *arguments]),
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(errors),
        ):
            main()
    except SystemExit as ended:
        code = ended.code
    finally:
        gc.unfreeze()  # the entry point freezes what is left, as a process that ends may; this one goes on
    printed.flush()
    return Answer(int(code or 0), printed.buffer.getvalue(), errors.getvalue())  # type: ignore[attr-defined]


@contextlib.contextmanager
def case_folder(inputs: dict[str, Path | str]) -> Iterator[Path]:
    """A fresh current folder with `inputs` in it: a file or folder to copy, or a text to write, by name."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="golden-") as name:
        folder = Path(name)
        for target, source in {f"{DATA_FOLDER}/.keep": "", **inputs}.items():
            path = folder / target
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(source, str):
                path.write_text(source, encoding="utf-8")
            elif source.is_dir():
                shutil.copytree(source, path)
            else:
                shutil.copyfile(source, path)
        environment = {**ENVIRONMENT, "GPU_PLANNER_DATA": str(folder / DATA_FOLDER)}
        os.chdir(folder)
        try:
            with mock.patch.dict(os.environ, environment):
                yield folder
        finally:
            os.chdir(before)


def written_files(folder: Path, before: set[str]) -> dict[str, bytes]:
    """The files below `folder` that are not among the names `before`, by name."""
    return {name: (folder / name).read_bytes() for name in sorted(file_names(folder) - before)}


def file_names(folder: Path) -> set[str]:
    """The files below `folder`, without those that the user keeps."""
    names = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return {name for name in names if not name.startswith(DATA_FOLDER)}
