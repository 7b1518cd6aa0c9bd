"""A plug-in that lacks something is refused where it is found, with everything that is wrong with it."""

# ruff: noqa: ARG005  (lambdas stand for functions of a plug-in)

from __future__ import annotations

from types import ModuleType
from typing import Any, Literal, Protocol

import pytest

from planner.supply import purchase_options
from pricing.errors import InvalidPlugin
from pricing.plugins import check_plugin


class Shape(Protocol):
    TITLE: str
    CORNERS: int
    COLOUR: Literal["red", "blue"]
    TAGS: tuple[str, ...]
    HINT: str | None
    ANY: Any

    def area(self, width: float, height: float) -> float: ...

    def draw(self, width: float, *, filled: bool) -> str: ...


GOOD: dict[str, object] = {
    "TITLE": "square", "CORNERS": 4, "COLOUR": "red", "TAGS": ("a", "b"), "HINT": None, "ANY": object(),
    "area": lambda width, height: width * height, "draw": lambda width, *, filled=True: "",
}  # fmt: skip


def shape(**changes: object) -> ModuleType:
    module = ModuleType("square")
    for name, value in {**GOOD, **changes}.items():
        if value is not ...:
            setattr(module, name, value)
    return module


def test_a_plug_in_that_follows_its_protocol_is_given_back():
    module = shape(area=lambda width, height, depth=1: 0, EXTRA=1)
    assert check_plugin(module, Shape, "shape") is module


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"TITLE": ...}, "TITLE is missing: expected str"),
        ({"TITLE": 3}, "TITLE is 3: expected str"),
        ({"CORNERS": True}, "CORNERS is True: expected int"),
        ({"CORNERS": "4"}, "CORNERS is '4': expected int"),
        ({"COLOUR": "green"}, "COLOUR is 'green': expected one of red, blue"),
        ({"TAGS": ("a", 1)}, "TAGS is ('a', 1): expected tuple[str, ...]"),
        ({"TAGS": ["a"]}, "TAGS is ['a']: expected tuple[str, ...]"),
        ({"HINT": 3}, "HINT is 3: expected str | None"),
        ({"area": ...}, "area(width, height) is missing"),
        ({"area": 3}, "area cannot be called as area(width, height)"),
        ({"area": lambda width: 0}, "area cannot be called as area(width, height)"),
        ({"draw": lambda width, fill: ""}, "draw cannot be called as draw(width, filled)"),
    ],
)
def test_each_thing_that_is_wrong_is_named(changes, problem):
    with pytest.raises(InvalidPlugin) as refused:
        check_plugin(shape(**changes), Shape, "shape")
    assert refused.value.problems == (problem,)
    assert str(refused.value) == f"square is no shape: {problem}"


def test_all_problems_are_told_at_once():
    with pytest.raises(InvalidPlugin) as refused:
        check_plugin(ModuleType("empty"), Shape, "shape")
    assert len(refused.value.problems) == len(GOOD)


def test_an_instance_may_be_a_plug_in():
    class Square:
        TITLE, CORNERS, COLOUR, TAGS, HINT, ANY = "square", 4, "red", (), "none", 1

        def area(self, width: float, height: float) -> float:
            return width * height

        def draw(self, width: float, *, filled: bool) -> str:
            return f"{width} {filled}"

    square = Square()
    assert check_plugin(square, Shape, "shape") is square


def test_a_way_of_paying_that_lacks_something_is_refused_when_it_is_found(tmp_path, monkeypatch):
    (tmp_path / "barter.py").write_text('COMMITS = "no"\nINTERRUPTS = False\nDISCOUNTED = True\nUNIT = "cow"\n')
    monkeypatch.setattr(purchase_options, "__path__", [str(tmp_path)])
    with pytest.raises(InvalidPlugin) as refused:
        purchase_options.load_own_options.__wrapped__()
    assert refused.value.name.endswith("purchase_options.barter")
    assert refused.value.problems == (
        "COMMITS is 'no': expected bool",
        "UNIT is 'cow': expected one of node, node_day, money",
        "TITLE is missing: expected str",
        "payments(price, month, quantity, terms) is missing",
        "usable(price, month, terms) is missing",
    )
