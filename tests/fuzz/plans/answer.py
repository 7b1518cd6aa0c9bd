"""One strategy of a plan's JSON beside the question, with what the checks of it share."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tests.fuzz.plans import facts
from tests.fuzz.plans.facts import Key
from tests.fuzz.plans.question import Question, Work

Row = dict[str, Any]
CLOSE = 1e-5
"""Relative: what the solver's tolerance may leave."""


@dataclass(frozen=True)
class Fault:
    """A rule that a plan breaks: what was found, and what the rule asks for."""

    rule: str
    where: str
    found: object
    wanted: object = ""

    def __str__(self) -> str:
        return f"{self.rule} ({self.where}): {self.found}, wanted {self.wanted}"


@dataclass(frozen=True)
class Speed:
    """A gang on nodes of one type: the nodes that it spans, gangs at work on a node, units of a node-hour; of a
    served model the estimate of its replica."""

    gang: float
    span: int
    busy: int
    units_per_node_hour: float
    estimate: Row | None = None

    @property
    def granule(self) -> float:
        """Nodes that one gang takes."""
        return float(self.span) if self.span > 1 else 1 / self.busy

    @property
    def gang_rate(self) -> float:
        return self.units_per_node_hour * self.granule


@dataclass(frozen=True)
class Answer:
    """A feasible strategy of a plan."""

    question: Question
    plan: Row
    strategy: Row

    @property
    def name(self) -> str:
        return self.strategy["name"]

    @cached_property
    def assumed(self) -> dict[str, float]:
        return {row["name"]: row["value"] for row in self.plan["assumptions"]}

    @property
    def uses(self) -> list[Row]:
        return self.strategy["uses"]

    @property
    def purchases(self) -> list[Row]:
        return self.strategy["purchases"]

    def work(self, use: Row) -> Work:
        return self.question.works[use["workload"]]

    @cached_property
    def rates(self) -> dict[tuple[str, str], list[tuple[float, float, Row | None]]]:
        found: dict[tuple[str, str], list[tuple[float, float, Row | None]]] = defaultdict(list)
        for row in self.plan["throughput"]:
            estimates = [each["parameters"] for each in row["explanation"] if each["code"] == "replica_estimate"]
            rate = (row["gang"], row["units_per_hour"], estimates[0] if estimates else None)
            found[row["workload"], row["accelerator"]].append(rate)
        return found

    @cached_property
    def prices(self) -> dict[Key, Row]:
        return {
            (row["provider"], row["region"], row["instance_type"], row["purchase_option"]): row
            for row in self.plan["prices"]
        }

    def speeds(self, use: Row) -> list[Speed]:
        """What a node-hour of a use may do: one for each gang of the plan's throughputs."""
        work, per = self.work(use), use["accelerators_per_node"]
        found = []
        for gang, rate, estimate in self.rates[work.name, use["accelerator"]]:
            span, places = max(1, math.ceil(gang / per - 1e-9)), max(1, math.floor(per / gang + 1e-9))
            busy = places if work.stands else min(places, work.at_once or places)
            hours = self._billed_hours(work, use, gang, span)
            found.append(Speed(gang, span, busy, rate * busy / span / hours, estimate))
        return found

    def _billed_hours(self, work: Work, use: Row, gang: float, span: int) -> float:
        """Hours paid for one useful hour: failures and interruptions of work at any hour, repairs of owned nodes."""
        a, there = self.assumed, 1.0
        if use["what"] == "owned" and not work.holds_failures:
            failures = a["accelerator_failures_annual"] * use["accelerators_per_node"]
            there = 1 - failures * a["repair_hours"] / 8760
        if work.stands:
            return 1 / there
        failing = gang / a["failure_interval_accelerator_hours"] if not work.holds_failures else 0.0
        if use["purchase_option"] == "spot":
            failing += span / a["spot_hours_to_interruption"]
        pauses = (work.row.get("checkpoint_minutes", 5) / 60, work.row.get("restart_minutes", 10) / 60)
        return facts.billed_per_useful_hour(*pauses, failing) / there

    def speed(self, use: Row) -> Speed | None:
        """The speed at which its hours are those of its work; None where none fits."""
        for each in self.speeds(use):
            if math.isclose(use["node_hours"] * each.units_per_node_hour, use["units"], rel_tol=CLOSE, abs_tol=1e-9):
                return each
        return None

    @cached_property
    def held_nodes(self) -> list[tuple[Row, str, range, int]]:
        """Owned nodes from before: the line, the system, the months in which they are there, their age."""
        found = []
        for line in self.question.document.get("existing", {}).get("nodes", ()):
            first = self.question.months[0]
            bought = line.get("bought") or first
            age = max(0, 12 * (int(first[:4]) - int(bought[:4])) + int(first[5:]) - int(bought[5:]))
            life = round(self.assumed["useful_life_months"]) - age
            if (covers := range(1, min(life, len(self.question.months)) + 1)) and self.power_kw(line["system"]):
                found.append((line, line["system"], covers, age))
        return found

    @cached_property
    def held_commitments(self) -> list[tuple[Row, Key, range]]:
        found = []
        for line in self.question.document.get("existing", {}).get("commitments", ()):
            key = (line["provider"], line["region"], line["instance_type"], line["purchase_option"])
            months = sum(name <= line["ends"] for name in self.question.months)
            found.append((line, key, range(1, months + 1)))
        return found

    @cached_property
    def there(self) -> dict[tuple[str, Key, int], float]:
        """Nodes owned and committed to by kind, key (a system as ("", "", name, "owned")) and month."""
        found: dict[tuple[str, Key, int], float] = defaultdict(float)
        for line, system, covers, _ in self.held_nodes:
            for month in covers:
                found["owned", ("", "", system, "owned"), month] += line["count"]
        for line, key, covers in self.held_commitments:
            for month in covers:
                found["commitment", key, month] += line["count"]
        for each in self.purchases:
            if each["unit"] == "node":
                for month in range(each["usable_from"], min(each["usable_to"], len(self.question.months)) + 1):
                    found[each["what"], key_of(each), month] += each["count"]
        return found

    @cached_property
    def by_workload(self) -> dict[str, list[Row]]:
        found: dict[str, list[Row]] = defaultdict(list)
        for use in self.uses:
            found[use["workload"]].append(use)
        return found

    def each_month(self, rows: list[Row]) -> Iterator[tuple[int, list[Row]]]:
        for month in range(1, len(self.question.months) + 1):
            yield month, [row for row in rows if row["month"] == month]

    def system(self, name: str) -> Row:
        """An owned system: price in the plan's currency, power, height and accelerators (None: unknown)."""
        for own in self.question.document.get("systems", ()):
            if own["name"] == name:
                return own | {"accelerators": own.get("accelerators", 1), "accelerator": self._part(own)}
        row = facts.systems()[name]
        number = {field: float(row[field]) if row[field] else None for field in ("price", "max_power_kw", "rack_units")}
        price = number["price"] and number["price"] * self.question.per_dollar
        part = {"accelerator": row["accelerator"], "accelerators": int(row["accelerator_count"])}
        return number | {"price": price, "name": name} | part

    def _part(self, own: Row) -> str:
        """The accelerator of a system of the request by its full name, as the plan shows it."""
        shown = (
            row["accelerator"] for row in (*self.purchases, *self.plan["considered"]) if row["name"] == own["name"]
        )
        return next(shown)

    def power_kw(self, name: str) -> float:
        """Its maximum power: as stated, else that of its accelerators times the assumed ratio; 0 where unknown."""
        system = self.system(name)
        if system.get("max_power_kw"):
            return system["max_power_kw"]
        part = facts.accelerators()[system["accelerator"]]
        if not part["tdp_w"] or not self.question.document.get("allow_estimates", True):
            return 0.0
        ratio = self.assumed["server_power_over_accelerator_power"]
        return float(part["tdp_w"]) * system["accelerators"] / 1000 * ratio

    def racks(self, name: str) -> float:
        """Racks that it takes: by height or power, whichever is more."""
        height = self.system(name).get("rack_units") or 0.0
        a = self.assumed
        return max(self.power_kw(name) / a["rack_power_kw"], height / a["rack_units_usable"])


