"""The page docs/reference/settings.md: every option whose default can be stated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import click

from planner.cli._default_settings import SECTIONS, SettingOption, setting_options_of

FoundCommand = tuple[str, click.Command, click.Context]
TableMaker = Callable[[Sequence[str], Iterable[Sequence[str]]], list[str]]


def default_settings(commands: Iterable[FoundCommand], make_table: TableMaker) -> str:
    """Every option whose default a variable or the settings file may state."""
    found: dict[tuple[str, str], tuple[SettingOption, list[str]]] = {}
    for path, command, _ in commands:
        for option in setting_options_of(command):
            found.setdefault((option.section, option.key), (option, []))[1].append(path)
    parts = [
        "# Settings",
        "",
        "Options whose default a variable of the environment or a line of the settings file can state:",
        "[Settings](../guides/settings.md) tells which goes before which.",
    ]
    for section, title in (("", "Of requests and prices"), *((name, f"Under `{name}:`") for name in SECTIONS)):
        rows = [
            (
                f"`{key}`",
                f"`{option.variable}`",
                f"`--{key.replace('_', '-')}`",
                option.help or "",
                ", ".join(f"`{path.removeprefix('planner ')}`" for path in paths),
            )
            for (of, key), (option, paths) in found.items()
            if of == section
        ]
        parts += ["", f"## {title}", "", *make_table(("in the file", "variable", "option", "what", "commands"), rows)]
    return "\n".join(parts)
