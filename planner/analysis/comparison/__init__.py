"""Comparison of two plans: the causes of a different cost (`compare_costs`), and all changed facts (`list_changes`).

Everything is read from documents, without planning.
"""

from __future__ import annotations

from planner.analysis.comparison.cost_comparison import CAUSES, CostComparison, compare_costs
from planner.analysis.comparison.currency_conversion import NoCommonCurrency
from planner.analysis.comparison.plan_validation import find_plan_problems
from planner.analysis.comparison.review_changes import list_changes
from planner.analysis.comparison.review_record import ReviewRecord, build_review_record
from planner.analysis.comparison.review_workbook import is_workbook, read_review_workbook

__all__ = [
    "CAUSES",
    "CostComparison",
    "NoCommonCurrency",
    "ReviewRecord",
    "build_review_record",
    "compare_costs",
    "find_plan_problems",
    "is_workbook",
    "list_changes",
    "read_review_workbook",
]