def key_of(row: Row) -> Key:
    return row["provider"], row["region"], row.get("name", row.get("instance_type", "")), row["purchase_option"]


def place_of(use: Row) -> tuple[str, str, str]:
    return use["provider"], use["region"], use["name"]


def nodes_at_once(answer: Answer) -> dict[tuple[Key, int], float]:
    """By type and way of paying and month. Workloads that share nodes have as many as they have together in one block
    of hours."""
    running: dict[tuple[Key, int], float] = defaultdict(float)
    pools: dict[tuple[Key, int], list[list[float]]] = defaultdict(list)
    for use in answer.uses:
        at, sharing = (key_of(use), use["month"]), answer.question.works[use["workload"]].row.get("shares_nodes")
        if use["what"] == "hourly" and sharing:
            pools[at].append(use["block_nodes"] or [use["nodes"]] * 168)
        elif use["what"] == "hourly":
            running[at] += use["nodes"]
    for at, rows in pools.items():
        running[at] += max(map(math.fsum, zip(*rows, strict=False)))
    for each in answer.purchases:
        if each["provider"] and each["unit"] != "money":
            nodes = each["count"] if each["unit"] == "node" else each["count"] * 24 / 730
            for month in range(each["usable_from"], min(each["usable_to"], len(answer.question.months)) + 1):
                running[key_of(each), month] += nodes
    return running
