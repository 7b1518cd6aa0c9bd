"""Reasons for a type without a module and an accelerator without CUDA, as codes with parameters, and their words.

They are written into Terraform's README and need no plan, so their words are here and not in `planner.messages`.
"""

from __future__ import annotations

from planner.result.message import Message

REASONS = {
    "no_modules_for_provider": "there are no modules for {provider}",
    "modules_faulty": "the modules of {provider} cannot be used: {faults}",
    "purchase_option_has_no_module": "the module {module} cannot start nodes as {purchase_option}",
    "purchase_option_refused_by_module": "the module {module} cannot start nodes as {purchase_option}: {explanation}",
    "no_module_for_type": "no module under terraform/{provider}/ takes this instance type",
    "no_kubernetes_module_for_type": "no module for Kubernetes under terraform/{provider}/ takes this instance type",
    "type_excluded_by_module": "{explanation}",
    "other_nodes_have_module": "{explanation}; `planner terraform --nodes {nodes}` provisions it",
    "gang_without_fabric": "a job of {nodes} nodes needs a fabric, and none joins nodes of {instance_type}",
    "gang_beyond_slice": "a job of {nodes} slices needs them joined, and nothing joins slices of {instance_type}: it"
    " takes one slice that is large enough",
    "gang_beyond_placement": "the jobs of {nodes} nodes need {pool} nodes of {instance_type} in one placement, which"
    " holds {limit}",
    "gang_beyond_order": "a job of {nodes} nodes needs one order of {purchase_option} for all of them, and one has"
    " at most {limit}",
    "group_of_one_option": "{explanation}",
    "group_of_other_workloads": "other workloads run on the nodes on demand, and may not be interrupted",
    "group_of_gang": "a job that spans nodes is on demand or on spot as a whole",
    "group_of_part_of_month": "nodes on demand run for a part of the month, and a mixed group starts them before"
    " any other",
    "group_of_own_start": "nodes that start as {purchase_option} need a template of their own",
    "group_of_own_order": "each order of dated days is a reservation of its own, and nodes start in one",
    "group_of_own_hours": "work that ends within the month stands beside work that follows the hours of the week",
    "family_ended": "{title} ended on {ended}; its successor is {successor} ({source})",
    "type_retired": "it is retired; its successor is {successor}",
    "type_retired_without_successor": "it is retired; no successor is known",
    "accelerator_unknown": "{accelerator} is not in the table of accelerators, so its CUDA is not known",
    "accelerator_without_cuda": "{accelerator} ({vendor} {architecture}) runs no CUDA",
    "cuda_unknown": "which CUDA {accelerator} ({architecture}) needs is not known",
}


def reason(code: str, /, **parameters: str) -> Message:
    """A reason by its code, with its words."""
    return Message(code, {**parameters}, REASONS[code].format(**parameters))
