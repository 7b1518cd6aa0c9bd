"""The catalogue with the user's files of private prices and exchange rates, and the problems of these files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from planner.request.errors import InputProblem
from pricing.catalog import data_folder
from pricing.catalog.price_catalog import Catalog
from pricing.errors import InvalidSnapshot
from pricing.exchange_rates import ExchangeRates
from pricing.private_prices import RateCard


def open_catalog(private_prices: str | None, exchange_rates: str | None) -> tuple[Catalog, tuple[InputProblem, ...]]:
    """The catalogue with these files, or those of the data folder; invalid ones are left out, with their problems."""
    card, rates = (Path(path) if path else None for path in (private_prices, exchange_rates))
    try:
        return Catalog.current(card, rates), ()
    except InvalidSnapshot as bad:
        problems = [
            *_file_problems(RateCard.read, card, data_folder.PRIVATE_PRICES_FILE),
            *_file_problems(ExchangeRates.read, rates, data_folder.EXCHANGE_RATES_FILE),
        ]
        if not problems:  # it is the snapshots that cannot be read
            raise bad from None
        return Catalog.embedded(), tuple(problems)


def _file_problems(read: Callable[[Path], object], given: Path | None, name: str) -> list[InputProblem]:
    """The problems of the file given, else of the one called `name` in the data folder, if it is there."""
    path = given or data_folder.user_data_folder() / name
    if given is None and not path.is_file():
        return []
    try:
        read(path)
    except InvalidSnapshot as bad:
        parts = (fault.partition(": ") for fault in bad.faults)
        return [InputProblem("", place, message) for place, _, message in parts]
    return []
