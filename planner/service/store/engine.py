"""Opens the store by its URL, and brings its tables up to date."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnectionError

from planner.service.store.service_store import ServiceStore
from pricing.catalog.data_folder import user_data_folder

STORE_FILE = "service.sqlite"
BUSY_TIMEOUT_S = 30
"""How long SQLite waits for another writer."""
BUSY_PAUSE_S = 0.02
"""Between two tries of what SQLite refuses at once, without a wait for the other writer."""
MIGRATIONS = Path(__file__).with_name("migrations")
UPGRADE_LOCK = 4_276_501
"""An arbitrary number that those who upgrade a PostgreSQL store agree on."""
POSTGRESQL_DRIVER = "postgresql+psycopg"
CONNECT_TIMEOUT_S = 5
"""How long a connection to PostgreSQL may take: a machine that is gone never answers."""
STORE_OUTAGES: tuple[type[SQLAlchemyError], ...] = (OperationalError, InterfaceError, NoConnectionError)
"""Errors of a store that does not answer; it may answer later."""


def default_store_url() -> str:
    """A SQLite file in the user's data folder, which is made if it does not exist. Raises OSError if it cannot be."""
    folder = user_data_folder()
    folder.mkdir(parents=True, exist_ok=True)
    return sqlite_url(folder / STORE_FILE)


def sqlite_url(file: Path) -> str:
    """The URL of a SQLite file."""
    return f"sqlite:///{file}"


def open_store(url: str) -> ServiceStore:
    """The store at a URL, with current tables. Raises sqlalchemy.exc.SQLAlchemyError if it cannot be reached."""
    engine = open_engine(url)
    upgrade_tables(engine)
    return ServiceStore(engine)


def open_engine(url: str) -> Engine:
    """The engine of a store, SQLite or PostgreSQL."""
    parsed = make_url(url)
    if parsed.drivername in ("postgresql", "postgres"):
        parsed = parsed.set(drivername=POSTGRESQL_DRIVER)
    if parsed.get_backend_name() != "sqlite":
        parsed = parsed.update_query_dict({"connect_timeout": str(CONNECT_TIMEOUT_S), **parsed.query})
        return create_engine(parsed, pool_pre_ping=True, pool_size=10, max_overflow=20)
    engine = create_engine(parsed, connect_args={"timeout": BUSY_TIMEOUT_S, "check_same_thread": False})
    event.listen(engine, "connect", _configure_sqlite)
    event.listen(engine, "begin", _begin_in_sqlite)
    return engine


def _configure_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = None  # transactions begin below, not where Python's driver thinks fit
    _write_ahead(connection)
    connection.execute("PRAGMA synchronous=NORMAL")


def _write_ahead(connection: Any) -> None:
    """Let the file have a write-ahead log. SQLite refuses this at once where another connection has a lock, whatever
    the busy timeout is: replicas that start together on a new file would meet it."""
    end = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            is_busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY  # the rest of the code tells why it is
            if not is_busy or time.monotonic() > end:
                raise
        time.sleep(BUSY_PAUSE_S)


def _begin_in_sqlite(connection: Connection) -> None:
    """A transaction that will write takes the lock at its start: one that first reads could not wait for it later."""
    reads = connection.get_execution_options().get("reads", False)
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")


def upgrade_tables(engine: Engine) -> str:
    """Run the migrations that the store has not had, and give its version; replicas that start together wait for each
    other."""
    from alembic import command
    from alembic.config import Config
    from alembic.runtime.migration import MigrationContext

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": UPGRADE_LOCK})
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        return str(MigrationContext.configure(connection).get_current_revision())
