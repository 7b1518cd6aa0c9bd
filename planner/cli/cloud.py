"""`planner cloud`: clouds of one's own, beside those that are shipped."""

from __future__ import annotations

import click


@click.group(short_help="Clouds of your own: begin one, check it, list them.")
def command() -> None:
    """A cloud that is not shipped is a folder of tables in your data folder; it is in use as soon as it lies there.

    \b
    Examples:
      planner cloud new acme --title "Acme Cloud" --currency EUR
      planner cloud check acme
      planner cloud list
    """


@command.command("new", short_help="Begin a folder for a provider.")
@click.argument("name", metavar="NAME")
@click.option("--title", default="", metavar="TEXT", help="What a reader sees.  [default: NAME]")
@click.option("--currency", default="USD", show_default=True, metavar="CODE", help="Of its price list.")
def new(name: str, title: str, currency: str) -> int:
    """Write empty tables for the provider NAME, and a README.md that says what goes into each column.

    What is there is never overwritten.
    """
    from planner.cli._provider_folders import create_folder

    return create_folder(name, title, currency)


@command.command("check", short_help="Tell what is wrong with a provider's folder, or what it holds.")
@click.argument("asked", metavar="[NAME|FOLDER]", required=False)
def check(asked: str | None) -> int:
    """Read a provider by its name, a folder anywhere, or all own clouds and plug-ins.

    Every fault is told with its file and line, and exit code 2; else what the folder holds and what it lacks.
    """
    from planner.cli._provider_folders import check_folders

    return check_folders(asked)


@command.command("list", short_help="Every provider and where it comes from.")
def list_command() -> int:
    """List every provider: embedded, plug-in or own, the snapshot in use, and where its tables lie."""
    from planner.cli._provider_folders import list_providers

    return list_providers()
