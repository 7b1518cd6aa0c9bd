"""`planner doctor`: what it tells of this installation and its catalogue."""

from __future__ import annotations

import re

import pytest

from pricing.catalog.price_catalog import Catalog
from pricing.errors import InvalidSnapshot


def test_doctor_finds_this_installation_well(planner):
    ran = planner("doctor")
    assert ran.code == 0, ran.err
    for piece in (
        "python ",
        "gpu-planner ",
        "planner ",
        "pricing ",
        "highspy ",
        Catalog.embedded().digest,
        "terraform",
    ):
        assert piece in ran.out


@pytest.mark.slow
def test_doctor_tells_a_catalogue_that_cannot_be_read(planner, monkeypatch):
    def broken():
        raise InvalidSnapshot(("prices.csv line 3: no number",))

    monkeypatch.setattr(Catalog, "current", broken)
    ran = planner("doctor")
    assert ran.code == 1
    assert "prices.csv line 3: no number" in ran.err


def test_doctor_plans_with_the_prices_in_use(planner):
    out = planner("doctor").out
    assert re.search(r"^plan +optimal: one hour of work on \S+ costs \d+\.\d\d USD$", out, re.MULTILINE)


@pytest.mark.slow
def test_doctor_tells_a_solver_that_does_not_work(planner, monkeypatch):
    def broken(*_, **__):
        raise OSError("libhighs.so: cannot open shared object file")

    monkeypatch.setattr("planner.optimization.solver.load_solver", broken)
    ran = planner("doctor")
    assert ran.code == 1
    assert "a tiny plan fails: OSError: libhighs.so" in ran.err
