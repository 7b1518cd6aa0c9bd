"""Jobs and plans in the store, on SQLite and on PostgreSQL."""

from __future__ import annotations

import gzip
import sqlite3
import threading
import time
from dataclasses import replace

import pytest
from sqlalchemy import inspect, update

from planner.service.callers import Caller
from planner.service.limits import ServiceLimits
from planner.service.queue import RetentionSchedule
from planner.service.store import JobProgress, open_store
from planner.service.store.engine import open_engine, sqlite_url, upgrade_tables
from planner.service.store.jobs import JobEnd
from planner.service.store.plans import StoredPlan
from planner.service.store.review_tables import READING_ANSWERS, REVIEWS
from planner.service.store.schema import JOBS, PLANS, STORE_TABLES
from planner.service.store.upkeep import SECONDS_PER_DAY, back_up_store, prune_store

ADA = Caller("default", "ada")
DONE = JobEnd("done", 200, plan_id="p", plan_digest="d", reusable=True)


def plan(digest: str = "d", project: str = "default") -> StoredPlan:
    return StoredPlan(project, digest, "p", gzip.compress(b"{}", mtime=0), "prices", "1")


def test_the_migrations_make_the_tables_of_the_code(store_url):
    engine = open_engine(store_url)
    assert upgrade_tables(engine) == upgrade_tables(engine)
    made = inspect(engine)
    for table in STORE_TABLES.sorted_tables:
        columns = {column["name"]: column for column in made.get_columns(table.name)}
        assert list(columns) == [column.name for column in table.columns]
        assert {name for name, each in columns.items() if each["nullable"]} == {
            column.name for column in table.columns if column.nullable
        }
        assert {index["name"] for index in made.get_indexes(table.name)} == {index.name for index in table.indexes}
    engine.dispose()


