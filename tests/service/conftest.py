"""The store on both databases that it may be on, each real and empty."""

from __future__ import annotations

import secrets
import tempfile
import warnings
from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import create_engine, make_url, text

from planner.service.store import NewJob, ServiceStore, open_store


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The URL of a PostgreSQL server of this run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where it puts its sockets is told as a warning
        import pgserver
    with tempfile.TemporaryDirectory(prefix="planner-postgresql-", ignore_cleanup_errors=True) as folder:
        server = pgserver.get_server(folder)  # runs as another user where this one is root: not below pytest's folder
        yield server.get_uri()
        server.cleanup()


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request, tmp_path) -> str:
    """The URL of an empty store."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'service.sqlite'}"
    server = make_url(request.getfixturevalue("postgresql")).set(drivername="postgresql+psycopg")
    name = f"planner_{secrets.token_hex(4)}"
    engine = create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return server.set(database=name).render_as_string(hide_password=False)


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
