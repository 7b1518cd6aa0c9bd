"""Runs in gpuhunt's own environment: queries of a folder of its files in memory, timed. Prints JSON.

It has no filter of regions: what it finds everywhere is then chosen by location, as its user would.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from statistics import median

from gpuhunt import Catalog
from gpuhunt._internal import storage
from gpuhunt._internal.catalog import ProviderCatalog

catalog = Catalog(auto_reload=False)
for path in Path(sys.argv[1]).glob("*.csv"):
    with path.open(newline="") as file:
        catalog.catalog[path.stem] = ProviderCatalog("", list(storage.load(file, provider=path.stem)))
catalog.loaded_at = time.monotonic()
REGIONS = frozenset(Path(sys.argv[2]).read_text().split())


def everywhere() -> list[object]:
    return catalog.query(
        provider=["aws", "azure", "gcp"], gpu_name="H100", min_gpu_count=8, min_gpu_memory=40, spot=False
    )


def in_regions() -> list[object]:
    return [item for item in everywhere() if item.location in REGIONS]


def timed(query: Callable[[], list[object]]) -> dict[str, float]:
    found, times = query(), []
    for _ in range(31):
        start = time.perf_counter()
        query()
        times.append((time.perf_counter() - start) * 1000)
    return {"milliseconds": median(times), "rows": len(found)}


status = Path("/proc/self/status").read_text().splitlines()
mib = int(next(line.split()[1] for line in status if line.startswith("VmHWM"))) / 1024
json.dump({"version": version("gpuhunt"), "all": timed(everywhere), "half": timed(in_regions), "mib": mib}, sys.stdout)
