"""Defaults of the user, from a variable PLANNER_... or a line of the settings file.

The options made with `SettingOption` are the one table of them. The name of an option makes the other two:
--discount-rate, PLANNER_DISCOUNT_RATE, `discount_rate`. An option goes before the variable, the variable before the
file, the file before built-in values. Fields of the request go before variable and file: these are defaults.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from functools import cache
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from planner.cli import CHOSEN_FILE, FILE_VARIABLE
from pricing.frozen_values import dataclass

FILE_NAME = "config.yaml"
OF_FILE = "planner.settings_file"
"""The key of the settings file, once it is read, in the `meta` of click's context."""


@dataclass(frozen=True, slots=True)
class StatedDefault:
    """A value that a variable or the settings file states; `place` is its line in the file, "" for a variable."""

    value: Any
    origin: str
    line: str = ""

    @property
    def place(self) -> str:
        """Its place, as problems name it."""
        return f"{self.origin} {self.line}".rstrip()


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """The contents of the settings file. A section has the settings of a command; the others are at its top."""

    path: str = ""
    values: dict[str, Any] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)

    def find(self, key: str, section: str) -> StatedDefault | None:
        """Its value of a setting."""
        part = self.values.get(section, {}) if section else self.values
        if not isinstance(part, dict) or part.get(key) is None:
            return None
        name = f"{section}.{key}" if section else key
        return StatedDefault(part[key], self.path, self.places.get(name, self.path).removeprefix(f"{self.path} "))


class SettingOption(click.Option):
    """An option whose default a variable or the settings file may state.

    `section` is its part of the file, "" for its top. `beneath_request`: it sets a field of a request, so
    that its default is no value of the option, which would go before the request (`request_defaults`).
    """

    def __init__(self, *names: Any, section: str = "", beneath_request: bool = False, **attributes: Any) -> None:
        super().__init__(*names, **attributes)
        self.section, self.beneath_request = section, beneath_request
        self.key = max(self.opts, key=len).removeprefix("--").replace("-", "_")
        self.variable = f"PLANNER_{self.key.upper()}"
        if not beneath_request:
            self.envvar = self.variable

    @property
    def is_file(self) -> bool:
        """Whether its value is the path of a file; in the settings file it is relative to the folder of that."""
        return self.metavar == "FILE"

    def consume_value(self, ctx: click.Context, opts: Any) -> tuple[Any, ParameterSource]:
        value, source = super().consume_value(ctx, opts)
        if self.beneath_request or ctx.resilient_parsing or source is not ParameterSource.DEFAULT:
            return value, source
        stated = self.find_in_file(ctx)
        return (value, source) if stated is None else (self._as_typed(stated), ParameterSource.DEFAULT_MAP)

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        try:
            return super().process_value(ctx, value)
        except click.BadParameter as bad:
            if ctx.get_parameter_source(self.name or "") is not ParameterSource.DEFAULT_MAP:
                raise
            stated = self.find_in_file(ctx)
            assert stated is not None
            raise _invalid_default(self.key, stated, f"expected {self.type.name}: {bad.message}") from None

    def find_default(self, ctx: click.Context) -> StatedDefault | None:
        """The value of the variable, else of the file."""
        if text := os.environ.get(self.variable):
            value = (text,) if self.multiple else self._parse_flag(text) if self.is_flag else text
            return StatedDefault(value, self.variable)
        stated = self.find_in_file(ctx)
        return None if stated is None else replace(stated, value=self._as_typed(stated))

    def find_in_file(self, ctx: click.Context) -> StatedDefault | None:
        """The value in the settings file."""
        return read_settings_file(ctx, self.section).find(self.key, self.section)

    def _parse_flag(self, text: str) -> bool:
        try:
            return bool(click.BOOL.convert(text, self, None))
        except click.BadParameter:
            raise _invalid_default(self.key, StatedDefault(text, self.variable), "expected true or false") from None

    def _as_typed(self, stated: StatedDefault) -> Any:
        """A value of the file as an option takes it. Raises InvalidRequest for one of another kind."""
        parts = stated.value if isinstance(stated.value, list) else [stated.value]
        if self.is_flag:
            if not isinstance(stated.value, bool):
                raise _invalid_default(self.key, stated, "expected true or false")
            return stated.value
        if any(isinstance(part, bool | dict | list) for part in parts) or (len(parts) != 1 and not self.multiple):
            kind = "a name, or a list of names" if self.multiple else "one text or number"
            raise _invalid_default(self.key, stated, f"expected {kind}")
        texts = tuple(str(part) for part in parts)
        if self.is_file:
            folder = Path(stated.origin).parent
            texts = tuple(str(folder / text) for text in texts)
        return texts if self.multiple else texts[0]


