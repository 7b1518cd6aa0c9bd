"""`planner doctor`: checks the installation."""

from __future__ import annotations

import sys

import click

from pricing.counted_nouns import format_count

PACKAGES = ("planner", "pricing")


@click.command(short_help="Check this installation.")
def command() -> int:
    """Print the versions of Python and libraries, the owners of the import names, the catalogue and Terraform.

    Exits with 1 if anything that planning needs is broken; Terraform is optional.
    """
    click.echo(f"python       {sys.version.split()[0]} at {sys.executable}")
    problems = [*_check_owners(), *_check_libraries(), *_check_catalog()]
    _check_terraform()
    for problem in problems:
        click.echo(f"problem: {problem}", err=True)
    return 1 if problems else 0


def _check_owners() -> list[str]:
    """Other distributions on the public index also install packages of these names."""
    from importlib import import_module
    from importlib.metadata import packages_distributions, version

    problems = []
    owners = packages_distributions()
    click.echo(f"gpu-planner  {version('gpu-planner')}")
    for name in PACKAGES:
        place = import_module(name).__file__
        owned_by = sorted(set(owners.get(name, []))) or ["gpu-planner (editable)"]
        click.echo(f"{name:12} {', '.join(owned_by)}: {place}")
        problems += (
            [f"another distribution also owns the name {name}: {', '.join(owned_by)}"] if len(owned_by) > 1 else []
        )
    return problems


def _check_libraries() -> list[str]:
    from importlib.metadata import PackageNotFoundError, requires, version
    from re import match

    problems = []
    versions = []
    for requirement in requires("gpu-planner") or ():
        name_match = match(r"[A-Za-z0-9_.-]+", requirement)
        if not name_match or "extra ==" in requirement:
            continue
        try:
            versions.append(f"{name_match[0]} {version(name_match[0])}")
        except PackageNotFoundError:
            problems.append(f"{requirement} is missing")
    click.echo(f"libraries    {', '.join(versions)}")
    return problems


def _check_catalog() -> list[str]:
    from pricing.catalog.price_catalog import Catalog
    from pricing.clock import today
    from pricing.errors import PricingError

    try:
        catalog = Catalog.current()
        oldest = catalog.oldest()
    except PricingError as error:
        return [f"the catalogue cannot be read: {error}"]
    days = (today() - oldest).days
    click.echo(f"catalogue    {catalog.digest}, oldest price in use {oldest} ({format_count(days, 'day')})")
    return []


def _check_terraform() -> None:
    from shutil import which

    click.echo(f"terraform    {which('terraform') or 'not installed (needed to provision a plan, not to compute one)'}")
