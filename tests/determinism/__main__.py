"""`python -m tests.determinism`: ten portfolios under each condition, and whether all of their bytes are the same."""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from pathlib import Path

from tests.determinism.conditions import FILES, NORMAL, OTHERS, Outcome, busy, plan_under, write_portfolios


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.determinism", description=__doc__)
    parser.add_argument("portfolios", type=int, nargs="*", metavar="N", help="which of the ten, from 1; default: all")
    chosen = parser.parse_args().portfolios
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended, too
    differing = 0
    with tempfile.TemporaryDirectory(prefix="gpu-planner-determinism-") as name:
        folder = Path(name)
        requests = [path for n, path in enumerate(write_portfolios(folder), 1) if not chosen or n in chosen]
        expected: dict[str, Outcome] = {}
        for condition in (NORMAL, *OTHERS):
            say(condition.name)
            with busy(condition.busy_loops):
                for request in requests:
                    outcome = plan_under(condition, request, folder / "data", folder / condition.name / request.stem)
                    first = expected.setdefault(request.name, outcome)
                    others = [file for file in FILES if outcome.files[file] != first.files[file]]
                    differing += len(others)
                    say(
                        f"  {request.stem}  content {outcome.content_digest}  {outcome.wall_s:6.1f} s,"
                        f" {outcome.processor_s:5.1f} s of processor"
                        f"  {'differs: ' + ', '.join(others) if others else 'same bytes'}"
                    )
    compared = len(requests) * len(OTHERS) * len(FILES)
    say(f"{len(requests)} portfolios, {len(FILES)} files each: {differing} of {compared} files differ")
    return 1 if differing else 0


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
