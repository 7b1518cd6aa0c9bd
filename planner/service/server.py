"""Serves the application until a signal ends it; whoever waits then is told so at once."""

from __future__ import annotations

from types import FrameType

import uvicorn
from fastapi import FastAPI

GRACE_SECONDS = 5
"""For answers that are being sent when the service ends."""


class PlanServer(uvicorn.Server):
    """A server whose waiting requests are answered with 503 when it ends, instead of being cut off."""

    def __init__(self, app: FastAPI, config: uvicorn.Config) -> None:
        self._app = app
        config.timeout_graceful_shutdown = GRACE_SECONDS
        super().__init__(config)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end: the plans that run are handed back to the queue."""
        if (desk := getattr(self._app.state, "desk", None)) is not None:
            desk.begin_closing()
        super().handle_exit(sig, frame)
