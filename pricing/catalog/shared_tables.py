"""Rows of the shared tables: how types are sold and joined, what ended, carbon of grids, machines without an
accelerator."""

from __future__ import annotations

from collections.abc import Collection
from typing import get_args

from pricing.csv_tables import TableRow
from pricing.exchange_rates import parse_currency_code
from pricing.fabric import Fabric
from pricing.machines import MachineKind, PlainMachine
from pricing.price import parse_purchase_option
from pricing.regions import GridCarbon
from pricing.retirement import ENDED_COLUMNS, EndedFamily
from pricing.sale import SaleTerm

YES_NO = {"yes": True, "no": False, "": None}


def parse_sale_term(row: TableRow) -> SaleTerm | None:
    """One row of sale.csv; None after its faults were noted."""
    counts = ("min_days", "max_days", "order_ahead_days", "max_nodes")
    choices = {column: row.one_of(column, ("yes", "no")) == "yes" for column in ("needs_reservation", "queued")}
    names = ("provider", "instance_type", "source", "checked", "confidence")
    return row.build(
        SaleTerm,
        **{column: row.text(column) for column in names},
        **{column: row.text(column, empty=True) for column in ("purchase_option", "region", "successor")},
        zones=tuple(row.text("zones", empty=True).split()),
        sold=YES_NO.get(row.one_of("sold", YES_NO)),
        **{column: row.whole(column) for column in counts},
        **choices,
        ends=row.day("ends") if row.values["ends"] else None,
    )


def parse_fabric(row: TableRow) -> Fabric | None:
    """One row of fabric.csv; None after its faults were noted."""
    names = ("provider", "instance_type", "source", "checked", "confidence")
    return row.build(
        Fabric,
        **{column: row.text(column) for column in names},
        **{column: row.text(column, empty=True) for column in ("rdma", "topology", "machine_type")},
        **{column: row.number(column) for column in ("network_gbps", "rdma_gbps")},
        **{column: row.whole(column) for column in ("nodes_joined", "network_interfaces", "hosts")},
    )


def parse_grid_carbon(row: TableRow) -> GridCarbon | None:
    """One row of grid_carbon.csv; None after its faults were noted."""
    return row.build(
        GridCarbon,
        **{column: row.text(column) for column in ("provider", "region", "year", "source")},
        grid_gco2e_per_kwh=row.positive("grid_gco2e_per_kwh"),
    )


def parse_machine(row: TableRow, sources: Collection[str]) -> PlainMachine | None:
    """One row of machines.csv; None after its faults were noted."""
    if parse_purchase_option(row.text("purchase_option")) is None:
        row.fault(f"purchase_option {row.values['purchase_option']!r} is none that can be read")
    if row.text("source_id") not in sources:
        row.fault(f"source_id {row.values['source_id']!r} is not in sources.csv")
    return row.build(
        PlainMachine,
        **{column: row.text(column) for column in ("provider", "region", "instance_type", "purchase_option")},
        kind=row.one_of("kind", get_args(MachineKind)),
        **{column: row.number(column) for column in ("vcpus", "memory_gib", "fpga_count")},
        price_per_hour=row.positive("price_per_hour"),
        currency=parse_currency_code(row, "currency"),
        as_of=row.day("as_of"),
        source_id=row.text("source_id"),
        note=row.text("note", empty=True),
    )


def parse_ended_family(row: TableRow) -> EndedFamily | None:
    """One row of ended.csv; None after its faults were noted."""
    return row.build(EndedFamily, **{column: row.text(column) for column in ENDED_COLUMNS})
