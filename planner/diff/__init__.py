"""What changed between two plans: why the cost is another (`diff`), and all that is not as it was (`changes`).

Everything is read from documents; nothing is planned again.
"""

from __future__ import annotations

from planner.diff._changes import changes
from planner.diff._currency import NoRate
from planner.diff._faults import faults
from planner.diff._record import Record, record
from planner.diff._taken_apart import CAUSES, Diff, diff
from planner.diff._workbook import is_workbook, record_of_workbook

__all__ = [
    "CAUSES",
    "Diff",
    "NoRate",
    "Record",
    "changes",
    "diff",
    "faults",
    "is_workbook",
    "record",
    "record_of_workbook",
]
