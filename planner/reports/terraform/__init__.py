"""The recommended strategy's cloud part as Terraform: a root that calls the modules of `terraform/`, copied beside it.

Refuses to know any cloud: which module takes an offering, with which arguments, and what a reader has to fill in is
read from the modules themselves. Writes no resource; a user's text reaches Terraform only as a quoted argument.
"""

from __future__ import annotations

import io
import zipfile

from planner.answer import Plan
from planner.reports.terraform._pools import divide, rented, root_inputs
from planner.reports.terraform._readme import readme
from planner.reports.terraform._root import example, main, outputs, variables
from planner.shipped.pools import MODULE_FILES

MEDIA_TYPE = "application/zip"
SUFFIX = ".zip"

EPOCH = (1980, 1, 1, 0, 0, 0)


def render(plan: Plan) -> bytes:
    """All files as a zip; the same plan gives the same bytes (stored, so that no compressor's version shows)."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for path, content in files(plan).items():
            entry = zipfile.ZipInfo(path, EPOCH)
            entry.create_system, entry.external_attr = 3, 0o644 << 16
            archive.writestr(entry, content)
    return target.getvalue()


def files(plan: Plan) -> dict[str, bytes]:
    """Relative path -> content, sorted by path; only a README where there is nothing in a cloud to provision."""
    name = plan.recommendation.strategy
    strategy = plan.strategy(name) if name else None
    pools, refused = divide(rented(plan, strategy)) if strategy else ((), ())
    inputs = root_inputs(pools)
    written = {"README.md": readme(plan, strategy, pools, refused, inputs)}
    if pools:
        written |= {
            "main.tf": main(plan, pools),
            "variables.tf": variables(inputs),
            "outputs.tf": outputs(pools),
            "terraform.tfvars.example": example(inputs),
        }
    encoded = {path: text.encode() for path, text in written.items()}
    for module in (pool.found.module for pool in pools):
        for file in MODULE_FILES:
            encoded[f"modules/{module.provider}/{module.name}/{file}"] = (module.folder / file).read_bytes()
    return dict(sorted(encoded.items()))
