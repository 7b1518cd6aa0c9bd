"""Every module that a folder walk finds has what the protocol of its folder promises."""

from __future__ import annotations

import inspect
import pkgutil
import re
import subprocess
import sys
from datetime import date
from importlib import import_module
from types import ModuleType
from typing import get_args

import click
import pytest

from planner import reports
from planner.cli import commands
from planner.inputs import file_reader
from planner.inputs.sheet_options import NO_SHEET_OPTIONS
from planner.reports import ReportFormat
from planner.supply.purchase_options import PurchaseOption, load_purchase_options
from pricing.adapters.protocol import ProviderAdapter
from pricing.catalog.price_catalog import ROOT, Catalog
from pricing.price import PurchaseKind
from pricing.providers import OPTIONAL_TABLES, PROVIDER_TABLES, find_provider_folders
from pricing.refresh.price_refresh import load_adapter

REFRESHED = [folder for folder in find_provider_folders(ROOT) if (folder / "fetch.py").is_file()]
"""The others are renewed by imports alone, and plans use them only on request."""


def takes(function: object, protocol: object) -> bool:
    """Whether a module's function takes what the protocol's method takes (less self)."""
    wanted = [name for name in inspect.signature(protocol).parameters if name != "self"]
    return list(inspect.signature(function).parameters) == wanted


@pytest.mark.parametrize(("name", "option"), load_purchase_options().items(), ids=list(load_purchase_options()))
def test_a_way_of_paying(name: str, option: PurchaseOption):
    assert name in get_args(PurchaseKind), "it must be named by the kind of price that it bills"
    assert isinstance(option.COMMITS, bool)
    assert isinstance(option.INTERRUPTS, bool)
    assert option.TITLE
    assert takes(option.payments, PurchaseOption.payments)
    assert takes(option.usable, PurchaseOption.usable)


def test_every_kind_of_price_has_a_way_of_paying():
    assert set(get_args(PurchaseKind)) == set(load_purchase_options())


@pytest.mark.parametrize("name", list(reports.formats()))
def test_an_output_format(name: str):
    module = reports.load(name)
    assert re.fullmatch(r"(\.[a-z0-9]+)+", module.SUFFIX)
    assert "/" in module.MEDIA_TYPE
    assert takes(module.render, ReportFormat.render)
    if reports.folder_format(name):
        first, *others = inspect.signature(module.files).parameters.values()
        assert first.name == "plan"
        assert all(other.default is not inspect.Parameter.empty for other in others)


def test_output_formats_are_told_apart():
    modules = [reports.load(name) for name in reports.formats()]
    assert len({module.SUFFIX for module in modules}) == len(modules)
    assert len({module.MEDIA_TYPE for module in modules}) == len(modules)


@pytest.mark.parametrize("form", file_reader.formats(), ids=lambda form: form.name)
def test_an_input_format(form: file_reader.InputFormat):
    assert form.suffixes or form.is_sure
    assert all(re.fullmatch(r"\.[a-z0-9]+", suffix) for suffix in form.suffixes)
    assert list(inspect.signature(form.claims).parameters) == ["data"]
    assert form.claims(b"") is False
    broken = form.read(b"\x00\x01 not this", f"file{form.suffixes[0] if form.suffixes else ''}", NO_SHEET_OPTIONS)
    assert broken.complaints
    assert all(complaint.message and complaint.place for complaint in broken.complaints)


def test_input_formats_are_told_apart():
    suffixes = [suffix for form in file_reader.formats() for suffix in form.suffixes]
    assert len(set(suffixes)) == len(suffixes)


@pytest.mark.parametrize("name", commands.list_commands(click.Context(commands)))
def test_a_command(name: str):
    command = commands.get_command(click.Context(commands), name)
    assert isinstance(command, click.Command)
    assert command.short_help
    assert command.help


@pytest.mark.parametrize("folder", find_provider_folders(ROOT), ids=lambda folder: folder.name)
def test_a_provider_folder_is_like_the_others(folder):
    tables = {path.name for path in folder.iterdir() if path.suffix == ".csv"} | {"provider.toml"}
    assert tables - {"history.csv", *OPTIONAL_TABLES} == set(PROVIDER_TABLES)
    facts = Catalog.embedded().provider_facts[folder.name]
    code = {"__init__.py", "fetch.py", "testdata"}
    expected = {"snapshot.toml"} | (code if folder in REFRESHED else set())
    assert expected <= {path.name for path in folder.iterdir()}
    assert (facts.name, facts.on_request) == (folder.name, folder not in REFRESHED)


@pytest.mark.parametrize("folder", REFRESHED, ids=lambda folder: folder.name)
def test_an_adapter(folder, project):
    adapter = load_adapter(folder.name)
    assert adapter is not None
    assert adapter.EXTRA in project["project"]["optional-dependencies"]
    assert adapter.SERVICES
    assert adapter.AT_ONCE >= 1
    assert adapter.sources(date(2026, 11, 21))
    assert takes(adapter.tasks, ProviderAdapter.tasks)
    assert takes(adapter.quota_tasks, ProviderAdapter.quota_tasks)
    assert (folder / "testdata" / "README.md").is_file(), "every recorded answer names its source"


def test_no_sdk_is_loaded_by_an_adapter_until_it_reads():
    names = [f"pricing.providers.{folder.name}.fetch" for folder in REFRESHED]
    code = f"import sys, importlib; [importlib.import_module(n) for n in {names!r}]; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert not {name.partition(".")[0] for name in loaded} & {"boto3", "botocore", "azure", "grpc", "proto"}
    assert not [name for name in loaded if name.startswith(("google.cloud", "google.auth"))]


@pytest.mark.parametrize("name", ["supply.purchase_options", "reports", "inputs.formats", "cli"])
def test_every_module_of_a_walk_says_what_it_is(name: str):
    package = import_module(f"planner.{name}")
    modules: list[ModuleType] = [
        import_module(f"planner.{name}.{found.name}") for found in pkgutil.iter_modules(package.__path__)
    ]
    assert modules
    assert [module.__name__ for module in modules if not (module.__doc__ or "").strip()] == []
