"""The service of the worked examples, and accelerators by name."""

from __future__ import annotations

import pytest

from planner.performance.serving.replicas import size_replica
from planner.request.neural_network import NeuralNetwork
from planner.request.serving import Serving
from pricing.accelerator import embedded_names

ASKED = {"input_tokens": 1000, "output_tokens": 400, "ttft_ms": 2000, "tpot_ms": 50}


@pytest.fixture(scope="session")
def sized():
    """The replica of llama-3-70b in fp8 on `count` of an accelerator, or the reason why there is none."""

    def size(accelerator, count, model="llama-3-70b", precision="fp8", nodes=1, between_gbps=None, **changes):
        network = NeuralNetwork(model=model, precision=precision, run="inference")
        serving = Serving.model_validate({**ASKED, **changes})
        part = embedded_names().resolve(accelerator)
        return size_replica(network, serving, part, count, embedded_names(), nodes, between_gbps)

    return size
