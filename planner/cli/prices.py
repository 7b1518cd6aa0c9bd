"""`planner prices`: where the catalogue comes from and how old it is."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from pricing.catalog import Coverage
    from pricing.importer import Report


@click.group(short_help="Import prices; tell what the catalogue covers and how old it is.")
def command() -> None:
    """Import prices into the catalogue, and tell what it covers.

    \b
    Examples:
      planner prices status
      planner prices import facts/
    """


@command.command("status", short_help="What the catalogue covers and how old it is.")
def status() -> None:
    """Prices and their dates by provider and purchase option, and the types that have none: gaps in every plan."""
    from planner.clock import today
    from pricing.catalog import Catalog

    catalog = Catalog.embedded()
    click.echo(f"catalogue {catalog.digest}, oldest price of a current type {_age(catalog.oldest(), today())}\n")
    click.echo(f"{'provider':10}{'purchase option':44}{'types':>7}{'prices':>8}  {'oldest':12}newest")
    by_option = sorted(catalog.coverage(), key=_option)
    for (provider, option), lines in groupby((line for line in by_option if not line.retired), _option):
        rows = list(lines)
        types, prices = sum(line.offerings for line in rows), sum(line.prices for line in rows)
        oldest, newest = min(line.oldest for line in rows), max(line.newest for line in rows)
        click.echo(f"{provider:10}{option:44}{types:7,}{prices:8,}  {oldest!s:12}{newest!s}")
    retired = sum(offering.status == "retired" for offering in catalog.offerings.values())
    click.echo(f"\n{retired} retired types are kept for their names and never planned")
    unpriced = catalog.unpriced()
    click.echo(f"{len(unpriced)} types have no price in any region: gaps, never candidates")
    for offering in unpriced:
        click.echo(f"  {offering.provider} {offering.instance_type} ({offering.accelerator})")


def _option(line: Coverage) -> tuple[str, str]:
    return line.provider, line.option


def _age(day: date, today: date) -> str:
    days = (today - day).days
    return f"{day} ({days} day{'s' if days != 1 else ''} old)"


@command.command("import", short_help="Make the catalogue from a folder of fact tables.")
@click.argument("folder")
def import_(folder: str) -> int:
    """Turn the fact tables in FOLDER into the provider folders of the catalogue.

    The tables are read and judged whole; one fault and nothing is written.
    """
    from pathlib import Path

    from planner.cli._ends import refuse
    from planner.cli._run import DONE
    from pricing.catalog import ROOT
    from pricing.errors import BadSnapshot
    from pricing.importer import import_facts

    if not Path(folder).is_dir():
        return refuse([f"{folder}: there is no such folder"])
    try:
        report = import_facts(Path(folder), ROOT)
    except BadSnapshot as error:
        return refuse(error.faults)
    for line in told(report):
        click.echo(line)
    return DONE


def told(report: Report) -> Iterator[str]:
    """What an import took in, one figure a line."""
    from dataclasses import fields

    for field in fields(report):
        value = getattr(report, field.name)
        text = f"{value:,}" if isinstance(value, int) else str(value)
        if isinstance(value, tuple):
            text = ", ".join(value) or "nothing"
        elif isinstance(value, dict):
            text = "; ".join(f"{count:,} {reason}" for reason, count in value.items()) or "nothing"
        yield f"{field.name.replace('_', ' '):12} {text}"
