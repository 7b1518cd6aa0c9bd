"""The common part of all inputs: how they are read, which entries inherit from above, figures of many at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, model_validator

from planner.request.field_types import Amount, Positive

T = TypeVar("T")
Amounts = Amount | dict[str, Amount] | list[Amount]
"""One amount, or several by name or in order; so are the figures made of them."""
Positives = Positive | dict[str, Positive] | list[Positive]
PositiveFraction = Annotated[float, Field(gt=0, le=1)]


class StudyInputs(BaseModel):
    """The inputs of a study. An unknown name is no fault: studies tell more than they use; it is listed as not used.

    An entry of a group (a system, a model) takes what it does not state itself from beside the group.
    """

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    @model_validator(mode="before")
    @classmethod
    def _inherit_common_inputs(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        result = dict(data)
        for name, field in cls.model_fields.items():
            entry = entry_type(field.annotation)
            if entry is not None and name in data:
                above = {key: data[key] for key in entry.model_fields if key in data}
                result[name] = _merge_common_inputs(data[name], above)
        return result

    def not_used(self) -> tuple[str, ...]:
        """Names that were given and are not inputs of the method, each once: `models.*.chips`."""
        return tuple(dict.fromkeys(_list_unused_inputs(self)))


def entry_type(annotation: Any) -> type[StudyInputs] | None:
    """What the entries of a group (dict or list) are, if they have inputs of their own."""
    if get_origin(annotation) not in (dict, list):
        return None
    last = get_args(annotation)[-1]
    return last if isinstance(last, type) and issubclass(last, StudyInputs) else None


def _merge_common_inputs(group: Any, above: Mapping[str, Any]) -> Any:
    def whole(entry: Any) -> Any:
        return {**above, **entry} if isinstance(entry, Mapping) else entry

    if isinstance(group, Mapping):
        return {name: whole(entry) for name, entry in group.items()}
    return [whole(entry) for entry in group] if isinstance(group, list) else group


def _list_unused_inputs(inputs: StudyInputs) -> Iterator[str]:
    entries = {name: entry_type(field.annotation) for name, field in type(inputs).model_fields.items()}
    passed_on = {key for entry in entries.values() if entry for key in entry.model_fields}
    yield from (name for name in inputs.model_extra or () if name not in passed_on)
    for name, entry in entries.items():
        if entry is not None:
            group = getattr(inputs, name)
            for each in group.values() if isinstance(group, dict) else group:
                yield from (f"{name}.*.{below}" for below in _list_unused_inputs(each))


def apply_to_each(
    function: Callable[[float], T], values: float | Mapping[str, float] | list[float]
) -> T | dict[str, T] | list[T]:
    """`function` of one value, or of each of several under the same name or number.

    >>> apply_to_each(lambda x: x + 1, {"a": 1.0}), apply_to_each(lambda x: x + 1, 1.0)
    ({'a': 2.0}, 2.0)
    """
    if isinstance(values, Mapping):
        return {name: function(value) for name, value in values.items()}
    if isinstance(values, list):
        return [function(value) for value in values]
    return function(values)
