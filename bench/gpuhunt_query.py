"""Runs in gpuhunt's own environment: one query of a folder of its files in memory, timed. Prints JSON."""

from __future__ import annotations

import json
import sys
import time
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


def query() -> list[object]:
    return catalog.query(provider=["aws", "azure", "gcp"], gpu_name="H100", min_gpu_count=8, spot=False)


found = query()
times = []
for _ in range(31):
    start = time.perf_counter()
    query()
    times.append((time.perf_counter() - start) * 1000)
json.dump({"version": version("gpuhunt"), "milliseconds": median(times), "rows": len(found)}, sys.stdout)
