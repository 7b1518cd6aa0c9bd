"""What is recorded: commands with the files that they read, by group."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
API = ROOT / "openapi" / "examples"
REQUESTS = Path(__file__).parent / "requests.jsonl"
"""One line a request: its name, what options it is planned with, and the request."""
DATES = ("--as-of", "2026-11-21", "--start", "2026-12")
FORMATS = ("plan.json", "plan.csv", "plan.focus.csv", "plan.infracost.json", "plan.md", "plan.xlsx", "terraform/")


@dataclass(frozen=True)
class Command:
    """Arguments of `planner`; `name` is that of its printed output, `suffix` says how that is read."""

    name: str
    arguments: tuple[str, ...]
    suffix: str = ".txt"


@dataclass(frozen=True)
class Case:
    """Commands that run one after the other in a folder with `inputs` in it: files to copy, or texts to write."""

    group: str
    name: str
    commands: tuple[Command, ...]
    inputs: dict[str, Path | str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return f"{self.group}/{self.name}"


def all_cases() -> list[Case]:
    return [*example_cases(), *api_cases(), *command_cases(), *request_cases()]


def planned(*options: str, formats: tuple[str, ...] = FORMATS, name: str = "estimate") -> Command:
    """`planner estimate` with all formats, at dates that do not move."""
    outputs = (part for file in formats for part in ("-o", file))
    return Command(name, ("estimate", *DATES, *options, *outputs))


def printed(name: str, *arguments: str) -> Command:
    """A command of which only what it prints counts; read as what `--json`, `--csv` and `--format` ask for."""
    asked = {"--json": ".json", "json": ".json", "--csv": ".csv", "csv": ".csv"}
    return Command(name, arguments, next((asked[each] for each in arguments if each in asked), ".txt"))


def examples(*names: str) -> dict[str, Path | str]:
    return {name: EXAMPLES / name for name in names}


def example_cases() -> list[Case]:
    """The plans of everything that lies under examples/."""
    cloud_only = "limits: {purchase_options: [on_demand, spot]}\n"
    money = ("--private-prices", "private-prices.csv", "--exchange-rates", "exchange-rates.csv")
    own_cloud = {".data/providers/lambda": EXAMPLES / "own-cloud" / "lambda"}
    job, review = "finetune.yaml", "capacity-review.csv"

    def case(name: str, *options: str, inputs: dict[str, Path | str]) -> Case:
        return Case("examples", name, (planned(*options),), inputs)

    return [
        case("finetune", job, inputs=examples(job)),
        case("finetune-setup", job, "--setup", "setup.yaml", inputs=examples(job, "setup.yaml")),
        case("finetune-risk", job, "--risk", "--seed", "7", "--draws", "500", inputs=examples(job)),
        case("finetune-setup-risk-anew", job, "--setup", "setup.yaml", "--risk", "--draws", "200", "--reoptimise", "2",
             "--months", "6", inputs=examples(job, "setup.yaml")),
        case("finetune-assumptions", job, "--assumptions", "assumptions.yaml", "--discount-rate", "11%",
             inputs=examples(job, "assumptions.yaml")),
        case("finetune-money", job, "--currency", "EUR", *money,
             inputs=examples(job, "private-prices.csv", "exchange-rates.csv")),
        case("finetune-quotas", job, "--quotas", "quotas.csv", inputs=examples(job, "quotas.csv")),
        case("finetune-own-cloud", job, "--providers", "aws,lambda", inputs={**examples(job), **own_cloud}),
        case("finetune-measured-only", job, "--measured-only", "--no-estimates", inputs=examples(job)),
        case("finetune-gates", job, "--fail-over-budget", "20000", "--fail-over-budget", "workloads",
             "--max-price-age", "90", inputs=examples(job)),
        case("request", "request.json", inputs=examples("request.json")),
        case("sweep", "sweep.yaml", inputs=examples("sweep.yaml")),
        case("review-csv", review, "--months", "6", inputs=examples(review)),
        case("review-csv-money", review, "--currency", "JPY", "--providers", "aws,gcp", "--strategies", "cloud",
             *money, inputs=examples(review, "private-prices.csv", "exchange-rates.csv")),
        case("review-xlsx-onprem", "capacity-review.xlsx", "--strategies", "onprem",
             inputs=examples("capacity-review.xlsx")),
        case("review-xlsx-cloud", "capacity-review.xlsx", "--strategies", "cloud", "--months", "6", "--setup",
             "limits.yaml", inputs={**examples("capacity-review.xlsx"), "limits.yaml": cloud_only}),
        case("review-xlsx-impossible", "capacity-review.xlsx", "--providers", "aws",
             inputs=examples("capacity-review.xlsx")),
        case("bill", "bill-focus.csv", "--growth", "0.03", inputs=examples("bill-focus.csv")),
        case("bill-substitution", "bill-focus.csv", "--tag", "team", "--substitution", "--months", "6",
             inputs=examples("bill-focus.csv")),
    ]  # fmt: skip


def api_cases() -> list[Case]:
    """The requests of the service's examples, as files."""
    return [
        Case("api", path.name.removesuffix(".request.json"), (planned(path.name),), {path.name: path})
        for path in sorted(API.glob("*.request.json"))
    ]


