"""The facts that the modules of Google Cloud hold, against the catalogue; no binary is needed."""

from __future__ import annotations

import re

from planner.reports.terraform.provisioning import find_shipped_folder
from pricing.catalog.price_catalog import Catalog

GCP = find_shipped_folder("terraform") / "gcp"


def test_files_that_modules_share_are_the_same_and_no_links() -> None:
    for pattern in (
        "gcp/*/labels.tf", "gcp/*/machines.tf", "gcp/*/networks.tf", "aws/*/efa.tf",
        "*/*/schedule.tf", "*/*/prepare-node.sh", "*/*/check-node.sh",
    ):  # fmt: skip
        copies = [file.read_bytes() for file in GCP.parent.glob(pattern)]
        assert len(copies) > 1, pattern
        assert len(set(copies)) == 1, pattern
    assert not [file for file in GCP.parent.rglob("*") if file.is_symlink()]


def test_a_gang_gets_as_many_interfaces_as_the_catalogue_says() -> None:
    """The first interface, those in networks of their own, and those with RDMA."""
    line = re.compile(r'^    "(\S+)"\s+= \{ plain = (\d+), rdma = (\d+) \}$', re.MULTILINE)
    table = line.findall((GCP / "gpu_pool" / "networks.tf").read_text())
    catalog = Catalog.embedded()
    for name, plain, rdma in table:
        fabric = catalog.fabric(catalog.offerings["gcp", name])
        assert fabric.network_interfaces == 1 + int(plain) + int(rdma), name
        assert ("RoCE" in fabric.rdma) == (int(rdma) > 0), name
    joined = {
        name for (provider, name), offering in catalog.offerings.items()
        if provider == "gcp" and catalog.fabric(offering).rdma not in ("", "ICI") and not name.startswith("a4x")
    }  # fmt: skip
    assert {name for name, _, _ in table} == joined


def test_the_table_of_machines_is_that_of_the_catalogue() -> None:
    line = re.compile(
        r'^    "(\S+)"\s+= \{ accelerators = (\d+), vcpus = (\d+), memory_gib = (\d+), ssd_gib = (\w+) \}$',
        re.MULTILINE,
    )
    table = {found[0]: found[1:] for found in line.findall((GCP / "gpu_pool" / "machines.tf").read_text())}
    known = {}
    for (provider, name), offering in Catalog.embedded().offerings.items():
        if provider == "gcp" and re.match(r"(a2|a3|a4|g2|g4)-", name) and (offering.accelerator_count or 0) >= 1:
            # What local SSD A4 and G4 bring is not in the catalogue.
            ssd = offering.local_ssd_gb or (None if name[:2] in {"a4", "g4"} else 0)
            numbers = (offering.accelerator_count, offering.vcpus, offering.memory_gib, ssd)
            known[name] = tuple("null" if n is None else f"{float(n):g}" for n in numbers)
    assert table == known
