"""The sheet Contents: every sheet of the workbook in the order that it stands in, what it tells and whether it is live.

`SHEETS` is that order: what is decided and what it costs, then inputs and workings, then what it rests on.
"""

from __future__ import annotations

from planner.reports.xlsx.workbook import PlanWorkbook, WorkbookSheet

LIVE, PLANNED, INPUTS, BOTH = "live", "as planned", "inputs", "live, but for what says «as planned»"
NOTE = (
    "Inputs: blue cells to change. Live: formulas that follow them, choices kept. As planned: found with the plan; "
    "plan again to renew it."
)
SHEETS = {
    "Summary": ("what to do, what it costs, how sure that is, and whether the workbook adds up", BOTH),
    "Contents": ("this list", ""),
    "Changes": ("what is not as it was at the last review, and why it costs more or less", BOTH),
    "Assumptions": ("every figure that no price list holds, with range, source and date; the scenario", INPUTS),
    "Cash flow": ("what each strategy pays in each month, by category, cumulative and discounted", LIVE),
    "Effective cost": ("the same in the months that it serves: commitments and hardware spread over their use", LIVE),
    "Bridge": ("where the recommended strategy saves and spends against the runner-up", LIVE),
    "Owning": ("buying hardware against renting: net present value, rates of return, payback", BOTH),
    "Depreciation": ("what the hardware saves in income tax", LIVE),
    "Scenarios": ("all strategies as planned, at low and at high cost, and as this workbook stands", BOTH),
    "Sensitivity": ("what one figure at a time changes, and where the answer turns", PLANNED),
    "Break-even": ("owning one node against renting its equal: from which month, from which use", PLANNED),
    "Workloads": ("what each workload costs, against its budget, and where it runs", LIVE),
    "Unit economics": ("what a unit of work costs under each strategy", LIVE),
    "Purchases": ("what to buy and commit to, by month of order", PLANNED),
    "Bill of materials": ("the hardware to buy, with power and racks", PLANNED),
    "Quotas": ("limits to ask the providers to raise", PLANNED),
    "Gaps": ("what is missing or estimated, and what it ruled out", PLANNED),
    "Offers": ("the prices that payments are made of, with source and date", INPUTS),
    "Choices": ("what the solver decided: orders, commitments, hours and data by month", INPUTS),
    "Payments": ("every kind of payment: quantity x rate, month by month", LIVE),
    "Shares": ("which workload bears what part of what is bought", INPUTS),
    "Workload costs": ("own use, shares and overheads of each workload under each strategy", LIVE),
    "Demand": ("the work asked for, month by month", PLANNED),
    "Resources": ("which workload runs on what, month by month", PLANNED),
    "Throughput": ("how fast each workload runs on each accelerator, and how that is known", PLANNED),
    "Offers considered": ("every offer of the catalogue, and why what was refused was", PLANNED),
    "As read": ("every cell of the input that was used", PLANNED),
    "Sources": ("the input, rows refused, sources of prices and assumptions with their dates", PLANNED),
    "Checks": ("whether the sheets add up, and agree with the plan", LIVE),
}


def write(sheet: WorkbookSheet, book: PlanWorkbook) -> None:
    """Writes a row for each sheet that there is."""
    columns = (("sheet", 24, "text"), ("content", 92, "text"), ("live or not", 40, "text"))
    sheet.list("Contents", NOTE, columns, [(name, *SHEETS[name]) for name in SHEETS if name in book.sheet_names])
