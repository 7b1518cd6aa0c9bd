"""Runs a user's own job and measures its throughput, the confidence interval and the bottleneck.

From the bottom: `progress_hook` (for the job to call), `telemetry_samples` with `cpu_sampler`, `nvidia_sampler` and
`amd_sampler` (readings of the machine), `progress_sources` (work done so far), `steady_state` (the steady window),
`window_statistics` (means over it), `bottleneck_diagnosis`, `job_watcher` (the job and the clock), `measurement_file`.
Independent of plans and prices. This module must import fast: jobs import `progress` from it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from planner.measure.progress_hook import progress as progress


def read_file(source: Path | str | bytes) -> dict[str, Any]:
    """The measurement in a file, with the fields of a request; see `planner.measure.measurement_file.read`."""
    from planner.measure.measurement_file import read

    return read(source)
