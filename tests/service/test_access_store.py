"""Keys and audit on both databases, and the migration from the schema before them."""

from __future__ import annotations

import time

from alembic import command
from alembic.config import Config
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


def test_a_store_of_the_first_schema_keeps_its_plans(store_url):
    engine = open_engine(store_url)
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        connection.execute(
            text(
                "INSERT INTO plans (project, digest, plan_id, document, catalogue_digest, version, created)"
                " VALUES ('research', 'd', 'p', :document, 'c', '1', 1)"
            ),
            {"document": b"x"},
        )
    assert upgrade_tables(engine)
    engine.dispose()
    opened = open_store(store_url)
    assert opened.plans.find("research", "p") == StoredPlan("research", "d", "p", b"x", "c", "1")
    assert opened.keys.list() == []
    opened.close()
