"""Metrics of NVIDIA's DCGM exporter from Prometheus: the GPUs in use become the demand."""

from __future__ import annotations

from planner.inputs.measured_use.sources.dcgm_metrics import claims
from planner.inputs.parsed_file import ParsedFile
from planner.inputs.sheet_options import NO_SHEET_OPTIONS, SheetOptions

__all__ = ["ASKS", "IS_SURE", "IS_USAGE", "SUFFIXES", "claims", "read"]

SUFFIXES = ()
IS_SURE = True
IS_USAGE = True
ASKS = True


def read(data: bytes, name: str, options: SheetOptions = NO_SHEET_OPTIONS) -> ParsedFile:
    """The demand of the last full months, as the options project it."""
    from planner.inputs.measured_use.use_projection import build_request_from_use

    return build_request_from_use(data, name, "dcgm", options)
