"""`planner schema`: what editors hold a request against agrees with what the planner reads."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.cli._document_schemas import SCHEMAS
from planner.request.field_types import DescribedByFile
from planner.request.models import SETUP_FIELDS

ROOT = Path(__file__).parents[2]
PLAIN = {"name": "batch", "demand": {"units_per_month": 10}}
HOURS = {"name": "batch", "demand": {"accelerator_hours_per_month": 730, "accelerator": "L4"}}
SPOILED = [
    ("gpus", 3, "a name that is not a field"),
    ("months", "twelve", "a word for a number"),
    ("months", 0, "a number below the least"),
    ("start", "2026-13", "a month that is none"),
    ("strategies", ["cloudy"], "a choice that is none"),
    ("currency", "euro", "no currency code"),
    ("workloads", [], "no workload"),
    ("assumptions", {"pue": "high"}, "a word for an assumption"),
    ("assumptions", {"puee": 1.2}, "an assumption that does not exist"),
]


class EditorLoader(yaml.SafeLoader):
    """YAML 1.2 as editors read it: 1_800_000 and dates are texts."""


EditorLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in pairs if not tag.endswith((":timestamp", ":float", ":int"))]
    for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
for tag, pattern in (("int", r"[-+]?[0-9]+"), ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")):
    EditorLoader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"(?:{pattern})$"), [*"-+.0123456789"])


def validator(name: str) -> jsonschema.Draft7Validator:
    schema = json.loads(json.dumps(SCHEMAS[name].make()))
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


@pytest.fixture(scope="module")
def request_schema() -> jsonschema.Draft7Validator:
    return validator("request")


def documents() -> list[Path]:
    """Every request among the examples and in the description of the service."""
    found = [*ROOT.glob("examples/*.yaml"), ROOT / "examples/request.json", *ROOT.glob("examples/measure/*.yaml")]
    found += ROOT.glob("openapi/examples/*.request.json")
    others = {"setup.yaml", "assumptions.yaml", "bad.request.json"}
    return sorted(path for path in found if path.name not in others)


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_every_example_is_valid(path, request_schema):
    document = yaml.load(path.read_text(encoding="utf-8"), Loader=EditorLoader)
    assert [error.message for error in request_schema.iter_errors(document)] == []


@pytest.mark.parametrize("wrapped", [False, True], ids=["workload", "request"])
def test_a_document_may_name_its_schema(wrapped, request_schema, planner, tmp_path):
    document = {"$schema": "request.schema.json", **({"workloads": [HOURS]} if wrapped else HOURS)}
    assert [error.message for error in request_schema.iter_errors(document)] == []
    (tmp_path / "job.json").write_text(json.dumps(document))
    ran = planner("check", "job.json")
    assert (ran.code, ran.err) == (0, "")
    (tmp_path / "nested.json").write_text(json.dumps({"workloads": [{"$schema": "x", **HOURS}]}))
    assert planner("check", "nested.json").code == 2


@pytest.mark.parametrize("page", sorted([*ROOT.glob("docs/**/*.md"), ROOT / "README.md"]), ids=lambda p: p.name)
def test_every_request_that_a_page_shows_is_valid(page, request_schema):
    blocks = re.findall(
        r"^```(?:yaml|json) (\S+)\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    refused = " ".join(line for line in page.read_text(encoding="utf-8").splitlines() if "# exit code 2" in line)
    for name, text in blocks:
        document = yaml.load(text, Loader=EditorLoader)
        is_request = isinstance(document, dict) and {"workloads", "demand", "serving", "sweep"} & document.keys()
        if is_request and name not in refused:
            assert [(name, error.message) for error in request_schema.iter_errors(document)] == []


@pytest.mark.parametrize(("field", "value", "why"), SPOILED, ids=[why for *_, why in SPOILED])
def test_what_the_planner_refuses_is_invalid(field, value, why, request_schema, planner, tmp_path):
    document = {"as_of": "2026-11-21", "months": 2, "workloads": [PLAIN], field: value}
    assert not request_schema.is_valid(document), why
    (tmp_path / "bad.json").write_text(json.dumps(document))
    assert planner("estimate", "--explain-input", "bad.json").code == 2


def test_faults_inside_a_workload_are_where_they_are(request_schema):
    document = {
        "workloads": [{**PLAIN, "gangs": 8}, {"name": "x", "demand": {"units_per_month": "lots"}}, {"name": "y"}]
    }
    places = {tuple(error.path) for error in request_schema.iter_errors(document)}
    assert places == {("workloads", 0), ("workloads", 1, "demand", "units_per_month"), ("workloads", 2)}


@pytest.mark.parametrize(
    "document",
    [
        PLAIN,
        [PLAIN],
        {"workloads": [PLAIN]},
        {"workloads": [{**PLAIN, "measurements": [{"file": "job.measured.json"}]}], "quotas": "quotas.csv"},
        {"name": "chat", "network": {"config": "config.json"}, "serving": {"trace": "requests.csv"}},
        {**PLAIN, "network": {"parameters": "7B"}},
        {
            "name": "s",
            "sweep": {"experiments": 8, "deadline_month": 1, "units_each": "1_000", "accelerators_each": "1/7"},
        },
        {"name": "m", "demand": {"units_per_month": {"2026-12": 5, "2027-01": "6e3"}}},
    ],
    ids=["a workload", "a list", "a request", "files", "a service by files", "7B", "a sweep", "months"],
)
def test_every_form_of_a_request_is_valid(document, request_schema):
    assert [error.message for error in request_schema.iter_errors(document)] == []


def test_files_are_named_where_commands_read_them(request_schema):
    """Each class that a file may describe has its field, and needs no other beside it."""
    definitions = request_schema.schema["definitions"]
    described = {each.__name__: each.FILE_FIELD for each in DescribedByFile.__subclasses__()}
    assert described == {"Measurement": "file", "ServedRate": "file", "NeuralNetwork": "config", "Serving": "trace"}
    for name, field in described.items():
        assert definitions[name]["properties"][field]["type"] == "string"
        assert definitions[name]["properties"][field]["description"]


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_field_is_described(name):
    def bare(schema, path):
        for field, item in schema.get("properties", {}).items():
            if not item.get("description"):
                yield f"{path}.{field}"

    schema = SCHEMAS[name].make()
    parts = {"": schema, **schema.get("definitions", {})}
    assert [each for part, content in parts.items() for each in bare(content, part)] == []


@given(number=st.one_of(st.integers(1, 10**12), st.floats(1e-3, 1e12)), text=st.booleans())
@settings(max_examples=30)
def test_numbers_are_numbers_in_either_spelling(number, text):
    document = {"name": "x", "demand": {"units_per_month": f"{number:_}" if text else number}}
    assert validator_of_request().is_valid(document)


@given(st.from_regex(r"[a-z ,;]+", fullmatch=True).filter(lambda text: text.strip() not in ("inf", "nan", "infinity")))
@settings(max_examples=30)
def test_words_are_no_numbers(word):
    assert not validator_of_request().is_valid({"name": "x", "demand": {"units_per_month": word}})


CACHE: list[jsonschema.Draft7Validator] = []


def validator_of_request() -> jsonschema.Draft7Validator:
    if not CACHE:
        CACHE.append(validator("request"))
    return CACHE[0]


def test_the_setup_file_of_the_examples_is_valid():
    setup = validator("setup")
    document = yaml.load((ROOT / "examples/setup.yaml").read_text(encoding="utf-8"), Loader=EditorLoader)
    assert [error.message for error in setup.iter_errors(document)] == []
    assert set(setup.schema["properties"]) == set(SETUP_FIELDS)
    assert not setup.is_valid({"months": 12})


def test_the_assumptions_of_the_examples_are_valid():
    assumed = validator("assumptions")
    document = yaml.load((ROOT / "examples/assumptions.yaml").read_text(encoding="utf-8"), Loader=EditorLoader)
    assert [error.message for error in assumed.iter_errors(document)] == []
    assert not assumed.is_valid({"electricity": 0.1})


def test_the_settings_that_the_guide_shows_are_valid():
    settings = validator("settings")
    page = (ROOT / "docs/guides/settings.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```yaml config.yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    for text in (shown, shown.replace("# serve", "serve").replace("# private", "private")):
        document = yaml.load(text, Loader=EditorLoader)
        assert [error.message for error in settings.iter_errors(document)] == []
    for wrong in ({"provider": ["aws"]}, {"effort": "quik"}, {"serve": {"workers": 0}}, {"measured_only": "sure"}):
        assert not settings.is_valid(wrong), wrong


def test_answers_as_the_planner_writes_them_are_valid(planner, tmp_path):
    """A sheet that is not sure about its demand, and the answers file and the mapping that come of it."""
    (tmp_path / "doubtful.csv").write_text("Workload,GPU,GPU hours,Boards\ntrain,H100,1.500,8\n")
    (tmp_path / "clear.csv").write_text("Workload,GPU,GPU hours per month\ntrain,H100,1500\n")
    planner("estimate", "--explain-input", "--save-answers", "a.yaml", "doubtful.csv")
    planner("estimate", "--explain-input", "--save-mapping", "m.yaml", "clear.csv")
    answers = validator("answers")
    for name in ("a.yaml", "m.yaml"):
        document = yaml.safe_load((tmp_path / name).read_text(encoding="utf-8"))
        assert document, name
        assert [error.message for error in answers.iter_errors(document)] == []
    assert not answers.is_valid({"columns": {"Boards": "no such field"}})
    assert not answers.is_valid({"dates": "ymd"})
    assert not answers.is_valid({"columns": {"Boards": ["gpus"]}})


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_command_prints_what_is_published(name, planner):
    ran = planner("schema", name)
    assert (ran.code, ran.err) == (0, "")
    assert ran.data == (ROOT / f"docs/reference/schemas/{name}.schema.json").read_bytes(), "run make docs"


def test_the_request_is_the_default_and_a_file_can_be_written(planner, tmp_path):
    assert planner("schema").data == planner("schema", "request").data
    ran = planner("schema", "-o", "request.schema.json")
    assert (ran.code, ran.out) == (0, "")
    assert (tmp_path / "request.schema.json").read_bytes() == planner("schema").data


def test_an_unknown_schema_is_answered_with_the_nearest(planner, tmp_path):
    ran = planner("schema", "requests")
    assert ran.code == 2
    assert "request" in ran.err
    (tmp_path / "file").write_text("")
    ran = planner("schema", "-o", "file/x.json")
    assert ran.code == 2
    assert "cannot be written" in ran.err
    assert "Traceback" not in ran.err
