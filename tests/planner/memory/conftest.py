"""Networks told in the fewest words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from planner.performance.memory import MemoryEstimate, estimate_memory
from planner.request.neural_network import NeuralNetwork


@pytest.fixture(scope="session")
def on() -> Callable[..., MemoryEstimate]:
    """What a network needs on each of `gang` accelerators; that it can be told is taken for granted."""

    def judge(gang: float = 1, **network: object) -> MemoryEstimate:
        memory = estimate_memory(NeuralNetwork.model_validate(network), gang)
        assert isinstance(memory, MemoryEstimate), memory
        return memory

    return judge
