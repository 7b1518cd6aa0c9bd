"""The answers of each project to questions about its files."""

from __future__ import annotations

import time
from collections.abc import Mapping

from sqlalchemy import Engine, insert, select, update

from planner.service.callers import Caller
from planner.service.store.review_tables import QUESTION_LENGTH, READING_ANSWERS

ANSWERS_MAX = 1000


class AnswerStore:
    """The last answer to each question, by project."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def put(self, caller: Caller, answers: Mapping[str, str]) -> None:
        """Remember answers over earlier ones to the same questions."""
        table = READING_ANSWERS.c
        with self._engine.begin() as connection:
            for question, choice in answers.items():
                if len(question) > QUESTION_LENGTH:
                    continue
                values = {"choice": choice, "author": caller.name, "changed": time.time()}
                same = (table.project == caller.project) & (table.question == question)
                if not connection.execute(update(READING_ANSWERS).where(same).values(values)).rowcount:
                    stated = {"project": caller.project, "question": question, **values}
                    connection.execute(insert(READING_ANSWERS).values(stated))

    def list(self, project: str) -> dict[str, str]:
        """The choice by question, the newest answers of a project."""
        table = READING_ANSWERS.c
        newest = select(table.question, table.choice).where(table.project == project).order_by(table.changed.desc())
        with self._engine.connect().execution_options(reads=True) as connection:
            return {row.question: row.choice for row in connection.execute(newest.limit(ANSWERS_MAX))}
