"""The load of the machine decides nothing: the same bytes at any priority, speed and hash seed."""

from __future__ import annotations

import pytest

from tests.determinism.conditions import NORMAL, OTHERS, busy, plan_under, write_portfolios


@pytest.fixture(scope="module")
def portfolios(tmp_path_factory):
    """Ten requests with the files that they give at normal priority, and a data folder that they share."""
    folder = tmp_path_factory.mktemp("determinism")
    requests = write_portfolios(folder)
    planned = [(path, plan_under(NORMAL, path, folder / "data", folder / "normal" / path.stem)) for path in requests]
    return folder, planned


@pytest.mark.slow
@pytest.mark.parametrize("condition", OTHERS, ids=lambda condition: condition.name)
def test_ten_portfolios_give_the_same_bytes_under_any_load(portfolios, condition):
    folder, planned = portfolios
    with busy(condition.busy_loops):
        for request, expected in planned:
            found = plan_under(condition, request, folder / "data", folder / condition.name / request.stem)
            assert found.content_digest == expected.content_digest
            assert found.files == expected.files
