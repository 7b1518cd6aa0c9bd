"""Sheets as teams write them: no fact of theirs is read wrong without a word, and most without a question."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from planner.application import check_input
from planner.inputs.answers_file import answers_text, parse_answers
from planner.inputs.merged_settings import merge_settings
from planner.inputs.sheet_options import SheetOptions
from pricing.catalog.price_catalog import Catalog
from tests.intake.team_sheets import TeamSheet, judge, team_sheets


def test_no_fact_is_silently_wrong_and_most_are_right_without_a_question() -> None:
    judged = [(sheet.name, *each) for sheet in team_sheets() for each in judge(sheet, sheet.read())]
    counts = Counter(outcome for _, _, outcome, _ in judged)
    assert [(name, fact, got) for name, fact, outcome, got in judged if outcome == "silent"] == []
    assert len(judged) >= 200
    assert counts["right"] >= 0.7 * len(judged)


def test_the_sheets_are_in_six_languages() -> None:
    assert {sheet.language for sheet in team_sheets()} == {"en", "de", "fr", "es", "pt", "it"}


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.current(exchange_rates=Path(__file__).parents[2] / "examples" / "exchange-rates.csv")


@pytest.mark.one_in(5)
@pytest.mark.parametrize("sheet", [*team_sheets()], ids=lambda sheet: sheet.name)
def test_every_sheet_can_be_planned_with_its_answers_file_and_no_edit(sheet: TeamSheet, catalog: Catalog) -> None:
    asked = sheet.read(SheetOptions(catalog=catalog))
    answers, faults = parse_answers(answers_text(sheet.name, asked.doubts, ()).encode(), "answers.yaml", "--answers")
    parsed = sheet.read(replace(answers, catalog=catalog))
    document, wrong = merge_settings(parsed.document, {"as_of": "2026-11-21"}, str, parsed)
    assert [*faults, *wrong] == []
    assert all(each.answer for each in parsed.doubts)
    check_input(parsed, document, catalog)
