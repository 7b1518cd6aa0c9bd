"""Frozen dataclasses with slots, made in a third of the time; what they do is what the standard library's do.

The standard library compiles six functions for each class, which took a fifth of a first plan: there are some 500
classes. Here `__init__` alone is compiled. The others need no code of their own for each class.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")
__all__ = ["dataclass"]


def _make_dataclass(*, frozen: bool = False, slots: bool = False, **options: bool) -> Callable[[type[T]], type[T]]:
    """The decorator `dataclass`: for other options, and below frozen classes of others, that of the standard one."""

    def make(cls: type[T]) -> type[T]:
        is_below_others = any(getattr(base, "__dataclass_params__", None) and _is_frozen(base) for base in cls.__mro__)
        if not (frozen and slots) or options.keys() - {"repr"} or is_below_others:
            return dataclasses.dataclass(frozen=frozen, slots=slots, **options)(cls)
        return _freeze(dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)(cls), **options)

    return make


if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    dataclass = _make_dataclass


def _is_frozen(cls: Any) -> bool:
    return bool(cls.__dataclass_params__.frozen)


def _freeze(cls: type[T], *, repr: bool = True) -> type[T]:  # noqa: A002  (the option's name)
    """Gives a class all that makes it a frozen value, except what it has itself."""
    fields = dataclasses.fields(cls)  # type: ignore[arg-type]  # a dataclass, which no type says
    equal, hashed = _make_comparison([each.name for each in fields if each.compare])
    functions: dict[str, Any] = {
        "__init__": _compile_init(cls, fields),
        "__eq__": equal,
        "__setattr__": _refuse_assignment,
        "__delattr__": _refuse_deletion,
        "__getstate__": _get_state,
        "__setstate__": _set_state,
    }
    if repr:
        functions["__repr__"] = _show
    own = vars(cls)
    if own.get("__hash__") is None:  # Python sets it to None where a class compares and does not hash
        functions["__hash__"] = hashed
    for name, function in functions.items():
        if name == "__hash__" or name not in own:
            setattr(cls, name, function)
    return cls


class _FactoryMark:
    """Stands for a default that a factory makes, in signatures as the standard library shows it."""

    def __repr__(self) -> str:
        return "<factory>"


FACTORY = _FactoryMark()


def _compile_init(cls: type, fields: tuple[Field[Any], ...]) -> Callable[..., None]:
    names: dict[str, Any] = {"_set": object.__setattr__, "_factory": FACTORY}
    positional: list[tuple[Field[Any], str]] = []
    named: list[tuple[Field[Any], str]] = []
    body: list[str] = []
    for each in fields:
        name = value = each.name
        parameter = name
        if each.default is not MISSING:
            names[f"_default_{name}"] = each.default
            parameter = f"{name}=_default_{name}"
            value = name if each.init else f"_default_{name}"
        elif each.default_factory is not MISSING:
            names[f"_make_{name}"] = each.default_factory
            parameter = f"{name}=_factory"
            value = f"_make_{name}() if {name} is _factory else {name}" if each.init else f"_make_{name}()"
        if each.init:
            (named if each.kw_only else positional).append((each, parameter))
        if each.init or value != name:
            body.append(f"_set(self, {name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    parameters = [parameter for _, parameter in positional] + ["*"] * bool(named) + [text for _, text in named]
    source = (
        f"def compiled({', '.join(names)}):\n"
        f" def __init__({', '.join(['self', *parameters])}):\n  " + "\n  ".join(body or ["pass"]) + "\n return __init__"
    )
    made: dict[str, Any] = {}
    exec(source, vars(sys.modules[cls.__module__]), made)  # noqa: S102  (as the standard library makes it)
    init: Callable[..., None] = made["compiled"](**names)
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {each.name: each.type for each, _ in positional + named} | {"return": None}
    return init


def _make_comparison(names: list[str]) -> tuple[Callable[..., Any], Callable[..., int]]:
    """Equality and hash by the values of these fields."""
    read = attrgetter(*names) if len(names) > 1 else partial(_read_fields, names)

    def __eq__(self: object, other: object) -> bool:  # noqa: N807  (dataclasses name theirs so)
        return read(self) == read(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: object) -> int:  # noqa: N807  (dataclasses name theirs so)
        return hash(read(self))

    return __eq__, __hash__


def _read_fields(names: list[str], value: Any) -> tuple[Any, ...]:
    return tuple(getattr(value, name) for name in names)


def _show(self: Any) -> str:
    shown = (f"{each.name}={getattr(self, each.name)!r}" for each in dataclasses.fields(self) if each.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse_assignment(self: Any, name: str, value: object) -> None:
    if _is_fixed(self, name):
        raise FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _refuse_deletion(self: Any, name: str) -> None:
    if _is_fixed(self, name):
        raise FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)


def _is_fixed(value: Any, name: str) -> bool:
    """All of a dataclass, and its fields in a class below that is none."""
    return "__dataclass_fields__" in vars(type(value)) or name in value.__dataclass_fields__


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for each, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)
