"""Fields of settings: each is an option of a command and an environment variable, with one description for both."""

from __future__ import annotations

from dataclasses import field
from typing import Any


def setting(default: Any, description: str, *, option: str | None = None, least: int = 1) -> Any:
    """A field with a default, or a function that finds it. `option`: a name other than that of the field, or "" for
    no option; `least`: the least whole number."""
    computed = {"default_factory": default} if callable(default) else {"default": default}
    named = {} if option is None else {"option": option}
    return field(**computed, metadata={"help": description, "least": least, **named})
