"""Which CUDA a container needs for an accelerator, by architecture: facts of NVIDIA's documents, in cuda.csv.

Knows nothing of plans. `newest_line` of an architecture that is still supported is that of the newest driver branch
with long-term support, so that one host image serves them all; later lines run too, on a newer driver.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from pricing.accelerator import accelerators


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
    text = resources.files("planner.reports.terraform.provisioning").joinpath("cuda.csv").read_text(encoding="utf-8")
    return {
        row["architecture"]: CudaLine(**(row | {"is_ended": row["is_ended"] == "yes"}))
        for row in csv.DictReader(text.splitlines())
    }


def find_cuda_line(accelerator: str) -> CudaLine | str:
    """The lines for a canonical accelerator, or the reason why there is none."""
    vendor_and_architecture = _by_name().get(accelerator)
    if vendor_and_architecture is None:
        return f"{accelerator} is not in the table of accelerators, so which CUDA it needs is not known"
    vendor, architecture = vendor_and_architecture
    if vendor != "NVIDIA":
        return f"{accelerator} ({vendor} {architecture}) runs no CUDA"
    line = load_cuda_lines().get(architecture)
    return line or f"which CUDA {accelerator} ({architecture or 'of unknown architecture'}) needs is not known"


@cache
def _by_name() -> Mapping[str, tuple[str, str]]:
    return {each.name: (each.vendor, each.architecture) for each in accelerators()}
