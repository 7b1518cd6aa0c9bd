"""The JSON Schema of the settings file, made from the options that it states defaults of."""

from __future__ import annotations

from typing import Any

import click

from planner.cli import commands
from planner.cli._default_settings import SECTIONS, SettingOption, setting_options_of, top_settings
from planner.inputs.document_schemas import JsonSchema, closed_object, request_properties

TEXT: JsonSchema = {"type": ["string", "number"]}
RANGES = (("min", "min_open", "minimum", "exclusiveMinimum"), ("max", "max_open", "maximum", "exclusiveMaximum"))


def make_settings_schema() -> JsonSchema:
    """Of the settings file: defaults of requests at its top, those of a command in its section."""
    of_request = request_properties()
    properties = {
        key: _describe_option(option, of_request.get(option.name or "", {})) for key, option in top_settings().items()
    }
    context = click.Context(commands)
    for section in SECTIONS:
        command = commands.get_command(context, section)
        assert command is not None, section
        options = [each for each in setting_options_of(command) if each.section == section]
        properties[section] = {
            "type": "object",
            "description": f"Defaults of planner {section}.",
            "additionalProperties": False,
            "properties": {each.key: _describe_option(each, {}) for each in options},
        }
    return closed_object("settings", "Defaults of whoever plans, of config.yaml or --config.", properties)


def _describe_option(option: SettingOption, of_request: JsonSchema) -> JsonSchema:
    """The values of an option; `of_request` is the schema of the field that it sets."""
    described = {"description": option.help or option.key}
    if option.is_flag:
        return {"type": "boolean", **described}
    choices = of_request.get("items", of_request).get("enum")
    value = {"enum": list(choices)} if choices else _describe_type(option.type)
    if not option.multiple:
        return {**value, **described}
    return {"anyOf": [value, {"type": "array", "items": value}], **described}


def _describe_type(kind: click.ParamType[Any]) -> JsonSchema:
    if isinstance(kind, click.Choice):
        return {"enum": list(kind.choices)}
    if not isinstance(kind, click.IntRange | click.FloatRange):
        return TEXT
    schema: JsonSchema = {"type": "integer" if isinstance(kind, click.IntRange) else "number"}
    for limit, is_open, closed_name, open_name in RANGES:
        if (value := getattr(kind, limit)) is not None:
            schema[open_name if getattr(kind, is_open) else closed_name] = value
    return schema
