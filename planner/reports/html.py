"""The plan as one page to send and to print: the first screen with charts, then the whole report folded.

No script, no link and nothing that is loaded from elsewhere. Printed, it is the first screen and the charts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape

from planner.reports._content.evidence import plan_names
from planner.reports._content.first_screen import LISTED_MAX, first_screen
from planner.reports._content.plan_charts import STRATEGY_LINES, draw_charts
from planner.reports._content.report_outline import SECTIONS, list_sections
from planner.reports._content.sections import Bullets, ReportTable, Section
from planner.reports._content.svg_charts import ChartSeries, draw_chart
from planner.result import Plan
from pricing.counted_nouns import format_count
from pricing.plain_text import plain_text

MEDIA_TYPE = "text/html; charset=utf-8"
SUFFIX = ".html"

TABLES = """
.table { overflow-x: auto; } table { border-collapse: collapse; font-size: 0.95em; }
th, td { padding: 0.15em 0.4em; text-align: left; vertical-align: top; border-bottom: 1px solid #e3e3e3; }
th { border-bottom: 2px solid #1f3864; } .number { text-align: right; white-space: nowrap; }
.total td { font-weight: 600; border-top: 2px solid #1f3864; } ul { margin: 0.3em 0; padding-left: 1.2em; }
svg { width: 100%; max-width: 56em; height: auto; } summary { cursor: pointer; margin: 0.2em 0; }
footer { color: #666; font-size: 0.85em; margin-top: 1em; }
"""
STYLE = f"""
@page {{ size: A4; margin: 12mm; }}
body {{ font: 13px/1.4 system-ui, sans-serif; color: #222; max-width: 62em; margin: 1em auto; padding: 0 1em; }}
h1 {{ font-size: 1.5em; }} h2 {{ font-size: 1.2em; margin: 1em 0 0.3em; }} .lead {{ font-weight: 600; }}
{TABLES.strip()}
@media print {{
  body {{ margin: 0; padding: 0; max-width: none; font-size: 8.8px; }} details, .folded {{ display: none; }}
  h2 {{ break-after: avoid; }} tr, svg {{ break-inside: avoid; }} .table {{ overflow: visible; }}
  .charts {{ display: flex; flex-wrap: wrap; gap: 1mm; }} svg {{ width: 84mm; }}
}}
"""
FRAGMENT = "gpu-planner"
"""The class of a fragment: its style has no effect outside."""


def render(plan: Plan) -> bytes:
    """The page, UTF-8."""
    title = f"GPU capacity plan {plan.start}, {format_count(plan.months, 'month')}"
    parts = [
        "<!DOCTYPE html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{_escape_text(title)}</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{STYLE}</style></head><body>",
        f"<h1>{_escape_text(title)}</h1>",
    ]
    for section in first_screen(plan, LISTED_MAX):
        parts += [f"<h2>{_escape_text(section.title)}</h2>", *_block_parts(section)]
    charts = draw_charts(plan)
    parts += ["<h2>Charts</h2>", '<div class="charts">', *charts.values(), "</div>"] if charts else []
    parts.append('<h2 class="folded">The whole report</h2>')
    for section in list_sections(plan, SECTIONS, in_full=True):
        parts += [f"<details><summary>{_escape_text(section.title)}</summary>", *_block_parts(section), "</details>"]
    parts += [f"<footer>{_escape_text(plan_names(plan))}</footer>", "</body></html>", ""]
    return "\n".join(parts).encode()


def render_fragment(plan: Plan) -> str:
    """The first screen and the charts, for a page such as a notebook."""
    parts = [part for section in first_screen(plan, LISTED_MAX) for part in _section_parts(section)]
    return _wrap_fragment([*parts, *draw_charts(plan).values(), f"<footer>{_escape_text(plan_names(plan))}</footer>"])


def render_table_fragment(title: str, titles: Sequence[str], rows: Sequence[Sequence[str]], chart: str = "") -> str:
    """A table and a chart, for a page such as a notebook; columns of numbers are right-aligned."""
    numbers = [i for i in range(1, len(titles)) if rows and all(_is_number(row[i]) for row in rows)]
    table = ReportTable(tuple(titles), tuple(map(tuple, rows)), frozenset(numbers))
    return _wrap_fragment([f"<p><b>{_escape_text(title)}</b></p>", *_table_parts(table), chart])


def draw_strategy_costs(title: str, plans: Mapping[str, Plan]) -> str:
    """The present cost of each strategy in each plan, by the names of these; a gap where it is infeasible."""
    names = dict.fromkeys(strategy.name for plan in plans.values() for strategy in plan.strategies)
    lines = [
        ChartSeries(name, tuple(_present_cost(plan, name) for plan in plans.values()), *STRATEGY_LINES[name])
        for name in names
    ]
    currency = next(iter(plans.values())).currency
    return draw_chart(title, currency, list(plans), lines=lines)


def _present_cost(plan: Plan, name: str) -> float | None:
    """The present cost of a strategy, None where the plan has none that is feasible."""
    feasible = [each for each in plan.strategies if each.name == name and each.status != "infeasible"]
    return feasible[0].present_cost if feasible else None


def _section_parts(section: Section) -> Iterator[str]:
    yield from (f"<h4>{_escape_text(section.title)}</h4>", *_block_parts(section))


def _wrap_fragment(parts: Iterable[str]) -> str:
    rules = re.findall(r"([^{}]+)\{([^{}]*)\}", TABLES)
    scoped = (
        ", ".join(f".{FRAGMENT} {each.strip()}" for each in names.split(",")) + f" {{{rule}}}" for names, rule in rules
    )
    return "\n".join([f'<div class="{FRAGMENT}"><style>', *scoped, "</style>", *parts, "</div>"])


def _is_number(text: str) -> bool:
    return text.lstrip("-")[:1].isdigit() and not text.count("-", 1)


def _block_parts(section: Section) -> Iterator[str]:
    for number, block in enumerate(section.blocks):
        if isinstance(block, ReportTable):
            yield from _table_parts(block)
        elif isinstance(block, Bullets):
            yield from ("<ul>", *(f"<li>{_escape_text(item)}</li>" for item in block.items), "</ul>")
        else:
            is_lead = section.title == "Recommendation" and not number
            yield f"<p{' class=lead' if is_lead else ''}>{_escape_text(block)}</p>"


def _table_parts(table: ReportTable) -> Iterator[str]:
    columns = range(len(table.titles))
    numbers = ['class="number"' if column in table.numbers else "" for column in columns]
    yield '<div class="table"><table><thead><tr>'
    yield "".join(f"<th {kind}>{_escape_text(title)}</th>" for title, kind in zip(table.titles, numbers, strict=True))
    yield "</tr></thead><tbody>"
    for index, row in enumerate(table.rows):
        is_total = table.has_total and index == len(table.rows) - 1
        cells = (f"<td {kind}>{_escape_text(cell)}</td>" for cell, kind in zip(row, numbers, strict=False))
        body = f'<td colspan="{len(columns)}"><b>{_escape_text(row[0])}</b></td>' if len(row) == 1 else "".join(cells)
        yield f"<tr{' class=total' if is_total else ''}>{body}</tr>"
    yield "</tbody></table></div>"


def _escape_text(text: str) -> str:
    return escape(plain_text(text))
