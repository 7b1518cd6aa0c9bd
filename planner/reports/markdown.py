"""The plan for a pull request or a wiki: GitHub-flavoured Markdown. Decides markup, not words.

The answer stands open, what it rests on is folded, a fold for each section. Text from outside shows as it is: it never
becomes a link, an image, a mention, HTML, a directive or a new table cell. The whole fits into one comment: where a
plan is too large for that, its longest sections are left out, by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from planner.answer import Plan
from planner.reports._shared.evidence import age
from planner.reports._shared.order import answer, grounds
from planner.reports._shared.sections import Bullets, Section, Table

MEDIA_TYPE = "text/markdown; charset=utf-8"
SUFFIX = ".md"

_MARKUP = re.compile(r"[\\`*\[\]~|!$]|(?<![^\W_])_|_(?![^\W_])")
_AT_START = re.compile(r"^(?P<digits>\d+)?(?P<sign>(?(digits)[.)]|[-+=#:]))")
_LINKED = re.compile(r"(?<=:)(?=//)|(?<=\bwww)(?=\.)|(?<=@)|#(?=\d)|(?<=\bgh)(?=-\d)", re.IGNORECASE)
_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
COMMENT_BYTES = 65_536
"""What a comment on GitHub holds, in characters: in bytes they are never fewer."""
_BREAK = "<!-- -->"  # splits a text without showing, so that no address, mention or issue number is made a link


def render(plan: Plan) -> bytes:
    """The whole report, UTF-8, the recommendation first."""
    first, *others = answer(plan)
    head = [
        f"# GPU capacity plan {plan.start}, {plan.months} months",
        "",
        *_shortened(_open(first)),
        _warning(plan),
        "",
    ]
    parts = [(section.title, _lines(_open(section))) for section in others]
    parts += [(section.title, _lines(_folded(section))) for section in grounds(plan, in_full=True)]
    left_out: list[str] = []
    text = _whole(head, parts, left_out)
    while len(text) > COMMENT_BYTES and parts:
        longest = max(parts, key=lambda part: len(part[1]))
        parts.remove(longest)
        left_out.append(longest[0])
        text = _whole(head, parts, left_out)
    return text


def _whole(head: Sequence[str], parts: Sequence[tuple[str, str]], left_out: Sequence[str]) -> bytes:
    """The report, with a word on what is left out of it before everything that is folded."""
    told = []
    if left_out:
        why = f"Left out, for a comment to hold the rest ({COMMENT_BYTES:,d} bytes)"
        told = [_line(f"{why}: {'; '.join(left_out)}. The plan as a workbook or as JSON has all of it."), ""]
    return ("\n".join([*head, *told, *(text for _, text in parts)]).rstrip("\n") + "\n").encode()


def _shortened(lines: Iterable[str]) -> list[str]:
    """The lines up to half of what a comment holds: a plan of a thousand workloads has as much to say in its first
    section alone."""
    kept: list[str] = []
    left = COMMENT_BYTES // 2
    for line in lines:
        left -= len(line.encode()) + 1
        if left < 0:
            return [*kept, "- More is left out here. The plan as a workbook or as JSON has all of it.", ""]
        kept.append(line)
    return kept


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(lines)


def _warning(plan: Plan) -> str:
    """How much is missing and how old the oldest price is: what a reviewer should know before he agrees."""
    number = len(plan.gaps)
    gaps = f"{number:,d} gap{'' if number == 1 else 's'} (see Gaps)" if number else "No gaps"
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