def test_replicas_that_start_together_upgrade_once(store_url):
    stores = []
    threads = [threading.Thread(target=lambda: stores.append(open_store(store_url))) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(stores) == 4
    for each in stores:
        each.check_connection()
        each.close()


def test_a_new_file_is_opened_beside_another_writer(tmp_path):
    """A writer of a file without a write-ahead log yet, as a replica that opened it a moment earlier: SQLite refuses to
    change the log at once."""
    file = tmp_path / "new.sqlite"
    writer = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    writer.execute("BEGIN IMMEDIATE")
    ends = threading.Timer(0.3, lambda: writer.execute("COMMIT"))
    ends.start()
    opened = open_store(sqlite_url(file))
    opened.check_connection()
    opened.close()
    ends.join()
    assert writer.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    writer.close()


def test_jobs_are_claimed_once_and_in_turn(store, new_job):
    ids = [store.jobs.add(new_job(), waits=False).id for _ in range(40)]
    claimed: dict[str, list[str]] = {f"worker {number}": [] for number in range(4)}

    def claim(owner: str) -> None:
        while (job := store.jobs.claim(owner, ["short"], 60)) is not None:
            claimed[owner].append(job.record.id)

    threads = [threading.Thread(target=claim, args=(owner,)) for owner in claimed]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(identity for each in claimed.values() for identity in each) == sorted(ids)
    # The workers claim beside each other: the order holds within each of them, not between them.
    assert all(each == sorted(each, key=ids.index) for each in claimed.values())


def test_only_jobs_of_the_lanes_asked_for_are_claimed(store, new_job):
    store.jobs.add(new_job(lane="long"), waits=False)
    assert store.jobs.claim("one", ["short"], 60) is None
    assert store.jobs.claim("one", ["short", "long"], 60) is not None


def test_what_was_asked_comes_back_as_it_was(store, new_job):
    job = new_job(body=b"\x00\xff", query='{"months": ["3"]}', file_name="Überblick.xlsx", idempotency_key="k")
    store.jobs.add(job, waits=True)
    assert store.jobs.claim("one", ["short"], 60).question == job


def test_a_job_whose_lease_has_ended_is_claimed_by_another(store, new_job):
    identity = store.jobs.add(new_job(), waits=False).id
    assert store.jobs.claim("one", ["short"], 0.2).record.attempts == 1
    assert store.jobs.claim("two", ["short"], 60) is None
    time.sleep(0.3)
    assert store.jobs.claim("two", ["short"], 60).record.attempts == 2
    assert store.jobs.renew("one", [identity], 60) == set()
    assert not store.jobs.end("one", identity, DONE)
    assert store.jobs.end("two", identity, DONE)


def test_a_renewed_lease_lasts(store, new_job):
    identity = store.jobs.add(new_job(), waits=False).id
    store.jobs.claim("one", ["short"], 0.2)
    assert store.jobs.renew("one", [identity], 60) == {identity}
    time.sleep(0.3)
    assert store.jobs.claim("two", ["short"], 60) is None
    assert store.jobs.leased("one") == {identity}


def test_what_is_handed_back_waits_again_in_its_lane(store, new_job):
    identity = store.jobs.add(new_job(), waits=False).id
    store.jobs.claim("one", ["short"], 60)
    store.jobs.hand_back("one", identity, lane="long")
    again = store.jobs.claim("two", ["long"], 60)
    assert (again.record.id, again.record.attempts) == (identity, 1)
    store.jobs.hand_back("two", identity, failed=True)
    assert store.jobs.claim("three", ["long"], 60).record.attempts == 2


def test_equal_open_jobs_of_a_project_are_one(store, new_job):
    first = store.jobs.add(new_job("same", durable=False), waits=True)
    assert store.jobs.add(new_job("same", durable=False), waits=True).id == first.id
    assert store.jobs.add(new_job("same", project="other"), waits=True).id != first.id
    store.jobs.leave(first.id)
    assert store.jobs.find("default", first.id).is_open
    store.jobs.leave(first.id)
    assert store.jobs.find("default", first.id).state == "cancelled"


def test_a_durable_job_needs_nobody_who_waits(store, new_job):
    job = store.jobs.add(new_job(durable=False), waits=True)
    store.jobs.keep(job.id)
    store.jobs.leave(job.id)
    assert store.jobs.find("default", job.id).state == "queued"


def test_no_project_sees_the_jobs_and_plans_of_another(store, new_job):
    job = store.jobs.add(new_job("asked", idempotency_key="key"), waits=False)
    store.jobs.claim("one", ["short"], 60)
    store.plans.put(plan())
    store.jobs.end("one", job.id, DONE)
    assert store.jobs.find_answer("default", "asked").id == job.id
    assert store.plans.find("default", "p") == plan()
    assert store.jobs.find("other", job.id) is None
    assert store.jobs.find_answer("other", "asked") is None
    assert store.plans.find("other", "p") is None
    assert store.plans.find("other", "d") is None
    assert not store.jobs.cancel("other", job.id)
    store.jobs.delete("other", job.id)
    store.plans.delete("other", "d")
    assert store.jobs.find("default", job.id) is not None
    assert store.plans.find("default", "d") is not None
    mine = store.jobs.add(new_job("asked by another", project="other", idempotency_key="key"), waits=False)
    assert mine.id != job.id


def test_progress_is_that_of_whoever_runs_the_job(store, new_job):
    job = store.jobs.add(new_job(), waits=False)
    store.jobs.claim("one", ["short"], 60)
    store.jobs.note_progress("one", job.id, JobProgress("hybrid", 12.5, 11.0))
    store.jobs.note_progress("two", job.id, JobProgress("cloud"))
    assert store.jobs.find("default", job.id).progress == JobProgress("hybrid", 12.5, 11.0)


def test_a_cancelled_job_has_no_other_end(store, new_job):
    job = store.jobs.add(new_job(), waits=False)
    store.jobs.claim("one", ["short"], 60)
    assert store.jobs.cancel("default", job.id)
    assert store.jobs.leased("one") == set()
    assert not store.jobs.end("one", job.id, DONE)
    assert not store.jobs.cancel("default", job.id)
    assert store.jobs.count_open() == 0


def test_a_backup_is_a_store(store, store_url, new_job, tmp_path):
    job = store.jobs.add(new_job("asked"), waits=False)
    store.jobs.claim("one", ["short"], 60)
    store.plans.put(plan())
    store.jobs.end("one", job.id, DONE)
    waiting = store.jobs.add(new_job("waits"), waits=False)
    assert back_up_store(store_url, tmp_path / "copy.sqlite") == {
        **dict.fromkeys((table.name for table in STORE_TABLES.sorted_tables), 0), "jobs": 2, "plans": 1,
    }  # fmt: skip
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("copy")] == ["copy.sqlite"]
    copy = open_store(f"sqlite:///{tmp_path / 'copy.sqlite'}")
    assert copy.jobs.find("default", job.id) == store.jobs.find("default", job.id)
    assert copy.jobs.claim("one", ["short"], 60).record.id == waiting.id
    assert copy.plans.find("default", "p") == plan()
    copy.close()
    with pytest.raises(FileExistsError):
        back_up_store(store_url, tmp_path / "copy.sqlite")


