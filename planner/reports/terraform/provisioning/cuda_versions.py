"""The CUDA that a container needs, by the architecture of the accelerator: facts of NVIDIA's documents, in cuda.csv.

`newest_line` of an architecture that is still supported is that of the newest driver branch
with long-term support, so that one host image serves them all; later lines run too, on a newer driver.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache

from planner.reports.terraform.provisioning import read_table
from planner.reports.terraform.provisioning.reasons import reason
from planner.result.message import Message
from pricing.accelerator import accelerators
from pricing.frozen_values import dataclass


@dataclass(frozen=True, slots=True)
class CudaLine:
    """The lines of CUDA that run on an architecture: `least_line` to `newest_line`, the latter on `driver_branch`.

    `is_ended`: no later line, and no later driver, supports the architecture.
    """

    architecture: str
    capability: str
    least_line: str
    newest_line: str
    driver_branch: str
    is_ended: bool
    source: str
    note: str


@cache
def load_cuda_lines() -> Mapping[str, CudaLine]:
    """Every architecture with CUDA that the table knows, by the name that it has among the accelerators."""
    return {
        row["architecture"]: CudaLine(**(row | {"is_ended": row["is_ended"] == "yes"}))
        for row in csv.DictReader(read_table("cuda.csv").splitlines())
    }


def find_cuda_line(accelerator: str) -> CudaLine | Message:
    """The lines for a canonical accelerator, or the reason why there is none."""
    vendor_and_architecture = _by_name().get(accelerator)
    if vendor_and_architecture is None:
        return reason("accelerator_unknown", accelerator=accelerator)
    vendor, architecture = vendor_and_architecture
    if vendor != "NVIDIA":
        return reason("accelerator_without_cuda", accelerator=accelerator, vendor=vendor, architecture=architecture)
    line = load_cuda_lines().get(architecture)
    return line or reason(
        "cuda_unknown", accelerator=accelerator, architecture=architecture or "of unknown architecture"
    )


@cache
def _by_name() -> Mapping[str, tuple[str, str]]:
    return {each.name: (each.vendor, each.architecture) for each in accelerators()}
