"""What every adapter promises, run over all that the walk finds: nothing is lost where nothing can be read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from planner.cli._exit_codes import run
from pricing.catalog.price_catalog import EMBEDDED_LAYOUT, Catalog
from pricing.errors import ProviderFailure
from pricing.providers import find_provider_folders
from pricing.refresh.price_refresh import load_adapter

NAMES = [folder.name for folder in find_provider_folders(EMBEDDED_LAYOUT.data.parent)]
ADAPTERS = {name: adapter for name in NAMES if (adapter := load_adapter(name))}
DEAD = "http://127.0.0.1:9"


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No account of whoever runs this, and a data folder that is empty."""
    monkeypatch.setenv("GPU_PLANNER_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("AZURE_SUBSCRIPTION_ID", "00000000-0000-0000-0000-000000000000")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_PROFILE", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT"):
        monkeypatch.delenv(name, raising=False)


def test_every_shipped_provider_can_be_refreshed():
    on_request = {name for name, facts in Catalog.embedded().provider_facts.items() if facts.on_request}
    assert set(ADAPTERS) == set(NAMES) - on_request >= {"aws", "azure", "gcp"}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", ADAPTERS)
def test_where_nobody_answers_nothing_changes(name, capfd, tmp_path):
    before = Catalog.embedded().digest
    endpoints = [word for service in ADAPTERS[name].SERVICES for word in ("--endpoint", f"{name}.{service}={DEAD}")]
    region = next(r for p, r in Catalog.embedded().regions if p == name)
    code = run(["prices", "refresh", "--provider", name, "--regions", region, *endpoints, "--time-limit", "2"])
    out, err = capfd.readouterr()
    assert code == 4
    assert f"{name}: not refreshed, the last good snapshot stays in use" in out
    assert "unreachable" in err or "timed out" in err
    assert "Traceback" not in err
    assert Catalog.current().digest == before
    assert [path.name for path in (tmp_path / "data" / "snapshots" / name).iterdir()] == [".lock"]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", ADAPTERS)
def test_plain_http_to_elsewhere_is_refused_before_anything_is_sent(name, ask):
    adapter = ADAPTERS[name]
    endpoints = dict.fromkeys(adapter.SERVICES, "http://prices.example")
    region = next(r for p, r in Catalog.embedded().regions if p == name)
    for task in adapter.tasks(ask(name, endpoints, (region,))):
        with pytest.raises(ProviderFailure, match="plain http"):
            list(task.read())


@pytest.mark.parametrize("name", ADAPTERS)
def test_an_interruption_ends_every_task(name, ask):
    adapter = ADAPTERS[name]
    region = next(r for p, r in Catalog.embedded().regions if p == name)
    made = ask(name, dict.fromkeys(adapter.SERVICES, DEAD), (region,))
    tasks = list(adapter.tasks(made))
    made.patience.stop.set()
    for task in (*tasks, *adapter.quota_tasks(made)):
        with pytest.raises(ProviderFailure) as caught:
            list(task.read())
        assert caught.value.kind == "interrupted", task.name


@pytest.mark.parametrize("name", ADAPTERS)
def test_sources_have_names_of_their_own(name, ask):
    made = ask(name, {})
    told = ADAPTERS[name].sources(made.today)
    assert len({source.source_id for source in told}) == len(told)
    assert not {source.source_id for source in told} & Catalog.embedded().sources.keys()
    assert all(source.reference and source.gave and source.as_of == made.today for source in told)


def test_planning_loads_no_sdk(tmp_path):
    """Law 5: a plan reads files. Only a refresh loads an SDK."""
    code = (
        "import sys; from planner.cli._exit_codes import run; "
        "run(['offers', '--limit', '1']); run(['prices', 'status']); run(['doctor']); "
        "print(*[m for m in sys.modules if m.split('.')[0] in ('boto3', 'botocore', 'azure', 'grpc')"
        " or m.startswith(('google.auth', 'google.cloud'))], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stderr.strip() == ""
