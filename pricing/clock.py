"""The only reader of the current date. Only the command line and the service call it; all other code is given dates."""

from __future__ import annotations

from datetime import date, datetime


def today() -> date:
    """Today in the local time zone of this machine."""
    return datetime.now().astimezone().date()
