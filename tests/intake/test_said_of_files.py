"""What is said of columns and dates beside a file that has none to choose is one clear complaint, never passed over."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.application import BillForecastOptions, read_document
from planner.inputs.file_reader import read
from planner.inputs.sheet_options import SheetOptions
from pricing.catalog.price_catalog import Catalog

EXAMPLES = Path(__file__).parents[2] / "examples"
MAP = SheetOptions({"boards": "gpus"}, {"boards": "--map Boards=gpus"})
MAPPING = SheetOptions({"boards": "gpus"}, dates="dmy")
DATES = SheetOptions(dates="dmy")
EXPORT = (
    "Service category,Service type,Custom name,Region,Description,Estimated monthly cost\n"
    'Compute,Virtual Machines,A,East US,"1 NC24ads A100 v4 (24 Cores) x 730 Hours (Pay as you go), Linux","$2,681.00"\n'
)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", ["request.json", "finetune.yaml", "bill-focus.csv"])
@pytest.mark.parametrize(("choices", "place"), [(MAP, "--map Boards=gpus"), (MAPPING, "--mapping"), (DATES, "--dates")])
def test_of_a_file_without_columns(name: str, choices: SheetOptions, place: str) -> None:
    data = (EXAMPLES / name).read_bytes()
    _, (fault,) = read_document(
        data, name, Catalog.embedded(), choices, BillForecastOptions(), lambda setting: f"--{setting}"
    )
    assert (fault.place, fault.message, fault.expected) == (place, f"{name} is not a sheet", "a sheet")


@pytest.mark.parametrize("field", ["gpus", "name", "ignore"])
def test_of_a_column_that_a_calculator_knows(field: str) -> None:
    choices = SheetOptions({"description": field}, {"description": f"--map Description={field}"})
    (fault,) = read(EXPORT.encode(), "x.csv", choices).complaints
    assert fault.place == f"--map Description={field}"
    assert fault.message == "the columns of an Azure price-calculator export are known and cannot be mapped"
    assert fault.expected == "'Region=ignore', for lines that may run anywhere, or no mapping"


def test_the_region_of_an_export_may_be_left_out() -> None:
    found = read(EXPORT.encode(), "x.csv", SheetOptions({"region": "ignore"}, {"region": "--map Region=ignore"}))
    assert found.complaints == ()
    assert "regions" not in found.document["workloads"][0]
