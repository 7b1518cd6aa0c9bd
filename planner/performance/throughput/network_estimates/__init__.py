"""Jobs described by network and amount of work instead of a measurement: their throughput from public runs like them.

`estimate_throughput` answers with a wider interval than a measurement gives, and says which runs it rests on.
docs/guides/described.md has the formula; `python -m tools.throughput.network_error_report` prints how far off it is on
runs it was not allowed to see.
"""

from planner.performance.throughput.network_estimates.benchmark_runs import BenchmarkRun, public_runs, shipped_runs
from planner.performance.throughput.network_estimates.job_throughput import estimate_throughput

__all__ = ["BenchmarkRun", "estimate_throughput", "public_runs", "shipped_runs"]
