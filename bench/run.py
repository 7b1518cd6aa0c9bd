"""How fast it is: each figure a ratio of medians inside one run, beside its goal. `make bench`, or with a peer:

    python bench/run.py --peers    also installs gpuhunt into a throw-away environment and queries the same rows with it

Absolute times are those of this machine at this moment; read the ratios. Nothing here is a test.
"""

from __future__ import annotations

import csv
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median, quantiles

import httpx
from made import by_the_hour, made_catalogue

from planner.offers import Query, find
from planner.service.solve import Solved, solve, warm_up
from pricing.accelerator import match
from pricing.catalog import Catalog, Quote, memory_of_one

HERE = Path(__file__).parent
ROOT = HERE.parent
SCRIPT = Path(sys.executable).with_name("planner")
WORKLOAD = (ROOT / "openapi/examples/measured.request.json").read_bytes()
QUERY = {"as_of": ["2026-11-21"], "months": ["12"], "start": ["2026-12"]}
GPUHUNT_COLUMNS = (
    "instance_name", "location", "price", "cpu", "memory", "gpu_count", "gpu_name", "gpu_memory", "spot", "disk_size",
    "gpu_vendor", "flags", "cpu_arch", "provider_data",
)  # fmt: skip
USUAL = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""Where it is set, Python compiles all of our modules at every start, which no user's does."""
LARGE = 60_000
COLD_RUNS, WARM_RUNS, LOAD_RUNS = 11, 15, 60


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table; `goal` bounds `ratio` from above (`at_most`) or from below."""

    name: str
    amount: float
    ratio: float | None = None
    against: str = ""
    goal: float | None = None
    at_most: bool = True
    unit: str = "ms"

    def line(self) -> str:
        ratio = "" if self.ratio is None else f"{self.ratio:.1f}x {self.against}"
        if self.goal is None or self.ratio is None:
            return f"{self.name:58}{self.amount:10.1f} {self.unit:3}  {ratio}"
        off = self.ratio / self.goal if self.at_most else self.goal / self.ratio
        verdict = "reached" if off <= 1 else f"missed by {off:.2f}x"
        sign = "<=" if self.at_most else ">="
        return f"{self.name:58}{self.amount:10.1f} {self.unit:3}  {ratio:32}goal {sign} {self.goal:g}x: {verdict}"


def timed(work: Callable[[], object]) -> float:
    """Milliseconds that one call takes."""
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def medians(works: Sequence[Callable[[], object]], runs: int) -> list[float]:
    """The median of each, run in turns so that a slow moment of the machine meets all of them."""
    for work in works:
        work()
    times = [[timed(work) for work in works] for _ in range(runs)]
    return [median(column) for column in zip(*times, strict=True)]


def run(*command: str | Path) -> str:
    """What a command prints; an exception where it fails."""
    words = [str(word) for word in command]
    return subprocess.run(words, check=True, capture_output=True, text=True, cwd=ROOT, env=USUAL).stdout


def cold() -> Iterator[Figure]:
    """Whole processes, interpreter and imports included."""
    names = {
        "planner --help, cold": (4.0, ["--help"]),
        "planner offers, cold": (6.0, ["offers", "--accelerator", "H100", "--count", "8", "--limit", "20"]),
        "planner estimate, one workload, cold": (20.0, ["estimate", "--as-of", "2026-11-21", "examples/finetune.yaml"]),
    }
    commands = [partial(run, SCRIPT, *arguments) for _, arguments in names.values()]
    bare, *rest = medians([partial(run, sys.executable, "-c", "pass"), *commands], COLD_RUNS)
    yield Figure("python -c pass, cold", bare)
    for (name, (goal, _)), milliseconds in zip(names.items(), rest, strict=True):
        yield Figure(name, milliseconds, milliseconds / bare, "bare", goal)


def planned(**query: str) -> Callable[[], object]:
    def work() -> None:
        answer = solve(WORKLOAD, QUERY | {name: [text] for name, text in query.items()}, "json")
        assert isinstance(answer, Solved), answer

    return work


def warm() -> Iterator[Figure]:
    """Plans and queries in one process that has done it before."""
    warm_up()
    one, three = medians([planned(strategies="cloud"), planned()], WARM_RUNS)
    yield Figure("plan in process, one strategy, whole catalogue, warm", one)
    yield Figure("plan in process, three strategies, whole catalogue, warm", three, three / one, "one strategy")
    catalog = Catalog.embedded()
    names = [item.name for item in match("H100")]
    query = Query(accelerator=tuple(names), min_count=8, option=("on_demand",))
    quotes, offers = medians([lambda: asked(catalog, names), lambda: find(query, catalog)], 5 * WARM_RUNS)
    yield Figure(f"catalogue query, {len(catalog.quotes()):,} prices, warm", quotes)
    yield Figure("the same as offers (figures per node, gaps), warm", offers, offers / quotes, "the query")


def asked(catalog: Catalog, names: Sequence[str], regions: Collection[str] | None = None) -> list[Quote]:
    """What a peer is asked as well: 8 or more H100 of 40 GiB or more, on demand, in these regions, by price."""
    enough = [
        o
        for o in catalog.priced
        if (o.accelerator_count or 0) >= 8 and (memory_of_one(o, catalog.names.by_name[o.accelerator]) or 0) >= 40
    ]
    return catalog.quotes(accelerators=names, options=["on_demand"], offerings=enough, regions=regions)


AT_EXIT = """import atexit, pathlib, sys
def tell():
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    print(next(line.split()[1] for line in lines if line.startswith("VmHWM")), file=sys.__stdout__)
atexit.register(tell)
"""
"""What a process tells of itself when it ends; what its parent is told counts the parent's own pages too."""


