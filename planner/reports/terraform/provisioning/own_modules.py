"""The modules of a provider: those that are shipped, or those that the folder of a cloud of one's own brings.

`terraform_module` of its provider.toml names a folder beside it that holds modules in the shape of
terraform/<provider>/, or a shipped provider whose modules fit it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from planner.reports.terraform.provisioning.module_catalog import (
    EXTRA_VARIABLES,
    POOL_VARIABLES,
    CloudModules,
    TerraformModule,
    load_clouds,
    read_cloud,
)
from planner.reports.terraform.provisioning.reasons import reason
from planner.result.message import Message
from pricing.catalog import data_folder
from pricing.catalog.price_catalog import EMBEDDED_LAYOUT
from pricing.catalog.snapshot_tables import read_provider_facts

FOLDER_NAME = re.compile("[A-Za-z0-9_-]+")


def find_cloud(provider: str) -> CloudModules | Message:
    """The modules of a provider, or the reason why there are none; every fault of one's own is in it."""
    shipped = load_clouds()
    if provider in shipped:
        return shipped[provider]
    faults: list[str] = []
    folders = dict(data_folder.base_layout(EMBEDDED_LAYOUT, data_folder.user_data_folder()).folders)
    facts = read_provider_facts(folders[provider], faults) if provider in folders else {}
    name = str(facts.get("terraform_module", ""))
    if faults:
        return reason("modules_faulty", provider=provider, faults="; ".join(faults))
    if not name:
        return reason("no_modules_for_provider", provider=provider)
    own = folders[provider] / name
    if FOLDER_NAME.fullmatch(name) and (own / "cloud.toml").is_file():
        return _read_own(own, provider)
    if name in shipped:
        return replace(shipped[name], provider=provider)
    fault = f"provider.toml: terraform_module is {name!r}, and neither a folder of that name beside it has a cloud.toml"
    return reason("modules_faulty", provider=provider, faults=f"{fault} nor is it one of {', '.join(shipped)}")


def _read_own(folder: Path, provider: str) -> CloudModules | Message:
    try:
        cloud = read_cloud(folder / "cloud.toml", provider)
        faults = list(_list_faults(cloud))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, re.error) as error:
        faults = [f"{folder.name}: {type(error).__name__}: {error}"]
    return reason("modules_faulty", provider=provider, faults="; ".join(faults)) if faults else cloud


def _list_faults(cloud: CloudModules) -> Iterator[str]:
    """What each module lacks that a plan or its own table fills in."""
    wanted: list[tuple[TerraformModule, set[str]]] = [
        (
            pool,
            {*POOL_VARIABLES, *pool.base_count.split(), *(name for shape in pool.shapes for name in shape.arguments)},
        )
        for pool in cloud.modules
    ]
    wanted += [(extra, set(EXTRA_VARIABLES[extra.kind])) for extra in cloud.extras]
    for module, names in wanted:
        if missing := {*names, *module.arguments} - set(module.variables):
            yield f"{module.name}/variables.tf has no variable {', '.join(sorted(missing))}"
        if unknown := set(module.required_providers) - set(cloud.providers):
            yield f"cloud.toml has no [provider.{', '.join(sorted(unknown))}], which {module.name} requires"
