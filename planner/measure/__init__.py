"""Runs a user's own job, watches the machine meanwhile and tells how fast it was, how sure that is, what limits it.

The parts, from the bottom: `hook` (what a job calls), `_reading` (one sample), `_cpu`, `_nvidia`, `_amd`, `_replay`
(who takes samples), `_progress` (work done so far), `_steady` (from which point on it is steady), `_figures`
(means over that time), `_thresholds` and `_diagnosis` (what limits the job), `_watch` (the job and the clock), `file`
(the measurement file). Knows no plan and no price. This module stays light: a job imports `progress` from it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from planner.measure.progress_hook import progress as progress


def read_file(source: Path | str | bytes) -> dict[str, Any]:
    """What a measurement file says, as a request writes a measurement; see `planner.measure.measurement_file.read`."""
    from planner.measure.measurement_file import read

    return read(source)
