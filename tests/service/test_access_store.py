"""Keys and audit on both databases, and the migration from the schema before them."""

from __future__ import annotations

import time
from collections.abc import Mapping

import pytest
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import text

from planner.service.callers import Caller
from planner.service.store.engine import MIGRATIONS, open_engine, open_store, upgrade_tables
from planner.service.store.plans import StoredPlan

ADA = Caller("research", "ada")


def test_a_key_is_found_by_its_whole_text_and_only_its_digest_is_stored(store):
    text_of_key, key = store.keys.create("research", "ada", ("plan", "read"), None)
    assert store.keys.find(text_of_key) == key
    assert key.caller == Caller("research", "ada", frozenset({"plan", "read"}))
    for wrong in (text_of_key[:-1], text_of_key + "x", text_of_key.swapcase(), "", key.id, key.digest):
        assert store.keys.find(wrong) is None
    with store.engine.connect() as connection:
        stored = str(connection.execute(text("SELECT * FROM api_keys")).all())
    assert text_of_key[17:] not in stored


def test_an_ended_key_is_not_found_and_still_listed(store):
    expired, _ = store.keys.create("research", "old", ("read",), time.time() - 1)
    revoked, key = store.keys.create("research", "gone", ("read",), None)
    assert store.keys.revoke(key.id).id == key.id
    assert store.keys.find(expired) is None
    assert store.keys.find(revoked) is None
    assert [each.name for each in store.keys.list()] == ["gone", "old"]


def test_acts_are_counted_by_caller_action_and_time(store):
    """By hand: two plans of ada in research; the same name in finance and another act do not count."""
    began = time.time()
    for caller, action in (
        (ADA, "plan"),
        (ADA, "plan"),
        (ADA, "read"),
        (Caller("finance", "ada"), "plan"),
        (Caller("research", "grace"), "plan"),
    ):
        store.audit.add(caller, action, "p", "r")
    count, first = store.audit.count_since(ADA, "plan", began)
    assert count == 2
    assert began <= first <= time.time()
    later = time.time() + 1
    assert store.audit.count_since(ADA, "plan", later) == (0, later)
    assert [event.caller for event in store.audit.list(limit=2)] == ["grace", "ada"]
    assert {event.project for event in store.audit.list(project="finance")} == {"finance"}


ROWS: Mapping[str, tuple[tuple[str, dict[str, object]], ...]] = {
    "0001": (
        ("plans", {"project": "research", "digest": "d", "plan_id": "p", "document": b"x", "catalogue_digest": "c",
                   "version": "1", "created": 1.0}),
        ("jobs", {"id": "j", "project": "research", "kind": "plan", "body": b"b", "file_name": "f", "is_file": False,
                  "answers": b"", "query": "{}", "format": "json", "compare_to": "", "digest": "q",
                  "catalogue_digest": "c", "version": "1", "lane": "long", "effort": 1.0, "state": "queued",
                  "attempts": 0, "durable": True, "waiters": 0, "reusable": False, "phase": "", "created": 1.0}),
    ),
    "0002": (
        ("api_keys", {"id": "k", "digest": "x", "project": "research", "name": "ada", "scopes": "plan read",
                      "created": 1.0}),
        ("audit", {"id": 1, "time": 1.0, "project": "research", "caller": "ada", "action": "plan", "subject": "p",
                   "request_id": "r"}),
    ),
    "0003": (
        ("reviews", {"id": "v", "project": "research", "plan_id": "p", "title": "October", "state": "{}", "version": 1,
                     "author": "ada", "created": 1.0, "changed": 1.0}),
        ("review_links", {"digest": "l", "project": "research", "review": "v", "author": "ada", "created": 1.0,
                          "expires": 2.0}),
        ("reading_answers", {"project": "research", "question": "q", "choice": "c", "author": "ada", "changed": 1.0}),
        ("price_snapshots", {"digest": "c", "version": "1", "oldest_price": "2026-01-01", "prices": 1, "coverage": "{}",
                             "first_used": 1.0, "last_used": 1.0}),
    ),
}  # fmt: skip
"""A row of each table, by the revision that made the table."""


def revisions() -> list[str]:
    return sorted(script.revision for script in ScriptDirectory(str(MIGRATIONS)).walk_revisions())


def test_every_schema_but_the_last_has_rows_to_keep():
    assert list(ROWS) == revisions()[:-1]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("revision", list(ROWS))
def test_a_store_of_every_earlier_schema_keeps_what_it_has(store_url, revision):
    engine = open_engine(store_url)
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    there = [row for made, rows in ROWS.items() if made <= revision for row in rows]
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        for table, values in there:
            names = ", ".join(values)
            connection.execute(
                text(f"INSERT INTO {table} ({names}) VALUES ({', '.join(f':{name}' for name in values)})"), values
            )
    assert upgrade_tables(engine) == revisions()[-1]
    with engine.connect() as connection:
        for table, values in there:
            (row,) = connection.execute(text(f"SELECT * FROM {table}")).mappings()
            assert {name: row[name] for name in values} == values
    engine.dispose()
    opened = open_store(store_url)
    assert opened.plans.find("research", "p") == StoredPlan("research", "d", "p", b"x", "c", "1")
    assert opened.jobs.claim("one", ["long"], 60).record.id == "j"
    assert [key.name for key in opened.keys.list()] == (["ada"] if revision >= "0002" else [])
    assert [review.title for review in opened.reviews.list("research")] == (["October"] if revision >= "0003" else [])
    opened.close()
