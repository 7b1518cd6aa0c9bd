"""Behind `planner negotiate`: the prices to ask vendors for, as text, CSV or JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields

from planner.cli._estimate_settings import InputFileOptions, plan_file
from planner.cli._exit_codes import DONE, INFEASIBLE
from planner.cli._request_settings import OptionValue, parse_settings
from planner.cli._tables import print_report
from planner.reports._content.negotiation import negotiation_section
from planner.reports._content.sections import headline
from planner.reports.text import section_lines
from planner.result import Plan
from planner.result.risk import NegotiationTarget


def report_negotiation(
    file: str, options: Mapping[str, OptionValue], inputs: InputFileOptions, format_name: str
) -> int:
    """Plan `file`, confirm the prices and print them; InvalidRequest with every problem."""
    settings, places, complaints = parse_settings(options)
    plan = plan_file(file, settings, places, complaints, inputs, negotiates=True)
    columns = tuple(field.name for field in fields(NegotiationTarget))
    records = [asdict(target) for target in plan.negotiation]
    document = {"plan_id": plan.plan_id, "recommendation": headline(plan), "negotiation": records}
    print_report(format_name, _list_lines(plan), columns, records, lambda: document)
    return INFEASIBLE if plan.status == "infeasible" else DONE


def _list_lines(plan: Plan) -> Iterator[str]:
    yield headline(plan)
    yield ""
    section = negotiation_section(plan)
    if section is not None:
        yield from section_lines(section)
        return
    unknown = (str(reason) for reason in plan.recommendation.reasons if reason.code == "flips_need_planned_figures")
    yield next(unknown, "Nothing to compare with: no price changes the choice.")
