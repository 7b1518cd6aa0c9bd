"""Markdown: tables keep their shape and text from outside stays text."""

import re

import pytest

from planner.reports._content import markdown_sections
from planner.reports._content.markdown_text import escape_line, escape_markdown
from planner.reports.markdown import render


def cells(line):
    return len(re.findall(r"(?<!\\)\|", line))


def test_every_row_of_a_table_has_as_many_cells_as_its_head(plan):
    lines = render(plan).decode().split("\n")
    for i, line in enumerate(lines):
        if re.fullmatch(r"\|( -+:? \|)+", line):
            head = cells(lines[i - 1])
            following = iter(lines[i:])
            while (row := next(following)).startswith("|"):
                assert cells(row) == head


def test_sums_are_those_of_the_plan(small_plan):
    text = render(small_plan).decode()
    assert "| **total** | **157,388** | **54,750** | **87,600** | **15,000** | **38** |" in text
    assert "| present cost, USD | 187,816 | - | 155,384 |" in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a|b", r"a\|b"),
        ("<script>", "&lt;script&gt;"),
        ("[x](javascript:y)", r"\[x\](javascript:y)"),
        ("![x](y)", r"\!\[x\](y)"),
        ("`x`", r"\`x\`"),
        ("on_demand", "on_demand"),
        ("_x_", r"\_x\_"),
        ("http://x", "http:<!-- -->//x"),
        ("www.x.y", "www<!-- -->.x.y"),
        ("a@b.c", "a@<!-- -->b.c"),
        ("#12", "#<!-- -->12"),
        ("GH-12", "GH<!-- -->-12"),
        ("&amp;", "&amp;amp;"),
    ],
)
def test_markup_is_made_literal(text, expected):
    assert escape_markdown(text) == expected


def test_hostile_text_makes_no_link_tag_or_mention(hostile_plan):
    text = render(hostile_plan).decode().replace("<!-- -->", "\0")
    text = re.sub(r"^(?:<details>|</details>|<summary>(.*)</summary>)$", r"\1", text, flags=re.MULTILINE)
    assert not re.search(r"<|://|@\w|#\d|(?<!\\)\[|(?<!\\)`|www\.", text)


def test_the_answer_stands_open_and_what_it_rests_on_is_folded(plan):
    """The verdict, what is missing and how old prices are can be read without a click."""
    lines = render(plan).decode().splitlines()
    fold = lines.index("<details>")
    head = lines[:fold]
    assert head[0].startswith("# GPU capacity plan ")
    titles = [line for line in head if line.startswith("## ")]
    assert (titles[0], titles[-1]) == ("## Recommendation", "## Not understood, missing or old")
    (warning,) = [line for line in head if "Oldest price used: " in line]
    count = f"{len(plan.gaps)} gap"
    assert warning.startswith(f"- {count if plan.gaps else 'No gaps'}")
    assert not [line for line in lines[fold:] if line.startswith("#")]


def test_every_fold_closes_and_leaves_room_for_its_table(plan):
    lines = render(plan).decode().splitlines()
    opened = [index for index, line in enumerate(lines) if line == "<details>"]
    closed = [index for index, line in enumerate(lines) if line == "</details>"]
    assert len(opened) == len(closed) > 3
    for start, end in zip(opened, closed, strict=True):
        assert start < end
        assert re.fullmatch(r"<summary>[^<>]+</summary>", lines[start + 1].replace("<!-- -->", ""))
        assert (lines[start + 2], lines[end - 1], lines[start - 1]) == ("", "", "")


def test_months_are_folded(small_plan):
    text = render(small_plan).decode()
    assert "<summary>Cash by month, strategy hybrid, USD</summary>" in text
    # the first screen has the totals alone
    assert "commitment" not in text.partition("## Cash by month")[2].partition("## ")[0]


def test_a_line_never_begins_a_directive():
    assert escape_line("::: mermaid") == "\\::: mermaid"
    assert escape_line("a::b") == "a::b"


@pytest.mark.parametrize("limit", [20_000, 12_000, 5_000, 1_800])
def test_what_a_comment_cannot_hold_is_left_out_by_name_the_longest_first(large_plan, monkeypatch, limit):
    whole = render(large_plan).decode()
    monkeypatch.setattr(markdown_sections, "COMMENT_BYTES", limit)
    text = render(large_plan).decode()
    assert len(text.encode()) <= limit < len(whole.encode())
    assert text.startswith(whole[:100])
    (told,) = [line for line in text.splitlines() if line.startswith("Left out, ")]
    assert f"({limit:,d} bytes)" in told
    assert told.endswith("as JSON has all of it.")
    missing = told.partition(": ")[2].partition(". The plan ")[0].split("; ")
    for title in titles(whole):
        assert (title in titles(text)) != (title in missing), title
    kept = min((len(part) for title, part in parts(whole) if title in missing), default=0)
    assert all(len(part) <= kept for title, part in parts(text) if title in titles(whole))


def test_a_first_section_that_no_comment_holds_is_cut_at_a_line(large_plan, monkeypatch):
    monkeypatch.setattr(markdown_sections, "COMMENT_BYTES", 300)
    text = render(large_plan).decode()
    assert text.index("- More is left out here.") < text.index("Left out, ")


def titles(text):
    return [title for title, _ in parts(text)]


def parts(text):
    """The folded sections with their titles, as plain as the list of those that are left out."""
    found = re.split(r"^<details>\n<summary>", text, flags=re.MULTILINE)[1:]
    return [(re.split(r"</summary>|\n", part)[0], part) for part in found]
