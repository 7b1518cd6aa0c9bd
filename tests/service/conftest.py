"""The store on both databases that it may be on, each real and empty."""

from __future__ import annotations

import secrets
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import URL, Connection, create_engine, make_url, text

from planner.service.store import NewJob, ServiceStore, open_store


def _psycopg_url(uri: str) -> URL:
    return make_url(uri).set(drivername="postgresql+psycopg")


@contextmanager
def _connect(uri: str) -> Iterator[Connection]:
    """A connection to a server outside a transaction."""
    engine = create_engine(_psycopg_url(uri), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        yield connection
    engine.dispose()


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The URL of a PostgreSQL server of this run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where it puts its sockets is told as a warning
        import pgserver
    with tempfile.TemporaryDirectory(prefix="planner-postgresql-", ignore_cleanup_errors=True) as folder:
        server = pgserver.get_server(folder)  # runs as another user where this one is root: not below pytest's folder
        with _connect(server.get_uri()) as connection:
            # nothing outlives this run: the end of a server with 32 databases took a minute, written to the disk
            connection.execute(text("ALTER SYSTEM SET fsync = off"))
            connection.execute(text("SELECT pg_reload_conf()"))
        yield server.get_uri()
        server.cleanup()


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request, tmp_path) -> str:
    """The URL of an empty store."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'service.sqlite'}"
    uri = request.getfixturevalue("postgresql")
    name = f"planner_{secrets.token_hex(4)}"
    with _connect(uri) as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    return _psycopg_url(uri).set(database=name).render_as_string(hide_password=False)


@pytest.fixture
def store(store_url) -> Iterator[ServiceStore]:
    opened = open_store(store_url)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def new_job() -> Callable[..., NewJob]:
    """Makes a job that differs from the others by its digest."""

    def make(digest: str = "", **changed: object) -> NewJob:
        values = {
            "project": "default", "kind": "plan", "body": b"body", "file_name": "request", "is_file": False,
            "answers": b"", "query": "{}", "format": "json", "compare_to": "", "digest": digest or secrets.token_hex(4),
            "catalogue_digest": "prices", "version": "1", "lane": "short", "effort": 1.0, "durable": True,
        }  # fmt: skip
        return NewJob(**values | changed)

    return make
