"""`planner advise` as a user meets it."""

from __future__ import annotations

import csv
import io
import json


def test_words_become_a_shortlist(planner):
    ran = planner("advise", "complex", "training", "--limit", "2")
    assert ran.code == 0, ran.err
    assert "Each accelerator: 24 GiB, 600 GB/s, 100 TFLOPS at bf16" in ran.out
    for title in ("Cards", "Workstations", "Servers", "Cloud, on demand"):
        assert f"\n{title}" in ran.out
    assert "driver licence forbids data centres" in ran.out
    assert "Consumer against data-centre cards: RTX-" in ran.out
    assert "CPUs only" not in ran.out


def test_figures_replace_those_of_the_tier(planner):
    document = json.loads(planner("advise", "light", "--memory-gib", "48", "--format", "json").out)
    assert document["need"]["memory_gib"] == 48
    assert document["need"]["memory_bandwidth_gbs"] == 200
    assert {one["kind"] for one in document["choices"]} == {"card", "workstation", "server", "cloud", "cpu"}
    limits = [limit for one in document["choices"] for limit in one["limits"]]
    assert limits
    assert all(limit["text"] and limit["parameters"] for limit in limits)


def test_csv_has_the_source_of_every_price(planner):
    rows = list(csv.DictReader(io.StringIO(planner("advise", "demanding", "--format", "csv").out)))
    assert rows
    assert all(row["source"] and row["priced"] and float(row["price"]) > 0 for row in rows)


def test_every_fault_at_once(planner):
    ran = planner("advise", "something", "--memory-gib", "x", "--limit", "0")
    assert ran.code == 2
    for place in ("WORDS", "--memory-gib", "--limit"):
        assert f"  {place}: " in ran.err
    assert planner("advise").code == 2
