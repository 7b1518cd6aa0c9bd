"""What GPU capacity to rent, commit to or buy, month by month, and what it will cost.

>>> import planner
>>> job = {"name": "scoring", "demand": {"accelerator_hours_per_month": 730, "accelerator": "L4"}}
>>> result = planner.plan(job, months=12, start="2026-12", as_of="2026-11-21")
>>> result.recommendation.strategy
'cloud'

`plan` takes a path, a mapping, a `Request` or a data frame; `offers` lists prices; `scenarios` plans variants of a
request side by side; `load` reads a plan from JSON. The names of `__all__` are public (docs/guides/stability.md); each
is loaded when it is used, so that `import planner` is cheap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planner.library.offer_list import OfferList, offers
    from planner.library.plan_result import PlanResult
    from planner.library.planning import load, plan
    from planner.library.plugin_registry import register_plugin, unregister_plugin
    from planner.library.scenario_set import ScenarioSet, scenarios
    from planner.request.doubts import Doubt
    from planner.request.errors import InputProblem, InternalError, InvalidRequest, OpenQuestions, PlannerError
    from planner.request.models import Request, Workload
    from planner.request.optional_libraries import MissingLibrary
    from planner.result import Plan
    from pricing.catalog.price_catalog import Catalog
    from pricing.errors import InvalidPlugin, PricingError, UnknownName

    __version__: str

__all__ = [
    "Catalog",
    "Doubt",
    "InputProblem",
    "InternalError",
    "InvalidPlugin",
    "InvalidRequest",
    "MissingLibrary",
    "OfferList",
    "OpenQuestions",
    "Plan",
    "PlanResult",
    "PlannerError",
    "PricingError",
    "Request",
    "ScenarioSet",
    "UnknownName",
    "Workload",
    "__version__",
    "load",
    "offers",
    "plan",
    "register_plugin",
    "scenarios",
    "unregister_plugin",
]
MODULES = {
    "planner.library.offer_list": ("OfferList", "offers"),
    "planner.library.plan_result": ("PlanResult",),
    "planner.library.planning": ("load", "plan"),
    "planner.library.plugin_registry": ("register_plugin", "unregister_plugin"),
    "planner.library.scenario_set": ("ScenarioSet", "scenarios"),
    "planner.request.doubts": ("Doubt",),
    "planner.request.errors": ("InputProblem", "InternalError", "InvalidRequest", "OpenQuestions", "PlannerError"),
    "planner.request.models": ("Request", "Workload"),
    "planner.request.optional_libraries": ("MissingLibrary",),
    "planner.result": ("Plan",),
    "pricing.catalog.price_catalog": ("Catalog",),
    "pricing.errors": ("InvalidPlugin", "PricingError", "UnknownName"),
}
"""The public names by the module that has them; type checkers read the imports above."""


if not TYPE_CHECKING:  # to which a name that is not imported above is an error

    def __getattr__(name: str) -> Any:
        """A public name, from its module on first use."""
        from importlib import import_module

        if name == "__version__":
            from importlib.metadata import version

            return version("gpu-planner")
        for module, names in MODULES.items():
            if name in names:
                value = globals()[name] = getattr(import_module(module), name)
                return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
