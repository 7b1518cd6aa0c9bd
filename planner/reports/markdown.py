"""The plan for a pull request or a wiki: GitHub-flavoured Markdown. Decides on markup only.

The answer is open, its evidence is folded, a fold for each section. Text from outside shows as it is: it never
becomes a link, an image, a mention, HTML, a directive or a new table cell. The whole fits into one comment: where a
plan is too large for that, its longest sections are left out, by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from planner.reports._content.changes import changes_section
from planner.reports._content.first_screen import LISTED_MAX, first_screen
from planner.reports._content.markdown_sections import open_sections, render_comment
from planner.reports._content.plan_charts import TITLES, draw_charts
from planner.reports._content.report_outline import SECTIONS, list_sections
from planner.result import Plan
from pricing.counted_nouns import format_count

MEDIA_TYPE = "text/markdown; charset=utf-8"
SUFFIX = ".md"


def render(plan: Plan) -> bytes:
    """The whole report, UTF-8, the recommendation first."""
    return _render_report(plan, ())


def render_with_files(plan: Plan, stem: str) -> dict[str, bytes]:
    """The report with links to its charts, and the charts as files: `stem`-cash.svg and others."""
    charts = {f"{stem}-{name}.svg": (TITLES[name], svg) for name, svg in draw_charts(plan).items()}
    links = [f"![{title}]({quote(name)})" for name, (title, _) in charts.items()]
    return {"": _render_report(plan, links), **{name: f"{svg}\n".encode() for name, (_, svg) in charts.items()}}


def _render_report(plan: Plan, links: Sequence[str]) -> bytes:
    """The report, with links to charts after its open part."""
    changes = changes_section(plan)
    opened = [*first_screen(plan, LISTED_MAX), *([changes] if changes else [])]
    head = [
        f"# GPU capacity plan {plan.start}, {format_count(plan.months, 'month')}",
        "",
        *open_sections(opened),
        *([line for link in ("## Charts", *links) for line in (link, "")] if links else []),
    ]
    return render_comment(head, [each for each in list_sections(plan, SECTIONS, in_full=True) if each not in opened])
