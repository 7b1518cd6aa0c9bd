"""The table of the guide holds what the program says: one row for each published case."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.cli._study_report import _flatten_values, number
from planner.studies import ReproducedExample, discover_methods, reproduce
from planner.studies.examples import read_examples
from planner.studies.inputs import StudyInputs, entry_type

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "studies.md"
SHOWN = {
    "lenovo2026_case1_breakeven": ("breakeven_months.on_demand", "breakeven_months.on_demand"),
    "lenovo2026_hourly_opex_parts": ("maintenance_usd_per_hour.A_8xH100", "A_8xH100.running_usd_per_hour"),
    "lenovo2026_tokens_70b": ("onprem_usd_per_million_tokens", "own_usd_per_million_tokens"),
    "lenovo2025_breakeven_on_demand": ("breakeven_months.on_demand", "breakeven_months.on_demand"),
    "epoch_amortised_training_cost_a": ("capex_energy_usd.GPT-4", "GPT-4.own_usd"),
    "panwang_breakeven_a": ("breakeven_months.Llama-3.3-70B.GPT-5", "Llama-3.3-70B.breakeven_months.GPT-5"),
    "uptime_dedicated_vs_cloud": ("breakeven_utilisation", ""),
    "daly_m24h": ("daly_minutes[0]", "exact_minutes[0]"),
    "aws_savings_plan_scenarios_1_2": ("total_charge[1]", ""),
    "reserved_all_upfront_c3large": ("breakeven_months", "breakeven_months"),
    "internet2_core_hour": ("capital_usd_per_core_hour", "own_usd_per_core_hour"),
    "aiinframap_h100_h200_tco": ("H100.total_usd", "H100.own_usd"),
    "macrs_5_year": ("deduction_usd[2]", ""),
    "annuity_10_years": ("payment_usd", ""),
    "aws_savings_plan_order": ("savings_percent.Fargate vCPU", ""),
    "three_month_terms": ("saving_usd", ""),
    "office_hours": ("breakeven_hours_per_day", ""),
    "hgx_h100_power": ("facility_w_per_accelerator", ""),
    "base_load_of_a_day": ("committed_nodes", ""),
    "llama3_failures": ("mean_hours_between_at_scale", "mean_hours_between_at_scale"),
    "text_classification_cpu_gpu": ("times_as_fast.GPU", ""),
    "aks_three_gpus_five_nodes": ("times_as_fast.3 GPU nodes", ""),
    "boosted_trees_four_gpus": ("times_as_fast_per_device.4 GPUs", ""),
    "boosted_trees_one_gpu": ("times_as_fast.1 GPU", ""),
    "inference_equal_price": ("work_per_price_ratio.GPU", "own_cost_of_work_ratio.GPU"),
    "inference_list_prices": ("work_per_price_ratio.V100", ""),
    "mixed_precision_resnet50": ("times_as_fast.mixed", ""),
}
"""Of each case the printed figure, and the one in full, that the table shows."""


def row(result: ReproducedExample) -> str:
    name, full = SHOWN[result.example.id]
    (leaf,) = (leaf for leaf in result.leaves if leaf.name == name)
    figures = dict(_flatten_values("", result.full_cost.figures))
    held = sum(each.ok for each in result.leaves)
    in_full = f"{number(figures[full])} (`{full}`)" if full else result.full_cost.basis
    cells = (
        f"`{result.example.id}`",
        f"{held} of {len(result.leaves)}",
        f"`{name}`",
        number(leaf.printed),
        number(leaf.computed),
        in_full,
    )
    return f"| {' | '.join(cells)} |"


@pytest.fixture(scope="module")
def rows(file, house) -> list[str]:
    return [row(result) for result in reproduce(read_examples(file.read_bytes(), file.name), house)]


def test_the_table_is_what_the_program_says(rows):
    """Where an assumption or a formula changed: put these rows in."""
    written = [line for line in GUIDE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    assert written[: len(rows)] == rows, "\n".join(rows)


def names(inputs: type[StudyInputs]) -> set[str]:
    """All that a method reads, at any level."""
    found = set(inputs.model_fields)
    for field in inputs.model_fields.values():
        entry = entry_type(field.annotation)
        found |= names(entry) if entry else set()
    return found


def test_every_method_and_all_that_it_reads_is_told():
    text = GUIDE.read_text(encoding="utf-8").partition("\n## Methods\n")[2].partition("\n## ")[0]
    told = {line.split("`")[1]: line for line in text.splitlines() if line.startswith("| `")}
    assert list(told) == list(discover_methods())
    for method, line in told.items():
        missing = [name for name in sorted(names(discover_methods()[method].INPUTS)) if f"`{name}`" not in line]
        assert missing == [], method
