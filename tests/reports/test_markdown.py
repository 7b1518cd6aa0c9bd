"""Markdown: tables keep their shape and text from outside stays text."""

import re

import pytest

from planner.reports.markdown import escaped, render


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
    assert escaped(text) == expected


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
    assert [line for line in head if line.startswith("## ")][:2] == ["## Recommendation", "## Strategies"]
    (warning,) = [line for line in head if "Oldest price used: " in line]
    count = f"{len(plan.gaps)} gap"
    assert warning.startswith(count if plan.gaps else "No gaps")
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
    assert "\n## Cash" not in text
