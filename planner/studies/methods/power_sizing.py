"""Power, heat, racks and circuits of a number of servers, and what the energy costs as plans count it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from planner.request.field_types import Amount, Positive
from planner.studies.comparison import Nested
from planner.studies.conventions import build_study_node, count_published_costs
from planner.studies.inputs import PositiveFraction, StudyInputs
from pricing.units import HOURS_PER_YEAR

LEAVES_OUT = "It leaves out the servers' price, peaks above the stated power, and space."
NO_FULL_COST = "power only, no price of hardware"
BTU_PER_KWH = 3412.14
BTU_PER_TON_HOUR = 12_000
CONTINUOUS_LOAD_FRACTION = 0.8
"""Of a circuit's rating, for loads of three hours and more: NFPA 70 (National Electrical Code), 210.19 and 210.20."""
WATTS_PER_KW = 1000


class PowerSizingInputs(StudyInputs):
    """Servers at their stated power; `other_kw` is what switches and power supplies draw beside them. A rack's kW is
    what it can hold, a circuit's its rating, of which `circuit_load_fraction` may be drawn."""

    servers: Annotated[int, Field(gt=0)]
    server_kw: Positive
    other_kw: Amount = 0.0
    accelerators_per_server: Annotated[int, Field(gt=0)] | None = None
    load_fraction: PositiveFraction = 1.0
    pue: Positive = 1.0
    rack_kw: Positive | None = None
    circuit_kw: Positive | None = None
    circuit_load_fraction: PositiveFraction = CONTINUOUS_LOAD_FRACTION
    usd_per_kwh: Amount = 0.0
    usd_per_kw_month: Amount = 0.0
    hours_per_year: Positive = HOURS_PER_YEAR


INPUTS = PowerSizingInputs


def outputs(inputs: PowerSizingInputs) -> Mapping[str, Nested]:
    rated = inputs.servers * inputs.server_kw + inputs.other_kw
    drawn = rated * inputs.load_fraction
    energy = count_published_costs(
        build_study_node(0.0, drawn, 0),
        inputs.hours_per_year,
        pue=inputs.pue,
        electricity_price_per_kwh=inputs.usd_per_kwh,
    ).energy
    results: dict[str, Nested] = {
        "it_kw": drawn,
        "facility_kw": drawn * inputs.pue,
        "heat_btu_per_hour": drawn * BTU_PER_KWH,
        "cooling_tons": drawn * BTU_PER_KWH / BTU_PER_TON_HOUR,
        "kwh_per_year": drawn * inputs.pue * inputs.hours_per_year,
        "energy_usd_per_year": energy,
        "colocation_usd_per_month": rated * inputs.usd_per_kw_month,
    }
    if inputs.accelerators_per_server is not None:
        count = inputs.accelerators_per_server * inputs.servers
        results["facility_w_per_accelerator"] = drawn * inputs.pue * WATTS_PER_KW / count
    if inputs.rack_kw is not None:
        results |= _pack_servers(inputs, inputs.rack_kw, "rack")
    if inputs.circuit_kw is not None:
        results |= _pack_servers(inputs, inputs.circuit_kw * inputs.circuit_load_fraction, "circuit")
    return results


def _pack_servers(inputs: PowerSizingInputs, kw: float, unit: str) -> dict[str, Nested]:
    """Whole servers in units of so many kW; None where not one fits."""
    each = math.floor(kw / inputs.server_kw + 1e-9)
    return {f"servers_per_{unit}": float(each), f"{unit}s": math.ceil(inputs.servers / each) if each else None}
