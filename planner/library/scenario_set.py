"""`planner.scenarios`: variants of one request, planned and put side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from planner.application import check_input
from planner.library.input_reading import InputChoices, InputRead, read_input
from planner.library.plan_result import PlanResult
from planner.library.result_tables import ResultTable, Row, TabularResult, build_plan_table, plan_table_names
from planner.library.scenario_tasks import plan_scenarios
from planner.request.errors import InputProblem, InvalidRequest, OpenQuestions, unknown_name
from planner.request.models import DEMAND_KINDS, Request
from pricing.counted_nouns import format_count
from pricing.frozen_values import dataclass

if TYPE_CHECKING:
    from pricing.catalog.price_catalog import Catalog

COMPARISON = "scenarios"
"""The table of a set with a row for each scenario; the others are those of its plans with a column `scenario`."""
DEMAND_FACTOR = "demand_factor"
"""A factor of the demand of every workload, or of each named one."""
LISTED_MAX = 30
STRATEGIES = Request.model_fields["strategies"].default


@dataclass(frozen=True, slots=True, repr=False)
class ScenarioSet(TabularResult):
    """The plans of the variants of a request by their names, with the settings of each (`variants`)."""

    variants: Mapping[str, Mapping[str, Any]]
    results: Mapping[str, PlanResult]

    @property
    def tables(self) -> tuple[str, ...]:
        """scenarios, and every table of a plan, there with the name of its scenario."""
        return (COMPARISON, *plan_table_names())

    def _build_table(self, name: str) -> ResultTable:
        if name == COMPARISON:
            return self._compare_plans()
        tables = {scenario: build_plan_table(result.plan, name) for scenario, result in self.results.items()}
        columns = next(iter(tables.values())).columns
        rows = [{"scenario": scenario, **row} for scenario, table in tables.items() for row in table.rows]
        return ResultTable({"scenario": str, **columns}, rows)

    def _compare_plans(self) -> ResultTable:
        varied = list(dict.fromkeys(name for each in self.variants.values() for name in _flatten_settings(each)))
        rows = [
            {**_compare_plan(name, result), **_flatten_settings(self.variants[name])}
            for name, result in self.results.items()
        ]
        values = {name: [row[name] for row in rows if row.get(name) is not None] for name in varied}
        kinds: dict[str, Any] = {
            name: float | None if all(_is_number(each) for each in known) else str | None
            for name, known in values.items()
        }
        return ResultTable({**COMPARED, **kinds}, rows)

    def __getitem__(self, scenario: str) -> PlanResult:
        return self.results[scenario]

    def __len__(self) -> int:
        return len(self.results)

    def __repr__(self) -> str:
        return f"<ScenarioSet of {format_count(len(self), 'plan')}>"

    def _repr_html_(self) -> str:
        """The comparison and its chart, for a notebook."""
        from planner.reports.html import render_table_fragment

        table = self._compare_plans()
        names = [name for name in table.columns if any(row.get(name) is not None for row in table.rows)]
        names = [name for name in names if name not in ("plan_id", "content_digest")]
        rows = [["" if row.get(name) is None else _format_cell(row[name]) for name in names] for row in table.rows]
        more = f", the first {LISTED_MAX} of them" if len(rows) > LISTED_MAX else ""
        titles = [name.replace("_", " ") for name in names]
        title = f"{format_count(len(rows), 'scenario')}{more}"
        return render_table_fragment(title, titles, rows[:LISTED_MAX], self._draw_costs())

    def _draw_costs(self) -> str:
        """The present cost of each strategy over the scenarios, in their order."""
        from planner.reports.html import draw_strategy_costs

        plans = {name: result.plan for name, result in self.results.items()}
        return draw_strategy_costs("Present cost by scenario", plans)


COMPARED: Mapping[str, Any] = {
    "scenario": str, "status": str, "recommended": str | None, "present_cost": float | None, "total_cost": float | None,
    "worth": float, "runner_up": str | None, "currency": str,
    **{f"{name}_present_cost": float | None for name in STRATEGIES}, "plan_id": str, "content_digest": str,
}  # fmt: skip
"""The columns of the comparison before those of the settings that vary."""


def scenarios(
    request: Any,
    variants: Mapping[str, Mapping[str, Any]],
    *,
    catalog: Catalog | None = None,
    dask: str | None = None,
    **settings: Any,
) -> ScenarioSet:
    """The plans of variants of one request, side by side.

    `variants` has the settings of each by its name: fields of the request as `planner.plan` takes them (`assumptions`
    are merged by name), and `demand_factor`, a number for all workloads or a mapping of their names to numbers.
    `request`, `catalog`, `settings` and how a sheet is read are as in `planner.plan`; the request is read once. All
    variants are checked before the first is planned: InvalidRequest has the faults of all, each with its variant.
    `dask` is the URL of a Dask scheduler (tcp://host:8786) whose workers plan them side by side; those with other
    prices than here plan nothing.

    >>> import planner
    >>> job = {"name": "scoring", "demand": {"accelerator_hours_per_month": 730, "accelerator": "L4"}}
    >>> compared = planner.scenarios(
    ...     job,
    ...     {"base": {}, "double": {"demand_factor": 2}},
    ...     months=1, start="2026-12", as_of="2026-11-21", strategies=["cloud"],
    ... )
    >>> one, two = (row["total_cost"] for row in compared.rows("scenarios"))
    >>> round(two / one, 6)
    2.0
    """
    names = {each.name for each in fields(InputChoices)}
    choices = InputChoices(**{name: value for name, value in settings.items() if name in names and value is not None})
    stated = {name: value for name, value in settings.items() if name not in names}
    base = read_input(request, stated, choices, catalog)
    if not isinstance(variants, Mapping) or not variants:
        expected = "names with settings, such as {'more': {'demand_factor': 1.5}}"
        raise InvalidRequest((*base.problems, InputProblem("", "variants", "no scenarios", "", expected)))
    varied = {str(name): dict(each) for name, each in variants.items()}
    prepared = {name: _apply_variant(base, name, each) for name, each in varied.items()}
    _check_all(prepared)
    return ScenarioSet(varied, plan_scenarios(prepared, dask))


def _apply_variant(base: InputRead, scenario: str, variant: Mapping[str, Any]) -> InputRead:
    """The request with the settings and demands of a variant."""
    settings = {name: value for name, value in variant.items() if name != DEMAND_FACTOR}
    at = f"variants[{scenario!r}] "
    read = base.under(settings, at)
    factor = variant.get(DEMAND_FACTOR, 1)
    if factor == 1:
        return read
    document, faults = _multiply_demand(read.document, factor, f"{at}{DEMAND_FACTOR}=")
    return replace(read, document=document, problems=(*read.problems, *faults))


def _multiply_demand(document: dict[str, Any], factor: Any, place: str) -> tuple[dict[str, Any], list[InputProblem]]:
    """The document with multiplied demands, and problems of factors and of workloads without a demand."""
    listed = document.get("workloads")
    workloads = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    names = [str(each.get("name")) for each in workloads]
    factors = factor if isinstance(factor, Mapping) else dict.fromkeys(names, factor)
    faults = [
        replace(unknown_name("", name, names, kind="workload"), place=place) for name in factors if name not in names
    ]
    wrong = [value for value in factors.values() if not (_is_number(value) and value > 0)]
    faults += [InputProblem("", place, "no factor", repr(value)[:80], "a number above 0") for value in wrong[:1]]
    if faults:
        return document, faults
    changed = []
    for workload in workloads:
        times = factors.get(str(workload.get("name")), 1)
        if times != 1 and not isinstance(workload.get("demand"), dict):
            message = "a workload without a demand of its own cannot be multiplied"
            faults.append(InputProblem("", place, message, str(workload.get("name")), "its sweep as a setting"))
        changed.append(_multiply_workload(workload, times))
    return {**document, "workloads": changed}, faults


def _multiply_workload(workload: dict[str, Any], times: float) -> dict[str, Any]:
    demand = workload.get("demand")
    if not isinstance(demand, dict):
        return workload
    multiplied = {kind: _multiply_amount(demand[kind], times) for kind in DEMAND_KINDS if kind in demand}
    return {**workload, "demand": {**demand, **multiplied}}


def _multiply_amount(amount: Any, times: float) -> Any:
    """An amount, one for each month, or one by month; text is checked with the request."""
    if isinstance(amount, Mapping):
        return {month: _multiply_amount(each, times) for month, each in amount.items()}
    if isinstance(amount, list):
        return [_multiply_amount(each, times) for each in amount]
    return amount * times if _is_number(amount) else amount


def _check_all(prepared: Mapping[str, InputRead]) -> None:
    """InvalidRequest with the problems of all variants; those of every variant once."""
    scenarios_by_problem: dict[InputProblem, list[str]] = {}
    errors: list[InvalidRequest] = []
    for name, read in prepared.items():
        try:
            check_input(
                read.source, read.document, read.catalog, read.problems, read.places,
                accepts_proposals=read.accepts_proposals,
            )  # fmt: skip
        except InvalidRequest as error:
            errors.append(error)
            for each in error.complaints:
                scenarios_by_problem.setdefault(each, []).append(name)
    if not errors:
        return
    problems = tuple(
        each if len(names) == len(prepared) or "variants[" in each.place else _with_scenarios(each, names)
        for each, names in scenarios_by_problem.items()
    )
    is_open = all(isinstance(each, OpenQuestions) for each in errors)
    raise (OpenQuestions if is_open else InvalidRequest)(problems, errors[0].doubts)


def _with_scenarios(problem: InputProblem, names: Sequence[str]) -> InputProblem:
    listed = ", ".join(map(repr, names[:3])) + (" ..." if len(names) > 3 else "")
    return replace(problem, place=f"variants[{listed}] {problem.place or problem.path}")


def _compare_plan(name: str, result: PlanResult) -> Row:
    plan, chosen = result.plan, result.recommended
    costs = {f"{each.name}_present_cost": each.present_cost for each in plan.strategies if each.status != "infeasible"}
    return {
        "scenario": name,
        "status": plan.status,
        "recommended": plan.recommendation.strategy,
        "present_cost": None if chosen is None else chosen.present_cost,
        "total_cost": None if chosen is None else chosen.total_cost,
        "worth": plan.recommendation.worth,
        "runner_up": plan.recommendation.runner_up,
        "currency": plan.currency,
        **costs,
        "plan_id": plan.plan_id,
        "content_digest": plan.content_digest,
    }


def _flatten_settings(variant: Mapping[str, Any], above: str = "") -> Row:
    """The settings of a variant as columns: assumptions.power_price and the like; lists as text."""
    flat: Row = {}
    for name, value in variant.items():
        if isinstance(value, Mapping):
            flat |= _flatten_settings(value, f"{above}{name}.")
        else:
            flat[f"{above}{name}"] = value if _is_number(value) or value is None else str(value)
    return flat


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _format_cell(value: Any) -> str:
    return (
        f"{value:,.6g}"
        if isinstance(value, float) and abs(value) < 1
        else f"{value:,.2f}"
        if isinstance(value, float)
        else str(value)
    )
