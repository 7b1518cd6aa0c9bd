"""Formatting of amounts. Inside, money is an unrounded float with a currency; rounding happens here, once."""

from __future__ import annotations

import math
from collections.abc import Sequence


def format_amount(amount: float, digits: int = 2, currency: str = "") -> str:
    """The amount with separators and `digits` decimals: 1,234.50 or USD 1,234.50; never a minus before zero."""
    text = f"{amount:,.{digits}f}"
    if not any(sign in text for sign in "123456789"):
        text = text.removeprefix("-")
    return f"{currency} {text}" if currency else text


def rounded_shares(parts: Sequence[float], total_digits: int = 2) -> list[float]:
    """The parts rounded so that they add up to their rounded total (largest remainder; ties go to the earlier part).

    No part moves by a full unit of the last digit. Raises ValueError for a part that is not finite.
    """
    scale = 10**total_digits
    scaled = [part * scale for part in parts]
    if not all(map(math.isfinite, scaled)):
        raise ValueError("parts must be finite")
    whole = [math.floor(value) for value in scaled]
    missing = round(math.fsum(scaled)) - sum(whole)
    by_remainder = sorted(range(len(scaled)), key=lambda index: (whole[index] - scaled[index], index))
    for index in by_remainder[:missing]:
        whole[index] += 1
    return [value / scale for value in whole]
