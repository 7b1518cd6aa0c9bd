"""Builds the wheel, installs it without extras into an empty environment of each supported Python, and plans with it.

`make wheel` prints for each interpreter the seconds of `pip install`, the megabytes that it adds, and those of the
extra `frames`. Interpreters are those on the PATH (python3.11 ...) and those of pyenv. Needs the package index.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
PYENV = Path.home() / ".pyenv" / "versions"
EXTRAS = ("", "[frames]")
TRIED = """
import pathlib, planner, sys
job = {"name": "scoring", "demand": {"accelerator_hours_per_month": 730, "accelerator": "L4"}}
result = planner.plan(job, months=2, start="2026-12", as_of="2026-11-21", strategies=["cloud"])
folder = pathlib.Path(sys.argv[1])
result.to_excel(folder / "plan.xlsx")
result.to_terraform(folder / "terraform")
assert planner.load(result.to_json(folder / "plan.json")).plan == result.plan
assert result.rows("cash") and result._repr_html_() and planner.offers(accelerator="L4", limit=3).rows("rows")
try:
    print(result.content_digest, len(result.frame("cash")))
except planner.MissingLibrary as error:
    print(result.content_digest, error.library)
"""
"""Prints the digest of a plan, and the library that its frames lack or the rows of one."""


def supported_versions() -> list[str]:
    """Those that the package names in its classifiers, such as 3.11."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = (re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", each) for each in project["classifiers"])
    return [match[1] for match in found if match]


def find_interpreter(version: str) -> Path | None:
    """An interpreter of that version which starts, None where there is none."""
    candidates = [shutil.which(f"python{version}"), *sorted(PYENV.glob(f"{version}.*/bin/python"))]
    return next((Path(each) for each in candidates if each is not None and _has_version(str(each), version)), None)


def _has_version(python: str, version: str) -> bool:
    code = "import sys; print('.'.join(map(str, sys.version_info[:2])))"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip() == version


def build_wheel(folder: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def install(
    python: Path, wheel: Path, folder: Path, extras: Sequence[str] = EXTRAS
) -> Iterator[tuple[str, str, float, str]]:
    """Of the wheel with each of the extras: these, the seconds of pip, the megabytes added until then, and the line
    that the trial printed."""
    subprocess.run([python, "-m", "venv", folder], check=True)
    own = folder / "bin" / "python"
    before = _size(folder)
    for extra in extras:
        began, used = time.perf_counter(), _processor_seconds()
        pip = [own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"{wheel}{extra}"]
        subprocess.run(pip, check=True, capture_output=True, cwd=folder)
        seconds = f"{time.perf_counter() - began:.1f} s, {_processor_seconds() - used:.1f} s of the processor"
        with tempfile.TemporaryDirectory() as outputs:
            tried = [own, "-I", "-c", TRIED, outputs]
            done = subprocess.run(tried, capture_output=True, text=True, check=True, cwd=outputs)
        yield extra, seconds, (_size(folder) - before) / 1e6, done.stdout.strip()


def _processor_seconds() -> float:
    """Of all programs that were started and have ended."""
    times = os.times()
    return times.children_user + times.children_system


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def main() -> None:
    """Prints a line for each interpreter and extra."""
    with tempfile.TemporaryDirectory(prefix="planner-wheel-") as name:
        wheel = build_wheel(Path(name))
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")
        for version in supported_versions():
            python = find_interpreter(version)
            if python is None:
                print(f"python {version}: no interpreter here")
                continue
            for extra, seconds, size, printed in install(python, wheel, Path(name) / version):
                what = extra or "no extras"
                print(f"python {version}, {what:9}: {seconds}, {size:.1f} MB, plan {printed}")


if __name__ == "__main__":
    main()
