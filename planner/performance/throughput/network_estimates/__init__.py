"""Throughput of jobs described by their network instead of a measurement, from public runs of similar jobs.

`estimate_throughput` gives a wider interval than a measurement does, and names the runs with the most weight.
docs/guides/described.md has the formula; `python -m tools.throughput --networks` prints the errors on runs left out.
"""

from planner.performance.throughput.network_estimates.benchmark_runs import BenchmarkRun, public_runs, shipped_runs
from planner.performance.throughput.network_estimates.job_throughput import estimate_throughput

__all__ = ["BenchmarkRun", "estimate_throughput", "public_runs", "shipped_runs"]
