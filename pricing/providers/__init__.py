"""One folder a provider, found by walking: there is no list of providers anywhere.

A folder holds provider.toml (kept by hand), regions.csv (kept by hand), offerings.csv, prices.csv, tiers.csv and
snapshot.toml (made by the import command). Whoever knows one folder knows all.
"""

from __future__ import annotations

from pathlib import Path

SHARED = ("accelerators.csv", "aliases.csv", "sources.csv", "systems.csv")
TABLES = ("provider.toml", "offerings.csv", "prices.csv", "regions.csv", "tiers.csv")


def walk(root: Path) -> tuple[Path, ...]:
    """The provider folders of the catalogue in `root`, by name: those that hold a provider.toml."""
    return tuple(sorted(path.parent for path in (root / "providers").glob("*/provider.toml")))


def files(root: Path) -> tuple[Path, ...]:
    """Every file that the content of the catalogue in `root` depends on, in a fixed order."""
    return (*(root / "data" / name for name in SHARED), *(folder / name for folder in walk(root) for name in TABLES))
