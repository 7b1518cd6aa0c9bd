"""A plan -> bytes: one module (or one package) for each output format, entry by walking this package.

Formats read the plan alone: no price list, no request, no clock. Modules whose name starts with an underscore are
shared helpers. The names of the formats can be listed without importing any of them.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Protocol, cast

from planner.result import Plan
from pricing.errors import InvalidPlugin
from pricing.installed_plugins import find_plugins, plugin_state
from pricing.plugins import check_plugin, load_plugins

PLUG_IN_GROUP = "gpu_planner.reports"
"""Entry points of further formats."""
KIND = "output format"
RETURNS = {"render": bytes, "files": dict, "render_with_files": dict}


class ReportFormat(Protocol):
    """The contents of a format's module."""

    MEDIA_TYPE: str
    SUFFIX: str

    def render(self, plan: Plan) -> bytes:
        """The plan in this format; the same plan gives the same bytes."""
        ...


class FolderFormat(ReportFormat, Protocol):
    """The contents of a format's module that can also write a folder: one with a function `files`."""

    def files(self, plan: Plan) -> dict[str, bytes]:
        """The content of each file, by its path inside the folder."""
        ...


class CompanionFormat(ReportFormat, Protocol):
    """The contents of a format's module that refers to files of its own: one with a function `render_with_files`."""

    def render_with_files(self, plan: Plan, stem: str) -> dict[str, bytes]:
        """The report of a file called `stem` under "", and the files that it refers to by their names."""
        ...


def formats() -> tuple[str, ...]:
    """The names of the formats, sorted; imports none of them.

    >>> "json" in formats()
    True
    """
    return tuple(sorted({*own_formats(), *(each.name for each in find_plugins(PLUG_IN_GROUP))}))


def load(name: str) -> ReportFormat:
    """The module of the format `name`. KeyError for an unknown name; InvalidPlugin naming all that its module lacks."""
    if name not in formats():
        raise KeyError(name)
    if name not in own_formats() or any(each.name == name for each in find_plugins(PLUG_IN_GROUP)):
        return _load_plugin_formats(plugin_state())[name]
    module = importlib.import_module(f"{__name__}.{name}")
    more = {"files": FolderFormat, "render_with_files": CompanionFormat}
    protocol = next((each for name, each in more.items() if hasattr(module, name)), ReportFormat)
    return cast(ReportFormat, check_plugin(module, protocol, KIND))


def own_formats() -> tuple[str, ...]:
    """The names of the formats of this package, without those of plug-ins."""
    return _list_formats(tuple(__path__))


@cache
def _list_formats(folders: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(m.name for m in pkgutil.iter_modules(folders) if not m.name.startswith("_"))


@cache
def _load_plugin_formats(_: int) -> dict[str, ReportFormat]:
    own = own_formats()
    plugins = load_plugins(PLUG_IN_GROUP, ReportFormat, KIND, reserved=own, returns=RETURNS)
    suffixes = {load_own.SUFFIX: name for name in own if (load_own := importlib.import_module(f"{__name__}.{name}"))}
    for name, plugin in plugins.items():
        if (first := suffixes.setdefault(plugin.SUFFIX, name)) != name:
            raise InvalidPlugin(KIND, name, "", (f"the suffix {plugin.SUFFIX} is that of {first}",))
    return plugins


def folder_format(name: str) -> FolderFormat | None:
    """The module of the format `name` where it can also write a folder."""
    module = load(name)
    return cast(FolderFormat, module) if hasattr(module, "files") else None


def companion_format(name: str) -> CompanionFormat | None:
    """The module of the format `name` where it refers to files of its own."""
    module = load(name)
    return cast(CompanionFormat, module) if hasattr(module, "render_with_files") else None
