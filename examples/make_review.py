"""Writes examples/capacity-review.xlsx, the sheet that a capacity review hands in. Run it as a script.

Throughputs are published benchmark results, named in the Benchmark column; teams, demands and budgets are made up.
"""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any

import xlsxwriter

TARGET = Path(__file__).with_name("capacity-review.xlsx")
HEADER_ROW = 4
FIRST_COLUMN = 1
MONTHS = [date(2026 + (11 + offset) // 12, (11 + offset) % 12 + 1, 1) for offset in range(12)]
HEADERS = (
    "Workload",
    "Team",
    "Type",
    "GPU",
    "GPUs",
    "Hours / month\n(per GPU)",
    "GPU-hours / month",
    "Work / month",
    "Total work",
    "Due (plan month)",
    "Requests / s\n(mean)",
    "Traffic pattern",
    "Measured throughput\n(per GPU)",
    "Benchmark",
    "Interruptible?",
    "Checkpoint\n(min)",
    "Data location",
    "Growth\n/ month",
    "Memory per GPU\n(GB)",
    "Storage\n(GB)",
    "Budget\n(USD / month)",
)
LLM_FOUNDRY = "llm-foundry table, MPT-{size}, seq 2048, bf16"
MLPERF_TRAIN = "MLPerf Training v4.1, llama2-70b-lora, NVIDIA"
MLPERF_BERT = "MLPerf Inference v3.0, bert-99 offline, Dell"
MLPERF_SDXL = "MLPerf Inference v4.1, SDXL offline, ASUSTeK (16.418/s on 8)"
MLPERF_GPTJ = "MLPerf Inference v4.1, gptj-99 offline, Fujitsu (100.171/s on 8)"

ROWS: tuple[dict[str, Any], ...] = (
    {
        "Workload": "Support LLM continued pre-training (7B)",
        "Memory": 70,
        "Storage": 4000,
        "Team": "Foundation Models",
        "Type": "Training",
        "GPU": "H100",
        "GPUs": 8,
        "Work": "120B tokens",
        "Rate": "10,643 tokens/s",
        "Benchmark": LLM_FOUNDRY.format(size="7B"),
        "Interruptible": "yes",
        "Checkpoint": 20,
        "Budget": 32000,
    },
    {
        "Workload": "Code model pre-training (30B)",
        "Memory": 75,
        "Storage": 12000,
        "Team": "Foundation Models",
        "Type": "Training",
        "GPU": "H100",
        "GPUs": 32,
        "Total": "600B tokens",
        "Due": 6,
        "Rate": "2,308 tokens/s",
        "Benchmark": LLM_FOUNDRY.format(size="30B"),
        "Interruptible": "no",
        "Notes": "Release is tied to the May launch",
    },
    {
        "Workload": "Video model training",
        "Team": "Foundation Models",
        "Type": "Training",
        "GPU": "8x H100",
        "Interruptible": "no",
        "Months": (1200, 1200, 2400, 2400, 3600, 4800, 4800, 5800, 5800, 5800, 5800, 5800),
        "Notes": "Ramps with the new data set",
    },
    {
        "Workload": "Customer LoRA fine-tunes (70B)",
        "Memory": 75,
        "Team": "Applied AI",
        "Type": "Fine-tuning",
        "GPU": "H100",
        "GPUs": 8,
        "Work": "1,800,000 samples",
        "Rate": "2.183 samples/s whole job",
        "Benchmark": MLPERF_TRAIN,
        "Interruptible": "yes",
        "Checkpoint": 10,
    },
    {
        "Workload": "Document model fine-tunes",
        "Team": "Search",
        "Type": "Fine-tuning",
        "GPU": "A100 80GB",
        "GPUs": 8,
        "Hours": 240,
        "Interruptible": "yes",
        "Checkpoint": 15,
        "Budget": 9500,
    },
    {
        "Workload": "Document embedding backfill",
        "Memory": 8,
        "Storage": 6500,
        "Team": "Search",
        "Type": "Batch",
        "GPU": "L4",
        "GPUs": 1,
        "Work": "9.5B samples",
        "Rate": "905.7 samples/s",
        "Benchmark": MLPERF_BERT,
        "Interruptible": "yes",
        "Checkpoint": 5,
    },
    {
        "Workload": "Product image generation",
        "Memory": 30,
        "Storage": 900,
        "Team": "Marketing Tech",
        "Type": "Batch inference",
        "GPU": "H100",
        "GPUs": 1,
        "Work": "12M images",
        "Rate": "2.05 images/s",
        "Benchmark": MLPERF_SDXL,
        "Interruptible": "yes",
        "Checkpoint": 5,
    },
    {
        "Workload": "Customer chat assistant",
        "Memory": 24,
        "Team": "Support Platform",
        "Type": "Inference",
        "GPU": "L40S",
        "GPUs": 1,
        "Requests": 140,
        "Pattern": "day and evening",
        "Rate": "12.5 requests/s",
        "Benchmark": MLPERF_GPTJ,
        "Interruptible": "no",
        "Growth": 0.03,
        "Notes": "p95 under 2 s; do not place on spot",
    },
    {
        "Workload": "Agent-assist summaries",
        "Memory": 24,
        "Team": "Support Platform",
        "Type": "Inference",
        "GPU": "L40S",
        "GPUs": 1,
        "Requests": 22,
        "Pattern": "business hours",
        "Rate": "12.5 requests/s",
        "Benchmark": MLPERF_GPTJ,
        "Interruptible": "no",
    },
    {},
    {
        "Workload": "Data-science notebooks",
        "Team": "Data Science",
        "Type": "Interactive",
        "GPU": "T4",
        "GPUs": 12,
        "Hours": 190,
        "Pattern": "business hours",
        "Interruptible": "no",
    },
    {
        "Workload": "Design workstations",
        "Team": "Creative",
        "Type": "Interactive",
        "GPU": "A10G",
        "GPUs": 6,
        "Hours": 176,
        "Pattern": "business hours",
        "Interruptible": "no",
    },
    {
        "Workload": "Legacy speech models",
        "Team": "Voice",
        "Type": "Training",
        "GPU": "V100",
        "GPUs": 4,
        "Hours": 300,
        "Interruptible": "no",
        "Notes": "Stopped in Q3",
        "hidden": True,
    },
    {
        "Workload": "Fraud graph retraining",
        "Team": "Risk",
        "Type": "Training",
        "GPU": "A100 80GB",
        "GPUs": 4,
        "Interruptible": "yes",
        "Checkpoint": 30,
        "Months": (600, 600, 600, 600, 600, 600, 900, 900, 900, 900, 900, 900),
        "Notes": "Weekly from June",
    },
    {
        "Workload": "Claims triage scoring",
        "Team": "Insurance",
        "Type": "Batch",
        "GPU": "L4",
        "GPUs": 2,
        "Hours": 730,
        "Interruptible": "yes",
        "Checkpoint": 5,
        "Location": "EU",
        "Notes": "Personal data, must stay in the EU",
    },
    {
        "Workload": "Recommender training (JAX)",
        "Team": "Recommendations",
        "Type": "Training",
        "GPU": "TPU v5e",
        "GPUs": 8,
        "Hours": 500,
        "Interruptible": "yes",
        "Checkpoint": 30,
    },
)
KEYS = (
    "Workload",
    "Team",
    "Type",
    "GPU",
    "GPUs",
    "Hours",
    "GPU-hours",
    "Work",
    "Total",
    "Due",
    "Requests",
    "Pattern",
    "Rate",
    "Benchmark",
    "Interruptible",
    "Checkpoint",
    "Location",
    "Growth",
    "Memory",
    "Storage",
    "Budget",
)
FOOTNOTES = (
    "Hours are scheduled hours. Benchmarks are the teams' stand-ins until their own runs are in.",
    "Prepared for the December review; questions to the capacity desk.",
)
ASSUMPTIONS = (
    ("Electricity price per kWh", 0.118, "USD", "our 2026 contract"),
    ("Colocation per kW month", 165, "USD", "quote of 12 October 2026"),
    ("PUE", 1.35, "", "site average 2025"),
)


def main() -> None:
    """Writes the workbook beside this file; the same bytes every time."""
    with xlsxwriter.Workbook(TARGET) as book:
        book.set_properties({"title": "GPU capacity review", "created": datetime(2026, 11, 20)})  # noqa: DTZ001  (a file property)
        _plan(book)
        _assumptions(book)


def _plan(book: Any) -> None:
    sheet = book.add_worksheet("Plan")
    bold = book.add_format({"bold": True, "bottom": 1, "text_wrap": True, "valign": "top", "bg_color": "#DDE6F0"})
    title, thousands = book.add_format({"bold": True, "font_size": 14}), book.add_format({"num_format": "#,##0"})
    percent, money = book.add_format({"num_format": "0%"}), book.add_format({"num_format": "$#,##0"})
    total = book.add_format({"bold": True, "top": 1, "num_format": "#,##0"})
    month = book.add_format(
        {"bold": True, "bottom": 1, "num_format": "mmm-yy", "bg_color": "#DDE6F0", "align": "right"}
    )
    formats = {"GPU-hours": thousands, "Growth": percent, "Storage": thousands, "Budget": money}
    sheet.write(0, FIRST_COLUMN, "GPU capacity review FY27", title)
    sheet.write(1, FIRST_COLUMN, "All teams; first plan month is December 2026")
    first_month = FIRST_COLUMN + len(HEADERS)
    sheet.merge_range(
        HEADER_ROW - 1, first_month, HEADER_ROW - 1, first_month + 11, "GPU-hours by month (ramping workloads)", bold
    )
    for column, text in enumerate(HEADERS, FIRST_COLUMN):
        sheet.write(HEADER_ROW, column, text, bold)
    for offset, day in enumerate(MONTHS):
        sheet.write_datetime(HEADER_ROW, first_month + offset, datetime(day.year, day.month, day.day), month)  # noqa: DTZ001  (cells have no zone)
    sheet.write(HEADER_ROW, first_month + 12, "Notes", bold)
    for row, record in enumerate(ROWS, HEADER_ROW + 1):
        _row(sheet, row, record, formats, thousands)
    _total(sheet, HEADER_ROW + 1 + len(ROWS), total)
    for offset, text in enumerate(FOOTNOTES):
        sheet.write(HEADER_ROW + 3 + len(ROWS) + offset, FIRST_COLUMN, text)
    sheet.set_column(0, 0, 2)
    sheet.set_column(1, 1, 38)
    sheet.set_column(2, first_month + 11, 13)
    sheet.set_column(first_month + 12, first_month + 12, 36)
    sheet.freeze_panes(HEADER_ROW + 1, FIRST_COLUMN + 1)


def _row(sheet: Any, row: int, record: dict[str, Any], formats: dict[str, Any], thousands: Any) -> None:
    for column, key in enumerate(KEYS, FIRST_COLUMN):
        if key == "GPU-hours" and "Hours" in record:
            cells = f"F{row + 1}*G{row + 1}"
            sheet.write_formula(row, column, f"={cells}", thousands, record["GPUs"] * record["Hours"])
        elif key in record:
            sheet.write(row, column, record[key], formats.get(key))
    for offset, value in enumerate(record.get("Months", ())):
        sheet.write_number(row, FIRST_COLUMN + len(HEADERS) + offset, value, thousands)
    if "Notes" in record:
        sheet.write(row, FIRST_COLUMN + len(HEADERS) + 12, record["Notes"])
    if record.get("hidden"):
        sheet.set_row(row, options={"hidden": True})


def _total(sheet: Any, row: int, style: Any) -> None:
    """The totals a reviewer would sum up: scheduled GPU-hours (with the hidden row), months and budgets."""
    sheet.write(row, FIRST_COLUMN, "Total", style)
    hours = sum(record["GPUs"] * record["Hours"] for record in ROWS if "Hours" in record)
    sums = {"GPU-hours": hours, "Budget": sum(record.get("Budget", 0) for record in ROWS)}
    columns = {FIRST_COLUMN + KEYS.index(key): value for key, value in sums.items()}
    for offset in range(12):
        value = sum(record["Months"][offset] for record in ROWS if "Months" in record)
        columns[FIRST_COLUMN + len(HEADERS) + offset] = value
    for column, value in columns.items():
        letters = _letters(column)
        formula = f"=SUM({letters}{HEADER_ROW + 2}:{letters}{HEADER_ROW + 1 + len(ROWS)})"
        sheet.write_formula(row, column, formula, style, value)


def _letters(column: int) -> str:
    return (chr(64 + column // 26) if column >= 26 else "") + chr(65 + column % 26)


def _assumptions(book: Any) -> None:
    sheet = book.add_worksheet("Assumptions")
    bold = book.add_format({"bold": True, "bottom": 1})
    for column, text in enumerate(("Assumption", "Value", "Currency", "Source")):
        sheet.write(0, column, text, bold)
    for row, record in enumerate(ASSUMPTIONS, 1):
        for column, value in enumerate(record):
            sheet.write(row, column, value)
    sheet.set_column(0, 0, 30)
    sheet.set_column(1, 3, 16)


if __name__ == "__main__":
    main()
