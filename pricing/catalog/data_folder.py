"""The user's data folder: refreshed snapshots, own clouds, private prices, exchange rates.

    <data>/providers/<name>/                a cloud of one's own, in the shape of pricing/providers/<name>/
    <data>/snapshots/<provider>/<id>/       a complete provider folder from a refresh or an import, never changed
    <data>/snapshots/<provider>/current     the ids that were in use, one a line, the last is; replaced in one step,
                                            after all of a folder was written
    <data>/snapshots/<provider>/quarantine.csv   what the last refresh or import held back
    <data>/private-prices.csv               see pricing.private_prices
    <data>/exchange-rates.csv               see pricing.exchange_rates

The embedded snapshot is the fallback, and is used again once an upgrade brings one that was made later.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pricing.errors import ProviderFailure
from pricing.file_replacement import TEMPORARY_SUFFIX, write_atomically
from pricing.frozen_values import dataclass
from pricing.providers import CatalogLayout, find_plug_in_folders, find_provider_folders

CURRENT_FILE = "current"
QUARANTINE_FILE = "quarantine.csv"
PRIVATE_PRICES_FILE = "private-prices.csv"
EXCHANGE_RATES_FILE = "exchange-rates.csv"
EMBEDDED_ID = "embedded"
STAGE_PREFIX = ".new-"
"""A snapshot while it is written."""


@dataclass(frozen=True, slots=True)
class StoredSnapshot:
    """One snapshot of a provider: `id` is EMBEDDED_ID or the name of its folder; `newest` the date of its newest price
    (ISO), empty if snapshot.toml has none."""

    provider: str
    id: str
    path: Path
    newest: str


def user_data_folder() -> Path:
    """GPU_PLANNER_DATA, else XDG_DATA_HOME or ~/.local/share and below it gpu-planner; it need not exist."""
    if given := os.environ.get("GPU_PLANNER_DATA", ""):
        return Path(given).absolute()
    given = os.environ.get("XDG_DATA_HOME", "")
    if given.startswith("/"):
        return Path(given) / "gpu-planner"
    with suppress(RuntimeError):
        return Path.home() / ".local" / "share" / "gpu-planner"
    return Path(os.devnull) / "gpu-planner"


def current_layout(embedded: CatalogLayout, data: Path) -> CatalogLayout:
    """The catalogue as this user has it: embedded, plug-ins, own clouds and current snapshots, the later wins."""
    whole = base_layout(embedded, data)
    return whole.replaced(
        (stored.provider, stored.path) for each in whole.folders for stored in find_current_snapshot(*each, data)
    )


def base_layout(embedded: CatalogLayout, data: Path) -> CatalogLayout:
    """The same without any refreshed snapshot: the fallback of every provider."""
    own = [(path.name, path) for path in find_provider_folders(data)]
    return embedded.replaced(find_plug_in_folders()).replaced(own)


def find_current_snapshot(provider: str, fallback: Path, data: Path) -> Iterator[StoredSnapshot]:
    """The current snapshot of a provider; none if it has none, or if the fallback has later prices."""
    place = data / "snapshots" / provider
    for name in read_snapshot_log(provider, data)[-1:]:
        if (place / name / "provider.toml").is_file():
            stored = StoredSnapshot(provider, name, place / name, newest_price_date(place / name))
            if stored.newest >= newest_price_date(fallback):
                yield stored


def read_snapshot_log(provider: str, data: Path) -> tuple[str, ...]:
    """The ids of the snapshots that were in use, oldest first; the last is named as current."""
    with suppress(OSError, UnicodeDecodeError):
        lines = (data / "snapshots" / provider / CURRENT_FILE).read_text(encoding="utf-8").splitlines()
        return tuple(name for line in lines if (name := line.strip()) and "/" not in name)
    return ()


def write_snapshot_log(provider: str, data: Path, name: str) -> None:
    """Names a snapshot as current, after those that were so before."""
    log = (*read_snapshot_log(provider, data), name)
    content = "".join(f"{each}\n" for each in log)
    write_atomically(data / "snapshots" / provider / CURRENT_FILE, content.encode())


def list_snapshots(provider: str, fallback: Path, data: Path) -> tuple[StoredSnapshot, ...]:
    """Every stored snapshot of a provider, oldest first; the fallback (embedded or own) is the first."""
    place = data / "snapshots" / provider
    names = sorted(path.parent.name for path in place.glob("*/snapshot.toml") if not path.parent.name.startswith("."))
    stored = [StoredSnapshot(provider, name, place / name, newest_price_date(place / name)) for name in names]
    return (StoredSnapshot(provider, EMBEDDED_ID, fallback, newest_price_date(fallback)), *stored)


def newest_price_date(path: Path) -> str:
    """The date of the newest price in a snapshot.toml; empty if it has none."""
    import tomllib

    with suppress(OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return str(tomllib.loads((path / "snapshot.toml").read_text(encoding="utf-8")).get("newest", ""))
    return ""


@contextmanager
def lock_provider(provider: str, data: Path) -> Iterator[None]:
    """Prevents other writers of this provider's snapshots; raises ProviderFailure: busy while another does, not_written
    where the folder cannot be written.

    The lock belongs to the process: however that ends, the lock ends with it.
    """
    from filelock import FileLock, Timeout

    place = data / "snapshots" / provider
    lock = FileLock(place / ".lock", timeout=0)
    with tell_write_failures(place):
        place.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire()
        except Timeout:
            raise ProviderFailure("busy", f"another refresh or import of {provider} is at work in {place}") from None
    try:
        _clear_leftovers(place)
        yield
    finally:
        lock.release()


def _clear_leftovers(place: Path) -> None:
    """Removes what killed writers left half made; no other writer is at work, because the caller has the lock."""
    for stage in place.glob(f"{STAGE_PREFIX}*"):
        import shutil

        shutil.rmtree(stage, ignore_errors=True)
    for half_written in place.glob(f".*{TEMPORARY_SUFFIX}"):
        with suppress(OSError):
            half_written.unlink()


@contextmanager
def tell_write_failures(place: Path) -> Iterator[None]:
    """A full disk, a read-only folder and their like as a ProviderFailure that names the file."""
    try:
        yield
    except OSError as error:
        problem = error.strerror or str(error)
        raise ProviderFailure("not_written", f"{error.filename or place}: {problem}") from error


FileStamp = tuple[Path, int, int] | None
"""A file with its size and time of change; None without a file."""


def stamp_file(path: Path | None) -> FileStamp:
    """The stamp of a file; sizes and times of 0 where it cannot be read."""
    if path is None:
        return None
    try:
        file_stat = path.stat()
    except OSError:
        return (path, 0, 0)  # reading it will report the problem
    return (path, file_stat.st_size, file_stat.st_mtime_ns)