def setting_options_of(command: click.Command) -> tuple[SettingOption, ...]:
    """The settings among the options of a command."""
    return tuple(each for each in command.params if isinstance(each, SettingOption))


def settings_path(ctx: click.Context) -> str:
    """The settings file: --config, PLANNER_CONFIG, else config.yaml in the folder of settings of this user."""
    chosen = ctx.meta.get(CHOSEN_FILE)
    return str(chosen or Path(click.get_app_dir("gpu-planner")) / FILE_NAME)


def read_settings_file(ctx: click.Context, section: str = "") -> SettingsFile:
    """The settings file, read once a command; an empty one where there is none. InvalidRequest with every fault of its
    top and of `section`."""
    read: SettingsFile | None = ctx.meta.get(OF_FILE)
    if read is None:
        read = ctx.meta[OF_FILE] = _read_file(settings_path(ctx), is_chosen=bool(ctx.meta.get(CHOSEN_FILE)))
    if section and section in read.values:
        from planner.cli import commands

        command = commands.get_command(ctx, section)
        assert command is not None, section
        _check_keys(read, section, [each.key for each in setting_options_of(command) if each.section == section])
    return read


def _read_file(path: str, *, is_chosen: bool) -> SettingsFile:
    if not is_chosen and not Path(path).is_file():
        return SettingsFile()
    from planner.cli._mapping_files import read_mapping
    from planner.request.errors import InvalidRequest

    keys = [*top_settings(), *SECTIONS]
    if _is_blank(Path(path)):
        return SettingsFile(path)
    read = read_mapping(path, "settings", FILE_VARIABLE, f"settings, such as {', '.join(keys[:3])}")
    if read.problems:
        raise InvalidRequest(read.problems)
    file = SettingsFile(path, read.values, read.places)
    _check_keys(file, "", keys)
    return file


def _is_blank(path: Path) -> bool:
    """Whether it has no settings: comments alone, or the null device."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError:  # a problem where the file is read
        return False
    return all(not line.strip() or line.lstrip().startswith(b"#") for line in lines)


SECTIONS = ("serve",)
"""Commands whose settings have a part of the file of their own."""


@cache
def top_settings() -> dict[str, SettingOption]:
    """The settings at the top of the file, by key: those of requests."""
    from planner.cli._plan_options import REQUEST_OPTIONS, with_options

    command = click.command()(with_options(REQUEST_OPTIONS)(lambda: None))
    return {each.key: each for each in setting_options_of(command)}


def _check_keys(file: SettingsFile, section: str, known: Sequence[str]) -> None:
    """Raises InvalidRequest with each key that is no setting, and the nearest that are."""
    from planner.request.errors import InputProblem, InvalidRequest
    from pricing.csv_tables import find_nearest_names

    part = file.values[section] if section else file.values
    place = file.places.get(section, file.path)
    if not isinstance(part, dict):
        raise InvalidRequest(
            (InputProblem("", place, f"{section} is no part with settings", str(part), "name: value"),)
        )
    faults = []
    for key in part:
        if key not in known:
            name = f"{section}.{key}" if section else str(key)
            expected = f"one of {', '.join(find_nearest_names(str(key), known) or known)}"
            faults.append(InputProblem("", file.places.get(name, place), "unknown setting", name, expected))
    if faults:
        raise InvalidRequest(tuple(faults))


def _invalid_default(key: str, stated: StatedDefault, expected: str) -> Exception:
    from planner.request.errors import InputProblem, InvalidRequest

    text = expected.removeprefix("expected ")
    return InvalidRequest((InputProblem("", stated.place, f"{key} is not valid", str(stated.value), text),))


def request_defaults(ctx: click.Context) -> dict[str, StatedDefault]:
    """By option, the fields of a request that variables and the file state and no option of the running command."""
    return {
        name: stated
        for option in top_settings().values()
        if option.beneath_request and (name := option.name) and not ctx.params.get(name)
        if (stated := option.find_default(ctx)) is not None
    }


def stated_price_files(ctx: click.Context) -> Iterator[tuple[str, StatedDefault]]:
    """The files of prices and rates, by option, that variables or the settings file state and no option does."""
    for option in top_settings().values():
        if not option.beneath_request and option.name and (stated := option.find_default(ctx)) is not None:
            source = ctx.get_parameter_source(option.name)
            if source is not ParameterSource.COMMANDLINE:
                yield option.name, stated