def command_cases() -> list[Case]:
    """The other commands: differences, throughput, memory, offers, bills, provisioning, how input is read."""
    review, bill = "capacity-review.csv", "bill-focus.csv"
    return [
        Case("commands", "diff", _diff_commands(), examples("finetune.yaml", "setup.yaml", review)),
        Case("commands", "diff-money", _money_diff_commands(),
             examples("finetune.yaml", "private-prices.csv", "exchange-rates.csv")),
        Case("commands", "throughput", (
            printed("json", "throughput", "finetune.yaml", "--format", "json"),
            printed("csv", "throughput", "finetune.yaml", "--format", "csv", "--count", "8,16,64"),
            printed("text", "throughput", "finetune.yaml", "--all"),
            printed("request", "throughput", "request.json", "--format", "json", "--providers", "aws,gcp"),
            printed("sweep", "throughput", "sweep.yaml", "--format", "json"),
        ), examples("finetune.yaml", "request.json", "sweep.yaml")),
        Case("commands", "memory", (
            printed("finetuning", "memory", "--model", "llama-2-7b", "--run", "finetuning", "--sequence", "4096",
                    "--format", "json"),
            printed("inference", "memory", "--model", "llama-3-70b", "--run", "inference", "--precision", "int4",
                    "--accelerator", "L40S,H100", "--format", "json"),
            printed("lora", "memory", "--parameters", "30B", "--run", "lora", "--count", "2", "--format", "json"),
            printed("sharded", "memory", "--model", "llama-2-13b", "--tensor", "4", "--pipeline", "2", "--zero", "1",
                    "--optimizer", "sgd", "--checkpointing", "full", "--count", "16"),
            printed("models", "memory", "--models"),
        )),
        Case("commands", "offers", (
            printed("h100", "offers", "--accelerator", "H100", "--count", "8", "--sort", "price", "--json"),
            printed("spot", "offers", "--accelerator", "H100,H200", "--option", "spot", "--region",
                    "us-east-1,us-central1", "--csv"),
            printed("rates", "offers", "--min-memory-gib", "80", "--sort", "price_per_rate", "--precision", "fp8",
                    "--limit", "30"),
            printed("slices", "offers", "--type", "g6f.xlarge", "--json"),
            printed("private", "offers", "--type", "p5.48xlarge", "--private-prices", "private-prices.csv", "--json"),
            printed("own", "offers", "--provider", "lambda", "--csv"),
        ), {**examples("private-prices.csv"), ".data/providers/lambda": EXAMPLES / "own-cloud" / "lambda"}),
        Case("commands", "usage", (
            printed("json", "usage", bill, "--json"),
            printed("csv", "usage", bill, "--csv", "--tag", "team"),
            printed("text", "usage", bill),
        ), examples(bill)),
        Case("commands", "explain-input", (
            printed("csv", "estimate", "--explain-input", review),
            printed("xlsx", "estimate", "--explain-input", "capacity-review.xlsx"),
            printed("bill", "estimate", "--explain-input", bill),
        ), examples(review, "capacity-review.xlsx", bill)),
        Case("commands", "terraform", (
            planned("request.json", "--months", "6", formats=("plan.json",)),
            Command("vm", ("terraform", "--strategy", "hybrid", "plan.json", "-o", "vm/")),
            Command("kubernetes", ("terraform", "--nodes", "kubernetes", "plan.json", "-o", "kubernetes/")),
        ), examples("request.json")),
    ]  # fmt: skip


def _diff_commands() -> tuple[Command, ...]:
    """Plans of one job and of a review, one of them compared with the last one in its own reports."""
    return (
        planned("finetune.yaml", formats=("old.json",), name="old"),
        planned("finetune.yaml", "--setup", "setup.yaml", "--discount-rate", "0.1", formats=("new.json",), name="new"),
        planned(
            "capacity-review.csv", "--months", "6", "--compare-to", "old.json",
            formats=("since.json", "since.xlsx", "since.md"), name="since",
        ),
        printed("text", "diff", "old.json", "new.json"),
        printed("json", "diff", "--json", "old.json", "new.json"),
        printed("onprem", "diff", "--json", "--strategy", "onprem", "old.json", "new.json"),
        printed("review", "diff", "--json", "new.json", "since.json"),
    )  # fmt: skip


def _money_diff_commands() -> tuple[Command, ...]:
    """Plans in two currencies, and with negotiated prices and without."""
    rates = ("--exchange-rates", "exchange-rates.csv")
    return (
        planned("finetune.yaml", formats=("old.json",), name="old"),
        planned("finetune.yaml", *rates, "--currency", "GBP", formats=("pounds.json",), name="pounds"),
        planned("finetune.yaml", "--providers", "aws", "--private-prices", "private-prices.csv", formats=("card.json",),
                name="card"),
        printed("json", "diff", "--json", "old.json", "pounds.json"),
        printed("prices", "diff", "--json", "old.json", "card.json"),
    )  # fmt: skip


def request_cases() -> list[Case]:
    """The requests that `draw.py` made, as they are stored."""
    return [request_case(json.loads(line)) for line in REQUESTS.read_text(encoding="utf-8").splitlines()]


def request_case(line: dict[str, Any]) -> Case:
    """The plan of a stored request; `then` are options of a second plan to compare it with, `also` further commands."""
    options = line["options"]
    commands = [planned("request.json", *options)]
    if "then" in line:
        commands += [
            planned("request.json", *options, *line["then"], formats=("then.json",), name="then"),
            printed("diff", "diff", "--json", "plan.json", "then.json"),
        ]
    commands += [printed(name, name, "request.json", "--format", "json") for name in line.get("also", ())]
    folders = (Path(__file__).parent, EXAMPLES)
    tables = {part: folder / part for folder in folders for part in options if (folder / part).is_file()}
    inputs = {**tables, "request.json": json.dumps(line["request"], indent=1)}
    return Case("requests", line["name"], tuple(commands), inputs)
