"""Module calls of a root: pools of nodes, and the extras (budget, quota, storage) that a plan needs.

Knows no cloud: which arguments a module takes is read from it. Figures and names of a plan are not in a call; they
are in variables that the root's terraform.tfvars fills in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from itertools import groupby
from math import ceil

from planner.reports.terraform.node_pools import NodePool, slug
from planner.reports.terraform.provider_extras import ProviderExtras
from planner.reports.terraform.provisioning import cuda_versions, hcl
from planner.reports.terraform.provisioning.gang_fabrics import catalog_of
from planner.reports.terraform.provisioning.hcl import RawExpression
from planner.reports.terraform.provisioning.module_catalog import (
    OPTIONAL_POOL_VARIABLES,
    CloudModules,
    ExtraModule,
    ModuleInput,
    TerraformModule,
)
from pricing.frozen_values import dataclass

FLEX_START_HOURS_MAX = 7 * 24.0
"""https://docs.cloud.google.com/compute/docs/instances/about-flex-start-vms"""


@dataclass(frozen=True, slots=True)
class ModuleCall:
    """One module call. `needed` names inputs of the module that must have a value here; `known` has values that hold
    unless the reader gives others; `dated_months` are the months (from 0) of its dated days, each a purchase."""

    label: str
    module: TerraformModule
    region: str
    arguments: Mapping[str, hcl.HclValue]
    needed: frozenset[str]
    description: str
    known: Mapping[str, hcl.HclValue] = field(default_factory=dict)
    dated_months: tuple[int, ...] = ()

    def key(self, item: ModuleInput) -> str:
        """The key of this call's value in the root variable of `item`; "" for one value for the plan."""
        return {"plan": "", "region": self.region, "pool": self.label, "month": self.label}[item.scope]


@dataclass(frozen=True, slots=True)
class RootModule:
    """All that one provider's root holds."""

    provider: str
    cloud: CloudModules
    pools: tuple[NodePool, ...]
    calls: tuple[ModuleCall, ...]
    extras: ProviderExtras


@dataclass(frozen=True, slots=True)
class RootInput:
    """A root variable: the keys (regions or pools) that must have a value, those that may, and each key's region and
    months (from 0) of dated days."""

    input: ModuleInput
    needed: tuple[str, ...]
    allowed: tuple[str, ...]
    regions: Mapping[str, str]
    dated_months: Mapping[str, tuple[int, ...]]

    @property
    def required(self) -> bool:
        """Whether the root cannot be planned without it."""
        return bool(self.needed)


def build_root(cloud: CloudModules, pools: Sequence[NodePool], extras: ProviderExtras) -> RootModule:
    """The root of a provider's `pools`."""
    calls = [_pool_call(pool) for pool in pools]
    for extra in cloud.extras:
        calls += _extra_calls(extra, extras, pools[0].rented.region)
    return RootModule(cloud.provider, cloud, tuple(pools), tuple(calls), extras)


def root_inputs(made: RootModule) -> tuple[RootInput, ...]:
    """The variables that the reader fills in, required ones first."""
    uses = [(item, required, call) for call in made.calls for item, required in _call_inputs(made.cloud, call)]
    collected = []
    for _, group in groupby(sorted(uses, key=lambda use: use[0].root), key=lambda use: use[0].root):
        same = [(item, required, call.key(item), call) for item, required, call in group]
        regions = {key: call.region for _, _, key, call in same}
        needed = {key for _, required, key, _ in same if required}
        dated = {key: call.dated_months for _, _, key, call in same}
        others = tuple(sorted(set(regions) - needed))
        collected.append(RootInput(same[0][0], tuple(sorted(needed)), others, regions, dated))
    return tuple(sorted(collected, key=lambda item: not item.required))


def _call_inputs(cloud: CloudModules, call: ModuleCall) -> Iterator[tuple[ModuleInput, bool]]:
    """The inputs of a call that the plan leaves open, of its module, then its providers; whether each is required."""
    for item in undecided_inputs(call):
        yield item, item.name not in call.known and (item.required or item.name in call.needed)
    for provider in call.module.required_providers:
        for name in cloud.providers[provider].inputs:
            yield cloud.inputs[name], True


def undecided_inputs(call: ModuleCall) -> tuple[ModuleInput, ...]:
    """The inputs of its module that the plan does not decide."""
    return tuple(item for item in call.module.inputs.values() if item.name not in call.arguments)


