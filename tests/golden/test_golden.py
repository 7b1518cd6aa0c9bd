"""The recorded plans are those of today, and the comparison sees what it should."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import xlsxwriter

from tests.golden import changes, report
from tests.golden.cases import all_cases
from tests.golden.comparison import MISSING, Difference, differences
from tests.golden.normalized import SENTENCE, is_sentence, read_csv, read_json
from tests.golden.prose import read_errors, read_markdown, read_text
from tests.golden.terraform import read_terraform
from tests.golden.workbook import read_xlsx

ROOT = Path(__file__).parents[2]
PLAN = {
    "plan_id": "42963f60c334",
    "cost": 29514.425793101334,
    "sentence": "Rent in the cloud: 29,514 USD.",
    "uses": [{"name": "p5.48xlarge", "nodes": 2.0}, {"name": "g6.xlarge", "nodes": 0.25}],
}
TEXT = """Strategies
----------
             cloud  onprem
-----------  -----  ------
total cost   28,316       -
    planning value of 2026

Rent 12 nodes.
"""


def found(was, now, read=lambda value: value) -> list[tuple[str, object, object]]:
    return [(each.path, each.was, each.now) for each in differences(read(was), read(now))]


def read_plan(**changed) -> object:
    return read_json(json.dumps(PLAN | changed).encode())


def book(cells: dict[str, object], sheet: str = "Costs") -> bytes:
    data = io.BytesIO()
    with xlsxwriter.Workbook(data) as workbook:
        for place, value in cells.items():
            (workbook.get_worksheet_by_name(sheet) or workbook.add_worksheet(sheet)).write(place, value)
    return data.getvalue()


@pytest.mark.slow
def test_nothing_differs_from_what_was_recorded():
    command = [sys.executable, "-m", "tests.golden", "compare", "--jobs", "2"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_only_the_command_line_is_imported():
    """So that no module that moves has to be followed here."""
    sources = {path.name: path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("*.py")}
    imports = {
        (name, line.strip())
        for name, text in sources.items()
        for line in text.splitlines()
        if re.match(r"\s*(?:from|import) (?:planner|pricing)\b", line)
    }
    assert imports == {("runner.py", "from planner.cli import main")}


def test_every_case_has_a_name_of_its_own():
    titles = [case.title for case in all_cases()]
    assert len(set(titles)) == len(titles) > 90


@pytest.mark.parametrize(
    "text",
    [
        "Rent in the cloud.", "total cost", "12 nodes in us-east-1, from 2026", "not planned", "80 % range of it",
        "gcp a3-highgpu-8g: no price", "A month is 730 hours (8,760 / 12).",
    ],
)  # fmt: skip
def test_english_is_a_sentence(text):
    assert is_sentence(text)


@pytest.mark.parametrize(
    "text",
    ["", "within_gap", "H100-80GB-SXM", "aws us-east-1 p5.48xlarge spot", "12 months", "8x H100 server", "GB200 NVL72"],
)
def test_names_are_no_sentences(text):
    assert not is_sentence(text)


def test_a_plan_is_equal_to_itself_but_for_words_ids_and_last_digits():
    near = {"plan_id": "ae323becfad1", "cost": 29514.4257931013, "sentence": "It is cheaper to rent."}
    assert found(read_plan(), read_plan(**near)) == []
    assert found(read_plan(rest=1e-12), read_plan(rest=-3e-11)) == []


def test_a_changed_number_is_reported_with_its_place():
    assert found(read_plan(), read_plan(cost=29514.43)) == [("/cost", 29514.4257931, 29514.43)]


def test_a_name_and_a_sentence_are_not_the_same():
    assert found(read_plan(), read_plan(sentence="")) == [("/sentence", SENTENCE, "")]


def test_a_lost_and_a_new_key_are_reported():
    lost = [{"name": "p5.48xlarge"}, PLAN["uses"][1] | {"racks": 1}]
    assert found(read_plan(), read_plan(uses=lost)) == [("/uses/0/nodes", 2, MISSING), ("/uses/1/racks", MISSING, 1)]


def test_one_more_row_is_one_difference():
    more = [{"name": "g5.xlarge", "nodes": 1}, *PLAN["uses"]]
    assert found(read_plan(), read_plan(uses=more)) == [("/uses/0", MISSING, {"name": "g5.xlarge", "nodes": 1})]


def test_the_order_of_keys_does_not_count_and_that_of_rows_does():
    assert found({"a": 1, "b": 2}, {"b": 2, "a": 1}) == []
    assert len(found(read_plan(), read_plan(uses=PLAN["uses"][::-1]))) == 4


def test_true_is_not_one():
    assert found({"owned": True}, {"owned": 1}) == [("/owned", True, 1)]


def test_cells_of_csv_are_compared_by_column():
    table = b'name,cost,note\r\ng6.xlarge,1.8610000000001,"listed, as of then"\r\n'
    assert found(table, table.replace(b"0000001", b"").replace(b"listed, as", b"known as"), read_csv) == []
    assert found(table, table.replace(b"1.8610000000001", b"1.9"), read_csv) == [("/rows/0/cost", 1.861, 1.9)]
    assert found(table, table.replace(b"cost", b"price"), read_csv)[0] == ("/columns/1", "cost", "price")


def test_a_moved_cell_of_a_workbook_is_reported():
    was, now = book({"A1": "cost", "B1": 5}), book({"A1": "cost", "C1": 5})
    assert found(was, now, read_xlsx) == [("/sheets/Costs/0/B", 5, MISSING), ("/sheets/Costs/0/C", MISSING, 5)]


def test_a_changed_formula_and_a_new_name_of_a_sheet_are_reported():
    was, now = book({"A1": "=B1+1"}), book({"A1": "=B1+2"})
    assert found(was, now, read_xlsx) == [("/sheets/Costs/0/A/0", "=B1+1", "=B1+2")]
    assert ("/order/0", "Costs", "Prices") in found(was, book({"A1": "=B1+1"}, "Prices"), read_xlsx)


def test_words_of_a_text_do_not_count_and_its_numbers_do():
    reworded = TEXT.replace("total cost ", "what it is ").replace("Rent 12 nodes.", "Take\n12 of the nodes")
    assert found(TEXT.encode(), reworded.encode(), read_text) == []
    changed = TEXT.replace("28,316", "28,317").replace("12", "13")
    assert [was for _, was, _ in found(TEXT.encode(), changed.encode(), read_text)] == ["28,316 -", "12"]


def test_cells_of_markdown_are_compared():
    page = b"## Costs\n\n| what | cloud |\n| --- | ---: |\n| total cost | **28,316** |\n"
    assert found(page, page.replace(b"total cost", b"all of it"), read_markdown) == []
    assert found(page, page.replace(b"28,316", b"-"), read_markdown) == [("/1/1", "~ | 28,316", "~ | -")]


def test_comments_and_descriptions_of_terraform_do_not_count():
    root = b'# a comment\nvariable "nodes" {\n  description = "How many."\n  default     = 3\n}\n'
    same = b'variable "nodes" {\n  description = "Number of nodes." # now here\n  default = 3\n}\n'
    assert found(root, same, read_terraform) == []
    assert found(root, root.replace(b"3", b"4"), read_terraform) == [("/2", "default = 3", "default = 4")]


def test_errors_are_compared_by_line_without_the_files_written():
    assert read_errors("wrote plan.json (json, 293 KiB)\nline 8 column 49: not valid; read -100\n") == ["8 49 -100"]


def test_a_change_on_purpose_is_expected_and_one_without_use_is_told():
    wanted = [changes.Change("*/cost", "rounded"), changes.Change("*/gone", "no longer there")]
    assert list(changes.unexpected(differences({"cost": 1, "n": 2}, {"cost": 2, "n": 3}, "a/b/plan"), wanted)) == [
        Difference("a/b/plan/n", 2, 3)
    ]
    assert changes.unused(wanted) == ["'*/gone' (no longer there) matches nothing"]


def test_a_change_may_be_only_of_one_kind():
    added = changes.Change("*", "a new field", kinds=("added",))
    assert list(changes.unexpected(differences({"n": 2}, {"n": 3, "m": 1}), [added])) == [Difference("/n", 2, 3)]
    assert added.hits == 1


def test_new_names_are_honoured_below_their_path():
    renaming = changes.Change("a/b/plan/uses*", "the word of the trade", rename={"what": "kind", "Cash flow": "Cash"})
    recorded = {"uses": [{"what": "what"}, "='Cash flow'!$C$2"], "what": 1}
    assert changes.with_new_names(recorded, "a/b/plan", [renaming]) == {
        "uses": [{"kind": "kind"}, "='Cash'!$C$2"], "what": 1,
    }  # fmt: skip
    assert renaming.hits == 3


@pytest.mark.parametrize(
    "text",
    [
        '[[change]]\npath = "*"', '[[change]]\npath = "*"\nreason = "x"\nkinds = ["moved"]', "[[changes]]",
        '[[change]]\npath = "*"\nreason = "x"\nto = "y"',
    ],
)  # fmt: skip
def test_entries_with_faults_are_refused(text, tmp_path):
    file = tmp_path / "changes.toml"
    file.write_text(text)
    with pytest.raises(changes.BadChanges):
        changes.read_changes(file)


def test_the_report_shows_the_first_and_counts_all():
    many = [Difference(f"g/case-{n % 2}/plan.json/uses/{n}/cost", n, MISSING) for n in range(30)]
    lines = list(report.lines(many))
    assert lines[:3] == ["g/case-0/plan.json/uses/0/cost", "  was 0", "  is  (nothing)"]
    assert "... and 10 more" in lines
    assert lines[-1].split() == ["30", "in", "2", "cases", "plan.json/uses/*/cost"]


def test_the_report_says_where_another_plan_costs_the_same():
    uses = Difference("g/a/plan.json/strategies/0/uses/0/nodes", 1, 2)
    dearer = Difference("g/b/plan.json/strategies/0/present_cost", 1, 2)
    assert report.equal_costs([uses, dearer]) == ["g/a"]
