"""`planner.register_plugin`: plug-ins of a Python session, as entry points bring them for every program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from planner import reports
from planner.performance.throughput import plug_in_models
from planner.supply import purchase_options
from pricing.csv_tables import find_nearest_names
from pricing.errors import InvalidPlugin, UnknownName
from pricing.installed_plugins import InstalledPlugin, add_plugin, find_plugins, remove_plugin
from pricing.plugins import check_plugin, load_checked
from pricing.price import PLUG_IN_GROUP as PURCHASE_OPTIONS


class PluginKind(NamedTuple):
    """A kind of plug-in: its group of entry points, the protocol, its name in messages, and reserved names."""

    group: str
    protocol: type
    title: str
    reserved: frozenset[str]


def _list_kinds() -> Mapping[str, PluginKind]:
    """The kinds by their names, which are those of the groups without the package's."""
    own_options = frozenset(purchase_options.load_own_options())
    kinds = (
        PluginKind(reports.PLUG_IN_GROUP, reports.ReportFormat, reports.KIND, frozenset(reports.own_formats())),
        PluginKind(PURCHASE_OPTIONS, purchase_options.PurchaseOption, purchase_options.KIND, own_options),
        PluginKind(plug_in_models.PLUG_IN_GROUP, plug_in_models.ThroughputModel, plug_in_models.KIND, frozenset()),
    )
    return {each.group.rpartition(".")[2]: each for each in kinds}


def find_plugin_problems() -> list[str]:
    """The reason of each plug-in that cannot be used."""
    problems = []
    for kind in _list_kinds().values():
        for plugin in find_plugins(kind.group):
            try:
                load_checked(plugin, kind.protocol, kind.title, kind.reserved)
            except InvalidPlugin as error:
                problems.append(str(error))
    return problems


def register_plugin(kind: str, name: str, plugin: Any) -> None:
    """Makes a plug-in part of this process: an object or module that follows the protocol of its kind.

    `kind` is throughput_models, purchase_options or reports. It takes the place of an installed one of its name. Raises
    InvalidPlugin with everything that it lacks, UnknownName for another kind.

    >>> import planner
    >>> class Linear:
    ...     TITLE = "linear in memory bandwidth"
    ...     def predict(self, workload, accelerator, gang, names):
    ...         if accelerator.memory_bandwidth_gbs is None:
    ...             return None
    ...         rate = accelerator.memory_bandwidth_gbs * gang
    ...         return rate, 0.8 * rate, 1.2 * rate
    >>> planner.register_plugin("throughput_models", "linear", Linear())
    >>> planner.unregister_plugin("throughput_models", "linear")
    """
    known = _find_kind(kind)
    if name in known.reserved:
        raise InvalidPlugin(known.title, name, "", ("the package has one of this name",))
    check_plugin(plugin, known.protocol, known.title)
    add_plugin(InstalledPlugin(known.group, name, plugin=plugin))


def unregister_plugin(kind: str, name: str) -> None:
    """Removes a registered plug-in. UnknownName where there is none of this name."""
    try:
        remove_plugin(_find_kind(kind).group, name)
    except KeyError:
        raise UnknownName(f"registered plug-in of {kind}", name) from None


def _find_kind(kind: str) -> PluginKind:
    kinds = _list_kinds()
    if kind not in kinds:
        raise UnknownName("kind of plug-in", kind, tuple(find_nearest_names(kind, kinds)) or tuple(kinds))
    return kinds[kind]
