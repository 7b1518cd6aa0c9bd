"""The plan for a pull request or a wiki: GitHub-flavoured Markdown. Decides markup, not words.

The answer stands open, what it rests on is folded, a fold for each section. Text from outside shows as it is: it never
becomes a link, an image, a mention, HTML or a new table cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from planner.answer import Plan
from planner.reports._shared.evidence import age
from planner.reports._shared.order import answer, grounds
from planner.reports._shared.sections import Bullets, Section, Table

MEDIA_TYPE = "text/markdown; charset=utf-8"
SUFFIX = ".md"

_MARKUP = re.compile(r"[\\`*\[\]~|!$]|(?<![^\W_])_|_(?![^\W_])")
_AT_START = re.compile(r"^(?P<digits>\d+)?(?P<sign>(?(digits)[.)]|[-+=#]))")
_LINKED = re.compile(r"(?<=:)(?=//)|(?<=\bwww)(?=\.)|(?<=@)|#(?=\d)|(?<=\bgh)(?=-\d)", re.IGNORECASE)
_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_BREAK = "<!-- -->"  # splits a text without showing, so that no address, mention or issue number is made a link


def render(plan: Plan) -> bytes:
    """The whole report, UTF-8, the recommendation first."""
    first, *others = answer(plan)
    lines = [f"# GPU capacity plan {plan.start}, {plan.months} months", "", *_open(first), _warning(plan), ""]
    for section in others:
        lines += _open(section)
    for section in grounds(plan, in_full=True):
        lines += _folded(section)
    return ("\n".join(lines).rstrip("\n") + "\n").encode()


def _warning(plan: Plan) -> str:
    """How much is missing and how old the oldest price is: what a reviewer should know before he agrees."""
    number = len(plan.gaps)
    gaps = f"{number:,d} gap{'' if number == 1 else 's'} (named below)" if number else "No gaps"
    return f"{gaps}. Oldest price used: {_line(age(plan))}."


def _open(section: Section) -> Iterator[str]:
    yield from (f"## {escaped(section.title)}", "")
    yield from _blocks(section)


def _folded(section: Section) -> Iterator[str]:
    """A section that opens when its title is clicked. Its blank lines matter: without them no table is made."""
    yield from ("<details>", f"<summary>{_harmless(section.title)}</summary>", "")
    yield from _blocks(section)
    yield from ("</details>", "")


def _blocks(section: Section) -> Iterator[str]:
    for block in section.blocks:
        if isinstance(block, Table):
            yield from _table(block)
        elif isinstance(block, Bullets):
            yield from (f"- {_line(item)}" for item in block.items)
        else:
            yield _line(block)
        yield ""


def _table(table: Table) -> Iterator[str]:
    yield _row(table.titles)
    yield "|".join(("", *(" ---: " if c in table.numbers else " --- " for c in range(len(table.titles))), ""))
    for index, row in enumerate(table.rows):
        is_total = table.has_total and index == len(table.rows) - 1
        yield _row((*row, *("" for _ in table.titles[len(row) :])), "**" if is_total or len(row) == 1 else "")


def _row(cells: Sequence[str], mark: str = "") -> str:
    return "|".join(("", *(f" {mark}{escaped(cell)}{mark} " if cell else " " for cell in cells), ""))


def escaped(text: str) -> str:
    r"""The text with everything that Markdown would read as markup inside a line made literal.

    >>> escaped("a|b <b> [x](http://y)")
    'a\\|b &lt;b&gt; \\[x\\](http:<!-- -->//y)'
    """
    return _harmless(_MARKUP.sub(lambda found: f"\\{found[0]}", text))


def _harmless(text: str) -> str:
    """The text without tags, and without what is made a link, a mention or an issue number anywhere."""
    text = re.sub(r"[&<>]", lambda found: _HTML[found[0]], text)
    return _LINKED.sub(lambda found: found[0] + _BREAK, text)


def _line(text: str) -> str:
    """An escaped text that stands at the start of a line, where a list or a heading could begin."""
    return _AT_START.sub(lambda found: f"{found['digits'] or ''}\\{found['sign']}", escaped(text))
