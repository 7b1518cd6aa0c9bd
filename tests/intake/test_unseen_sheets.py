"""Sheets as people of many trades write them, each with what a careful human reads in it: never another number.

What has two readings is asked (see test_asked_of_sheets). 1 month is 730 hours, 365/12 days and 365/84 weeks.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import openpyxl
import pytest
import xlsxwriter

from planner.inputs.file_reader import read
from planner.inputs.parsed_file import ParsedFile

HOURS = "accelerator_hours_per_month"
WEEKS = 365 / 84
DAYS = 365 / 12


def hours(found: ParsedFile) -> dict[str, Any]:
    """GPU-hours a month by workload, without stated zeros; every sheet read here has rows in = used + refused."""
    assert found.complaints == ()
    inputs = found.inputs
    assert inputs.rows_used + len(inputs.rows_refused) == inputs.rows_in
    values = {each["name"]: each["demand"][HOURS] for each in found.document["workloads"]}
    return {
        name: {month: part for month, part in value.items() if part} if isinstance(value, dict) else value
        for name, value in values.items()
    }


def accelerators(found: ParsedFile) -> list[str]:
    return [each["demand"]["accelerator"] for each in found.document["workloads"]]


def cells(text: str) -> list[list[str]]:
    """Rows of cells between bars."""
    return [[cell.strip(" ") for cell in line.split("|")] for line in text.splitlines()]


READ: dict[str, tuple[str, dict[str, Any]]] = {
    "quarters of the calendar": (
        "Workload | GPU | Unit | Q1 2027\nA | H100 | GPU-hours | 300\n",
        {"A": {"2027-01": 100, "2027-02": 100, "2027-03": 100}},
    ),
    "hours a day and days a month": (
        "Project | GPU | Qty | Hours per day | Days per month\nLab | T4 | 6 | 8 | 22\n",
        {"Lab": 1056},  # 6 x 8 x 22
    ),
    "hours a day and days a week": (
        "Workload | GPU | GPUs | Hours/day | Days/week\nDev | L4 | 5 | 10 | 5\n",
        {"Dev": 250 * WEEKS},
    ),
    "plans of a week or a month in a cell": (
        (
            "Job | GPU | # of GPUs | Hours\n"
            "A | L4 | 2 | 8h x 22d\n"
            "B | L4 | 1 | 24x5\n"
            "C | L4 | 1 | 10h x 5d/week\n"
            "D | L4 | 1 | 24/7\n"
        ),
        {"A": 352, "B": 120 * WEEKS, "C": 50 * WEEKS, "D": 730},
    ),
    "runs a month": (
        "Training job | GPU type | GPUs | Runs / month | Hours per run\nPretrain | H100 | 64 | 3 | 100\n",
        {"Pretrain": 19200},  # 64 x 3 x 100
    ),
    "counts in words": (
        (
            "Workload | Accelerator | GPUs | Hours/month\n"
            "A | H100 | 2 nodes of 8 | 100\n"
            "B | H100 | 2x8 | 100\n"
            "C | 8 H100 |  | 100\n"
            "D | 2 x 8 H100 80GB |  | 100\n"
        ),
        {"A": 1600, "B": 1600, "C": 800, "D": 1600},
    ),
    "replicas": (
        "Service | GPU | GPUs per replica | Replicas | Hours/month\nChat | L4 | 2 | 5 | 730\n",
        {"Chat": 7300},
    ),
    "nodes' hours": (
        "Job | GPU | Nodes | GPUs per node | Node-hours / month\nTrain | H100 | 2 | 8 | 600\n",
        {"Train": 4800},  # 600 x 8, whatever the number of nodes
    ),
    "accelerator-days": (
        "Job | GPU | GPU-days / month\nTrain | H100 | 20\n",
        {"Train": 480},
    ),
    "h for hours": (
        "Workload | GPU Type | GPU(s) | h/week\nA | H100 | 8 | 40\n",
        {"A": 320 * WEEKS},
    ),
    "prices beside": (
        (
            "Workload | GPU | GPUs | Hours/month | $/GPU-hour | Cost / hr | Spot price | CPU-hours | Owned GPUs\n"
            "A | H100 | 8 | 500 | $2.40 | 19.20 | 1.10 | 9000 | 0\n"
        ),
        {"A": 4000},
    ),
    "months and quarters that add them up": (
        (
            "Workload | GPU | Unit | Jan-27 | Feb-27 | Mar-27 | Q1 | FY27\n"
            "A | H100 | GPU-hours | 1 | 2 | 3 | 6 | 6\n"
            "Total |  |  | 1 | 2 | 3 | 6 | 6\n"
        ),
        {"A": {"2027-01": 1, "2027-02": 2, "2027-03": 3}},
    ),
    "months whose year and unit stand in the title": (
        (
            "GPU capacity plan 2027 (GPU-hours)\n"
            "\n"
            "Workload | GPU | Jan | Feb | Mar | Apr | May | Jun | Jul | Aug | Sep | Oct | Nov | Dec\n"
            "A | H100 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12\n"
        ),
        {"A": {f"2027-{month:02d}": month for month in range(1, 13)}},
    ),
    "a unit in every title": (
        "Workload | GPU | GPU-hours Jan-27 | GPU-hours Feb-27\nA | H100 | 10 | 20\n",
        {"A": {"2027-01": 10, "2027-02": 20}},
    ),
    "a start and a length": (
        "Workload | GPU | GPUs | Hours/month | Start | Duration (months)\nA | L4 | 2 | 730 | Jan-27 | 3\n",
        {"A": {"2027-01": 1460, "2027-02": 1460, "2027-03": 1460}},
    ),
    "days of two months in German": (
        "Workload | GPU | GPUs | Hours/month | Beginn | Ende\nA | L4 | 1 | 310 | 16.01.2027 | 28.02.2027\n",
        {"A": {"2027-01": 160, "2027-02": 310}},  # 16 of 31 days of January
    ),
    "a share of the time alone": (
        "Workload | GPU | GPUs | Utilization (% of time)\nA | H100 | 8 | 60%\n",
        {"A": 3504},  # 8 x 730 x 0.6
    ),
    "a share of the hours of GPUs by month": (
        "Workload | GPU | Hours | Utilisation (% of hours) | GPUs Jan-27\nA | H100 | 24/7 | 50% | 10\n",
        {"A": {"2027-01": 3650}},
    ),
    "amounts of a year": (
        "Workload | GPU | GPU-hours 2027\nA | H100 | 12k\n",
        {"A": 1000},
    ),
    "totals by team, in three languages": (
        (
            "Workload | GPU | GPUs | GPU-hours / month\n"
            "A | H100 | 8 | 100\n"
            "ML total |  | 8 | 100\n"
            "B | L4 | 1 | 50\n"
            "Zwischensumme |  | 1 | 50\n"
            "Σ |  | 9 | 150\n"
            "Total | H100 | 8 | 100\n"
        ),
        {"A": 100, "B": 50},
    ),
    "rates beside, to look up": (
        (
            "Workload | GPU | GPUs | Hours/month |  | GPU | Rate ($/h)\n"
            "A | H100 | 8 | 500 |  | H100 | 2.5\n"
            " |  |  |  |  | A100 | 1.9\n"
        ),
        {"A": 4000},
    ),
    "two tables beside each other": (
        (
            "Workload | GPU | GPUs | Hours/month |  | Service | GPU | GPUs | Hours/month\n"
            "T | H100 | 8 | 100 |  | S | L4 | 2 | 730\n"
            "U | H100 | 1 | 10 |  |  |  |  | \n"
        ),
        {"T": 800, "U": 10, "S": 1460},
    ),
    "a type of chips under Type": (
        "Workload | Type | Count | Hours/month\nA | H100 | 8 | 500\nB | L4 | 1 | 730\n",
        {"A": 4000, "B": 730},
    ),
    "a stage under Type": (
        "Workload | GPU | GPUs | Hours/month | Type\nA | H100 | 8 | 500 | Production\nB | L4 | 1 | 730 | Staging\n",
        {"A": 4000, "B": 730},
    ),
    "rows that want none, or say no": (
        (
            "Workload | GPU | GPUs | Hours/month | Include?\n"
            "A | H100 | 8 | 500 | Y\n"
            "ETL | none | 0 | 730 | Y\n"
            "B | H100 | 8 | 500 | N\n"
        ),
        {"A": 4000},
    ),
    "a month's and a year's GPU-hours": (
        "Workload | GPU | GPU-hours/month | GPU-hours/year\nA | H100 | 4000 | 48000\n",
        {"A": 4000},
    ),
    "marks of text, full width and spaces that do not break": (
        (
            "Ｗｏｒｋｌｏａｄ | GPU\u00a0type | GPUs | Hours\u00a0/\u00a0month\n"
            "翻訳 | Ｈ１００ | ４ | ５００\n"
            "検索 | A100\u00a080GB | '2 | '730\n"
        ),
        {"翻訳": 2000, "検索": 1460},
    ),
    "notes beneath": (
        (
            "Workload | GPU | GPUs | Hours/month\n"
            "A | H100 | 8 | 500\n"
            "\n"
            "Notes\n"
            "1 | H100 price is $2.40\n"
            "Source: | Finance\n"
            "FX USD/EUR | 0.92\n"
        ),
        {"A": 4000},
    ),
    "German": (
        "Projekt | Kostenstelle | GPU-Typ | Anzahl GPUs | Stunden pro Monat\nChat | 4711 | H100 | 4 | 300,5\n",
        {"Chat": 1202},
    ),
    "French": (
        "Projet | Type de GPU | Nombre de GPU | Heures par mois\nT | L4 | 2 | 730\n",
        {"T": 1460},
    ),
    "Portuguese": (
        "Projeto | GPU | Quantidade | Horas por mês\nT | L4 | 2 | 730\n",
        {"T": 1460},
    ),
    "German months": (
        "Workload | GPU | Unit | Dez 26 | Mär 27 | Mai 27\nA | L4 | GPU-hours | 1 | 2 | 3\n",
        {"A": {"2026-12": 1, "2027-03": 2, "2027-05": 3}},
    ),
}


@pytest.mark.parametrize("name", READ)
def test_what_a_careful_human_reads(read_texts: Callable[..., ParsedFile], name: str) -> None:
    rows, expected = READ[name]
    found = hours(read_texts(cells(rows), separator=";"))
    assert list(found) == list(expected)
    for workload, value in expected.items():
        assert found[workload] == pytest.approx(value), workload


@pytest.mark.parametrize(
    ("column", "cell", "amount"),
    [
        ("Budget (k€/month)", "12.5", 12500),
        ("Budget 2027 (TEUR)", "120", 10000),  # a thousand euros, a twelfth each month
        ("Budget", "€12 k / month", 12000),
        ("Budget", "12 TEUR p.a.", 1000),
        ("Budget Q1 2027 (USD)", "3000", 1000),
        ("Budget (R$)", "R$ 12.000,00", 12000),
    ],
)
def test_budgets(read_texts: Callable[..., ParsedFile], column: str, cell: str, amount: float) -> None:
    found = read_texts([["Workload", "GPU", "GPU-hours/month", column], ["A", "H100", "400", cell]])
    assert found.complaints == ()
    assert found.document["workloads"][0]["budget_per_month"] == pytest.approx(amount)


@pytest.mark.parametrize(("column", "cell"), [("Growth YoY", "30%"), ("Growth", "30% p.a."), ("Growth 2027", "30%")])
def test_growth_of_a_year(read_texts: Callable[..., ParsedFile], column: str, cell: str) -> None:
    found = read_texts([["Workload", "GPU", "GPU-hours/month", column], ["A", "H100", "400", cell]])
    assert found.document["workloads"][0]["demand"]["growth_per_month"] == pytest.approx(1.3 ** (1 / 12) - 1)


@pytest.mark.parametrize(
    ("header", "row", "accelerator", "amount"),
    [
        (["Instance type", "Instances"], ["p4d.24xlarge", "2"], "A100-40GB-SXM", 4800),  # 2 x 8 x 300
        (["Machine type", "Count"], ["a2-highgpu-8g", "2"], "A100-40GB-SXM", 4800),
        (["VM size", "VMs"], ["Standard_NC24ads_A100_v4", "2"], "A100-80GB-PCIe", 600),
        (["GPU", "Notes"], ["p4d.24xlarge x 2", ""], "A100-40GB-SXM", 4800),
    ],
)
def test_machines_of_a_cloud(
    read_texts: Callable[..., ParsedFile], header: list[str], row: list[str], accelerator: str, amount: float
) -> None:
    found = read_texts([["Workload", *header, "Hours / month"], ["A", *row, "300"]])
    assert (hours(found), accelerators(found)) == ({"A": amount}, [accelerator])
    assert any("is read as" in note for note in found.inputs.notes)


def test_checkboxes_and_words_of_other_languages(read_texts: Callable[..., ParsedFile]) -> None:
    header = ["Workload", "GPU", "GPU-hours", "Spot OK"]
    marks = ["☑", "☐", "TRUE", "FALSE", "ja", "não"]
    found = read_texts([header, *([str(index), "H100", "5", mark] for index, mark in enumerate(marks))])
    assert [w["interruptible"] for w in found.document["workloads"]] == [True, False] * 3


def test_a_mean_beside_a_peak(read_texts: Callable[..., ParsedFile]) -> None:
    found = read_texts([["Service", "Peak RPS", "Average RPS"], ["Chat", "120", "40"]])
    assert found.document["workloads"][0]["demand"] == {"requests_per_second": 40}
    assert "column 'Peak RPS' (line 1 column 2) is not used" in found.inputs.notes


def test_totals_of_work_are_no_workloads(read_texts: Callable[..., ParsedFile]) -> None:
    rows = [["Service", "Volume"], ["A", "1.2M tokens/day"], ["B", "5M tokens/day"], ["Team total", "6.2M tokens/day"]]
    demands = [w["demand"]["units_per_month"] for w in read_texts(rows).document["workloads"]]
    assert demands == [pytest.approx(1.2e6 * DAYS), pytest.approx(5e6 * DAYS)]


def test_two_tables_beneath_each_other(read_rows: Callable[..., ParsedFile]) -> None:
    first = [["Training"], ["Workload", "GPU", "GPUs", "Hours/month"], ["T", "H100", 8, 100], [""]]
    second = [
        ["Inference"],
        ["Service", "GPU", "Avg RPS", "Tokens/s per GPU", "Tokens per request"],
        ["S", "L4", 20, 900, 300],
    ]
    found = read_rows([*first, *second])
    assert [(w["name"], *w["demand"]) for w in found.document["workloads"]] == [
        ("T", HOURS, "accelerator"),
        ("S", "requests_per_second", "units_per_request"),
    ]


def test_a_sheet_of_merged_cells() -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (
        ["GPU demand", None, None, None, None],
        ["Workload", "Owner", "GPU Type", "# GPUs", "Hrs/mth"],
        ["RAG bot", "Lena", "H100 SXM", 4, "=24*30"],
        [None, "Lena", "L4", 2, 730],
        ["TOTAL", None, None, "=SUM(D3:D4)", None],
    ):
        sheet.append(row)
    sheet.merge_cells("A1:E1")
    sheet.merge_cells("A3:A4")
    target = io.BytesIO()
    book.save(target)
    found = read(target.getvalue(), "x.xlsm")
    assert hours(found) == {"RAG bot (H100 SXM)": 2880, "RAG bot (L4)": 1460}  # 4 x 720, 2 x 730
    assert "rows of one name are distinguished by 'GPU Type' (Sheet!C2)" in found.inputs.notes


def test_times_and_dates_in_cells() -> None:
    target = io.BytesIO()
    with xlsxwriter.Workbook(target, {"in_memory": True}) as book:
        sheet = book.add_worksheet("Plan")
        sheet.write_row(0, 0, ["Workload", "GPU", "GPUs", "Hours / month", "Start", "End"])
        sheet.write_row(1, 0, ["A", "H100", 2])
        sheet.write_datetime(1, 3, timedelta(hours=176), book.add_format({"num_format": "[h]:mm"}))
        for column, day in ((4, date(2027, 1, 1)), (5, date(2027, 2, 28))):
            sheet.write_datetime(1, column, day, book.add_format({"num_format": "dd.mm.yyyy"}))
        sheet.write_row(2, 0, ["B", "H100"])
        sheet.write_datetime(2, 2, date(2026, 4, 3), book.add_format({"num_format": "d-m"}))
        sheet.write(2, 3, 100)
    found = read(target.getvalue(), "x.xlsx")
    assert [(c.place, c.message) for c in found.complaints] == [("Plan!C3", "a date instead of a number, under 'GPUs'")]
    months = found.document["workloads"][0]["demand"][HOURS]
    assert {month: value for month, value in months.items() if value} == {"2027-01": 352, "2027-02": pytest.approx(352)}


@pytest.mark.parametrize("form", ["utf-16", "cp1252", "ods"])
def test_the_same_sheet_in_other_forms(form: str, as_csv: Callable[..., bytes], as_ods: Callable[..., bytes]) -> None:
    rows = [["Workload", "GPU", "GPUs", "Hours per month", "Bemerkung"], ["Übersetzung", "L40S", "4", "365,5", "läuft"],
            ["Summe", "", "4", "", ""]]  # fmt: skip
    text = as_csv(rows, separator="\t" if form == "utf-16" else ";").decode()
    data, name = (as_ods(rows), "x.ods") if form == "ods" else (text.encode(form), "x.txt")
    assert hours(read(data, name)) == {"Übersetzung": 1462}


def test_a_row_that_nobody_wants_is_told(read_texts: Callable[..., ParsedFile]) -> None:
    found = read_texts([["Workload", "GPU", "GPU-hours", "Status"], ["A", "H100", "5", "cancelled"]])
    assert "line 2 column 4 reads 'cancelled' under 'Status': its row is planned nevertheless" in found.inputs.notes


def test_a_sheet_of_costs_by_quarter_is_left_aside(read_rows: Callable[..., ParsedFile]) -> None:
    costs = [["Project", "Q1", "Q2", "Total"], ["Chat", 1000, 2000, 3000]]
    found = read_rows([["Workload", "GPU", "GPU-hours"], ["Chat", "H100", 5]], more={"Costs": costs})
    assert hours(found) == {"Chat": 5}
    assert "Costs has no table of workloads and was not read" in found.inputs.notes
