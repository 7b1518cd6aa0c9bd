"""A discrete-event simulation of a service: single requests, replicas with places, and a router to the least busy."""

from __future__ import annotations

import heapq
import math
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from planner.performance.serving.replicas import Replica
from planner.request.serving import Serving

REQUESTS = 60_000
WARM_FRACTION = 0.1
"""Of the requests: those that arrive first, into empty replicas, are not counted."""


@dataclass(slots=True)
class SimulatedReplica:
    """Requests that generate together: each gains a token a cycle, so that one clock in tokens serves them all."""

    places: int
    cycle: Callable[[int], float]
    tokens: float = 0.0
    at: float = 0.0
    running: list[tuple[float, int]] = field(default_factory=list)

    def advance(self, now: float) -> None:
        if self.running:
            self.tokens += (now - self.at) / self.cycle(len(self.running))
        self.at = now

    def next_end(self) -> float:
        if not self.running:
            return math.inf
        return self.at + (self.running[0][0] - self.tokens) * self.cycle(len(self.running))


@dataclass(frozen=True, slots=True)
class KeptLimits:
    """The share of requests that waited no longer than the limit, and that kept the time per output token."""

    waited: float
    generated: float


def simulate(
    replica: Replica, serving: Serving, count: int, requests_per_second: float, cycle: Callable[[int], float],
    requests: int = REQUESTS, seed: int = 1,
) -> KeptLimits:  # fmt: skip
    """Requests of gamma-distributed lengths arrive at gamma-distributed intervals (exponential for burstiness 1) and go
    to the replica with the fewest requests; those that find no place wait in the order of their arrival. A replica with
    fewer requests works faster, as the speed model has it."""
    chance = random.Random(seed)
    replicas = [SimulatedReplica(replica.concurrency, cycle) for _ in range(count)]
    waiting: deque[int] = deque()
    arrived, started, length, waits, steps = {}, {}, {}, [], []
    limit_s = (serving.tpot_ms or math.inf) / 1000
    now, number = 0.0, 0
    upcoming = chance.gammavariate(1 / serving.burstiness, serving.burstiness / requests_per_second)
    counted = requests * WARM_FRACTION

    def start(one: SimulatedReplica, request: int) -> None:
        heapq.heappush(one.running, (one.tokens + length[request], request))
        started[request] = now
        if request >= counted:
            waits.append(now - arrived[request])

    while number < requests or any(one.running for one in replicas):
        ends = [one.next_end() for one in replicas]
        soonest = min(ends)
        if number < requests and upcoming <= soonest:
            now = upcoming
            arrived[number] = now
            variation = serving.output_variation**2
            length[number] = chance.gammavariate(1 / variation, serving.output_tokens * variation) if variation else (
                serving.output_tokens)  # fmt: skip
            free = min(replicas, key=lambda one: len(one.running))
            if len(free.running) < free.places:
                free.advance(now)
                start(free, number)
            else:
                waiting.append(number)
            number += 1
            upcoming += chance.gammavariate(1 / serving.burstiness, serving.burstiness / requests_per_second)
            continue
        now = soonest
        one = replicas[ends.index(soonest)]
        one.advance(now)
        _, request = heapq.heappop(one.running)
        if request >= counted:
            steps.append((now - started[request]) / length[request])
        if waiting:
            start(one, waiting.popleft())
    in_time = sum(wait <= replica.queue.wait_limit_s for wait in waits) / len(waits)
    return KeptLimits(in_time, sum(step <= limit_s for step in steps) / len(steps))