def test_old_plans_and_jobs_are_deleted_by_age_and_count(store, new_job):
    for number in range(5):
        job = store.jobs.add(new_job(str(number)), waits=False)
        store.jobs.claim("one", ["short"], 60)
        store.plans.put(plan(digest=str(number), project="default"))
        store.jobs.end("one", job.id, JobEnd("done", 200, plan_id="p", plan_digest=str(number), reusable=True))
    store.plans.put(plan(project="other"))
    store.jobs.add(new_job("waits"), waits=False)
    assert prune_store(store.engine, 1, None) == {"jobs": 0, "plans": 0, "reviews": 0, "answers": 0}
    assert prune_store(store.engine, None, 2) == {"jobs": 3, "plans": 3, "reviews": 0, "answers": 0}
    assert store.plans.find("default", "p").digest == "4"
    assert store.jobs.find_answer("default", "0") is None
    assert store.plans.find("other", "d") is not None
    assert prune_store(store.engine, 1e-9, None) == {"jobs": 2, "plans": 3, "reviews": 0, "answers": 0}
    assert store.jobs.count_open() == 1


def test_a_plan_of_a_review_outlives_others_and_goes_with_it(store, new_job):
    """By hand: of two old plans the one with a review stays, with the job that asked for it; a day after the review
    was last changed both are gone, and so is its link."""
    for number, plan_id in enumerate(("kept", "other")):
        job = store.jobs.add(new_job(plan_id), waits=False)
        store.jobs.claim("one", ["short"], 60)
        store.plans.put(replace(plan(digest=str(number)), plan_id=plan_id))
        store.jobs.end("one", job.id, JobEnd("done", 200, plan_id=plan_id, plan_digest=str(number), reusable=True))
    review = store.reviews.create(ADA, "kept", "March", "{}")
    secret = store.reviews.share(review, "ada", time.time() + 1000)
    store.answers.put(ADA, {"sheets": "all"})
    age(store, days=2)
    store.reviews.change(review, review.plan_id, "April", "{}")
    assert prune_store(store.engine, 1, None) == {"jobs": 1, "plans": 1, "reviews": 0, "answers": 1}
    assert store.plans.find("default", "kept") is not None
    assert store.jobs.find_question("default", "kept") is not None
    assert store.reviews.find_shared(secret).title == "April"
    assert prune_store(store.engine, None, 0) == {"jobs": 0, "plans": 0, "reviews": 0, "answers": 0}
    age(store, days=2)
    assert prune_store(store.engine, 1, None) == {"jobs": 1, "plans": 1, "reviews": 1, "answers": 0}
    assert store.reviews.find_shared(secret) is None


def age(store, days: float) -> None:
    """Make everything in the store as old as if so many days had passed."""
    with store.engine.begin() as connection:
        for table, columns in (
            (JOBS, ("created", "finished")), (PLANS, ("created",)), (REVIEWS, ("created", "changed")),
            (READING_ANSWERS, ("changed",)),
        ):  # fmt: skip
            connection.execute(update(table).values({name: table.c[name] - days * SECONDS_PER_DAY for name in columns}))


def test_reviews_and_answers_are_of_a_project(store):
    review = store.reviews.create(ADA, "p", "March", "{}")
    assert store.reviews.find("default", review.id) == review
    assert store.reviews.find("finance", review.id) is None
    assert store.reviews.list("finance") == []
    assert not store.reviews.delete("finance", review.id)
    assert store.reviews.change(replace(review, project="finance"), review.plan_id, "x", "{}") is None
    store.answers.put(ADA, {"sheets": "all", "x" * 301: "too long to be one of ours"})
    store.answers.put(replace(ADA, project="finance"), {"sheets": "Ads"})
    assert store.answers.list("default") == {"sheets": "all"}
    assert store.answers.list("finance") == {"sheets": "Ads"}


def test_prices_in_use_are_noted_once_with_the_plans_made_with_them(store):
    coverage = {"aws": 3, "gcp": 2}
    for _ in range(2):
        store.price_snapshots.note("prices", "1", "2026-11-01", coverage)
    store.plans.put(plan())
    (noted,) = store.price_snapshots.list()
    assert (noted.digest, noted.prices, noted.coverage, noted.plans) == ("prices", 5, coverage, 1)
    assert noted.first_used <= noted.last_used


def test_a_policy_prunes_at_the_start_and_again(store):
    """The first run deletes one plan, the second one that came later."""
    schedule = RetentionSchedule(store, ServiceLimits(retention_plans=0), seconds=0.1)
    for digest in ("first", "second"):
        store.plans.put(plan(digest=digest))
        if digest == "first":
            schedule.start()
        while store.plans.find("default", digest) is not None:
            time.sleep(0.02)
    schedule.close()


def test_without_a_policy_nothing_is_pruned(store):
    schedule = RetentionSchedule(store, ServiceLimits(), seconds=0.01)
    schedule.start()
    assert "retention" not in {thread.name for thread in threading.enumerate()}
    schedule.close()
