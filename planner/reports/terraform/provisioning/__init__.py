"""Facts that Terraform is written from and that need no plan: modules, HCL, purchase commands, CUDA, retired types."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[3]


def find_shipped_folder(name: str) -> Path:
    """The folder `name` (terraform, openapi) inside the installed wheel, or at the top of a checkout.

    Raises FileNotFoundError with both places.
    """
    places = (PACKAGE / "_shipped" / name, PACKAGE.parent / name)
    for place in places:
        if place.is_dir():
            return place
    raise FileNotFoundError(
        f"the folder {name!r} is neither at {places[0]} nor at {places[1]}: the installation is incomplete"
    )


def read_table(name: str) -> str:
    """The text of a table that lies in this folder."""
    return resources.files(__name__).joinpath(name).read_text(encoding="utf-8")
