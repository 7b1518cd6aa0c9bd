"""`planner estimate --explain-input`, and what is said of a file beside it: --map, --mapping, --dates."""

from __future__ import annotations

import yaml

ODD = "Thing,Board,Boards,Hours,Remark\nRanking,L4,2,365,=1+1\nTotal,,2,,\n"
NAMED = ("--map", "Thing=name", "--map", "Board=accelerator", "--map", "Boards=gpus")


def test_columns_rows_and_notes_are_told_and_nothing_is_planned(planner, tmp_path, written):
    (tmp_path / "odd.csv").write_text(ODD)
    before = written()
    ran = planner("estimate", "--explain-input", "odd.csv", *NAMED)
    assert ran.code == 0
    assert "line 1 column 3 Boards gpus - by --map or a mapping file" in " ".join(ran.out.split())
    assert "Rows: 2 in = 1 used + 1 left out" in ran.out
    assert "Ranking: accelerator_hours_per_month 730, accelerator L4" in ran.out  # 2 x 365
    assert "Recommendation" not in ran.out
    assert written() == before


def test_faults_are_told_with_the_rest(planner, tmp_path):
    (tmp_path / "odd.csv").write_text("Workload,GPU,GPU-hours\nA,L4,lots\n")
    ran = planner("estimate", "--explain-input", "odd.csv")
    assert ran.code == 2
    assert "Problems (1)" in ran.out
    assert "line 2 column 3: text instead of a number, under 'GPU-hours'; read lots" in ran.out


def test_a_mapping_is_saved_and_read_again(planner, tmp_path):
    (tmp_path / "odd.csv").write_text(ODD)
    first = planner("estimate", "--explain-input", "odd.csv", *NAMED, "--save-mapping", "ours.yaml")
    assert first.code == 0
    saved = yaml.safe_load((tmp_path / "ours.yaml").read_text())
    assert saved["columns"] == {
        "Thing": "name", "Board": "accelerator", "Boards": "gpus", "Hours": "hours", "Remark": "notes",
    }  # fmt: skip
    again = planner("estimate", "--explain-input", "odd.csv", "--mapping", "ours.yaml")
    assert again.code == 0
    assert "Ranking: accelerator_hours_per_month 730, accelerator L4" in again.out


def test_wrong_choices_are_all_told_with_the_nearest(planner, tmp_path):
    (tmp_path / "odd.csv").write_text(ODD)
    (tmp_path / "bad.yaml").write_text("columns:\n  Thing: nam\ndates: ymd\n")
    choices = ("--map", "Boards=gpu", "--map", "nothing", "--dates", "dd/mm", "--mapping", "bad.yaml")
    ran = planner("estimate", "--explain-input", "odd.csv", *choices)
    assert ran.code == 2
    assert ran.out == ""
    assert "6 problems" in ran.err  # the last of them: without its mapping the file has no names
    assert "--map Boards=gpu: no such field for the column 'Boards'; read gpu; expected one of gpus" in ran.err
    assert "bad.yaml line 2 column" in ran.err
    assert "expected one of name" in ran.err
    assert "--dates: not valid; read dd/mm; expected dmy (day first) or mdy (month first)" in ran.err


def test_the_same_choices_hold_for_a_plan(planner, tmp_path):
    (tmp_path / "odd.csv").write_text(ODD)
    quick = ("--as-of", "2026-11-21", "--months", "1", "--strategies", "cloud", "--section", "input")
    ran = planner("estimate", "odd.csv", *NAMED, *quick)
    assert ran.code == 0
    assert "2 rows in = 1 used + 1 refused" in ran.out


def test_text_from_cells_is_no_escape(planner, tmp_path):
    (tmp_path / "odd.csv").write_text("Workload,GPU,GPU-hours,Notes\n\x1b[31mA\x1b[0m,L4,5,\x1b]8;;http://x\x07y\n")
    ran = planner("estimate", "--explain-input", "odd.csv")
    assert "\x1b" not in ran.out
    assert "\x07" not in ran.out


def test_an_estimate_is_held_against_the_plan(planner, tmp_path):
    text = "Number of instances (2), Instance type (g6.xlarge), Utilization (100 %Utilized/Month)"
    (tmp_path / "aws.csv").write_text(
        "Estimate summary\nUpfront cost,Monthly cost,Total 12 months cost,Currency\n0,5000,60000,USD\n\n"
        "Detailed Estimate\nRegion,Description,Service,Upfront,Monthly,Currency,Configuration summary\n"
        f'US East (Ohio),Scoring,Amazon EC2,0,5000,USD,"{text}"\n'
    )
    ran = planner("estimate", "aws.csv", "--as-of", "2026-11-21", "--months", "2", "--strategies", "cloud")
    assert ran.code == 0
    words = " ".join(ran.out.split())
    assert "cash over 2 months in USD: the accelerator lines of the estimate cost 10,000" in words  # 2 x 5,000
    assert "an AWS price-calculator export: 1 line with accelerators cost 5,000.00 USD a month in the estimate" in words
