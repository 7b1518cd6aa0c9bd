"""The result of reading a file: the request document, the place of every value, and all problems."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Container, Mapping
from dataclasses import field
from typing import Any

from planner.request.doubts import Doubt
from planner.request.errors import InputProblem
from planner.result import InputProvenance
from pricing.frozen_values import dataclass

PLACEHOLDER_DEMAND = {"units_per_month": 1}


@dataclass(frozen=True, slots=True)
class ColumnInterpretation:
    """How one column was understood. `field` is empty for an unused column; `rule` is the reason."""

    place: str
    title: str
    field: str
    unit: str
    rule: str


@dataclass(frozen=True, slots=True)
class TableInterpretation:
    """How one table was understood. `layout` is empty where each row is a workload."""

    sheet: str
    header: str
    columns: tuple[ColumnInterpretation, ...]
    layout: str = ""


@dataclass(frozen=True, slots=True)
class CalculatorEstimate:
    """The cost of the accelerator lines of a price calculator's export, in one currency.

    `upfront` are amounts with the months that each pays for; `apart_per_month` is the cost of the other lines.
    """

    calculator: str
    currency: str
    per_month: float
    upfront: tuple[tuple[float, int], ...]
    apart_per_month: float


@dataclass(frozen=True, slots=True)
class SunkCommitment:
    """A commitment that the plan takes over. `sunk_per_month` is its amortised cost beyond the remaining payments,
    each month up to `ends`."""

    ends: str
    sunk_per_month: float


@dataclass(frozen=True, slots=True)
class PresentSpend:
    """The cost of accelerators in a month of the plan's length, in `currency`, from the full months of a bill.

    `grows_per_month` is for hours outside commitments, which grow; `covered_per_month` is for hours under commitments;
    `unused_per_month` is for their unused part, into which the covered hours grow first. `view` says whether costs are
    effective (amortised) or billed (cash). `loose_per_month` is the part for commitments that the plan does not take
    over; it remains payable in addition to the plan for as long as they run.
    """

    view: str
    currency: str
    grows_per_month: float
    covered_per_month: float
    unused_per_month: float
    growth_per_month: float
    kept: tuple[SunkCommitment, ...] = ()
    loose_per_month: float = 0.0

    def projected_cost(self, months: int) -> float:
        """The cost over `months` without a plan: each hour at its present cost, commitments renewed as they are.

        As the plan's demand, the first month has no growth yet.
        """
        committed = self.covered_per_month + self.unused_per_month
        factors = [(1 + self.growth_per_month) ** month for month in range(months)]
        # Covered hours grow into the unused part of their commitments before they cost more.
        return math.fsum(self.grows_per_month * f + max(committed, self.covered_per_month * f) for f in factors)

    def sunk_cost(self, month_names: tuple[str, ...]) -> float:
        """Payments made before the plan for commitments that it uses, as far as they fall into its months."""
        return math.fsum(each.sunk_per_month * sum(name <= each.ends for name in month_names) for each in self.kept)


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A file as a request that is not validated yet.

    `document` has the keys of a Request, with the values of the file alone. Where there are `complaints`, faulty values
    are replaced by placeholders, so that a validator reports the remaining problems and not the same ones twice: such
    a document must not be planned. `places` maps JSON paths to places in the file ("Plan!C5", "line 3 column 7").
    `doubts` were decided by their answers, or by the proposed reading. `months` are the calendar months that columns or
    rows name, in order: where the plan starts unless something else is said. `home` are the providers and regions of a
    bill, in which the plan stays unless something else is said.
    """

    document: dict[str, Any]
    inputs: InputProvenance
    complaints: tuple[InputProblem, ...]
    places: dict[str, str]
    tables: tuple[TableInterpretation, ...] = ()
    estimated: tuple[CalculatorEstimate, ...] = ()
    present: PresentSpend | None = None
    doubts: tuple[Doubt, ...] = ()
    months: tuple[str, ...] = ()
    home: Mapping[str, Any] = field(default_factory=dict)


class UnreadableFile(ValueError):
    """The bytes are not of the expected format. `place` is empty for the file as a whole."""

    def __init__(self, message: str, place: str = "") -> None:
        self.place = place
        super().__init__(message)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def reject_file(
    data: bytes, name: str, format_name: str, message: str, *, place: str = "", expected: str
) -> ParsedFile:
    """A result with one problem alone, of the file as a whole or at `place` in it."""
    complaint = InputProblem("", f"{name} {place}".rstrip(), message, "", expected)
    return ParsedFile(placeholder_request(), InputProvenance(name, format_name, digest(data)), (complaint,), {})


def placeholder_request() -> dict[str, Any]:
    """A valid document for a file with problems, which a validator passes without further ones."""
    return {"workloads": [{"name": "(unread)", "demand": dict(PLACEHOLDER_DEMAND)}]}


def unique_name(stem: str, used: Container[str], place: str = "") -> str:
    """The stem, else with its place, else with a number: the first that is not in `used` (in lower case)."""
    numbers = (f"{place}, {number}" if place else str(number) for number in itertools.count(2))
    candidates = itertools.chain(
        [stem], (f"{stem} ({each})" for each in itertools.chain([place] if place else [], numbers))
    )
    return next(name for name in candidates if name.casefold() not in used)
