"""Libraries of the package's extras: loaded where they are used, and named with the extra that brings them."""

from __future__ import annotations

import importlib
from typing import Any

from planner.request.errors import PlannerError


class MissingLibrary(PlannerError, ImportError):
    """A library of an extra is not installed: `library`, and the `extra` that brings it."""

    def __init__(self, library: str, extra: str) -> None:
        self.library, self.extra = library, extra
        super().__init__(f"{library} is not installed: pip install 'gpu-planner[{extra}]'")


def load_library(library: str, extra: str) -> Any:
    """The module of an optional library; MissingLibrary where it is not installed."""
    try:
        return importlib.import_module(library)
    except ModuleNotFoundError as error:
        if error.name != library.partition(".")[0]:
            raise  # it is there, and lacks something of its own
        raise MissingLibrary(library, extra) from None
