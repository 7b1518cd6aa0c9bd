"""Throughput models of plug-ins: used wherever a rate is not measured, before the planner's own prediction."""

from __future__ import annotations

import math
from functools import cache
from typing import Protocol

from planner.performance.throughput import Throughput
from planner.request.models import Workload
from planner.result.message import message
from pricing.accelerator import Accelerator, AcceleratorNames
from pricing.errors import InvalidPlugin
from pricing.installed_plugins import find_plugins, plugin_state
from pricing.plugins import load_plugins

PLUG_IN_GROUP = "gpu_planner.throughput_models"
"""Entry points of throughput models."""
KIND = "throughput model"
BASIS = "predicted_by_plug_in"
RateInterval = tuple[float, float, float]


class ThroughputModel(Protocol):
    """The contents of a model's module, or of an object that is registered. Equal arguments must give equal rates."""

    TITLE: str

    def predict(
        self, workload: Workload, accelerator: Accelerator, gang: float, names: AcceleratorNames
    ) -> RateInterval | None:
        """Work units per hour of one gang of `gang` accelerators together, with the ends of the interval that holds
        80 % of cases; None for work that the model does not cover; the next one follows."""
        ...


def apply_throughput_models(
    workload: Workload, accelerator: Accelerator, gang: float, names: AcceleratorNames
) -> Throughput | None:
    """The rate of the first model, by name, that has one. InvalidPlugin for one that fails or gives no rate."""
    for name, model in _load_models(plugin_state()).items():
        answer = model.predict(workload, accelerator, gang, names)
        if answer is None:
            continue
        if not _is_interval(answer):
            problem = f"predict gives {answer!r} for {workload.name} on {gang:g} x {accelerator.name}"
            expected = "expected work per hour with a lower and an upper end around it, all above 0, or None"
            raise InvalidPlugin(KIND, name, _source_of(name), (f"{problem}: {expected}",))
        explanation = message("predicted_by_plug_in", title=model.TITLE, name=name, source=_source_of(name))
        rate, low, high = map(float, answer)
        return Throughput(rate, low, high, BASIS, (explanation,))
    return None


@cache
def _load_models(_: int) -> dict[str, ThroughputModel]:
    return load_plugins(PLUG_IN_GROUP, ThroughputModel, KIND)


def _is_interval(answer: object) -> bool:
    if not isinstance(answer, tuple) or len(answer) != 3:
        return False
    if not all(isinstance(each, int | float) and math.isfinite(each) for each in answer):
        return False
    rate, low, high = answer
    return bool(0 < low <= rate <= high)


def _source_of(name: str) -> str:
    return next((each.source for each in find_plugins(PLUG_IN_GROUP) if each.name == name), "")
