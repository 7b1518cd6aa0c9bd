"""The pictures of the documentation: made by one command, small, shown, and true where that can be read."""

from __future__ import annotations

import html
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs/pictures"
LARGEST_BYTES = 200_000


@pytest.fixture(scope="module")
def maker() -> dict:
    return runpy.run_path(str(ROOT / "docs/pictures.py"))


def test_pictures_are_small_and_made_by_the_command():
    source = "".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("pictures.py", "demo.py"))
    found = {path.name: path for path in PICTURES.iterdir()}
    assert found.keys() >= {"page.png", "report.svg", "workbook.png"}
    for path in found.values():
        assert path.stat().st_size < LARGEST_BYTES, path.name
        assert f'"{path.name}"' in source


def test_each_picture_is_shown_with_words_for_those_who_do_not_see_it():
    pages = [path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]]
    for path in PICTURES.iterdir():
        assert any(re.search(rf"!\[[^]]{{10,}}\]\((?:docs/|\.\./)*pictures/{path.name}\)", text) for text in pages), (
            path.name
        )


def test_the_picture_of_a_report_is_what_the_program_prints(maker, shell, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")  # a report has a width of its own
    printed = shell(f"planner {' '.join(maker['REPORT'])}").stdout.rpartition("\n\n")[0]
    shown = re.findall(r"<text[^>]*>([^<]*)</text>", (PICTURES / "report.svg").read_text(encoding="utf-8"))
    assert [html.unescape(line) for line in shown[1:]] == [line for line in printed.splitlines() if line], (
        "make pictures"
    )


def test_signs_of_markup_are_drawn_as_they_are(maker):
    picture = maker["draw_text"]("a < b & c\n\nd", "planner")
    assert picture.count("<text") == 3
    assert "a &lt; b &amp; c" in picture
