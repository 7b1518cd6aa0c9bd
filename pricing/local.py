"""What lies in the user's data folder: refreshed snapshots, clouds of their own, private prices, exchange rates.

    <data>/providers/<name>/                a cloud of one's own, in the shape of pricing/providers/<name>/
    <data>/snapshots/<provider>/<id>/       what a refresh or an import wrote: a whole provider folder, never changed
    <data>/snapshots/<provider>/current     the id in use; replaced in one step, after all of its folder was written
    <data>/private-prices.csv               see pricing.private
    <data>/exchange-rates.csv               see pricing.exchange

The embedded snapshot is the fallback, and is used again once an upgrade brings one that was made later.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from pricing.errors import Failed
from pricing.providers import Layout, plug_ins, walk

CURRENT = "current"
PRIVATE_PRICES = "private-prices.csv"
EXCHANGE_RATES = "exchange-rates.csv"
EMBEDDED = "embedded"


@dataclass(frozen=True, slots=True)
class Kept:
    """One snapshot of a provider: `id` is EMBEDDED or the name of its folder; `newest` the date of its newest price
    (ISO), empty where snapshot.toml does not tell."""

    provider: str
    id: str
    path: Path
    newest: str


def folder() -> Path:
    """GPU_PLANNER_DATA, else XDG_DATA_HOME or ~/.local/share and below it gpu-planner; it need not exist."""
    if given := os.environ.get("GPU_PLANNER_DATA", ""):
        return Path(given).absolute()
    given = os.environ.get("XDG_DATA_HOME", "")
    if given.startswith("/"):
        return Path(given) / "gpu-planner"
    with suppress(RuntimeError):
        return Path.home() / ".local" / "share" / "gpu-planner"
    return Path(os.devnull) / "gpu-planner"


def layout(embedded: Layout, data: Path) -> Layout:
    """The catalogue as this user has it: embedded, plug-ins, own clouds and current snapshots, the later wins."""
    whole = base(embedded, data)
    return whole.replaced((kept.provider, kept.path) for each in whole.folders for kept in in_use(*each, data))


def base(embedded: Layout, data: Path) -> Layout:
    """The same without any refreshed snapshot: what a refresh of a provider falls back to."""
    own = [(path.name, path) for path in walk(data)]
    return embedded.replaced(plug_ins()).replaced(own)


def in_use(provider: str, fallback: Path, data: Path) -> Iterator[Kept]:
    """The current snapshot of a provider; nothing where there is none, or where the fallback has later prices."""
    place = data / "snapshots" / provider
    with suppress(OSError, UnicodeDecodeError):
        name = (place / CURRENT).read_text(encoding="utf-8").strip()
        if name and "/" not in name and (place / name / "provider.toml").is_file():
            kept = Kept(provider, name, place / name, newest(place / name))
            if kept.newest >= newest(fallback):
                yield kept


def snapshots(provider: str, fallback: Path, data: Path) -> tuple[Kept, ...]:
    """Every snapshot of a provider that is kept, oldest first; the fallback (embedded or own) is the first."""
    place = data / "snapshots" / provider
    names = sorted(path.parent.name for path in place.glob("*/snapshot.toml") if not path.parent.name.startswith("."))
    kept = [Kept(provider, name, place / name, newest(place / name)) for name in names]
    return (Kept(provider, EMBEDDED, fallback, newest(fallback)), *kept)


def newest(path: Path) -> str:
    """The date of the newest price that a snapshot.toml tells; empty where it tells none."""
    import tomllib

    with suppress(OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return str(tomllib.loads((path / "snapshot.toml").read_text(encoding="utf-8")).get("newest", ""))
    return ""


@contextmanager
def locked(provider: str, data: Path) -> Iterator[None]:
    """Keeps other processes from writing this provider's snapshots; raises Failed("busy") while another does.

    The lock belongs to the process: however that ends, the lock ends with it.
    """
    import fcntl

    place = data / "snapshots" / provider
    place.mkdir(parents=True, exist_ok=True)
    with (place / ".lock").open("a+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Failed("busy", f"another refresh or import of {provider} is at work in {place}") from None
        yield
