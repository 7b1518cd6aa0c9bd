"""`planner db`, and what `serve`, `worker` and `db` say of a store that cannot be opened."""

from __future__ import annotations

import pytest

from planner.service.store import open_store


@pytest.mark.parametrize("command", [("serve",), ("worker",), ("db", "upgrade"), ("db", "prune", "--days", "1")])
@pytest.mark.parametrize("url", ["sqlite:////nowhere/at/all.sqlite", "nonsense", "postgresql://x@127.0.0.1:9/x"])
def test_a_store_that_cannot_be_opened_is_one_clear_fault(planner, command, url):
    ran = planner(*command, "--store", url)
    assert ran.code == 2
    assert "the store cannot be opened" in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("option", ["--workers=0", "--seconds=0", "--waiting=x"])
def test_a_limit_that_is_none_is_a_fault(planner, option):
    ran = planner("serve", option)
    assert ran.code == 2
    assert option.partition("=")[0] in ran.err


def test_a_limit_from_the_environment_is_one(planner, monkeypatch):
    monkeypatch.setenv("PLANNER_WORKERS", "0")
    ran = planner("serve")
    assert ran.code == 2
    assert "--workers" in ran.err


def test_the_store_is_upgraded_copied_and_pruned(planner, tmp_path):
    url = f"sqlite:///{tmp_path / 'service.sqlite'}"
    assert "version 0002" in planner("db", "upgrade", "--store", url).out
    ran = planner("db", "backup", "--store", url, "copy.sqlite")
    assert (ran.code, ran.out) == (0, "copied 0 api_keys, 0 audit, 0 jobs, 0 plans to copy.sqlite\n")
    open_store(f"sqlite:///{tmp_path / 'copy.sqlite'}").close()
    again = planner("db", "backup", "--store", url, "copy.sqlite")
    assert again.code == 2
    assert "exists" in again.err
    assert planner("db", "prune", "--store", url, "--plans", "0").out == "deleted 0 jobs, 0 plans\n"
    assert planner("db", "prune", "--store", url).code == 2
