"""Checkpoint intervals by Young's and Daly's formulas, and the time that they make a job take.

J. T. Daly, A higher order estimate of the optimum checkpoint interval for restart dumps, FGCS 22 (2006). The two
approximations stand here because only studies use them: `goodput` solves for the best interval itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from planner.performance.goodput import best_interval_hours, billed_per_useful_hour
from planner.request.field_types import Amount, Positive
from planner.studies.comparison import Nested
from planner.studies.conventions import FullCost, PlanningConventions
from planner.studies.inputs import StudyInputs

LEAVES_OUT = "It leaves out money, and interruptions that come in groups; both formulas are approximations."
MINUTES = 60


class CheckpointCase(StudyInputs):
    """Mean time between interruptions of the whole job, what a checkpoint and a restart take, and the work to do."""

    mtbf_minutes: Positive
    checkpoint_minutes: Positive
    restart_minutes: Amount = 0.0
    work_minutes: Positive | None = None

    def figures(self) -> dict[str, float]:
        mean, checkpoint, restart = (
            minutes / MINUTES for minutes in (self.mtbf_minutes, self.checkpoint_minutes, self.restart_minutes)
        )
        billed = billed_per_useful_hour(checkpoint, restart, mean)
        results = {
            "daly_minutes": daly_interval(self.mtbf_minutes, self.checkpoint_minutes),
            "young_minutes": young_interval(self.mtbf_minutes, self.checkpoint_minutes),
            "exact_minutes": best_interval_hours(checkpoint, mean) * MINUTES,
            "billed_per_useful_hour": billed,
            "overhead_fraction": billed - 1,
            "goodput_fraction": 1 / billed,
        }
        return results if self.work_minutes is None else {**results, "total_minutes": billed * self.work_minutes}


class DalyInputs(StudyInputs):
    """Cases in order."""

    cases: list[CheckpointCase]


def young_interval(mtbf: float, checkpoint: float) -> float:
    """sqrt(2 d M), in the unit of both.

    >>> young_interval(1440.0, 5.0)
    120.0
    """
    return math.sqrt(2 * checkpoint * mtbf)


def daly_interval(mtbf: float, checkpoint: float) -> float:
    """sqrt(2 d M) (1 + sqrt(x) / 3 + x / 9) - d with x = d / 2M, for d < 2M; M from there on.

    >>> round(daly_interval(1440.0, 5.0), 2), daly_interval(2.0, 5.0)
    (116.69, 2.0)
    """
    if checkpoint >= 2 * mtbf:
        return mtbf
    x = checkpoint / (2 * mtbf)
    return young_interval(mtbf, checkpoint) * (1 + math.sqrt(x) / 3 + x / 9) - checkpoint


INPUTS = DalyInputs


def outputs(inputs: DalyInputs) -> Mapping[str, Nested]:
    figures = [case.figures() for case in inputs.cases]
    kinds = dict.fromkeys(kind for row in figures for kind in row)
    return {kind: [row.get(kind) for row in figures] for kind in kinds}


def full_cost(inputs: DalyInputs, _house: PlanningConventions) -> FullCost:
    figures = [case.figures() for case in inputs.cases]
    shown: dict[str, Nested] = {
        kind: [f[kind] for f in figures] for kind in ("exact_minutes", "billed_per_useful_hour")
    }
    return FullCost(shown, "no cost: the best interval, solved exactly, and the hours billed for each that is useful")
