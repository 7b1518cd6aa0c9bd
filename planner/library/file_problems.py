"""Files that cannot be read or written, in the one wording that commands and Python share."""

from __future__ import annotations

from planner.request.errors import InputProblem


def unreadable_file(place: str, error: Exception, path: str = "") -> InputProblem:
    """A file that cannot be read; `path` is the field of the request that refers to it."""
    return InputProblem(path, place, f"cannot be read: {_error_text(error)}")


def unwritable_file(place: str, error: OSError) -> InputProblem:
    """A file that cannot be written."""
    return InputProblem("", place, "cannot be written", _error_text(error), "a writable path")


def _error_text(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
