"""Adapters are checked when they are found: against their protocol, and for modules that are not installed."""

from __future__ import annotations

import re

import pytest

from pricing.errors import InvalidPlugin
from pricing.refresh import price_refresh
from pricing.refresh.price_refresh import load_adapter

COMPLETE = """\
EXTRA, SERVICES, AT_ONCE = "acme", ("prices",), 2
def sources(day): return ()
def tasks(request): return ()
def quota_tasks(request): return ()
"""


@pytest.fixture
def plug_in(tmp_path, monkeypatch, request):
    """plug_in(fetch, init): a package of this test as the plug-in of the provider acme."""
    package = f"plug_in_{re.sub('[^a-z0-9]', '_', request.node.name.lower())}"

    def make(fetch: str | None, init: str = "") -> str:
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text(init)
        if fetch is not None:
            (tmp_path / package / "fetch.py").write_text(fetch)
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.setattr(price_refresh, "find_plug_in_packages", lambda: (("acme", package),))
        return package

    return make


def test_a_complete_adapter_is_used(plug_in):
    plug_in(COMPLETE)
    adapter = load_adapter("acme")
    assert adapter is not None
    assert adapter.SERVICES == ("prices",)


def test_a_provider_without_code_has_no_adapter(plug_in, monkeypatch):
    plug_in(None)
    assert load_adapter("acme") is None
    monkeypatch.setattr(price_refresh, "find_plug_in_packages", lambda: (("acme", "no_such_package.inside"),))
    assert load_adapter("acme") is None
    assert load_adapter("no_such_provider") is None


def test_every_missing_part_is_named(plug_in):
    package = plug_in(COMPLETE.replace("AT_ONCE", "OTHER").replace("def tasks(request)", "def tasks()"))
    with pytest.raises(InvalidPlugin) as caught:
        load_adapter("acme")
    assert (caught.value.kind, caught.value.name) == ("provider adapter", f"{package}.fetch")
    assert caught.value.problems == (
        "AT_ONCE is missing: expected int",
        "tasks cannot be called as tasks(request)",
    )


@pytest.mark.parametrize(("fetch", "init"), [("import no_such_sdk\n", ""), (COMPLETE, "import no_such_sdk\n")])
def test_a_module_that_is_not_installed_is_named(plug_in, fetch, init):
    plug_in(fetch, init)
    with pytest.raises(InvalidPlugin, match="it imports no_such_sdk, which is not installed"):
        load_adapter("acme")
