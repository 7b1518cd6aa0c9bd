"""The record of reading workload files: drafts become workloads, and what a file does not say is asked once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from planner.inputs.cell_grid import Cell, shorten_text
from planner.inputs.doubt_record import A_NUMBER, UNKNOWN, DoubtRecord
from planner.inputs.parsed_file import ParsedFile, digest, placeholder_request, unique_name
from planner.inputs.sheet_options import SheetOptions
from planner.inputs.workload_files.hardware_names import find_accelerator
from planner.inputs.workload_files.placed_document import Pattern, PlacedDocument
from planner.inputs.workload_files.workload_draft import CopyBounds, RunKind, RunTime, WorkloadDraft
from planner.request.errors import InputProblem
from planner.result import InputProvenance, InputReading, RefusedRow
from pricing.catalog.price_catalog import Catalog
from pricing.counted_nouns import format_count
from pricing.units import HOURS_PER_MONTH

NAME_MAX = 150
WHOLE_LIMIT = "all of it"
MONTH = f"{HOURS_PER_MONTH:g}"
PLURALS: dict[RunKind, str] = {"service": "services", "job": "jobs", "scheduled": "scheduled jobs", "queue": "queues"}
PROPOSED_SCHEDULED_HOURS = "1"


@dataclass(slots=True)
class WorkloadLog:
    """What was read of one file so far."""

    data: bytes
    name: str
    format_name: str
    options: SheetOptions
    workloads: list[dict[str, Any]] = field(default_factory=list)
    complaints: list[InputProblem] = field(default_factory=list)
    refused: list[RefusedRow] = field(default_factory=list)
    readings: list[InputReading] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    taken_answers: set[str] = field(default_factory=set)
    doubts: DoubtRecord = field(init=False)

    def __post_init__(self) -> None:
        self.doubts = DoubtRecord(self.options.answers)

    @property
    def catalog(self) -> Catalog:
        return self.options.catalog or Catalog.embedded()

    def add_problem(self, cell: Cell, message: str, expected: str = "") -> None:
        """A fault at a place of the file."""
        self.complaints.append(
            InputProblem("", cell.place or self.name, message, shorten_text(cell.text, 80), expected)
        )

    def refuse(self, cell: Cell, reason: str) -> None:
        """A part of the file that is no workload, with the reason."""
        self.refused.append(RefusedRow(cell.place, cell.text, reason))

    def note(self, text: str) -> None:
        self.notes[text] = None

    def name_unused(self, document: PlacedDocument, without_effect: Sequence[Pattern]) -> None:
        """A note for each value of a document that was not understood."""
        for each in document.unused(without_effect):
            self.note(f"{each.place}: not used: {each.path}{f' = {each.text}' if each.text else ''}")
        for name, place in document.repeated:
            self.note(f"{place}: the key {name!r} occurs twice; the first is used")

    def find_accelerator(self, written: str) -> str:
        """The catalogue's name of an accelerator; empty for an unknown one."""
        return find_accelerator(self.catalog, written)

    def find_answer(self, identity: str, name: str) -> str:
        """The answer to a question about one workload, or else about all; empty where there is none."""
        for each in (f"{identity}: {name}", identity):
            if answer := self.options.answers.get(each, ""):
                self.taken_answers.add(each)
                return answer
        return ""

    def add_workload(self, draft: WorkloadDraft) -> None:
        """The workload of a draft, with the hours that its file states or that answers give."""
        index, name = len(self.workloads), self._choose_name(draft)
        copies = self._decide_copies(draft.copies, name, index)
        if not copies:
            self.refuse(draft.cell, "no copy of it runs")
            return
        hours, words = self._decide_hours(draft.run, name, index)
        total = draft.gang * copies * hours
        workload: dict[str, Any] = {"name": name, **({"team": draft.team} if draft.team else {}), "kind": draft.kind}
        workload["demand"] = {"accelerator_hours_per_month": total, "accelerator": draft.accelerators[0]}
        workload["gang"] = draft.gang
        if draft.per_node is not None and draft.per_node != draft.gang:
            workload["accelerators_per_node"] = draft.per_node
        if len(draft.accelerators) > 1:
            workload |= {"accelerators": list(draft.accelerators), "substitution": True}
        self.workloads.append(workload | draft.fields)
        demand = f"{draft.gang:g} accelerators x {copies:g} x {words}"
        cells = {
            "": draft.cell,
            "name": draft.cell,
            "demand.accelerator_hours_per_month": Cell(draft.cell.place, demand),
        }
        for path, cell in {**cells, "demand.accelerator": draft.cell, **draft.cells}.items():
            value = self._find_value(index, path)
            at = f"workloads[{index}]{f'.{path}' if path else ''}"
            self.readings.append(InputReading(at, cell.place or self.name, cell.text, value))

    def _choose_name(self, draft: WorkloadDraft) -> str:
        title = " ".join(draft.name.split())[:NAME_MAX] or "(no name)"
        name = unique_name(title, self.names, draft.cell.place)
        self.names.add(name.casefold())
        return name

    def _find_value(self, index: int, path: str) -> str:
        value: Any = self.workloads[index]
        for step in path.split(".") if path else ():
            value = value.get(step) if isinstance(value, Mapping) else None
        return "" if isinstance(value, Mapping) or value is None else str(value)

    def _decide_copies(self, copies: float | CopyBounds, name: str, index: int) -> float:
        """The mean number of copies of a workload, a question where the file has bounds."""
        if not isinstance(copies, CopyBounds):
            return copies
        if copies.low == copies.high:
            return copies.low
        stated = copies.stated
        proposed = stated if stated and copies.low <= stated <= copies.high else copies.high
        choices = {f"{each:g}": each for each in sorted({copies.low, proposed, copies.high})}
        return float(
            self.doubts.decide(
                f"replicas: {name}",
                copies.cell,
                f"How many copies of {name} run in the mean of a month, between {copies.low:g} and {copies.high:g}?",
                {text: each / proposed for text, each in choices.items()} | {A_NUMBER: UNKNOWN},
                f"{proposed:g}",
                index,
            )
        )

    def _decide_hours(self, run: RunTime, name: str, index: int) -> tuple[float, str]:
        """Hours a month of each copy, with how they come about in words."""
        plural = PLURALS[run.kind]
        if run.kind in ("service", "queue") or (run.hours_limit is None and run.runs_per_month is None):
            question = f"How many hours of a month are the accelerators of {plural} at work?"
            hours = float(self._query_time("hours a month", plural, name, question, run.cell, MONTH, index))
            return hours, f"{hours:g} hours a month"
        length = self._decide_run_length(run, name, index)
        runs = run.runs_per_month
        if runs is None:
            runs = float(
                self._query_time(
                    "runs a month", plural, name, f"How often a month do {plural} run?", run.cell, "1", index
                )
            )
        return length * runs, f"{format_count(round(runs, 4), 'run')} a month of {length:g} hours"

    def _decide_run_length(self, run: RunTime, name: str, index: int) -> float:
        plural = PLURALS[run.kind]
        if run.hours_limit is None:
            question = f"How many hours does a run of {plural} take?"
            return float(
                self._query_time("hours a run", plural, name, question, run.cell, PROPOSED_SCHEDULED_HOURS, index)
            )
        question = f"A run of {name} may take up to {run.hours_limit:g} hours. How much of that does it take?"
        factors = {WHOLE_LIMIT: 1.0, "half": 0.5, A_NUMBER: UNKNOWN}
        answer = self._query_time("hours of the limit", plural, name, question, run.cell, WHOLE_LIMIT, index, factors)
        return run.hours_limit * factors[answer] if answer in factors else float(answer)

    def _query_time(
        self,
        subject: str,
        plural: str,
        name: str,
        question: str,
        cell: Cell,
        proposed: str,
        index: int,
        factors: Mapping[str, float] | None = None,
    ) -> str:
        """The answer about one workload where there is one, else about all of its kind: one question for them."""
        own = f"{subject}: {name}"
        identity = own if own in self.options.answers else f"{subject}: {plural}"
        choices = factors or {proposed: 1.0, A_NUMBER: UNKNOWN}
        return self.doubts.decide(identity, cell, question, choices, proposed, index)

    def finish(self) -> ParsedFile:
        """The request of all workloads; a file without one is a problem, with the parts that were refused."""
        if not self.workloads and not self.complaints:
            refused = "; ".join(dict.fromkeys(f"{each.place} {each.read}: {each.reason}" for each in self.refused))
            expected = "a workload that requests accelerators"
            self.complaints.append(
                InputProblem("", self.name, "no workload in it", shorten_text(refused, 200), expected)
            )
        for identity in self.doubts.unused_answers():
            if identity not in self.taken_answers:
                self.note(f"the answer to {identity!r} is not used: nothing in this file asks it")
        document = {"workloads": self.workloads} if self.workloads else placeholder_request()
        inputs = InputProvenance(
            self.name,
            self.format_name,
            digest(self.data),
            len(self.workloads) + len(self.refused),
            len(self.workloads),
            tuple(self.refused),
            tuple(self.readings),
            tuple(self.notes),
        )
        places = {each.path: each.place for each in self.readings}
        return ParsedFile(
            document,
            inputs,
            (*self.complaints, *self.doubts.problems),
            places,
            doubts=self.doubts.list_doubts(self.workloads),
        )


def finite_hours(hours: float | None) -> float | None:
    """A length of time that is one; None for none and for no limit."""
    return hours if hours is not None and 0 < hours < math.inf else None
