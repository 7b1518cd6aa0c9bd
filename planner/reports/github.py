"""The plan for a comment on a pull request or a job summary: recommendation and changes, the rest in folds.

GitLab shows it in the same way. `--format github` of the command line also prints each fault and each failed gate as
an annotation of the workflow.
"""

from __future__ import annotations

from planner.reports._content.changes import changes_section
from planner.reports._content.first_screen import LISTED_MAX, first_screen
from planner.reports._content.markdown_sections import open_sections, render_comment
from planner.reports._content.report_outline import SECTIONS, list_sections
from planner.result import Plan
from pricing.counted_nouns import format_count

MEDIA_TYPE = "text/x.github-markdown; charset=utf-8"
SUFFIX = ".github.md"
HEADING_LEVEL = 4
"""Of sections: above them a comment has its own title and the names of files."""


def render(plan: Plan) -> bytes:
    """The report, UTF-8, at most as long as a comment may be."""
    decision, *screen = first_screen(plan, LISTED_MAX)
    changes = changes_section(plan)
    opened = [decision, *([changes] if changes else [])]
    frame = f"*{plan.start}, {format_count(plan.months, 'month')}, dated {plan.as_of}*"
    folded = [
        *screen,
        *(each for each in list_sections(plan, SECTIONS, in_full=True) if each not in (*opened, *screen)),
    ]
    return render_comment([frame, "", *open_sections(opened, HEADING_LEVEL)], folded)
