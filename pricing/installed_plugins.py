"""Plug-ins: parts that other distributions bring by entry points, or that a Python session registers.

A group of entry points (gpu_planner.reports ...) extends the folder of the same kind of modules: the walk of the folder
includes them, with the same protocol. An error of a plug-in is an InvalidPlugin with its name.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from pricing.errors import InvalidPlugin
from pricing.frozen_values import dataclass

PREFIX = "gpu_planner."
"""With which the names of all groups begin."""


@dataclass(frozen=True, slots=True)
class InstalledPlugin:
    """A plug-in by its name; `reference` (module:object) is its place, `plugin` itself where it is registered.

    `source` is the distribution with its version.
    """

    group: str
    name: str
    reference: str = ""
    source: str = "registered in Python"
    plugin: object = None


_registered: dict[tuple[str, str], InstalledPlugin] = {}
_state = 0


def plugin_state() -> int:
    """Another number after each registration: earlier results are out of date."""
    return _state


def add_plugin(plugin: InstalledPlugin) -> None:
    """Adds a plug-in to this process, in place of one of the same name."""
    global _state  # noqa: PLW0603  (the one registry of the process)
    _registered[plugin.group, plugin.name] = plugin
    _state += 1


def remove_plugin(group: str, name: str) -> None:
    """Removes a registered plug-in; KeyError where there is none."""
    global _state  # noqa: PLW0603  (the one registry of the process)
    del _registered[group, name]
    _state += 1


def find_plugins(group: str) -> tuple[InstalledPlugin, ...]:
    """The plug-ins of a group, by name; none is imported."""
    return _find_plugins(group, _state)


def list_plugins() -> tuple[InstalledPlugin, ...]:
    """The plug-ins of all groups."""
    groups = {group for group, _ in _registered} | set(_installed_groups())
    return tuple(each for group in sorted(groups) for each in find_plugins(group))


@cache
def _installed_groups() -> tuple[str, ...]:
    if not any(_has_plugins(Path(place)) for place in sys.path):
        return ()
    from importlib.metadata import entry_points

    return tuple(group for group in entry_points().groups if group.startswith(PREFIX))


@cache
def _find_plugins(group: str, _: int) -> tuple[InstalledPlugin, ...]:
    registered = {name: plugin for (of_group, name), plugin in _registered.items() if of_group == group}
    return tuple(each for _, each in sorted({**_installed_plugins(group), **registered}.items()))


@cache
def _installed_plugins(group: str) -> Mapping[str, InstalledPlugin]:
    if not any(_has_plugins(Path(place)) for place in sys.path):
        return {}  # reading all entry points takes 20 times as long, and every command waits for it
    from importlib.metadata import entry_points

    plugins: dict[str, InstalledPlugin] = {}
    for entry in entry_points(group=group):
        source = "" if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"
        plugin = InstalledPlugin(group, entry.name, entry.value, source)
        if plugins.setdefault(entry.name, plugin) != plugin:
            both = f"{plugins[entry.name].source} and {source} both bring one of this name"
            raise InvalidPlugin("plug-in", entry.name, group, (both,))
    return plugins


@cache
def _has_plugins(place: Path) -> bool:
    """Whether a distribution in a folder of sys.path offers one; zipped ones are ignored."""
    try:
        names = [name for name in os.listdir(place) if name.endswith((".dist-info", ".egg-info"))]  # noqa: PTH208  (ten times as fast)
    except OSError:
        return False
    for name in names:
        with suppress(OSError), open(f"{place}/{name}/entry_points.txt", "rb") as file:  # noqa: PTH123  (twice as fast)
            if f"[{PREFIX}".encode() in file.read():
                return True
    return False


def load_plugin(entry: InstalledPlugin, kind: str) -> object:
    """The plug-in itself. InvalidPlugin where it cannot be imported; `kind` is the part that it should be."""
    if not entry.reference:
        return entry.plugin
    from importlib.metadata import EntryPoint

    try:
        return EntryPoint(entry.name, entry.reference, entry.group).load()
    except Exception as error:
        problem = f"{entry.reference} fails: {_error_text(error)}"
        raise InvalidPlugin(kind, entry.name, entry.source, (problem,)) from error


class GuardedPlugin:
    """A plug-in whose errors are InvalidPlugin with its name; `returns` are the types of its functions' results."""

    def __init__(self, plugin: object, entry: InstalledPlugin, kind: str, returns: Mapping[str, type]) -> None:
        self._plugin, self._entry, self._kind, self._returns = plugin, entry, kind, returns

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._plugin, name)
        return self._guard_function(name, value) if callable(value) else value

    def _guard_function(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            try:
                result = function(*arguments, **named)
            except Exception as error:
                raise self._describe_failure(f"{name} fails: {_error_text(error)}") from error
            expected = self._returns.get(name)
            if expected is not None and not isinstance(result, expected):
                raise self._describe_failure(f"{name} gives {type(result).__name__}: expected {expected.__name__}")
            return result

        return call

    def _describe_failure(self, problem: str) -> InvalidPlugin:
        return InvalidPlugin(self._kind, self._entry.name, self._entry.source, (problem,))


def _error_text(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
