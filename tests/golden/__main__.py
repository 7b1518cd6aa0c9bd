"""`python -m tests.golden compare`, `record` and `draw`; README.md says what for."""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from fnmatch import fnmatchcase
from importlib.metadata import version
from multiprocessing import get_context

from tests.golden import changes as made
from tests.golden import report, storage
from tests.golden.cases import Case, all_cases
from tests.golden.comparison import MISSING, Difference, differences
from tests.golden.outputs import outputs_of

SAME, DIFFERENT, CANNOT_COMPARE = 0, 1, 2
SOLVER = ("highspy", "numpy")
"""Libraries of which another version may give another of several equally good plans."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description="Compare plans with the recorded ones.")
    parser.add_argument("command", choices=["compare", "record", "draw"])
    parser.add_argument("--only", default="*", metavar="PATTERN", help="only these cases, as group/name")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes; default 1")
    parser.add_argument("--show", type=int, default=report.SHOWN, metavar="N", help="differences to show; default 20")
    asked = parser.parse_args()
    if asked.command == "draw":
        from tests.golden.selection import select

        say(f"{select()} requests written; now record them")
        return SAME
    cases = [case for case in all_cases() if fnmatchcase(case.title, asked.only)]
    if not cases:
        say(f"no case is named {asked.only}")
        return CANNOT_COMPARE
    whole = asked.only == "*"
    return record(cases, asked.jobs, whole=whole) if asked.command == "record" else compare(cases, asked, whole=whole)


def record(cases: list[Case], jobs: int, *, whole: bool) -> int:
    """Store what the cases give now; all of them, or some in place of what was stored of them."""
    found = dict(_run(cases, jobs))
    for group in sorted({case.group for case in cases}):
        kept = {} if whole else storage.load(group)
        kept |= {case.name: found[case.title] for case in cases if case.group == group}
        path = storage.save(group, kept.items())
        say(f"{path.name}: {len(kept)} cases, {path.stat().st_size:,} bytes")
    storage.save_origin(_origin())
    say(f"{len(found)} cases, {sum(len(outputs) for outputs in found.values()):,} outputs")
    return SAME


def compare(cases: list[Case], asked: argparse.Namespace, *, whole: bool) -> int:
    """Print what differs from what is stored; also entries of changes.toml without use, where all cases were run."""
    begun = time.monotonic()
    try:
        changes = made.read_changes()
    except made.BadChanges as error:
        say(str(error))
        return CANNOT_COMPARE
    if (origin := storage.load_origin()) != _origin():
        say(f"note: recorded with {json.dumps(origin)}, this is {json.dumps(_origin())}")
    recorded = {
        f"{group}/{name}": made.with_new_names(outputs, f"{group}/{name}", changes)
        for group in sorted({case.group for case in cases})
        for name, outputs in storage.load(group).items()
    }
    found: list[Difference] = []
    for title, outputs in _run(cases, asked.jobs):
        found += made.unexpected(differences(recorded.get(title, MISSING), outputs, title), changes)
    if whole:
        gone = recorded.keys() - {case.title for case in cases}
        found += made.unexpected((Difference(title, "recorded", MISSING) for title in sorted(gone)), changes)
    for line in report.lines(found, asked.show):
        say(line)
    useless = made.unused(changes) if whole else []
    for line in useless:
        say(f"changes.toml: {line}")
    say(f"{len(cases)} cases, {len(found):,} differences, {time.monotonic() - begun:.0f} s")
    return DIFFERENT if found else CANNOT_COMPARE if useless else SAME


def _run(cases: list[Case], jobs: int) -> Iterator[tuple[str, storage.Outputs]]:
    """What each case gives, by its title; in this process, or in `jobs` others."""
    if jobs < 2:
        yield from ((case.title, outputs_of(case)) for case in cases)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        for case, outputs in zip(cases, pool.map(outputs_of, cases), strict=True):
            yield case.title, outputs


def _origin() -> dict[str, str]:
    """What a plan may depend on besides the code."""
    return {"python": platform.python_version(), "machine": platform.machine()} | {
        name: version(name) for name in SOLVER
    }


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
