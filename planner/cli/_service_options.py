"""Options of the commands of the service: its store, and its settings, which environment variables set, too."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from importlib.util import find_spec
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin, get_type_hints

import click

from planner.cli._default_settings import SettingOption

if TYPE_CHECKING:
    from planner.service.store import ServiceStore

NEEDED = ("sqlalchemy", "alembic", "prometheus_client", "jwt")
SECTION = "serve"
"""The part of the settings file for all commands of the service."""
COMPUTED = {"workers": "one per CPU core", "file_bytes": "that of the command line"}
"""Defaults that are not known before the service runs."""
Settings = TypeVar("Settings")


def require_server() -> None:
    """Raises UsageError where the libraries of the service are not installed."""
    if not all(find_spec(name) for name in NEEDED):
        raise click.UsageError("the service is not installed; install it with: pip install 'gpu-planner[server]'")


store_option: Callable[[Any], Any] = click.option(
    "--store",
    cls=SettingOption,
    section=SECTION,
    metavar="URL",
    help="Where jobs and plans are stored: sqlite:///FILE or postgresql://...  [default: a file in the data folder]",
)


def open_service_store(url: str | None) -> ServiceStore:
    """The store at a URL, or the default one, with current tables. Raises UsageError if it cannot be opened."""
    require_server()
    from sqlalchemy.exc import SQLAlchemyError

    from planner.service.store import default_store_url, open_store

    try:
        return open_store(url or default_store_url())
    except (SQLAlchemyError, OSError) as error:
        # of its own words only those of the driver: the others may have the password of the URL
        cause = str(getattr(error, "orig", None) or type(error).__name__).strip().splitlines()[0]
        raise click.UsageError(f"the store cannot be opened (--store, PLANNER_STORE): {cause}") from None


def open_store_url(stated: str | None) -> str:
    """The URL of the store, which was opened and brought up to date. Raises UsageError where that is not possible."""
    from planner.service.store import default_store_url

    open_service_store(stated).close()
    return stated or default_store_url()


def current_operator() -> str:
    """Whoever works at this machine, as the audit names them."""
    import getpass

    try:
        return f"operator {getpass.getuser()}"[:128]
    except (KeyError, OSError):  # a container may run under an id without a name
        return f"operator {os.getuid()}" if hasattr(os, "getuid") else "operator unknown"


def setting_options(*settings: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds an option to a command for each field of these classes of settings."""

    def add_options(command: Callable[..., Any]) -> Callable[..., Any]:
        for each in reversed(settings):
            hints = get_type_hints(each)
            for item in reversed(fields(each)):
                if name := item.metadata.get("option", item.name):
                    command = _setting_option(item, name, hints[item.name])(command)
        return command

    return add_options


def _setting_option(item: Field[Any], name: str, hint: Any) -> Callable[..., Any]:
    """The option of a field; one that is a tuple may be repeated."""
    [kind] = {part for part in get_args(hint) if part not in (Ellipsis, NoneType)} or {hint}
    numbers = {int: click.IntRange(item.metadata["least"]), float: click.FloatRange(0, min_open=True)}
    default = COMPUTED.get(item.name, "") if item.default is MISSING else _default_text(item.default)
    return click.option(
        f"--{name.replace('_', '-')}",
        item.name,
        type=numbers.get(kind, kind),
        multiple=get_origin(hint) is tuple,
        cls=SettingOption,
        section=SECTION,
        help=item.metadata["help"] + (f"  [default: {default}]" if default else ""),
    )


def _default_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, tuple):
        return ", ".join(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else str(value)


def chosen_settings(settings: type[Settings], stated: Mapping[str, Any], **others: Any) -> Settings:
    """Settings with the values that were stated by options; those of other classes are left out."""
    names = {item.name for item in fields(settings)}  # type: ignore[arg-type]  # a dataclass, which no type says
    values = {name: value for name, value in stated.items() if name in names and value not in (None, ())}
    return settings(**values, **others)
