"""Defaults from variables and from the settings file: which goes before which, what the report says of them, faults."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from planner.cli import commands
from planner.cli._default_settings import SECTIONS, setting_options_of, top_settings
from planner.inputs.merged_settings import select_unstated

ROOT = Path(__file__).parents[2]
JOB = b"name: a\ndemand: {accelerator_hours_per_month: 730, accelerator: L4}\n"
DATED = ("--start", "2026-12", "--as-of", "2026-11-21")
RATES = str(ROOT / "examples" / "exchange-rates.csv")


@pytest.fixture
def settings(tmp_path, monkeypatch):
    """Writes the settings file, which the variable names."""
    path = tmp_path / "Ordner mit Umläuten" / "config.yaml"
    path.parent.mkdir()
    path.write_text("# nothing yet\n")
    monkeypatch.setenv("PLANNER_CONFIG", str(path))

    def write(text: str) -> Path:
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def plan_of(planner):
    """The plan that `planner estimate` makes of a job, as JSON."""

    def make(*arguments: str, job: bytes = JOB) -> dict:
        ran = planner("estimate", *DATED, *arguments, "--format", "json", "-", stdin=job)
        assert ran.code == 0, ran.err
        return json.loads(ran.out)

    return make


def rate(plan: dict) -> float:
    return plan["discount_rate_annual"]


def notes(plan: dict) -> str:
    return "\n".join(plan["inputs"]["notes"])


def test_option_then_variable_then_file_then_built_in(plan_of, settings, monkeypatch):
    assert rate(plan_of()) == 0.08
    path = settings("discount_rate: 11%\n")
    of_file = plan_of()
    assert rate(of_file) == 0.11
    assert f"your defaults: discount rate 11% (line 1 column 16) of {path}" in notes(of_file)
    monkeypatch.setenv("PLANNER_DISCOUNT_RATE", "0.12")
    of_variable = plan_of()
    assert rate(of_variable) == 0.12
    assert "your defaults: discount rate 0.12 of PLANNER_DISCOUNT_RATE" in notes(of_variable)
    of_option = plan_of("--discount-rate", "13%")
    assert rate(of_option) == 0.13
    assert "your defaults" not in notes(of_option)


@pytest.mark.parametrize("stated", [b"discount_rate_annual: 0.1\n", b"assumptions: {discount_rate_annual: 0.1}\n"])
def test_what_a_request_states_goes_before_the_defaults(plan_of, settings, monkeypatch, stated):
    settings("discount_rate: 11%\n")
    monkeypatch.setenv("PLANNER_DISCOUNT_RATE", "0.12")
    request = (
        b"as_of: 2026-11-21\nworkloads:\n- name: a\n  demand: {accelerator_hours_per_month: 730, accelerator: L4}\n"
    )
    plan = plan_of(job=request + stated)
    assert rate(plan) == 0.1
    assert "your defaults" not in notes(plan)


def test_lists_files_and_flags(plan_of, settings):
    path = settings(
        "providers: [gcp, aws]\ncurrency: EUR\nexchange_rates: rates.csv\nmeasured_only: true\n# a comment\n"
    )
    (path.parent / "rates.csv").write_bytes(Path(RATES).read_bytes())  # relative to the settings file
    plan = plan_of()
    assert plan["currency"] == "EUR"
    assert {each["provider"] for each in plan["prices"]} <= {"gcp", "aws"}
    assert "providers gcp, aws (line 1" in notes(plan)
    assert "measured only" in notes(plan)
    assert f"exchange rates {path.parent / 'rates.csv'}" in notes(plan)


def test_a_list_in_a_variable_has_commas(plan_of, monkeypatch):
    monkeypatch.setenv("PLANNER_PROVIDERS", "gcp, aws")
    plan = plan_of()
    assert {each["provider"] for each in plan["prices"]} <= {"gcp", "aws"}
    assert "providers gcp, aws of PLANNER_PROVIDERS" in notes(plan)


def test_regions_by_default_do_not_contradict_providers_of_a_request(plan_of, settings):
    settings("regions: us-central1\nproviders: gcp\n")
    plan = plan_of("--providers", "aws")
    assert {each["provider"] for each in plan["prices"]} == {"aws"}
    assert "your defaults" not in notes(plan)


def test_the_screen_says_where_a_default_came_from(planner, settings):
    path = settings("currency: USD\neffort: quick\n")
    ran = planner("estimate", *DATED, "-", stdin=JOB)
    said = " ".join(ran.out.partition("Not understood, missing or old")[2].split())
    assert f"your defaults: currency USD (line 1 column 11), effort quick (line 2 column 9) of {path}" in said


def test_terraform_of_a_file_has_the_plan_of_estimate(planner, settings, tmp_path):
    settings("providers: gcp\n")
    (tmp_path / "job.yaml").write_bytes(JOB)
    assert planner("estimate", "job.yaml", "-o", "one/").code == 0
    assert planner("terraform", "job.yaml", "-o", "other").code == 0
    made = [sorted(path.name for path in (tmp_path / name).iterdir() if path.is_dir()) for name in ("one", "other")]
    assert made[0] == made[1] == ["gcp"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("curency: EUR\n", "line 1 column 10: unknown setting; read curency; expected one of currency"),
        ("currency: USD\nservr: {}\n", "line 2 column 8: unknown setting; read servr; expected one of serve"),
        ("currency: {a: 1}\n", "line 1 column 11: currency is not valid"),
        ("measured_only: 3\n", "line 1 column 16: measured_only is not valid; read 3; expected true or false"),
        ("effort: quik\n", "line 1 column 9: not valid; read 'quik'; expected 'quick'"),
        ("providers: [awz]\n", "unknown provider; read awz; expected one of aws"),
        ("discount_rate: [8%, 9%]\n", "line 1 column 16: discount_rate is not valid"),
        ("currency: [\n", "not YAML"),
        ("- aws\n", "config.yaml"),
        ("currency: USD\ncurrency: EUR\n", "line 2 column 1: the key 'currency' occurs twice"),
        ("private_prices: none.csv\n", "none.csv"),
        ("setup: none.yaml\n", "none.yaml: cannot be read"),
    ],
)
def test_a_fault_in_the_file_is_one_line_with_its_place(planner, settings, text, told):
    path = settings(text)
    ran = planner("estimate", *DATED, "-", stdin=JOB)
    assert ran.code == 2
    head, *faults = ran.err.splitlines()
    assert head.startswith("error: 1 problem in the input")
    assert len(faults) == 1
    assert told in faults[0]
    assert "none." in text or path.name in faults[0]


def test_every_unknown_key_is_told_at_once(planner, settings):
    settings("curency: EUR\nprovidrs: [aws]\neffort: quick\n")
    ran = planner("estimate", *DATED, "-", stdin=JOB)
    assert ran.err.startswith("error: 2 problems")


def test_a_fault_in_a_variable_names_it(planner, monkeypatch):
    monkeypatch.setenv("PLANNER_MEASURED_ONLY", "perhaps")
    ran = planner("estimate", *DATED, "-", stdin=JOB)
    assert (ran.code, "PLANNER_MEASURED_ONLY" in ran.err) == (2, True)
    monkeypatch.setenv("PLANNER_MEASURED_ONLY", "no")
    monkeypatch.setenv("PLANNER_PROVIDERS", "awz")
    assert "  PLANNER_PROVIDERS: unknown provider; read awz" in planner("estimate", *DATED, "-", stdin=JOB).err


def test_commands_without_settings_and_help_need_no_sound_file(planner, settings):
    settings("curency: EUR\n")
    assert planner("estimate", "--help").code == 0
    assert planner("version").code == 0
    assert planner("init", "--work", "L4", "--demand", "1", "-o", "-").code == 0
    assert planner("estimate", *DATED, "-", stdin=JOB).code == 2


def test_the_file_is_chosen_by_option_then_variable_then_folder(planner, plan_of, settings, tmp_path, monkeypatch):
    settings("discount_rate: 0.11\n")
    other = tmp_path / "other.yaml"
    other.write_text("discount_rate: 0.12\n")
    ran = planner("--config", str(other), "estimate", *DATED, "--format", "json", "-", stdin=JOB)
    assert rate(json.loads(ran.out)) == 0.12
    assert rate(plan_of()) == 0.11
    monkeypatch.delenv("PLANNER_CONFIG")
    monkeypatch.setattr(click, "get_app_dir", lambda name: str(tmp_path / name))
    assert rate(plan_of()) == 0.08
    (tmp_path / "gpu-planner").mkdir()
    (tmp_path / "gpu-planner" / "config.yaml").write_text("discount_rate: 0.14\n")
    assert rate(plan_of()) == 0.14
    missing = planner("--config", "nowhere.yaml", "estimate", *DATED, "-", stdin=JOB)
    assert (missing.code, "nowhere.yaml: cannot be read" in missing.err) == (2, True)


def test_settings_of_the_service_are_read_by_its_commands_alone(planner, settings, tmp_path):
    settings(f"serve:\n  store: sqlite:///{tmp_path}/jobs.sqlite\n")
    assert planner("db", "upgrade").code == 0
    assert (tmp_path / "jobs.sqlite").is_file()
    settings("serve: {secnds: 3}\n")
    assert planner("estimate", *DATED, "-", stdin=JOB).code == 0
    told = planner("db", "upgrade")
    assert told.code == 2
    assert "unknown setting; read serve.secnds; expected one of seconds" in told.err
    settings("serve: {seconds: soon}\n")
    told = planner("serve")
    assert told.code == 2
    assert "line 1 column 18: seconds is not valid; read soon" in told.err
    settings("serve: 3\n")
    assert "serve is no part with settings" in planner("serve").err


def test_offers_take_the_files_of_prices(planner, settings):
    path = settings("private_prices: ours.csv\n")
    (path.parent / "ours.csv").write_text("nonsense\n")
    ran = planner("offers", "--accelerator", "L4", "--limit", "1")
    assert ran.code == 2
    assert "ours.csv" in ran.err


@pytest.mark.slow
def test_doctor_tells_the_settings_and_their_faults(planner, settings):
    path = settings("currency: EUR\n")
    ran = planner("doctor")
    assert ran.code == 0, ran.err
    assert re.search(rf"^settings +currency in {re.escape(str(path))}$", ran.out, re.MULTILINE)
    settings("curency: EUR\nserve: {secnds: 3}\n")
    ran = planner("doctor")
    assert ran.code == 1
    assert "read curency" in ran.err


def walk(command: click.Command, context: click.Context):
    yield from setting_options_of(command)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            yield from walk(command.get_command(context, name), click.Context(command, context))


def test_one_table_makes_all_three_names():
    """No variable and no key belongs to two settings; the reference names each."""
    table = {(each.section, each.key): each.variable for each in walk(commands, click.Context(commands))}
    assert len(table) > 30
    assert len(set(table.values())) == len(table)
    assert {section for section, _ in table} == {"", *SECTIONS}
    assert {key for section, key in table if not section} == set(top_settings())
    text = (ROOT / "docs/reference/settings.md").read_text(encoding="utf-8")
    for (_, key), variable in table.items():
        assert f"| `{key}` | `{variable}` | `--{key.replace('_', '-')}` |" in text


def test_the_settings_of_the_guide_are_valid():
    text = (ROOT / "docs/guides/settings.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```yaml config\.yaml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(yaml.safe_load(example)) >= 4


NAMES = st.sampled_from(["currency", "providers", "regions", "discount_rate_annual", "effort", "assumptions"])
DOCUMENTS = st.dictionaries(NAMES, st.just(1)).map(
    lambda found: {**found, **({"assumptions": {"pue": 1.3}} if "assumptions" in found else {})}
)


@given(DOCUMENTS, DOCUMENTS)
def test_no_default_replaces_what_is_stated(defaults, stated):
    taken = select_unstated(defaults, stated)
    assert taken.items() <= defaults.items()
    assert taken.keys() & stated.keys() == set()
    assert select_unstated(defaults, defaults) == {}
    assert select_unstated(defaults, {}) == defaults
    assert {"providers", "regions"}.isdisjoint(taken) or {"providers", "regions"}.isdisjoint(stated)
