"""`planner doctor`: checks the installation."""

from __future__ import annotations

import sys

import click

from pricing.counted_nouns import format_count

PACKAGES = ("planner", "pricing")
TINY_ACCELERATOR = "L4"
"""Rented by the hour by every large cloud."""


@click.command()
@click.pass_context
def command(context: click.Context) -> int:
    """Print the versions of Python and libraries, the owners of the import names, your settings, the catalogue, a tiny
    plan and Terraform.

    Exits with 1 if anything that planning needs is broken; Terraform is optional.
    """
    click.echo(f"python       {sys.version.split()[0]} at {sys.executable}")
    problems = [*_check_owners(), *_check_libraries(), *_check_settings(context), *_check_catalog(), *_check_plugins()]
    if not problems:
        problems = _check_plan()
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


def _check_settings(context: click.Context) -> list[str]:
    from planner.cli._default_settings import SECTIONS, read_settings_file, settings_path
    from planner.request.errors import InvalidRequest

    path = settings_path(context)
    try:
        keys = list(read_settings_file(context).values)
        for section in set(SECTIONS) & set(keys):
            read_settings_file(context, section)
    except InvalidRequest as invalid:
        return [str(complaint) for complaint in invalid.complaints]
    click.echo(f"settings     {', '.join(keys) or 'none'} in {path}")
    return []


def _check_plan() -> list[str]:
    """Plans an hour of one accelerator at the prices in use, and replays the plan: whether the solver works here."""
    from planner.application import plan
    from planner.request.models import parse_request
    from pricing.catalog.price_catalog import Catalog
    from pricing.clock import today

    demand = {"accelerator_hours_per_month": 1, "accelerator": TINY_ACCELERATOR}
    workload = {"name": "tiny", "demand": demand, "may_be_owned": False}
    document = {"months": 1, "as_of": today().isoformat(), "strategies": ["cloud"], "workloads": [workload]}
    try:
        tiny = plan(parse_request(document), Catalog.current())
    except Exception as error:  # noqa: BLE001  (any error: planning does not work)
        return [f"a tiny plan fails: {type(error).__name__}: {error}"]
    if tiny.status != "optimal":
        return [f"a tiny plan is {tiny.status}: {TINY_ACCELERATOR} cannot be rented at the prices in use"]
    cost = next(each.present_cost for each in tiny.strategies if each.name == "cloud")
    click.echo(f"plan         {tiny.status}: one hour of work on {TINY_ACCELERATOR} costs {cost:.2f} USD")
    return []


def _check_plugins() -> list[str]:
    """Every installed plug-in is loaded, and held against its protocol."""
    from planner.library.plugin_registry import find_plugin_problems
    from pricing.installed_plugins import list_plugins

    plugins = [f"{each.name} ({each.source}, {each.group})" for each in list_plugins()]
    click.echo(f"plug-ins     {', '.join(plugins) or 'none'}")
    return find_plugin_problems()


def _check_terraform() -> None:
    from shutil import which

    click.echo(f"terraform    {which('terraform') or 'not installed (needed to provision a plan, not to compute one)'}")
