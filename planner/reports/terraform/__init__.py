"""A strategy's cloud part as Terraform: one root module a provider, with copies of the modules of `terraform/`.

Knows no cloud: the module and its arguments for an offering, and the variables that a reader has to fill in, are read
from the modules themselves. Writes no resource; a user's text reaches Terraform only as a quoted value.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from itertools import groupby

from planner.reports.terraform.home_groups import join_groups
from planner.reports.terraform.module_calls import build_root
from planner.reports.terraform.node_pools import NODE_KINDS, assign_modules, group_rented_nodes
from planner.reports.terraform.provider_extras import collect_extras
from planner.reports.terraform.provisioning.module_catalog import CloudModules, PoolKind
from planner.reports.terraform.provisioning.own_modules import find_cloud
from planner.reports.terraform.purchase_lists import (
    bill_of_materials_csv,
    commitment_entries,
    commitments_csv,
    commitments_markdown,
)
from planner.reports.terraform.readme import ProvisioningPlan, empty_readme, format_readme
from planner.reports.terraform.root_module import root_module_files as root_files
from planner.request.errors import InputProblem
from planner.result import Plan

MEDIA_TYPE = "application/zip"
SUFFIX = ".zip"

EPOCH = (1980, 1, 1, 0, 0, 0)
KINDS: dict[str, PoolKind] = {name: kind for kind, name in NODE_KINDS.items()}
"""The values of `--nodes`."""


def render(plan: Plan) -> bytes:
    """All files of the recommended strategy as a zip."""
    return zip_files(files(plan))


def zip_files(written: Mapping[str, bytes]) -> bytes:
    """These files as a zip; equal files give equal bytes (stored, so that no compressor's version shows)."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for path, content in written.items():
            entry = zipfile.ZipInfo(path, EPOCH)
            entry.create_system, entry.external_attr = 3, 0o644 << 16
            archive.writestr(entry, content)
    return target.getvalue()


def files(plan: Plan, strategy: str | None = None, nodes: str = "vm") -> dict[str, bytes]:
    """Relative path -> content, sorted by path, of `strategy` (default: the recommended) with machines of one's own
    (`nodes` vm) or node pools of existing clusters (kubernetes). A provider without nodes to provision has no folder.

    KeyError for a strategy that the plan has not.
    """
    name = strategy or plan.recommendation.strategy
    if name is None:
        return {"README.md": empty_readme(plan).encode()}
    parts = _plan_provisioning(plan, name, KINDS[nodes])
    texts = {"README.md": format_readme(parts), "bill_of_materials.csv": bill_of_materials_csv(plan, parts.strategy)}
    if parts.commitments:
        texts["purchases.md"] = commitments_markdown(plan, parts.commitments)
        texts["purchases.csv"] = commitments_csv(plan, parts.commitments)
    written = {path: text.encode() for path, text in texts.items() if text}
    for made in parts.roots:
        for path, content in root_files(plan, made).items():
            written[f"{made.provider}/{path}"] = content
    return dict(sorted(written.items()))


def find_option_problems(plan: Plan | None, strategy: str | None, nodes: str) -> tuple[InputProblem, ...]:
    """Problems of the options for `plan` (None: it could not be read); `path` and `place` name the option."""
    problems = []
    if nodes not in KINDS:
        problems.append(InputProblem("nodes", "--nodes", "unknown kind of nodes", nodes, f"one of {', '.join(KINDS)}"))
    if plan is not None and strategy is not None:
        possible = [each.name for each in plan.strategies if each.status != "infeasible"]
        if strategy not in possible:
            expected = f"one of {', '.join(possible)}" if possible else "a plan that is possible"
            problems.append(
                InputProblem("strategy", "--strategy", "no strategy of the plan that is possible", strategy, expected)
            )
    return tuple(problems)


def unprovisioned_lines(plan: Plan, strategy: str | None = None, nodes: str = "vm") -> tuple[str, ...]:
    """A line for each part of the plan that is rented and not provisioned, with the reason."""
    name = strategy or plan.recommendation.strategy
    if name is None:
        return ()
    return tuple(
        f"not provisioned: {part.peak} x {part.instance_type} in {part.provider} {part.region}: {reason}"
        for part, reason in _plan_provisioning(plan, name, KINDS[nodes]).refused
    )


def _plan_provisioning(plan: Plan, name: str, kind: PoolKind) -> ProvisioningPlan:
    strategy = plan.strategy(name)
    pools, refused = assign_modules(group_rented_nodes(plan, strategy), kind)
    roots = []
    for provider, same in groupby(join_groups(pools), key=lambda pool: pool.rented.provider):
        here, cloud = tuple(same), find_cloud(provider)
        assert isinstance(cloud, CloudModules)  # it has the modules of the pools
        roots.append(build_root(cloud, here, collect_extras(plan, strategy, provider, here)))
    return ProvisioningPlan(plan, strategy, tuple(roots), refused, commitment_entries(plan, strategy))
