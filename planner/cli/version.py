"""`planner version`: the version of the program."""

from __future__ import annotations

import click


@click.command()
def command() -> None:
    """Print the version of the program, as `planner --version` does."""
    from importlib.metadata import version

    click.echo(f"planner, version {version('gpu-planner')}")