def _pool_call(pool: NodePool) -> ModuleCall:
    part, module = pool.rented, pool.match.module
    line = cuda_versions.find_cuda_line(part.accelerator)
    there: dict[str, hcl.HclValue] = {
        "tags": RawExpression("var.tags"),
        "cuda_line": line.newest_line if isinstance(line, cuda_versions.CudaLine) else None,
        "week": RawExpression(f'local.weeks["{part.label}"]'),
        "scale_to_zero": True if part.is_partial or part.orders else None,
        "gang_nodes": part.gang_nodes if part.gang_nodes > 1 else None,
        "flex_start_hours": _flex_start_hours(pool),
    }
    arguments: dict[str, hcl.HclValue] = {
        "name": _prefixed_name(part.resource_name),
        "plan_id": RawExpression("var.plan_id"),
        "workloads": RawExpression(f'var.workloads["{part.label}"]'),
        "teams": RawExpression(f'var.teams["{part.label}"]'),
        "purchase_option": part.started,
        "node_count": RawExpression(f'local.node_counts["{part.label}"]'),
        "schedule": RawExpression(f'local.schedules["{part.label}"]'),
        **{name: there[name] for name in OPTIONAL_POOL_VARIABLES if name in module.variables},
        **({pool.match.base_count: RawExpression(f'local.base_counts["{part.label}"]')} if part.base_nodes else {}),
        **_region_arguments(module, part.region),
        **pool.match.arguments,
    }
    needed = frozenset(
        (
            *pool.match.asks,
            *module.purchase_options[part.started],
            *(module.partial_asks if part.is_partial else ()),
            *(module.gang_asks if part.gang_nodes > 1 else ()),
        )
    )
    description = f"{part.instance_type} in {part.region}, started as {part.started_words}."
    dated = tuple(at for at, order in enumerate(part.orders) if order)
    return ModuleCall(part.label, module, part.region, arguments, needed, description, _known_values(pool), dated)


def _known_values(pool: NodePool) -> dict[str, hcl.HclValue]:
    """What the catalogue knows: the zone of a region in which the type is sold so, the first of them; the topology of a
    slice over several machines."""
    part, catalog = pool.rented, catalog_of(pool.rented.provider)
    terms = catalog.sale_terms(part.provider, part.instance_type)
    here = [term for term in terms if term.region == part.region and any(map(term.names, part.paid))]
    zones = sorted({zone for term in here for zone in term.zones})
    values: dict[str, hcl.HclValue] = {"zone": zones[0], "zones": [zones[0]]} if zones else {}
    offering = catalog.offerings.get((part.provider, part.instance_type))
    if offering and (fabric := catalog.fabric(offering)).hosts not in (None, 1):
        values["tpu_topology"] = fabric.topology
    return {name: value for name, value in values.items() if name in pool.match.module.inputs}


def _flex_start_hours(pool: NodePool) -> int | None:
    """Hours that a node of flex-start runs for: those of the shortest month, so that none runs longer than planned."""
    part = pool.rented
    if part.started != "flex_start":
        return None
    each = [hours / nodes for hours, nodes in zip(part.node_hours, part.nodes, strict=True) if nodes]
    return ceil(min(*each, FLEX_START_HOURS_MAX))


def _extra_calls(module: ExtraModule, extras: ProviderExtras, home: str) -> Iterator[ModuleCall]:
    """The calls of an extra: one budget, in the region `home`; quota once a region; storage once a workload and
    region."""
    if module.kind == "budget" and extras.highest_bill:
        arguments = {
            "currency": RawExpression("var.currency"),
            "monthly_amount": RawExpression("var.monthly_budget"),
            "start_month": RawExpression("var.budget_start_month"),
            "contacts": RawExpression("var.budget_contacts"),
        }
        description = "Budget with alarms at the plan's highest monthly cost."
        yield _extra_call("budget", module, home, arguments, description)
    # a provider that is set up once per region can request quota there only
    for place in sorted({request.region for request in extras.quotas}) if module.kind == "quota" else ():
        picked = RawExpression(f"[for item in var.quota_requests : item if item.region == {hcl.quote_string(place)}]")
        arguments = {"requests": picked, "request": RawExpression("var.request_quotas")}
        yield _extra_call(
            f"quota_{slug(place, '_')}", module, place, arguments, f"Quota that the plan lacks in {place}."
        )
    for store in extras.stores if module.kind == "storage" else ():
        entry = f'var.storage["{store.label}"]'
        arguments = {name: RawExpression(f"{entry}.{name}") for name in ("workload", "capacity_gb")}
        if "region" in module.variables:
            arguments["region"] = RawExpression(hcl.quote_string(store.region))
        yield _extra_call(store.label, module, store.region, arguments, f"Storage of one workload in {store.region}.")


def _extra_call(
    label: str, module: ExtraModule, region: str, arguments: Mapping[str, hcl.HclValue], description: str
) -> ModuleCall:
    tags = {"tags": RawExpression("var.tags")} if "tags" in module.variables else {}
    name = _prefixed_name(label.replace("_", "-"))
    all_arguments: dict[str, hcl.HclValue] = {
        "name": name, "plan_id": RawExpression("var.plan_id"), **tags, **_region_arguments(module, region), **arguments,
    }  # fmt: skip
    return ModuleCall(label, module, region, all_arguments, frozenset(), description)


def _region_arguments(module: TerraformModule, region: str) -> dict[str, hcl.HclValue]:
    return {name: value.format(region=region) for name, value in module.arguments.items()}


def _prefixed_name(text: str) -> RawExpression:
    return RawExpression('"${var.name_prefix}-' + text + '"')
