"""A review as clients send and read it: a plan, figures that were moved, and scenarios by name."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, StringConstraints, ValidationError

from planner.request.errors import InputProblem, InvalidRequest
from planner.service.store.review_tables import TITLE_LENGTH
from planner.service.store.reviews import StoredReview
from planner.service.timestamps import to_time
from pricing.clock import today

FIGURES_MAX, SCENARIOS_MAX, SCENARIO_NAME_LENGTH = 500, 50, 60
EDITS_MAX, PLACE_LENGTH, CELL_LENGTH = 500, 200, 500
SHARED_DAYS, SHARED_DAYS_MAX = 30, 366
Figures = Annotated[dict[str, FiniteFloat], Field(max_length=FIGURES_MAX)]


Body = TypeVar("Body", bound=BaseModel)


class StrictBody(BaseModel):
    """A body that has no other fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ReviewScenario(StrictBody):
    """Moved figures under a name."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=SCENARIO_NAME_LENGTH)]
    """Name of the scenario."""
    moves: Figures
    """Its figures: values by the name of an assumption or price."""


class ReviewEdit(StrictBody):
    """A cell that was edited by hand and is not planned with yet."""

    place: Annotated[str, StringConstraints(min_length=1, max_length=PLACE_LENGTH)]
    """Place of the cell: sheet and cell, or line and column."""
    value: Annotated[str, StringConstraints(max_length=CELL_LENGTH)]
    """What to read there; empty: a blank cell."""
    on: date | None = None
    """Day of the edit; null: today."""


class ReviewState(StrictBody):
    """Figures, scenarios and edited cells of a review."""

    moves: Figures = {}
    """Figures that differ from the plan: values by the name of an assumption or price."""
    scenarios: Annotated[tuple[ReviewScenario, ...], Field(max_length=SCENARIOS_MAX)] = ()
    """Scenarios side by side."""
    edits: Annotated[tuple[ReviewEdit, ...], Field(max_length=EDITS_MAX)] = ()
    """Cells that were edited and are not planned with yet."""


class NewReview(ReviewState):
    """A new review."""

    plan_id: str
    """plan_id of the plan, or the id of its job."""
    title: Annotated[str, StringConstraints(max_length=TITLE_LENGTH)] = ""
    """Title of the review."""


class ChangedReview(ReviewState):
    """A review as it is now."""

    title: Annotated[str, StringConstraints(max_length=TITLE_LENGTH)] = ""
    """Title of the review."""
    version: int
    """Version that this one follows; another change in between is a 409."""
    plan_id: str = ""
    """plan_id of the plan that it goes on with, made with edited cells; empty: the same."""


class ReviewSharing(StrictBody):
    """How long a link is valid."""

    days: Annotated[int, Field(ge=1, le=SHARED_DAYS_MAX)] = SHARED_DAYS
    """Days until the link ends."""


class Review(ReviewState):
    """A stored review."""

    id: str
    """Identifier in /v1/reviews/{id}."""
    plan_id: str
    """plan_id of its plan."""
    title: str
    """Title of the review."""
    version: int
    """Number of its changes, from 1."""
    author: str
    """Name of the caller who made it."""
    created: datetime
    """When it was made."""
    changed: datetime
    """When it was last changed."""


class ReviewLink(BaseModel):
    """A link by which anybody reads one review, without a key."""

    token: str
    """Secret of the link, in /v1/shared/{token}; no other answer has it."""
    expires: datetime
    """When it ends."""


def parse_body(kind: type[Body], body: bytes) -> Body:
    """The body as a document of a kind. InvalidRequest with every fault and its place."""
    try:
        return kind.model_validate_json(body or b"{}")
    except ValidationError as error:
        raise InvalidRequest(tuple(_locate_fault(each["loc"], each["msg"]) for each in error.errors())) from None


def _locate_fault(steps: tuple[int | str, ...], message: str) -> InputProblem:
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).lstrip(".")
    return InputProblem(path, path or "the body", message)


def describe_review(stored: StoredReview) -> Review:
    """A review as its client reads it."""
    state = ReviewState.model_validate_json(stored.state)
    return Review(
        id=stored.id,
        plan_id=stored.plan_id,
        title=stored.title,
        version=stored.version,
        author=stored.author,
        created=to_time(stored.created),
        changed=to_time(stored.changed),
        moves=state.moves,
        scenarios=state.scenarios,
        edits=state.edits,
    )


def state_text(state: ReviewState) -> str:
    """The part of a body that is stored as the state of a review; every edit has its day."""
    edits = tuple(each if each.on else each.model_copy(update={"on": today()}) for each in state.edits)
    return ReviewState(moves=state.moves, scenarios=state.scenarios, edits=edits).model_dump_json()
