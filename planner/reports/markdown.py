"""The plan for a pull request or a wiki: GitHub-flavoured Markdown. Decides on markup only.

The answer is open, its evidence is folded, a fold for each section. Text from outside shows as it is: it never
becomes a link, an image, a mention, HTML, a directive or a new table cell. The whole fits into one comment: where a
plan is too large for that, its longest sections are left out, by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import quote

from planner.reports._content.changes import changes_section
from planner.reports._content.first_screen import LISTED_MAX, first_screen
from planner.reports._content.markdown_text import disable_autolinks, escape_line, escape_markdown, table_row
from planner.reports._content.plan_charts import TITLES, draw_charts
from planner.reports._content.report_outline import SECTIONS, list_sections
from planner.reports._content.sections import Bullets, ReportTable, Section
from planner.result import Plan
from pricing.counted_nouns import format_count

MEDIA_TYPE = "text/markdown; charset=utf-8"
SUFFIX = ".md"

COMMENT_BYTES = 65_536
"""The length of a comment on GitHub in characters, of which a text never has more than bytes."""


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
        *_shorten_lines(line for section in opened for line in _open_section(section)),
        *([line for link in ("## Charts", *links) for line in (link, "")] if links else []),
    ]
    folded = [section for section in list_sections(plan, SECTIONS, in_full=True) if section not in opened]
    parts = [(section.title, "\n".join(_folded_section(section))) for section in folded]
    left_out: list[str] = []
    text = _assemble_comment(head, parts, left_out)
    while len(text) > COMMENT_BYTES and parts:
        longest = max(parts, key=lambda part: len(part[1]))
        parts.remove(longest)
        left_out.append(longest[0])
        text = _assemble_comment(head, parts, left_out)
    return text


def _assemble_comment(head: Sequence[str], parts: Sequence[tuple[str, str]], left_out: Sequence[str]) -> bytes:
    """The report, with a list of omitted sections before the folded ones."""
    reason = f"Left out, so that the rest fits into a comment ({COMMENT_BYTES:,d} bytes)"
    omission = f"{reason}: {'; '.join(left_out)}. The plan as a workbook or as JSON has all of it."
    omission_note = [escape_line(omission), ""] if left_out else []
    return ("\n".join([*head, *omission_note, *(text for _, text in parts)]).rstrip("\n") + "\n").encode()


def _shorten_lines(lines: Iterable[str]) -> list[str]:
    """The lines up to half the length of a comment: the first section alone is too long for a thousand workloads."""
    shortened: list[str] = []
    left = COMMENT_BYTES // 2
    for line in lines:
        left -= len(line.encode()) + 1
        if left < 0:
            return [*shortened, "- More is left out here. The plan as a workbook or as JSON has all of it.", ""]
        shortened.append(line)
    return shortened


def _open_section(section: Section) -> Iterator[str]:
    yield from (f"## {escape_markdown(section.title)}", "")
    yield from _block_lines(section)


def _folded_section(section: Section) -> Iterator[str]:
    """A section that opens when its title is clicked. Its blank lines matter: without them no table is made."""
    yield from ("<details>", f"<summary>{disable_autolinks(section.title)}</summary>", "")
    yield from _block_lines(section)
    yield from ("</details>", "")


def _block_lines(section: Section) -> Iterator[str]:
    for block in section.blocks:
        if isinstance(block, ReportTable):
            yield from _table_lines(block)
        elif isinstance(block, Bullets):
            yield from (f"- {escape_line(item)}" for item in block.items)
        else:
            yield escape_line(block)
        yield ""


def _table_lines(table: ReportTable) -> Iterator[str]:
    yield table_row(table.titles)
    yield "|".join(("", *(" ---: " if c in table.numbers else " --- " for c in range(len(table.titles))), ""))
    for index, row in enumerate(table.rows):
        is_total = table.has_total and index == len(table.rows) - 1
        yield table_row((*row, *("" for _ in table.titles[len(row) :])), "**" if is_total or len(row) == 1 else "")
