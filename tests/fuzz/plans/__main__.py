"""`python -m tests.fuzz.plans FIRST COUNT`: the requests of so many seeds; --keep FILE goes on where it ended."""

from __future__ import annotations

import argparse
import faulthandler
import json
import sys
from collections import Counter
from pathlib import Path

from tests.fuzz.plans.draw import EXCHANGE_RATES, RATES_FILE, draw
from tests.fuzz.plans.run import Outcome, run_seed
from tests.golden.runner import case_folder

STANDS_STILL_S = 300
"""After which a request that does not end is ended with a trace; the next run tells of it and goes on."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.plans", description=__doc__)
    parser.add_argument("first", type=int, help="the first seed")
    parser.add_argument("count", type=int, help="how many seeds")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="a line of JSON for each seed; those in it are done")
    parser.add_argument("--own-process", type=int, default=0, metavar="N", help="each Nth request starts the command")
    parser.add_argument("--faults", type=Path, metavar="FOLDER", help="keep the requests with faults, by seed")
    asked = parser.parse_args()
    keep = asked.keep.resolve() if asked.keep else None
    folder = asked.faults.resolve() if asked.faults else None
    seeds = range(asked.first, asked.first + asked.count)
    done = [each for each in _read(keep) if each.seed in seeds]
    with case_folder({RATES_FILE: EXCHANGE_RATES}):
        left = sorted(set(seeds) - {each.seed for each in done})
        done += [_run(seed, asked.own_process, keep, folder) for seed in left]
    return _summarise(done)


def _read(keep: Path | None) -> list[Outcome]:
    """What is kept; a seed that was begun and never ended is a fault."""
    if keep is None or not keep.exists():
        return []
    rows: dict[int, Outcome] = {}
    for line in keep.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        rows[row["seed"]] = Outcome(**row | {"counts": Counter(row["counts"])})
    return list(rows.values())


def _run(seed: int, own_process: int, keep: Path | None, folder: Path | None) -> Outcome:
    _append(keep, Outcome(seed, faults=["begun and never ended"]))
    faulthandler.dump_traceback_later(STANDS_STILL_S, exit=True)
    try:
        outcome = run_seed(seed, own_process=bool(own_process) and seed % own_process == 0)
    except Exception as error:  # noqa: BLE001  (the checker's own: told like any other fault, and the run goes on)
        outcome = Outcome(seed, faults=[f"{type(error).__name__}: {error}"])
    faulthandler.cancel_dump_traceback_later()
    _append(keep, outcome)
    for fault in outcome.faults:
        sys.stdout.write(f"{seed}: {fault}\n")
        sys.stdout.flush()
    if outcome.faults and folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{seed}.json").write_text(json.dumps(draw(seed).document, indent=1), encoding="utf-8")
    return outcome


def _append(keep: Path | None, outcome: Outcome) -> None:
    if keep is not None:
        with keep.open("a", encoding="utf-8") as file:
            file.write(f"{outcome.as_line()}\n")


def _summarise(outcomes: list[Outcome]) -> int:
    counts: Counter[str] = Counter()
    for each in outcomes:
        counts[f"exit code {each.code}"] += 1
        counts += each.counts
    slowest = max(outcomes, key=lambda each: each.seconds, default=None)
    faulty = sorted(each.seed for each in outcomes if each.faults)
    for name, count in sorted(counts.items()):
        sys.stdout.write(f"{count:6,}  {name}\n")
    if slowest is not None:
        sys.stdout.write(f"slowest: {slowest.seconds:.1f} s (seed {slowest.seed})\n")
    sys.stdout.write(f"{len(outcomes):,} requests, {len(faulty):,} with faults: {faulty[:40]}\n")
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main())
