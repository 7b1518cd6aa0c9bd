"""The one place that asks what day it is. Only the doors may: everything below them takes dates as arguments."""

from __future__ import annotations

from datetime import date, datetime


def today() -> date:
    """The date where this machine says it is."""
    return datetime.now().astimezone().date()
