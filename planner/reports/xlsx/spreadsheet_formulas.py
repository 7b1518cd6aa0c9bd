"""The formulas of an audit trail in the notation of spreadsheets."""

from __future__ import annotations

from collections.abc import Callable

from planner.result.formulas import FUNCTIONS, OPERATOR_BINDING, POWER, FormulaNode


def spreadsheet_formula(node: FormulaNode, cell: Callable[[str], str]) -> str:
    """The formula as spreadsheets write it, with `cell(name)` for each name.

    A sign is put in brackets: spreadsheets bind it more tightly than ^, the audit trail does not.
    """
    if node.is_name:
        return cell(node.text)
    sides = [spreadsheet_formula(side, cell) for side in node.sides]
    if not sides:
        return node.text
    if node.text in FUNCTIONS:
        return f"{node.text}({','.join(sides)})"
    if len(sides) == 1:
        return f"(-{_parenthesize_side(node.sides[0], sides[0], POWER + 1)})"
    binds = OPERATOR_BINDING[node.text]
    left, right = node.sides
    tight = binds if node.text in "+*" else binds + 1  # a - (b - c), a / (b * c)
    return f"{_parenthesize_side(left, sides[0], binds)}{node.text}{_parenthesize_side(right, sides[1], tight)}"


def _parenthesize_side(side: FormulaNode, text: str, binds: int) -> str:
    is_operation = len(side.sides) == 2 and side.text in OPERATOR_BINDING
    return f"({text})" if is_operation and OPERATOR_BINDING[side.text] < binds else text
