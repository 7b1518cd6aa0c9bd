"""Frozen values behave as the standard library's frozen dataclasses with slots do; each case is made by both."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from dataclasses import FrozenInstanceError, field
from typing import Any, ClassVar, Generic, TypeVar, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pricing import frozen_values

T = TypeVar("T")
OURS, THEIRS = frozen_values.dataclass, dataclasses.dataclass


def make_point(dataclass: Any) -> Any:
    @dataclass(frozen=True, slots=True)
    class Point:
        """A point."""

        x: float
        y: float = 0.0
        tags: tuple[str, ...] = ()
        seen: dict[str, int] = field(default_factory=dict, compare=False)
        size: float = field(init=False, repr=False, default=1.5)
        unit: ClassVar[str] = "m"
        name: str = field(kw_only=True, default="p")

        @property
        def sum(self) -> float:
            return self.x + self.y

    return Point


def make_checked(dataclass: Any) -> Any:
    @dataclass(frozen=True, slots=True)
    class Checked:
        """A value that is checked, and has a computed field."""

        low: int
        high: int
        width: int = field(init=False)

        def __post_init__(self) -> None:
            if self.high < self.low:
                raise ValueError("high below low")
            object.__setattr__(self, "width", self.high - self.low)

    return Checked


@OURS(frozen=True, slots=True)
class Base(Generic[T]):
    """A base that is generic."""

    value: T
    note: str = ""


@OURS(frozen=True, slots=True)
class Derived(Base[int]):
    """One more field."""

    more: tuple[int, ...] = ()


@OURS(frozen=True, slots=True)
class Empty:
    """No fields."""


@OURS(frozen=True, slots=True, repr=False)
class Quiet:
    """With a text of its own."""

    value: float

    def __repr__(self) -> str:
        return "quiet"


numbers = st.floats(allow_nan=True) | st.integers(-3, 3)


@given(numbers, numbers, st.lists(st.text(max_size=2), max_size=2), numbers, numbers)
def test_equality_hash_and_text_are_those_of_the_standard_library(x, y, tags, other_x, other_y):
    seen = []
    for dataclass in (OURS, THEIRS):
        point = make_point(dataclass)
        one, other = point(x, y, tuple(tags), {"a": 1}), point(other_x, other_y, tuple(tags))
        assert hash(one) == hash(copy.copy(one))
        assert (one == other) <= (hash(one) == hash(other))
        seen.append((one == other, one == point(x, y, tuple(tags)), repr(one), repr(other), one == (x, y), one.sum))
    assert seen[0] == seen[1]


def test_signatures_hints_and_fields_are_those_of_the_standard_library():
    for make in (make_point, make_checked):
        ours, theirs = make(OURS), make(THEIRS)
        assert str(inspect.signature(ours)) == str(inspect.signature(theirs))
        assert ours.__init__.__annotations__ == theirs.__init__.__annotations__
        assert [each.name for each in dataclasses.fields(ours)] == [each.name for each in dataclasses.fields(theirs)]
        assert ours.__match_args__ == theirs.__match_args__
        assert ours.__slots__ == theirs.__slots__
        assert (ours.__doc__, ours.__qualname__) == (theirs.__doc__, theirs.__qualname__)
        assert dataclasses.is_dataclass(ours)
    assert get_type_hints(Derived.__init__)["more"] == tuple[int, ...]


@pytest.mark.parametrize(
    ("arguments", "named"), [((), {}), ((1, 2, (), {}, 3), {}), ((1,), {"size": 2}), ((1,), {"z": 2})]
)
def test_wrong_arguments_are_refused_as_by_the_standard_library(arguments, named):
    told = []
    for dataclass in (OURS, THEIRS):
        with pytest.raises(TypeError) as refused:
            make_point(dataclass)(*arguments, **named)
        told.append(str(refused.value))
    assert told[0] == told[1]


@pytest.mark.parametrize("dataclass", [OURS, THEIRS])
def test_values_are_frozen_and_hold_nothing_else(dataclass):
    point = make_point(dataclass)(1.0)
    for name in ("x", "name", "unknown"):
        with pytest.raises((FrozenInstanceError, TypeError, AttributeError)):
            setattr(point, name, 2)
        with pytest.raises((FrozenInstanceError, TypeError, AttributeError)):
            delattr(point, name)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        point.x = 2
    assert not hasattr(point, "__dict__")
    assert (point.x, point.size) == (1.0, 1.5)


@pytest.mark.parametrize("dataclass", [OURS, THEIRS])
def test_post_init_and_computed_fields(dataclass):
    checked = make_checked(dataclass)
    assert checked(1, 4).width == 3
    with pytest.raises(ValueError, match="high below low"):
        checked(4, 1)
    assert dataclasses.replace(checked(1, 4), high=9).width == 8


def test_factories_make_a_new_value_each_time():
    point = make_point(OURS)
    assert point(1).seen is not point(1).seen
    given_dict: dict[str, int] = {}
    assert point(1, seen=given_dict).seen is given_dict


@pytest.mark.parametrize("value", [Derived(3, "n", (1, 2)), Base("a"), Empty(), Quiet(1.0)], ids=repr)
def test_values_are_copied_pickled_and_replaced(value):
    for same in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value), dataclasses.replace(value)):
        assert same == value
        assert type(same) is type(value)
        assert hash(same) == hash(value)
        assert repr(same) == repr(value)
    assert type(value)(**{each.name: getattr(value, each.name) for each in dataclasses.fields(value)}) == value


def test_derived_values_differ_from_their_base_and_match_by_position():
    assert Base(3, "n") != Derived(3, "n")
    assert Derived(3, "n") == Derived(value=3, note="n", more=())
    assert dataclasses.asdict(Derived(3, "n", (1,))) == {"value": 3, "note": "n", "more": (1,)}
    match Derived(3, "n", (1,)):
        case Derived(value, note, (only,)):
            assert (value, note, only) == (3, "n", 1)


def test_what_is_not_frozen_with_slots_is_left_to_the_standard_library():
    @OURS(slots=True)
    class Open:
        value: int

    changed = Open(1)
    changed.value = 2
    assert changed == Open(2)

    @OURS(frozen=True, slots=True, order=True)
    class Ordered:
        value: int

    assert Ordered(1) < Ordered(2)
    with pytest.raises(FrozenInstanceError):
        Ordered(1).value = 2
