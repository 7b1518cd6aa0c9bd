"""Something that a person will be told, as a code with parameters. The words are in `planner.messages`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from datetime import date
from typing import TypeAlias

from pricing.frozen_values import dataclass

ParameterValue: TypeAlias = (
    "str | int | float | bool | Message | tuple[str, ...] | tuple[int, ...] | tuple[float, ...]"
    " | tuple[Message, ...] | None"
)
"""What a parameter may be once it is in a message: JSON values, so that a message read back equals the one written."""


PLAIN = frozenset({str, int, float, bool, type(None)})


@dataclass(frozen=True, slots=True)
class Message:
    """A refusal, a warning, a reason or a note: `code` names it, `parameters` are its values, units in their names.

    A parameter may be another message (the reason of a refusal) or several of them. The core gives codes; `text` is
    filled in once, where a plan leaves the application.
    """

    code: str
    """Name of the message."""
    parameters: dict[str, ParameterValue] = field(default_factory=dict)
    """Values of the message by name, with units in the names."""
    text: str = ""
    """The message in words."""

    def __hash__(self) -> int:
        return hash((self.code, frozenset(self.parameters.items())))

    def __str__(self) -> str:
        values = ", ".join(f"{name}={value}" for name, value in self.parameters.items())
        return self.text or f"{self.code}({values})"


def message(
    code: str, /, **parameters: ParameterValue | date | Sequence[str] | Sequence[float] | Sequence[Message]
) -> Message:
    """A message by its code: `message("memory_too_small", needed_gib=80.0, available_gib=24.0)`. A date becomes its
    ISO text and a list a tuple."""
    plain = {name: value if type(value) in PLAIN else _plain_value(value) for name, value in parameters.items()}
    return Message(code, plain)  # type: ignore[arg-type]  # what is not plain was made so


def _plain_value(
    value: ParameterValue | date | Sequence[str] | Sequence[float] | Sequence[Message],
) -> ParameterValue:
    if isinstance(value, date):
        return value.isoformat()
    if value is None or isinstance(value, str | int | float | Message):
        return value
    return tuple(value)  # type: ignore[return-value]  # a sequence of one of the kinds above
