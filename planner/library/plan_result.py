"""A plan as `planner.plan` gives it: its tables, its reports, and its view in a notebook."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from planner.library.plan_outputs import STANDARD_OUTPUT, Output, parse_output, render_plan, write_outputs
from planner.library.result_tables import ResultTable, TabularResult, build_plan_table, plan_table_names
from planner.reports import load as load_format
from planner.request.errors import InputProblem, InvalidRequest
from pricing.frozen_values import dataclass
from pricing.money import format_amount

if TYPE_CHECKING:
    from planner.result import Plan, Recommendation, Strategy

PathName = str | os.PathLike[str]


@dataclass(frozen=True, slots=True, repr=False)
class PlanResult(TabularResult):
    """A plan with its tables and reports. `plan` is the plain value beneath, frozen, as the JSON has it.

    >>> import planner
    >>> job = {"name": "scoring", "demand": {"accelerator_hours_per_month": 730, "accelerator": "L4"}}
    >>> result = planner.plan(job, months=2, start="2026-12", as_of="2026-11-21", strategies=["cloud"])
    >>> result.status, [row["month_name"] for row in result.rows("uses")]
    ('optimal', ['2026-12', '2027-01'])
    """

    plan: Plan

    @property
    def status(self) -> str:
        """optimal, within_gap or infeasible."""
        return self.plan.status

    @property
    def plan_id(self) -> str:
        """Equal for equal requests on equal prices, through whichever door they came."""
        return self.plan.plan_id

    @property
    def content_digest(self) -> str:
        """Equal for plans of equal content."""
        return self.plan.content_digest

    @property
    def recommendation(self) -> Recommendation:
        """The recommended strategy with its sentence and reasons."""
        return self.plan.recommendation

    @property
    def recommended(self) -> Strategy | None:
        """The recommended strategy itself; None where no strategy is feasible."""
        name = self.plan.recommendation.strategy
        return None if name is None else self.plan.strategy(name)

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the tables, for `frame`, `arrow` and `rows`."""
        return plan_table_names()

    def _build_table(self, name: str) -> ResultTable:
        return build_plan_table(self.plan, name)

    def render(self, format_name: str = "text") -> bytes:
        """The report in a format of `planner estimate --format`. KeyError for an unknown one."""
        return load_format(format_name).render(self.plan)

    def write(self, path: PathName) -> Path:
        """Writes the report that the suffix of the path means, as `planner estimate -o` does; gives the path.

        InvalidRequest for a suffix that no format has, and where the file cannot be written.
        """
        output = parse_output(os.fspath(path), None, flag="")
        if isinstance(output, InputProblem):
            raise InvalidRequest((output,))
        return self._write_output(output)

    def to_excel(self, path: PathName) -> Path:
        """The workbook, with formulas that follow its assumptions."""
        return self._write_output(Output(os.fspath(path), "xlsx"))

    def to_html(self, path: PathName) -> Path:
        """The report as one page to send."""
        return self._write_output(Output(os.fspath(path), "html"))

    def to_json(self, path: PathName) -> Path:
        """The plan whole; `planner.load` reads it back."""
        return self._write_output(Output(os.fspath(path), "json"))

    def to_terraform(self, folder: PathName) -> Path:
        """The Terraform of the cloud part, in a folder that has none of another plan."""
        return self._write_output(Output(os.fspath(folder), "terraform", folder=True))

    def _write_output(self, output: Output) -> Path:
        if output.path in STANDARD_OUTPUT:  # a name that only the command line gives a meaning
            raise InvalidRequest((InputProblem("", "path", "not a file", output.path, "a path; print() the result"),))
        write_outputs(render_plan(self.plan, [output]), flag="")
        return Path(output.path)

    def __str__(self) -> str:
        """The first screen, as `planner estimate` prints it."""
        return self.render().decode().rstrip("\n")

    def __repr__(self) -> str:
        chosen = self.recommended
        cost = (
            ""
            if chosen is None
            else f", {chosen.name} at {format_amount(chosen.total_cost, currency=self.plan.currency)}"
        )
        return f"<PlanResult {self.plan_id} {self.status}{cost}>"

    def _repr_html_(self) -> str:
        """The first screen and the charts, for a notebook."""
        from planner.reports.html import render_fragment

        return render_fragment(self.plan)
