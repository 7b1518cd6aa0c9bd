"""`planner cloud`: your own clouds, in addition to those of the package."""

from __future__ import annotations

import click


@click.group()
def command() -> None:
    """Manage price tables of clouds that the package lacks: folders in your data folder, in use once they are there.

    \b
    Examples:
      planner cloud new acme --title "Acme Cloud" --currency EUR
      planner cloud check acme
      planner cloud list
    """


@command.command("new", short_help="Create a folder for a provider.")
@click.argument("name", metavar="NAME")
@click.option("--title", default="", metavar="TEXT", help="Title in reports.  [default: NAME]")
@click.option("--currency", default="USD", show_default=True, metavar="CODE", help="Currency of its price list.")
def new(name: str, title: str, currency: str) -> int:
    """Write empty tables for the provider NAME, and a README.md that describes each column.

    Existing files are never overwritten.
    """
    from planner.cli._provider_folders import create_folder

    return create_folder(name, title, currency)


@command.command("check", short_help="List the problems of a provider's folder, or its contents.")
@click.argument("provider", metavar="[NAME|FOLDER]", required=False)
def check(provider: str | None) -> int:
    """Read a provider by its name, a folder anywhere, or all own clouds and plug-ins.

    Print every problem with its file and line and exit with 2; or print what the folder contains and lacks.
    """
    from planner.cli._provider_folders import check_folders

    return check_folders(provider)


@command.command("list", short_help="List every provider and its origin.")
def list_command() -> int:
    """List every provider with its origin (embedded, plug-in or own), snapshot in use and folder."""
    from planner.cli._provider_folders import list_providers

    return list_providers()
