"""Something that a person will be told, as a code with parameters. The words are in `planner.messages`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TypeAlias

ParameterValue: TypeAlias = (
    "str | int | float | bool | date | Message | Sequence[str] | Sequence[float] | Sequence[Message] | None"
)


@dataclass(frozen=True, slots=True)
class Message:
    """A refusal, a warning, a reason or a note: `code` names it, `parameters` are its values, units in their names.

    A parameter may be another message (the reason of a refusal) or a sequence of them. The core gives codes; `text` is filled in once, where a plan leaves the application.
    """

    code: str
    parameters: dict[str, ParameterValue] = field(default_factory=dict)
    text: str = ""

    def __post_init__(self) -> None:
        """Sequences become tuples, so that a message read back from JSON equals the one that was written."""
        sequences = {name: tuple(value) for name, value in self.parameters.items() if isinstance(value, list)}
        if sequences:
            object.__setattr__(self, "parameters", {**self.parameters, **sequences})

    def __hash__(self) -> int:
        return hash((self.code, *(f"{name}={value!r}" for name, value in self.parameters.items())))

    def __str__(self) -> str:
        values = ", ".join(f"{name}={value}" for name, value in self.parameters.items())
        return self.text or f"{self.code}({values})"


def message(code: str, /, **parameters: ParameterValue) -> Message:
    """A message by its code: `message("memory_too_small", needed_gib=80.0, available_gib=24.0)`."""
    return Message(code, parameters)
