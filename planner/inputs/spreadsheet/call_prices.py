"""The price per token of calling another provider's model, in the row of the workload that would be called."""

from __future__ import annotations

import re
from typing import Any

from planner.inputs.spreadsheet.row_values import CellNumber, WorkloadRow
from planner.inputs.spreadsheet.served_models import TOKENS

PRICES = (("call_input_price", "input_per_million"), ("call_output_price", "output_per_million"))
TOKENS_PRICED = ((r"\b(?:1 ?)?(?:m|mtok|million)\b", 1.0), (r"\b(?:1 ?)?(?:k|ktok|thousand)\b", 1000.0))
"""Tokens that a price is of, by header: a million, or a thousand, of which a million takes so many."""


def read_call_price(line: WorkloadRow, workload: str) -> None:
    """Adds the price of a row, both of input and of output tokens, to those of the file, with the lengths of its
    requests."""
    numbers = {key: line.number(meaning) for meaning, key in PRICES}
    stated = [number for number in numbers.values() if number is not None]
    for key, number in numbers.items():
        if number is None and stated:
            kind = key.partition("_")[0]
            expected = f"a column such as Call price {kind} (USD / M tokens)"
            line.ledger.add_problem(stated[0].cell, f"a price of calls without that of {kind} tokens", expected)
    values = {key: _read_price(line, number) for key, number in numbers.items() if number is not None}
    if len(values) < len(PRICES) or None in values.values():
        return
    prices, path = line.ledger.call_prices, f"call_prices[{len(line.ledger.call_prices)}]"
    price: dict[str, Any] = {"workload": workload}
    if (cell := line.cell("called_model")) is not None:
        price["name"] = line.text("called_model")
        line.ledger.read(f"{path}.name", cell, price["name"])
    for key, number in numbers.items():
        assert number is not None
        price[key] = values[key]
        line.ledger.read(f"{path}.{key}", number.cell, values[key])
    for meaning in TOKENS:
        if (number := line.number(meaning)) is not None:
            price[f"{meaning}_per_unit"] = number.value
            line.ledger.read(f"{path}.{meaning}_per_unit", number.cell, number.value)
    prices.append(price)


def _read_price(line: WorkloadRow, number: CellNumber) -> float | None:
    """The price of a million tokens; None after a problem."""
    currencies = [each for each in (number.column.currency, number.quantity.currency) if each]
    if not all(line.ledger.accepts_currency(currency, number.cell) for currency in currencies):
        return None
    for pattern, factor in TOKENS_PRICED:
        if re.search(pattern, number.column.words):
            return number.value * factor
    expected = "per M tokens or per 1K tokens in the header"
    line.ledger.add_problem(number.cell, f"{number.column.header.text!r} has no unit", expected)
    return None
