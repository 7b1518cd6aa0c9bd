"""A sweep: many independent experiments, each the same amount of work. A part of a request.

What it comes to as demand is told here; how experiments sit on accelerators is `planner.workloads.gpu_sharing`'s.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from planner.request.field_types import MONTHS_MAX, Positive, RequestModel, YearMonth
from pricing.csv_tables import parse_number

WRITTEN_PART = r"^\s*[0-9.]+\s*/\s*[0-9.]+\s*$"
PositiveInt = Annotated[int, Field(ge=1, le=1_000_000)]


def _parse_number(value: Any) -> Any:
    """1/7 as it is written; anything else as it is."""
    found = parse_number(value) if isinstance(value, str) else None
    return value if found is None else found


class Sweep(RequestModel):
    """Independent experiments of `units_each` work units: `experiments` in all by the end of `deadline_month`, or
    `experiments_per_month`. None spans more than `accelerators_each`; more of them at once never slow each other,
    unless they share an accelerator."""

    experiments: PositiveInt | None = None
    """Number of experiments, to be done by the end of `deadline_month`."""
    deadline_month: Annotated[int, Field(ge=1, le=MONTHS_MAX)] | YearMonth | None = None
    """Last month for `experiments`: a number from 1, or a name such as 2027-03."""
    experiments_per_month: PositiveInt | None = None
    """Number of experiments in each month."""
    units_each: Positive
    """Work units of one experiment."""
    at_once: PositiveInt | None = None
    """Experiments that may run at once; default: all that are due together."""
    accelerators_each: Annotated[
        Positive,
        BeforeValidator(_parse_number, json_schema_input_type=Positive | Annotated[str, Field(pattern=WRITTEN_PART)]),
    ] = 1.0
    """Accelerators of one experiment: a whole number, or the part of one (0.25 or 1/7) if it shares an accelerator."""
    share: Literal["none", "time", "slice"] = "none"
    """How experiments share an accelerator: none, time (time-slicing or MPS) or slice (Multi-Instance GPU, or types
    sold as a part)."""
    sharing_efficiency: Annotated[float, Field(gt=0, le=2)] | None = None
    """Work of all that share an accelerator in time divided by the work of one alone on it; published values are
    0.7 to 1.3, so there is no default."""

    @model_validator(mode="after")
    def _check_consistency(self) -> Self:
        if (self.experiments is None) == (self.experiments_per_month is None):
            raise ValueError("give exactly one of experiments (with deadline_month) and experiments_per_month")
        if (self.experiments is None) != (self.deadline_month is None):
            raise ValueError("experiments and deadline_month go together")
        if self.share == "none" and not self.accelerators_each.is_integer():
            raise ValueError("accelerators_each: a part of an accelerator needs share: time or slice")
        if self.share != "none" and self.accelerators_each >= 1:
            raise ValueError(f"accelerators_each: share: {self.share} needs the part that one takes, below 1")
        if self.share != "time" and self.sharing_efficiency is not None:
            raise ValueError("sharing_efficiency goes with share: time")
        return self

    @property
    def due_together(self) -> int:
        """Experiments that are due by the same day."""
        return self.experiments or self.experiments_per_month or 0

    @property
    def parallel(self) -> int:
        """Experiments that run at once at most: never more than there are."""
        return min(self.at_once or self.due_together, self.due_together)

    @property
    def demand(self) -> dict[str, Any]:
        """What it comes to, in the words of a demand."""
        units = self.due_together * self.units_each
        if self.experiments is None:
            return {"units_per_month": units}
        return {"total_units": units, "deadline_month": self.deadline_month}
