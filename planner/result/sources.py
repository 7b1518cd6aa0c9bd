"""Where the figures of a plan come from: the input, prices, assumptions and throughputs, and what is missing."""

from __future__ import annotations

from datetime import date

from planner.result.message import Message
from pricing.frozen_values import dataclass


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that is missing or estimated, and what it ruled out or changed.

    `kind`: no_price, no_specification, no_throughput, no_capacity_figure, no_carbon_figure, memory, not_ownable,
    estimated, predicted, old_price, private_price (one that does not hold on the day), renamed, not_planned,
    limited_use, sale_not_confirmed, sale_ends, budget, quota.
    `subject` names the thing, `effect` says what follows from it (a str only until every room gives messages).
    """

    kind: str
    """Code of the kind of gap: no_price, no_specification, no_throughput, no_capacity_figure, no_carbon_figure,
    memory, not_ownable, estimated, predicted, old_price, private_price, renamed, not_planned, limited_use,
    sale_not_confirmed, sale_ends, budget or quota."""
    subject: str
    """The thing that is missing or estimated."""
    effect: Message
    """The consequence for the plan."""
    workload: str = ""
    """The workload concerned; empty: the whole plan."""


@dataclass(frozen=True, slots=True)
class InputReading:
    """What was read from where: `path` in the request, `place` in the file, the text there and the value it became."""

    path: str
    """JSON path of the value in the request."""
    place: str
    """Place of the text in the file: sheet and cell, or line and column."""
    read: str
    """The text as it stands in the file."""
    value: str
    """The value it became."""


@dataclass(frozen=True, slots=True)
class CellEdit:
    """A cell of the file that was replaced by hand: its place, what the file says and what was read instead."""

    place: str
    """Place of the cell in the file: sheet and cell, or line and column."""
    said: str
    """The text in the file."""
    value: str
    """The text that was read instead; empty: a blank cell."""
    on: date | None = None
    """Day of the edit; null: not stated."""


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """A row of the input that is no workload, with the reason (total, blank, note, hidden ...)."""

    place: str
    """Place of the row in the file."""
    read: str
    """The text of the row, shortened."""
    reason: str
    """Why the row is no workload: a total, blank, a note, hidden ..."""


@dataclass(frozen=True, slots=True)
class InputProvenance:
    """Where the request came from. rows_used + len(rows_refused) = rows_in for a sheet; all zero for a document."""

    name: str
    """Name of the file; empty for a request without one."""
    format: str
    """Input format that read it."""
    sha256: str
    """SHA-256 checksum of the file, in hexadecimal."""
    rows_in: int = 0
    """Rows of the sheet below its header; 0 for a document."""
    rows_used: int = 0
    """Rows that became workloads."""
    rows_refused: tuple[RefusedRow, ...] = ()
    """Rows that did not become workloads, with reasons; rows_used + refused rows = rows_in."""
    readings: tuple[InputReading, ...] = ()
    """Every value read from the file, with its place."""
    notes: tuple[str, ...] = ()
    """Remarks on how the file was understood."""
    edits: tuple[CellEdit, ...] = ()
    """Cells that were replaced by hand."""
    is_editable: bool = False
    """Whether cells of the file can be replaced by their places."""


@dataclass(frozen=True, slots=True)
class Assumption:
    """A figure that no price list holds; `low` and `high` are its published range, None where unknown."""

    name: str
    """Name by which a request can override it."""
    meaning: str
    """Meaning in words."""
    value: float
    """Value in use, in `unit`."""
    unit: str
    """Unit of the value; fraction: 0 to 1."""
    low: float | None
    """Low end of its published range, in `unit`; null: unknown."""
    high: float | None
    """High end of its published range, in `unit`; null: unknown."""
    source: str
    """Source of the value."""
    as_of: date
    """Date of the source."""
    overridden: bool = False
    """Whether the request gave the value."""


@dataclass(frozen=True, slots=True)
class PriceUsed:
    """A price row that the plan pays, or that its cheapest alternative would pay, in the plan's currency.

    `list_price_per_hour` in `list_currency` is set where the price is not as listed: `adjustment` then tells which
    negotiated price was applied, and is empty where only the currency differs. A negotiated price that no list has
    comes without one.
    """

    provider: str
    """Provider that charges the price."""
    region: str
    """Region of the price."""
    instance_type: str
    """Instance type of the price."""
    purchase_option: str
    """Purchase option as the catalogue spells it: on_demand, spot, reserved_1y_no_upfront ..."""
    price_per_hour: float
    """Price of one node-hour, in `currency`."""
    currency: str
    """Currency of the price, ISO 4217."""
    as_of: date
    """Date of the price."""
    source_id: str
    """Identifier of the source in the catalogue."""
    source: str
    """The source in words, with its address where it has one."""
    method: str
    """How the price came about: listed, or estimated by a named rule."""
    list_price_per_hour: float | None = None
    """List price of one node-hour before a negotiated discount or conversion, in `list_currency`; null: the price
    is as listed."""
    list_currency: str = ""
    """Currency of the list price, ISO 4217; empty: the price is as listed."""
    adjustment: str = ""
    """Negotiated price that was applied; empty: none."""
    sale: str = "not_confirmed"
    """Whether a dated source says that it is sold this way: confirmed, or not_confirmed where only the price says
    so."""


@dataclass(frozen=True, slots=True)
class ThroughputUsed:
    """Work per hour of one gang of `gang` accelerators; low and high bound 80 % of cases.

    `basis`: measured, definition (accelerator-hours on the named accelerator), predicted_count,
    predicted_same_architecture, predicted_across_architectures, described (public runs of like networks), served
    (public results of served models).
    """

    workload: str
    """Name of the workload."""
    accelerator: str
    """Name of the accelerator."""
    gang: float
    """Accelerators that work together."""
    units_per_hour: float
    """Work units per hour of the whole gang."""
    low: float
    """Low end of the 80 % interval, in work units per hour."""
    high: float
    """High end of the 80 % interval, in work units per hour."""
    basis: str
    """Basis of the value: measured, definition, predicted_count, predicted_same_architecture,
    predicted_across_architectures, described or served."""
    explanation: tuple[Message, ...]
    """How the value was derived."""

    @property
    def explanation_text(self) -> str:
        """The steps from the measurement to this rate, in one sentence."""
        return "; ".join(map(str, self.explanation))
