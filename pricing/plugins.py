"""Checks discovered modules and classes against the protocol that they must follow.

A plug-in that is checked on discovery fails at once and by name, not with an AttributeError in the middle of a
plan.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Literal, Protocol, Union, get_args, get_origin, get_type_hints

from pricing.errors import InvalidPlugin
from pricing.installed_plugins import GuardedPlugin, InstalledPlugin, find_plugins, load_plugin


def check_plugin(plugin: object, protocol: type, kind: str) -> Any:
    """The plug-in itself, if it has every attribute of `protocol` with its type and every function with its parameters.

    `kind` says what it should be, for the error ("way of paying"). Raises InvalidPlugin naming everything that is
    missing or wrong. Further attributes of a plug-in are ignored.
    """
    if problems := tuple(_find_problems(plugin, protocol)):
        name = getattr(plugin, "__name__", type(plugin).__name__)
        raise InvalidPlugin(kind, name, getattr(plugin, "__file__", None) or "", problems)
    return plugin


ANY_RESULT: Mapping[str, type] = {}


def load_plugins(
    group: str, protocol: type, kind: str, *, reserved: Collection[str] = (), returns: Mapping[str, type] = ANY_RESULT
) -> dict[str, Any]:
    """The plug-ins of a group of entry points by name, each checked and guarded.

    `reserved` are the names that the package itself has. Raises InvalidPlugin for the first that cannot be used.
    """
    return {entry.name: load_checked(entry, protocol, kind, reserved, returns) for entry in find_plugins(group)}


def load_checked(
    entry: InstalledPlugin,
    protocol: type,
    kind: str,
    reserved: Collection[str] = (),
    returns: Mapping[str, type] = ANY_RESULT,
) -> GuardedPlugin:
    """A plug-in, guarded. InvalidPlugin naming everything that is missing or wrong."""
    if entry.name in reserved:
        raise InvalidPlugin(kind, entry.name, entry.source, ("the package has one of this name",))
    plugin = load_plugin(entry, kind)
    if problems := tuple(_find_problems(plugin, protocol)):
        raise InvalidPlugin(kind, entry.name, entry.source, problems)
    return GuardedPlugin(plugin, entry, kind, returns)


def _find_problems(plugin: object, protocol: type) -> Iterator[str]:
    for name, expected in get_type_hints(protocol).items():
        if not hasattr(plugin, name):
            yield f"{name} is missing: expected {_type_name(expected)}"
        elif not _has_type(value := getattr(plugin, name), expected):
            yield f"{name} is {value!r}: expected {_type_name(expected)}"
    for name, function in _protocol_functions(protocol).items():
        parameters = list(inspect.signature(function).parameters.values())[1:]  # without self
        signature = f"{name}({', '.join(parameter.name for parameter in parameters)})"
        if not hasattr(plugin, name):
            yield f"{signature} is missing"
        elif not callable(value := getattr(plugin, name)) or not _accepts_call(value, parameters):
            yield f"{name} cannot be called as {signature}"


def _protocol_functions(protocol: type) -> dict[str, Callable[..., object]]:
    classes = [each for each in reversed(protocol.__mro__) if each not in (object, Protocol)]
    members = {name: member for each in classes for name, member in vars(each).items()}
    return {
        name: member
        for name, member in members.items()
        if inspect.isfunction(member) and (not name.startswith("_") or name == "__call__")
    }


def _accepts_call(function: Callable[..., object], parameters: list[inspect.Parameter]) -> bool:
    """Whether a call that fits the protocol fits the function: positions for what is positional, names for the rest."""
    by_name = {parameter.name: None for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY}
    try:
        inspect.signature(function).bind(*[None] * (len(parameters) - len(by_name)), **by_name)
    except TypeError:
        return False
    except ValueError:  # some functions written in C show no signature
        return True
    return True


def _has_type(value: object, expected: Any) -> bool:
    """Whether a value is of a type as attributes of protocols have them: plain classes, Literal, unions, tuples."""
    origin, parts = get_origin(expected), get_args(expected)
    if expected is Any:
        return True
    if origin is Literal:
        return any(value == part and type(value) is type(part) for part in parts)
    if origin in (Union, types.UnionType):
        return any(_has_type(value, part) for part in parts)
    if origin is tuple and len(parts) == 2 and parts[1] is Ellipsis:
        return isinstance(value, tuple) and all(_has_type(each, parts[0]) for each in value)
    if expected is int:
        return isinstance(value, int) and not isinstance(value, bool)
    kind = expected if origin is None else origin
    return isinstance(value, kind) if isinstance(kind, type) else True


def _type_name(expected: Any) -> str:
    if get_origin(expected) is Literal:
        return f"one of {', '.join(map(str, get_args(expected)))}"
    return expected.__name__ if isinstance(expected, type) and not get_args(expected) else str(expected)
