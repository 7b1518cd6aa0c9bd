"""One workload by our three strategies and by SkyPilot's optimizer on its own task, of the same prices.

SkyPilot ranks prices by the hour; a plan of ours looks at 12 months, commitments and owned systems as well. Its
environment and its catalogue are made for this run and thrown away. `python bench/run.py --peers` calls it.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path

from measure import Figure, medians
from portfolio import AS_OF

from planner.application import plan
from planner.request.models import parse_request
from pricing.catalog.price_catalog import Catalog

HERE = Path(__file__).parent
ACCELERATOR, NAME, COUNT = "H100-80GB-SXM", "H100", 8
CLOUDS = ("aws", "gcp")
COLUMNS = (
    "InstanceType", "AcceleratorName", "AcceleratorCount", "vCPUs", "MemoryGiB", "GpuInfo", "Price", "SpotPrice",
    "Region", "AvailabilityZone", "Arch",
)  # fmt: skip
REQUEST = {
    "as_of": AS_OF,
    "months": 12,
    "workloads": [
        {
            "name": "training",
            "kind": "training",
            "gang": COUNT,
            "demand": {"accelerator": ACCELERATOR, "accelerator_hours_per_month": 5840},
        }
    ],
}


def skypilot() -> Iterator[Figure]:
    """One workload, 12 months, three strategies against SkyPilot's optimize of one task, both warm."""
    catalog = Catalog.embedded()
    request = parse_request(REQUEST)
    [ours] = medians([lambda: plan(request, catalog)], 15)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        venv.create(place / "venv", with_pip=True)
        python = place / "venv/bin/python"
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "skypilot"]
        subprocess.run(pip, check=True, capture_output=True)
        rows = export(catalog, place / ".sky/catalogs/v8")
        told = subprocess.run(
            [python, HERE / "skypilot_task.py", f"{NAME}:{COUNT}"],
            check=True, capture_output=True, text=True, timeout=300, cwd=folder,
            env={"PATH": os.environ["PATH"], "HOME": folder, "SKYPILOT_DISABLE_USAGE_COLLECTION": "1"},
        ).stdout  # fmt: skip
    theirs = json.loads(told.splitlines()[-1])
    sys.stderr.write(f"SkyPilot chose {theirs['chosen']}\n")
    title = f"SkyPilot {theirs['version']} optimize of one task, {rows:,} rows"
    yield Figure(title, theirs["milliseconds"])
    yield Figure(
        f"our plan in three strategies, {len(catalog.quotes()):,} prices",
        ours, theirs["milliseconds"] / ours, "faster", 8.0, at_most=False,
    )  # fmt: skip


def export(catalog: Catalog, folder: Path) -> int:
    """Prices by the hour as SkyPilot's files; gives the number of rows. Its zones are our regions' first."""
    prices: dict[tuple[str, str, str], dict[str, float]] = {}
    quotes = {}
    for quote in catalog.quotes(options=["on_demand", "spot"], providers=CLOUDS):
        key = (quote.price.provider, quote.price.region, quote.price.instance_type)
        if (quote.offering.accelerator_count or 0) >= 1:
            prices.setdefault(key, {})[quote.price.kind] = quote.price.price_per_hour
            quotes[key] = quote
    names = set()
    for cloud in CLOUDS:
        (folder / cloud).mkdir(parents=True)
        with (folder / cloud / "vms.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            for (_, region, name), found in ((key, row) for key, row in prices.items() if key[0] == cloud):
                offering = quotes[cloud, region, name].offering
                accelerator = NAME if offering.accelerator == ACCELERATOR else offering.accelerator
                accelerator += "-MEGA" if name.startswith("a3-mega") else ""  # as SkyPilot tells the two types apart
                names.add(accelerator)
                count = float(offering.accelerator_count or 0)
                writer.writerow(
                    (name, accelerator, count, offering.vcpus or "", offering.memory_gib or "", "",
                     found.get("on_demand", ""), found.get("spot", ""), region, f"{region}a", "x86_64")
                )  # fmt: skip
    (folder / "aws/images.csv").write_text("Tag,Region,OS,OSVersion,ImageId,CreationDate\n")
    (folder / "gcp/images.csv").write_text("Tag,ImageId,CreationDate\n")
    (folder / "aws/instance_quota_mapping.csv").write_text("InstanceType,OnDemandInstanceCode,SpotInstanceCode\n")
    (folder / "common").mkdir()
    lines = "".join(f'{name},"AWS,GCP"\n' for name in sorted(names))
    (folder / "common/accelerators.csv").write_text(f"AcceleratorName,Clouds\n{lines}")
    return len(prices)
