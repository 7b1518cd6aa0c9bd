"""What nodes at a place save: sums worked by hand, and every purchase tried on small cases."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.optimization.home_savings import IdleWork, NodeTerms, PlaceOffers, Term, WorkLevel, most_saved
from planner.optimization.linear_program import LinearProgram, ProgramColumn, RowEntries
from planner.optimization.solver import relax_program

HOURS = 730.0


def _offers(
    months: int, nodes: tuple[Term, ...] = (), money: tuple[Term, ...] = (), existing: float = 0.0
) -> PlaceOffers:
    terms = NodeTerms.of((*nodes, *money)), NodeTerms.of(money)
    return PlaceOffers(*terms, np.full(months, np.inf), np.full(months, existing), np.zeros(months))


def _any_hour(rate: float, *hours: float, span: int = 1) -> WorkLevel:
    months = len(hours)
    return WorkLevel(span, np.zeros((months, 1)), np.array(hours), np.full(months, rate), is_standing=False)


def _standing(rate: float, *nodes: float) -> WorkLevel:
    months = len(nodes)
    return WorkLevel(1, np.array(nodes)[:, None], np.zeros(months), np.full(months, rate), is_standing=True)


def _saved(offers: PlaceOffers, *levels: WorkLevel, idle: tuple[IdleWork, ...] = ()) -> float:
    return most_saved(offers, levels, idle, np.array([HOURS]))


def test_a_node_is_taken_where_its_hours_are_worth_more_than_its_term() -> None:
    """365 hours at 2 in each of two months are 1,460; the node costs 1,000 for both. At 1 they are 730."""
    offers = _offers(2, ((0, 2, 1_000.0),))
    assert _saved(offers, _any_hour(2.0, 365, 365)) == 460.0
    assert _saved(offers, _any_hour(1.0, 365, 365)) == 0.0


def test_the_dearest_work_is_done_first() -> None:
    """One node does 730 hours: the 500 at 3 and 230 of those at 2, so it saves 1,960 less 1,000; a second node would
    save 540."""
    offers = _offers(1, ((0, 1, 1_000.0),))
    assert _saved(offers, _any_hour(2.0, 500), _any_hour(3.0, 500)) == 960.0


def test_standing_work_leaves_room_for_work_at_any_hour() -> None:
    """A service stands on half a node at 2, so the other half does 365 of 400 hours at 1: 730 + 365 - 1,000."""
    assert _saved(_offers(1, ((0, 1, 1_000.0),)), _standing(2.0, 0.5), _any_hour(1.0, 400)) == 95.0


def test_terms_of_one_node_follow_on_one_another() -> None:
    """Months 1 and 2 by the long term (1,460 for 1,000), month 3 by the short one (730 for 600)."""
    offers = _offers(3, ((0, 2, 1_000.0), (2, 3, 600.0), (0, 1, 600.0)))
    assert _saved(offers, _any_hour(1.0, 730, 730, 730)) == 590.0


def test_a_gang_takes_all_of_its_nodes_or_none() -> None:
    """730 hours of a gang over four nodes are 182.5 of each: four nodes save 1,460 and cost 1,600, one saves nothing.
    With 2,920 hours they save 5,840 in all."""
    offers = _offers(1, ((0, 1, 400.0),))
    assert _saved(offers, _any_hour(2.0, 730, span=4)) == 0.0
    assert _saved(offers, _any_hour(2.0, 2_920, span=4)) == 4_240.0


def test_money_pays_for_a_part_of_a_node() -> None:
    """Half a node does 365 hours at 2 for 250; a whole one costs 500."""
    assert _saved(_offers(1, money=((0, 1, 500.0),)), _any_hour(2.0, 365)) == 480.0


def test_existing_nodes_come_first() -> None:
    """One of two nodes is there: it saves 730; the other saves 730 more and costs 800."""
    assert _saved(_offers(1, ((0, 1, 800.0),), existing=1.0), _any_hour(1.0, 1_460)) == 730.0


def test_idle_hours_take_what_may_wait() -> None:
    """A node for 365 hours of each month leaves 365: 500 of a job's 600 hours, of which a month takes 250 at most."""
    idle = IdleWork(span=1, hours=600.0, most_a_month=250.0, last_month=1, rate=3.0)
    assert _saved(_offers(2, ((0, 2, 1_000.0),)), _any_hour(2.0, 365, 365), idle=(idle,)) == 460.0 + 1_500.0


amounts = st.integers(0, 4).map(float)


@settings(max_examples=20, deadline=None)
@given(
    st.integers(1, 3).flatmap(
        lambda months: st.tuples(
            st.lists(
                st.tuples(st.lists(amounts, min_size=months, max_size=months), st.integers(1, 9), st.booleans()),
                min_size=1,
                max_size=3,
            ),
            st.lists(
                st.tuples(st.integers(0, months - 1), st.integers(1, 3), st.integers(1, 12)), min_size=1, max_size=3
            ),
        )
    )
)
def test_no_other_purchase_saves_more(
    case: tuple[list[tuple[list[float], int, bool]], list[tuple[int, int, int]]],
) -> None:
    """Every number of nodes on every term, with two blocks of one hour each; work in quarters of a node."""
    works, sold = case
    months = len(works[0][0])
    terms = tuple((first, min(first + length, months), float(cost)) for first, length, cost in sold)
    blocks = np.ones(2)
    levels = []
    for amount, rate, stands in works:
        loads = np.array(amount) / 2
        standing = np.stack([loads, loads / 2], axis=1) if stands else np.zeros((months, 2))
        any_hour = np.zeros(months) if stands else loads
        levels.append(WorkLevel(1, standing, any_hour, np.full(months, float(rate)), stands))
    saving = [[_saving(levels, month, nodes) for nodes in range(7 * len(terms))] for month in range(months)]
    best = max(
        sum(saving[month][nodes] for month, nodes in enumerate(_there(terms, counts, months)))
        - sum(count * cost for count, (_, _, cost) in zip(counts, terms, strict=True))
        for counts in product(range(7), repeat=len(terms))
    )
    assert abs(most_saved(_offers(months, terms), levels, (), blocks) - max(best, 0.0)) < 1e-9


def _there(terms: tuple[Term, ...], counts: tuple[int, ...], months: int) -> list[int]:
    return [
        sum(count for count, (first, end, _) in zip(counts, terms, strict=True) if first <= month < end)
        for month in range(months)
    ]


def _saving(levels: list[WorkLevel], month: int, nodes: int) -> float:
    """The most that so many nodes save in a month, by a linear program over the hours of each level in each block."""
    program = LinearProgram()
    in_block: list[RowEntries] = [[], []]
    for level in levels:
        rate, anywhere = float(level.rates[month]), float(level.any_hour[month])
        parts = [
            program.column(
                ProgramColumn("covered", -1, 1), -rate, float(level.standing[month, block]) + anywhere, False
            )
            for block in range(2)
        ]
        for block, column in enumerate(parts):
            in_block[block].append((column, 1.0))
        if anywhere:
            program.row(-np.inf, anywhere, [(column, 1.0) for column in parts])
    for entries in in_block:
        program.row(-np.inf, float(nodes), entries)
    return -relax_program(program).objective
