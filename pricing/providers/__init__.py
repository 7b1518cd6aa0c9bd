"""One folder per provider, discovered by walking: no list of providers exists.

A folder has provider.toml and regions.csv (maintained by hand), offerings.csv, prices.csv, tiers.csv and snapshot.toml
(made by the import command or by a refresh). It may have sources.csv, accelerators.csv, aliases.csv, fabric.csv,
grid_carbon.csv, machines.csv and sale.csv with additions to the shared tables, and history.csv:
superseded prices, which no plan reads.
A folder with a `fetch.py` can be refreshed. All folders have the same layout.

Installed plug-ins add folders by an entry point of the group `gpu_planner.providers`: its name is the provider's, its
value the package that is the folder.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from pricing.frozen_values import dataclass
from pricing.installed_plugins import find_plugins

SHARED_TABLES = (
    "accelerators.csv", "aliases.csv", "ended.csv", "fabric.csv", "grid_carbon.csv", "machines.csv", "sale.csv",
    "sources.csv", "systems.csv",
)  # fmt: skip
PROVIDER_TABLES = ("provider.toml", "offerings.csv", "prices.csv", "regions.csv", "tiers.csv")
OPTIONAL_TABLES = (
    "accelerators.csv",
    "aliases.csv",
    "fabric.csv",
    "grid_carbon.csv",
    "machines.csv",
    "sale.csv",
    "sources.csv",
)
"""Tables that a folder may have in addition to the shared ones of the same names."""
PLUG_IN_GROUP = "gpu_planner.providers"


@dataclass(frozen=True, slots=True)
class CatalogLayout:
    """Where a catalogue lies: the folder of shared tables, and the folder of each provider, by name."""

    data: Path
    folders: tuple[tuple[str, Path], ...]

    @classmethod
    def of(cls, root: Path) -> CatalogLayout:
        """A catalogue in one folder: `data/` and `providers/<name>/`."""
        return cls(root / "data", tuple((path.name, path) for path in find_provider_folders(root)))

    def replaced(self, folders: Iterable[tuple[str, Path]]) -> CatalogLayout:
        """A copy with these folders added, or in place of those of the same name."""
        return CatalogLayout(self.data, tuple(sorted({**dict(self.folders), **dict(folders)}.items())))

    def without(self, names: Collection[str]) -> CatalogLayout:
        """A copy that lacks these providers."""
        return CatalogLayout(self.data, tuple(folder for folder in self.folders if folder[0] not in names))

    def own(self, table: str) -> Iterator[Path]:
        """The files of that name: the shared one, then those that providers have of their own."""
        yield self.data / table
        yield from (path / table for _, path in self.folders if (path / table).is_file())


def find_provider_folders(root: Path) -> tuple[Path, ...]:
    """The provider folders of the catalogue in `root`, by name: those that hold a provider.toml."""
    return tuple(sorted(path.parent for path in (root / "providers").glob("*/provider.toml")))


def find_plug_in_packages() -> tuple[tuple[str, str], ...]:
    """The packages of installed plug-ins, by provider."""
    return tuple((each.name, each.reference) for each in find_plugins(PLUG_IN_GROUP))


@cache
def find_plug_in_folders() -> tuple[tuple[str, Path], ...]:
    """The folders of installed plug-ins, by provider; the package is located, not imported."""
    from importlib.util import find_spec

    folders = {}
    for name, package in find_plug_in_packages():
        spec = None
        with suppress(ModuleNotFoundError):  # `planner cloud check` reports it
            spec = find_spec(package)
        for place in (spec.submodule_search_locations or ()) if spec else ():
            folders[name] = Path(place)
    return tuple(sorted(folders.items()))


def list_catalog_files(layout: CatalogLayout) -> tuple[Path, ...]:
    """Every file that the content of the catalogue depends on, in a fixed order."""
    shared = (layout.data / name for name in SHARED_TABLES)
    tables = (path / name for _, path in layout.folders for name in PROVIDER_TABLES)
    own = (path / name for _, path in layout.folders for name in OPTIONAL_TABLES if (path / name).is_file())
    return (*shared, *tables, *own)
