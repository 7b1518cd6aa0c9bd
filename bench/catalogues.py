"""Queries of large catalogues, ours and gpuhunt's of the same rows, and refreshes over long feeds."""

from __future__ import annotations

import csv
import json
import sys
import tempfile
import time
import venv
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from pathlib import Path

from made import by_the_hour, made_catalogue
from measure import COLD_RUNS, HERE, WARM_RUNS, Figure, medians, peak, run, server

from pricing.accelerator import match
from pricing.catalog.price_catalog import Catalog
from pricing.catalog.quotes import Quote, usable_accelerator_memory

LARGE = 60_000
GPUHUNT_COLUMNS = (
    "instance_name", "location", "price", "cpu", "memory", "gpu_count", "gpu_name", "gpu_memory", "spot", "disk_size",
    "gpu_vendor", "flags", "cpu_arch", "provider_data",
)  # fmt: skip


def asked(catalog: Catalog, names: Sequence[str], regions: Collection[str] | None = None) -> list[Quote]:
    """What a peer is asked as well: 8 or more H100 of 40 GiB or more, on demand, in these regions, by price."""
    enough = [
        o
        for o in catalog.priced
        if (o.accelerator_count or 0) >= 8
        and (usable_accelerator_memory(o, catalog.names.by_name[o.accelerator]) or 0) >= 40
    ]
    return catalog.quotes(accelerators=names, options=["on_demand"], offerings=enough, regions=regions)


def large() -> Iterator[Figure]:
    """A catalogue of 60,000 prices, made for this run (synthetic: the shipped ones in made regions)."""
    names = [item.name for item in match("H100")]
    with tempfile.TemporaryDirectory() as folder:
        catalog = made_catalogue(Path(folder), LARGE)
        opening = (
            f"from pathlib import Path; here = Path({folder!r}); from pricing.catalog.price_catalog import Catalog"
        )
        question = f"Catalog.read(here, here / 'cache').quotes(accelerators={names!r}, options=['on_demand'])"
        commands = [partial(run, sys.executable, "-c", code) for code in ("pass", f"{opening}\n{question}")]
        bare, opened = medians(commands, COLD_RUNS)
        yield Figure("catalogue query, 60,000 prices, cold", opened, opened / bare, "bare")
        [ours] = medians([lambda: asked(catalog, names)], 5 * WARM_RUNS)
        yield Figure("catalogue query, 60,000 prices, warm", ours)
        whole = f"{opening}\ncatalog = Catalog.read(here, here / 'cache'); len(catalog.quotes())"
        parsed = "import csv, pathlib; rows = [r for p in pathlib.Path({!r}).glob('providers/*/prices.csv')"
        parsed = f"{parsed} for r in csv.DictReader(p.open())]".format(folder)
        loads = [partial(run, sys.executable, "-c", code) for code in (parsed, whole)]
        plain, loaded = medians(loads, COLD_RUNS)
        yield Figure("all 60,000 prices loaded as values, cold", loaded, loaded / plain, "csv.DictReader of the same")
        memory = [peak(code) for code in ("pass", parsed, f"{opening}\n{question}", whole)]
        yield Figure("memory: csv.DictReader of the same", memory[1], memory[1] / memory[0], "bare", unit="MiB")
        yield Figure("memory: one query", memory[2], memory[2] / memory[0], "bare", unit="MiB")
        yield Figure("memory: all prices as values", memory[3], memory[3] / memory[1], "csv.DictReader", unit="MiB")
        if "--peers" in sys.argv:
            yield from gpuhunt(catalog, names)


def gpuhunt(catalog: Catalog, names: Sequence[str]) -> Iterator[Figure]:
    """The same rows and the same question in gpuhunt's memory, in an environment that is thrown away."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        venv.create(place / "venv", with_pip=True)
        python = place / "venv/bin/python"
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "gpuhunt")
        rows = export(catalog, place / "catalog")
        (place / "regions").write_text("\n".join(half_of_regions(catalog)))
        theirs = json.loads(run(python, HERE / "gpuhunt_query.py", place / "catalog", place / "regions"))
    half = frozenset(half_of_regions(catalog))
    for regions, told in ((None, "everywhere"), (half, f"in {len(half)} regions")):
        their = theirs["half" if regions else "all"]
        [ours] = medians([partial(asked, catalog, names, regions)], 5 * WARM_RUNS)
        yield Figure(f"gpuhunt {theirs['version']} query of {rows:,} rows, {told}", their["milliseconds"])
        against = f"faster ({len(asked(catalog, names, regions))} against {their['rows']} rows)"
        yield Figure("our query of the same", ours, their["milliseconds"] / ours, against, 40.0, at_most=False)
    yield Figure("gpuhunt: these rows loaded, memory", theirs["mib"], unit="MiB")


def half_of_regions(catalog: Catalog) -> list[str]:
    """Every second region that has a price by the hour."""
    return sorted({quote.price.region for quote in by_the_hour(catalog)})[::2]


def export(catalog: Catalog, folder: Path) -> int:
    """Prices by the hour as gpuhunt's files; gives the number of rows."""
    folder.mkdir()
    quotes = by_the_hour(catalog)
    for provider in catalog.providers:
        with (folder / f"{provider}.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, GPUHUNT_COLUMNS, restval="")
            writer.writeheader()
            writer.writerows(gpuhunt_row(quote) for quote in quotes if quote.price.provider == provider)
    return len(quotes)


def gpuhunt_row(quote: Quote) -> dict[str, object]:
    return {
        "instance_name": quote.price.instance_type,
        "location": quote.price.region,
        "price": quote.price.price_per_hour,
        "cpu": int(quote.offering.vcpus or 1),
        "memory": quote.offering.memory_gib or 1,
        "gpu_count": int(quote.offering.accelerator_count or 0),
        "gpu_name": quote.accelerator.model,
        "gpu_memory": quote.accelerator.memory_gib or 1,
        "spot": quote.price.kind == "spot",
        "gpu_vendor": "nvidia",
        "provider_data": "{}",
    }


def feed() -> Iterator[Figure]:
    """A refresh over feeds of 10,000 and of 1,000,000 rows, made for this run, read by the real SDK over HTTP."""
    found = []
    for rows in (10_000, 1_000_000):
        with tempfile.TemporaryDirectory() as folder, server(sys.executable, HERE / "feed.py", "PORT", rows) as at:
            endpoints = ["--endpoint", f"azure.prices={at}", "--endpoint", "azure.compute=http://127.0.0.1:9"]
            command = ["prices", "refresh", "--provider", "azure", "--regions", "eastus", *endpoints]
            code = f"import sys; from planner.cli._exit_codes import run; sys.exit(run({command!r}))"
            start = time.perf_counter()
            used = peak(code, ends=4, GPU_PLANNER_DATA=folder, AZURE_SUBSCRIPTION_ID="")  # sizes need an account
            found.append((used, (time.perf_counter() - start) * 1000))
    (small, _), (large_, took) = found
    yield Figure("refresh, 10,000 rows, memory", small, unit="MiB")
    yield Figure("refresh, 1,000,000 rows, memory", large_, large_ / small, "10,000 rows", 1.2, unit="MiB")
    yield Figure("refresh, 1,000,000 rows, time", took)
