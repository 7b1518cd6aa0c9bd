"""The most that accelerators could do of a job: peak operations, or memory bandwidth for generating tokens.

Generating a token for one stream reads every active weight once (roofline of Williams et al. 2009, doi
10.1145/1498765.1498785). Recomputed activations are no useful work: utilisation here is that of the model, not of the
hardware.
"""

from __future__ import annotations

from planner.performance.throughput.accelerator_scores import computed_peak, missing_specification
from planner.result.message import Message
from pricing.accelerator import Accelerator
from pricing.frozen_values import dataclass


@dataclass(frozen=True, slots=True)
class RooflineLimit:
    """Units per second if every accelerator reached its peak (its bandwidth, for decode), the precision of computing,
    and the balance of the accelerator: operations per byte."""

    units_per_second: float
    precision: str
    balance: float


@dataclass(frozen=True, slots=True)
class NetworkJob:
    """A network on a gang: `work` is operations per unit, bytes per unit for decode; `parameters` the active ones."""

    family: str
    run: str
    parameters: float
    work: float
    precision: str
    accelerator: Accelerator
    count: float

    @property
    def limit(self) -> RooflineLimit | Message:
        """The roofline, or the rate of the accelerator that is unknown."""
        part = self.accelerator
        peak, bandwidth_gbs = computed_peak(part, self.precision), part.memory_bandwidth_gbs
        if peak is None or bandwidth_gbs is None:
            problem = missing_specification(part, self.precision)
            assert problem is not None
            return problem
        operations, bandwidth = peak[1] * 1e12, bandwidth_gbs * 1e9
        per_second = bandwidth if self.family == "decode" else operations
        # bf16 and fp16 are the same format to memory, and have the same peak
        shown = self.precision.replace("bf16", "fp16") if self.family == "decode" else peak[0]
        return RooflineLimit(self.count * per_second / self.work, shown, operations / bandwidth)
