"""The sheet Contents: every sheet of the workbook in its order, its content and whether it is live.

`SHEETS` is that order: decisions and costs, then inputs and workings, then sources.
"""

from __future__ import annotations

from planner.reports.xlsx.workbook import PlanWorkbook, WorkbookSheet

LIVE, PLANNED, INPUTS, BOTH = "live", "as planned", "inputs", "live, except values marked «as planned»"
NOTE = (
    "Inputs: blue cells to change. Live: formulas that follow them, with unchanged choices. As planned: computed with "
    "the plan; plan again to renew it."
)
SHEETS = {
    "Summary": ("to print: the recommendation, its cost and uncertainty, and whether the workbook adds up", BOTH),
    "Cash": ("to print: payments of the recommended strategy by month, and totals of the others", LIVE),
    "Cost centres": ("to print: the charge of each team in both views, against its budget", LIVE),
    "Orders": ("to print: orders, commitments and requests, by month", PLANNED),
    "Risks and sources": ("to print: the largest risks, doubts, and where prices come from", PLANNED),
    "Contents": ("this list; here the annex begins", ""),
    "Changes": ("differences from the last review, and the causes of higher or lower cost", BOTH),
    "Assumptions": ("every assumption with range, source and date; the scenario", INPUTS),
    "Cash flow": ("payments of each strategy in each month, by category, cumulative and discounted", LIVE),
    "Effective cost": ("the same in the months that it serves: commitments and hardware spread over their use", LIVE),
    "Bridge": ("where the recommended strategy saves and spends against the runner-up", LIVE),
    "Owning": ("buying hardware against renting: net present value, rates of return, payback", BOTH),
    "Depreciation": ("income tax saved by depreciation of hardware", LIVE),
    "Scenarios": ("all strategies as planned, at low and at high cost, and in this workbook now", BOTH),
    "Sensitivity": ("the effect of one assumption at a time, and switching values", PLANNED),
    "Ladder": ("what to commit to now, and what later at which trigger", PLANNED),
    "Uncertainty": ("strategies and rules for the first decisions over weighted scenarios", PLANNED),
    "Break-even": ("owning one node against renting its equal: from which month, from which use", PLANNED),
    "Negotiation": ("what to ask vendors for: prices at which another strategy is the choice", PLANNED),
    "Workloads": ("the cost of each workload, its budget and its place", LIVE),
    "Unit economics": ("the cost of a unit of work under each strategy", LIVE),
    "Build or call": ("self-run models against stated prices per token, and the volume of equal cost", PLANNED),
    "Recovery": ("levels of disaster recovery with cost and hours until service is back", PLANNED),
    "Purchases": ("purchases and commitments, by month of order", PLANNED),
    "Savings rates": ("effective savings rate, coverage and utilisation of commitments", PLANNED),
    "Commitments": ("the cost of leaving each commitment, month by month", PLANNED),
    "Bill of materials": ("the hardware to buy, with power and racks", PLANNED),
    "Quotas": ("limits that the providers have to raise", PLANNED),
    "Gaps": ("missing and estimated inputs, and their effects", PLANNED),
    "Offers": ("the prices that payments are made of, with source and date", INPUTS),
    "Choices": ("decisions of the solver: orders, commitments, hours and data by month", INPUTS),
    "Payments": ("every kind of payment: quantity x rate, month by month", LIVE),
    "Shares": ("the share of each workload in purchases", INPUTS),
    "Workload costs": ("own use, shares and overheads of each workload under each strategy", LIVE),
    "Chargeback": ("each choice by month, and the part of it of each cost centre", LIVE),
    "Demand": ("the requested work, month by month", PLANNED),
    "Resources": ("the nodes of each workload, month by month", PLANNED),
    "Emissions": ("energy and carbon of each strategy, by month and place", PLANNED),
    "Throughput": ("how fast each workload runs on each accelerator, and how that is known", PLANNED),
    "Offers considered": ("every offer of the catalogue, its outcome and reasons of refusals", PLANNED),
    "As read": ("every cell of the input that was used", PLANNED),
    "Sources": ("the input, rows refused, sources of prices and assumptions with their dates", PLANNED),
    "Checks": ("whether the sheets add up, and agree with the plan", LIVE),
}


def write(sheet: WorkbookSheet, book: PlanWorkbook) -> None:
    """Writes a row for each sheet that there is."""
    columns = (("sheet", 24, "text"), ("sheet content", 92, "text"), ("live or not", 40, "text"))
    sheet.list("Contents", NOTE, columns, [(name, *SHEETS[name]) for name in SHEETS if name in book.sheet_names])
