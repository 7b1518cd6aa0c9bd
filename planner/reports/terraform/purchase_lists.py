"""Purchases outside Terraform: commitments with their commands, and hardware as a bill of materials."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple

from planner.reports._content.bill_of_materials import COLUMNS as BILL_COLUMNS
from planner.reports._content.bill_of_materials import list_materials
from planner.reports._content.markdown_text import escape_line, escape_markdown, table_lines
from planner.reports._content.number_format import format_money, month_name, month_range_name
from planner.reports.terraform.node_pools import slug
from planner.reports.terraform.provisioning.commitment_commands import (
    PurchaseInstructions,
    find_instructions,
    list_orders,
)
from planner.result import Plan, Purchase, Strategy, describe_amount, describe_orders
from pricing.counted_nouns import format_count
from pricing.csv_tables import format_table
from pricing.plain_text import plain_text, spreadsheet_text

Cell = str | float | None
COLUMNS = (
    "month", "provider", "region", "instance_type", "purchase_option", "count", "unit", "dated_orders",
    "money_per_hour", "term_months", "covers", "upfront", "per_month", "currency", "bought_as", "console", "command",
    "note", "source",
)  # fmt: skip
HEAD = """Terraform buys none of these: each binds you for its whole term. Check the offer that the first command finds
against the amounts below before you run the second. Words in capitals are yours, or come from the step before. Amounts
are the plan's, in {currency}; the provider's own offer decides."""


CommitmentEntry = tuple[Purchase, PurchaseInstructions | None]
"""A commitment of the plan and its instructions; None for an unknown kind of commitment."""


def commitment_entries(plan: Plan, strategy: Strategy) -> tuple[CommitmentEntry, ...]:
    """The commitments that the strategy buys, in the order of their months."""
    commitments = [item for item in strategy.purchases if item.what == "commitment"]
    commitments.sort(key=lambda item: (item.month, item.provider, item.region, item.name, item.purchase_option))
    entries = []
    for item in commitments:
        month = month_name(plan, item.month)
        name = f"gp-{slug(item.name, '-')[:24].strip('-')}-{month}"
        entries.append((item, find_instructions(item, name, month, plan.currency)))
    return tuple(entries)


def commitments_markdown(plan: Plan, commitments: Sequence[CommitmentEntry]) -> str:
    """The list for readers: commitments by month, their amounts, and the commands."""
    lines = [f"# Commitments of plan {escape_markdown(plan.plan_id)}", "", HEAD.format(currency=plan.currency), ""]
    for item, steps in commitments:
        amount = describe_amount(item.amount, item.unit, plan.currency)
        place = f"{escape_markdown(item.provider)} {escape_markdown(item.region)}"
        title = f"{month_name(plan, item.month)}: {amount} {escape_markdown(item.name)} in {place}"
        lines += [f"## {title}", "", escape_line(item.purchase_option), ""]
        facts = [
            ("term", format_count(item.term_months, "month") if item.term_months else "the month itself"),
            ("covers", month_range_name(plan, item.usable_from, item.usable_to)),
            ("upfront", format_money(item.upfront)),
            ("a month", format_money(item.per_month)),
        ]
        lines += table_lines(("what", f"{plan.currency} or months"), facts)
        lines += [f"Ordered as {describe_orders(list_orders(item))}.", ""] if item.orders else []
        if steps is None:
            lines += ["No instructions are known for this commitment: ask the provider.", ""]
            continue
        lines += [f"{steps.title}. Console: {steps.console}.", ""]
        lines += [f"Note: {steps.note}.", ""] if steps.note else []
        lines += ["```sh", *map(plain_text, steps.steps), "```", ""] if steps.steps else []
        lines += [f"Source: <{steps.source}>", ""]
    return "\n".join(lines).rstrip() + "\n"


def commitments_csv(plan: Plan, commitments: Sequence[CommitmentEntry]) -> str:
    """The same as one row a commitment, for a spreadsheet or a script."""
    rows = [
        (
            month_name(plan, item.month), item.provider, item.region, item.name, item.purchase_option, item.count,
            item.unit, describe_orders(list_orders(item)), item.money_per_hour or None, item.term_months,
            month_range_name(plan, item.usable_from, item.usable_to), item.upfront, item.per_month, plan.currency,
            *((how.title, how.console, " && ".join(how.steps), how.note, how.source) if how else ("",) * 5),
        )
        for item, how in commitments
    ]  # fmt: skip
    return _csv_text(COLUMNS, rows)


def bill_of_materials_csv(plan: Plan, strategy: Strategy) -> str:
    """The bill of materials with its totals; "" without hardware."""
    rows = [(*astuple(line), plan.currency) for line in list_materials(plan, strategy)]
    return _csv_text((*BILL_COLUMNS, "currency"), rows) if rows else ""


def _csv_text(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """The rows under their columns; texts are made harmless for spreadsheets."""
    return format_table(columns, ([_cell_text(cell) for cell in row] for row in rows))


def _cell_text(cell: Cell) -> str:
    return spreadsheet_text(cell) if isinstance(cell, str) else "" if cell is None else str(cell)
