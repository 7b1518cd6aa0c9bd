"""What is recorded: commands with the files that they read, by group."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
API = ROOT / "openapi" / "examples"
DATES = ("--as-of", "2026-11-21", "--start", "2026-12")


@dataclass(frozen=True)
class Case:
    """Commands that run one after the other in one folder, each with the name that its printed output gets."""

    group: str
    name: str
    commands: tuple[tuple[str, tuple[str, ...]], ...]
    inputs: dict[str, Path | str] = field(default_factory=dict)


def estimate(*options: str) -> tuple[str, tuple[str, ...]]:
    return "estimate", ("estimate", *DATES, *options, "-o", "plan.json")


def all_cases() -> list[Case]:
    return [*example_cases(), *api_cases()]


def example_cases() -> list[Case]:
    def case(name: str, file: str, *options: str, **more: str) -> Case:
        inputs = {name: EXAMPLES / name for name in (file, *more.values())}
        return Case("examples", name, (estimate(file, *options),), inputs)

    return [
        case("finetune", "finetune.yaml"),
        case("finetune-setup", "finetune.yaml", "--setup", "setup.yaml", setup="setup.yaml"),
        case("request", "request.json"),
        case("sweep", "sweep.yaml"),
    ]


def api_cases() -> list[Case]:
    return [
        Case("api", path.name.removesuffix(".request.json"), (estimate(path.name),), {path.name: path})
        for path in sorted(API.glob("*.request.json"))
    ]
