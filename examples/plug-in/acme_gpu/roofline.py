"""A throughput model for work that is bound by memory bandwidth, from one measurement."""

from __future__ import annotations

from planner import Workload
from pricing.accelerator import Accelerator, AcceleratorNames

TITLE = "in proportion to memory bandwidth"
ERROR = 0.25
"""In 80 % of our own cases a rate lay within this fraction of the prediction."""


def predict(
    workload: Workload, accelerator: Accelerator, gang: float, names: AcceleratorNames
) -> tuple[float, float, float] | None:
    """Work per hour in proportion to memory bandwidth and to the number of accelerators."""
    if not workload.measurements:
        return None  # the next model, or the planner's own, follows
    measured = workload.measurements[0]
    source = names.resolve(measured.accelerator)
    if source.memory_bandwidth_gbs is None or accelerator.memory_bandwidth_gbs is None:
        return None
    bandwidth = accelerator.memory_bandwidth_gbs / source.memory_bandwidth_gbs
    rate = measured.job_units_per_hour / measured.count * gang * bandwidth
    return rate, (1 - ERROR) * rate, (1 + ERROR) * rate
