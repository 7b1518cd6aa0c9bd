"""The words of every message: the one place where codes of the core become English.

Each module of the folder `texts` holds `TEXTS`: by code, a format string with the message's parameters, or a function
of them that gives the text. tests/house/test_messages.py holds the codes in the core and the texts here to each other.
"""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, TypeVar, cast, get_args, get_type_hints

from planner.messages import texts
from planner.result.message import Message
from pricing.counted_nouns import CountFormatter

Text = str | Callable[..., str]
T = TypeVar("T")
COUNTED = CountFormatter()


@cache
def message_texts() -> Mapping[str, Text]:
    """The text of each code. ValueError where two modules give the same code."""
    collected: dict[str, Text] = {}
    for module in sorted(each.name for each in pkgutil.iter_modules(texts.__path__)):
        for code, text in importlib.import_module(f"{texts.__name__}.{module}").TEXTS.items():
            if code in collected:
                raise ValueError(f"two texts for the message {code}")
            collected[code] = text
    return collected


def text_of(message: Message) -> str:
    """The words of a message; messages among its parameters are put into words first. KeyError where its code or a
    parameter has none."""
    text = message_texts()[message.code]
    parameters = {name: _words_of(value) for name, value in message.parameters.items()}
    return COUNTED.vformat(text, (), parameters) if isinstance(text, str) else text(**parameters)


def _words_of(value: object) -> object:
    if isinstance(value, Message):
        return value.text or text_of(value)
    if isinstance(value, tuple) and any(isinstance(each, Message) for each in value):
        return tuple(map(_words_of, value))
    return value


def joined_text(messages: Iterable[Message]) -> str:
    """The words of several messages on one line."""
    return "; ".join(map(text_of, messages))


def with_texts(value: T) -> T:
    """A copy of a frozen value in which every message, however deep, carries its text; itself where there is none."""
    return cast("T", _fill_texts(value, {}))


def _fill_texts(value: Any, filled: dict[int, tuple[Any, Any]]) -> Any:
    """The value with texts. `filled` has the messages and tuples that were filled, by identity, each with what it
    became: hundreds of rows of a plan share one reason."""
    if isinstance(value, Message):
        if value.text:
            return value
        if id(value) not in filled:
            parameters = {name: _fill_texts(each, filled) for name, each in value.parameters.items()}
            filled[id(value)] = (value, Message(value.code, parameters, text_of(value)))
        return filled[id(value)][1]
    if isinstance(value, tuple):
        if id(value) not in filled:
            parts = tuple([_fill_texts(each, filled) for each in value])
            is_new = any(new is not old for new, old in zip(parts, value, strict=True))
            filled[id(value)] = (value, parts if is_new else value)
        return filled[id(value)][1]
    kind: Any = type(value)
    names, holding = _fields_with_messages(kind)
    if not names and isinstance(value, Mapping):
        texts = {name: _fill_texts(each, filled) for name, each in value.items()}
        return texts if any(texts[name] is not each for name, each in value.items()) else value
    arguments: list[Any] = []
    for position, name in holding:
        before = getattr(value, name)
        if (after := _fill_texts(before, filled)) is not before:
            arguments = arguments or [getattr(value, each) for each in names]
            arguments[position] = after
    return kind(*arguments) if arguments else value


@cache
def _fields_with_messages(kind: type) -> tuple[tuple[str, ...], tuple[tuple[int, str], ...]]:
    """The fields of a dataclass in the order of its arguments, and those that may hold a message, at any depth, with
    their positions; none of another type.

    A plan has tens of thousands of values and few kinds of them: looking at each value costs more than the plan.
    """
    if not dataclasses.is_dataclass(kind):
        return (), ()
    names = tuple(each.name for each in dataclasses.fields(kind) if each.init)
    return names, tuple(each for each in enumerate(names) if _may_hold(_field_types(kind)[each[1]]))


@cache
def _field_types(kind: type) -> Mapping[str, frozenset[Any]]:
    """By field of a dataclass, the types that its hint is made of."""
    hints = get_type_hints(kind)
    return {each.name: frozenset(_list_types(hints[each.name])) for each in dataclasses.fields(kind) if each.init}


def _list_types(hint: Any) -> Iterator[Any]:
    parts = get_args(hint)
    if not parts:
        yield hint
    for part in parts:
        yield from _list_types(part)


def _may_hold(types: frozenset[Any]) -> bool:
    """Whether a value of these types may hold a message, at any depth."""
    seen, ahead = set(types), list(types)
    while ahead:
        kind = ahead.pop()
        if kind in (Message, Any, object):
            return True
        if isinstance(kind, type) and dataclasses.is_dataclass(kind):
            further = frozenset().union(*_field_types(kind).values()) - seen
            seen |= further
            ahead += further
    return False
