"""Something that a person will be told, as a code with parameters. The words are in `planner.messages`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TypeAlias

ParameterValue: TypeAlias = "str | int | float | bool | date | Sequence[str] | Sequence[float] | None"


@dataclass(frozen=True, slots=True)
class Message:
    """A refusal, a warning, a reason or a note: `code` names it, `parameters` are its values, units in their names.

    The core gives codes; `text` is filled in once, where a plan leaves the application.
    """

    code: str
    """Name of the message."""
    parameters: dict[str, ParameterValue] = field(default_factory=dict)
    """Values of the message by name, with units in the names."""
    text: str = ""
    """The message in words."""

    def __hash__(self) -> int:
        return hash((self.code, *(f"{name}={value!r}" for name, value in self.parameters.items())))

    def __str__(self) -> str:
        values = ", ".join(f"{name}={value}" for name, value in self.parameters.items())
        return self.text or f"{self.code}({values})"


def message(code: str, /, **parameters: ParameterValue) -> Message:
    """A message by its code: `message("memory_too_small", needed_gib=80.0, available_gib=24.0)`."""
    return Message(code, parameters)
