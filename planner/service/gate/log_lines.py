"""The log of the service: one line each, as JSON for collectors or as text for people."""

from __future__ import annotations

import json
import logging
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

from planner.service.gate.request_records import RequestRecord

FIELDS = tuple(each.name for each in fields(RequestRecord))
requests = logging.getLogger("planner.service.requests")


def log_request(record: RequestRecord) -> None:
    """Write the line of a request."""
    requests.info(
        '%s "%s %s" %d %.1f ms %s',
        record.request_id,
        record.method,
        record.route or "-",
        record.status,
        record.milliseconds,
        record.caller or "-",
        extra={"request": {name: getattr(record, name) for name in FIELDS}},
    )


class JsonLines(logging.Formatter):
    """Each record as a JSON object on one line, in UTC; a request with its fields instead of a message."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
        }
        fields = getattr(record, "request", None)
        line |= fields if isinstance(fields, dict) else {"message": record.getMessage()}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


FORMATTERS: dict[str, dict[str, Any]] = {
    "json": {"()": JsonLines},
    "text": {"format": "%(levelname)s:     %(message)s"},
}
"""The choices of --log-format."""


def log_settings(log_format: str) -> dict[str, Any]:
    """The settings of Python's logging for a service: everything to standard error."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": FORMATTERS[log_format]},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "loggers": {
            "uvicorn": {"handlers": ["stderr"], "level": "INFO", "propagate": False},
            "planner": {"handlers": ["stderr"], "level": "INFO", "propagate": False},
        },
    }
