"""Where things lie that are shipped beside the code: the folders `terraform` and `openapi`. Knows nothing of plans.

`shipped.hcl` writes and reads Terraform text, `shipped.pools` tells what the Terraform modules take.
"""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[3]


def find_shipped_folder(name: str) -> Path:
    """The folder `name` inside the installed wheel, or at the top of the repository in a checkout.

    Raises FileNotFoundError that names both places.
    """
    places = (PACKAGE / "_shipped" / name, PACKAGE.parent / name)
    for place in places:
        if place.is_dir():
            return place
    raise FileNotFoundError(
        f"the folder {name!r} is neither at {places[0]} nor at {places[1]}: the installation is incomplete"
    )