def peak(code: str, ends: int = 0, **more: str) -> float:
    """MiB at most in memory of a Python process that runs `code` and exits with `ends`; `more` is added to its
    environment."""
    words = [sys.executable, "-c", AT_EXIT + code]
    done = subprocess.run(words, cwd=ROOT, env=USUAL | more, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != ends:
        raise subprocess.CalledProcessError(done.returncode, words)
    return int(done.stdout.split()[-1]) / 1024


@contextmanager
def server(*command: str | Path) -> Iterator[str]:
    """The address of a server that runs meanwhile; PORT in the command is replaced by a free one."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    words = [str(part).replace("PORT", port) for part in command]
    nowhere = subprocess.DEVNULL
    running = subprocess.Popen(words, cwd=ROOT, env=USUAL, stdout=nowhere, stderr=nowhere)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            try:
                httpx.get(address)
                break
            except httpx.TransportError:
                time.sleep(0.1)
        yield address
    finally:
        running.terminate()
        running.wait()


def service() -> Iterator[Figure]:
    """POST /plan by a real server, against an echo by FastAPI in the same run; client and servers share the machine."""
    headers = {"content-type": "application/json"}
    params = {name: texts[0] for name, texts in QUERY.items()} | {"strategies": "cloud"}
    with (
        server(SCRIPT, "serve", "--port", "PORT", "--workers", "2") as ours,
        echo() as theirs,
        httpx.Client() as client,
    ):

        def plan() -> httpx.Response:
            answer = client.post(f"{ours}/plan", params=params, content=WORKLOAD, headers=headers, timeout=120)
            return answer.raise_for_status()

        def echoed() -> httpx.Response:
            return client.post(theirs, content=WORKLOAD, headers=headers).raise_for_status()

        one, other = medians([plan, echoed], WARM_RUNS)
        yield Figure("POST /plan, one workload, one strategy, warm", one, one / other, "FastAPI echo")
        with ThreadPoolExecutor(2) as threads:
            list(threads.map(lambda _: plan(), range(6)))  # the second worker starts when two clients ask at once
            start = time.perf_counter()
            times = list(threads.map(lambda _: timed(plan), range(LOAD_RUNS)))
            a_second = LOAD_RUNS / (time.perf_counter() - start)
        cuts = quantiles(times, n=100)
        yield Figure("POST /plan, two clients, p50", cuts[49])
        yield Figure("POST /plan, two clients, p99", cuts[98], cuts[98] / cuts[49], "p50", 5.0)
        yield Figure(
            f"POST /plan, two workers: {a_second:.0f} plans a second",
            1000 / a_second,
            a_second / 30,
            "30/s",
            1.0,
            at_most=False,
        )


@contextmanager
def echo() -> Iterator[str]:
    with server(
        sys.executable, "-m", "uvicorn", "--app-dir", HERE, "--port", "PORT", "--log-level", "error", "echo:app"
    ) as at:
        yield at


def large() -> Iterator[Figure]:
    """A catalogue of 60,000 prices, made for this run (synthetic: the shipped ones in made regions)."""
    names = [item.name for item in match("H100")]
    with tempfile.TemporaryDirectory() as folder:
        catalog = made_catalogue(Path(folder), LARGE)
        opening = f"from pathlib import Path; here = Path({folder!r}); from pricing.catalog import Catalog"
        question = f"Catalog.read(here, here / 'cache').quotes(accelerators={names!r}, options=['on_demand'])"
        commands = [partial(run, sys.executable, "-c", code) for code in ("pass", f"{opening}; {question}")]
        bare, opened = medians(commands, COLD_RUNS)
        yield Figure("catalogue query, 60,000 prices, cold", opened, opened / bare, "bare")
        [ours] = medians([lambda: asked(catalog, names)], 5 * WARM_RUNS)
        yield Figure("catalogue query, 60,000 prices, warm", ours)
        whole = f"{opening}; catalog = Catalog.read(here, here / 'cache'); len(catalog.quotes())"
        parsed = "import csv, pathlib; rows = [r for p in pathlib.Path({!r}).glob('providers/*/prices.csv')"
        parsed = f"{parsed} for r in csv.DictReader(p.open())]".format(folder)
        loads = [partial(run, sys.executable, "-c", code) for code in (parsed, whole)]
        plain, loaded = medians(loads, COLD_RUNS)
        yield Figure("all 60,000 prices loaded as values, cold", loaded, loaded / plain, "csv.DictReader of the same")
        memory = [peak(code) for code in ("pass", parsed, f"{opening}; {question}", whole)]
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
            code = f"import sys; from planner.cli._run import run; sys.exit(run({command!r}))"
            start = time.perf_counter()
            used = peak(code, ends=4, GPU_PLANNER_DATA=folder, AZURE_SUBSCRIPTION_ID="")  # sizes need an account
            found.append((used, (time.perf_counter() - start) * 1000))
    (small, _), (large_, took) = found
    yield Figure("refresh, 10,000 rows, memory", small, unit="MiB")
    yield Figure("refresh, 1,000,000 rows, memory", large_, large_ / small, "10,000 rows", 1.2, unit="MiB")
    yield Figure("refresh, 1,000,000 rows, time", took)


def main(arguments: Sequence[str]) -> None:
    out = sys.stdout
    groups: list[Callable[[], Iterator[Figure]]] = [cold, warm, large, feed, service]
    for group in groups:
        out.write(f"\n{(group.__doc__ or '').splitlines()[0]}\n")
        for figure in group():
            out.write(f"  {figure.line()}\n")
            out.flush()
    if "--peers" not in arguments:
        out.write(
            "\nskipped: gpuhunt's query of the same rows, goal >= 40x (python bench/run.py --peers installs it)\n"
        )
    out.write("skipped: SkyPilot's optimize of one task, goal >= 8x (it is not installed by this script)\n")


if __name__ == "__main__":
    main(sys.argv[1:])
