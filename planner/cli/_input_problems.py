"""The place of an option in problems, as all commands write it."""

from __future__ import annotations


def option_flag(name: str) -> str:
    """--discount-rate for discount_rate."""
    return f"--{name.replace('_', '-')}"
