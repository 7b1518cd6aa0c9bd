"""A discrete-event simulation of a service: single requests, replicas with places, and a router to the least busy."""

from __future__ import annotations

import heapq
import math
import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator
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


def draw_requests(
    serving: Serving, requests_per_second: float, requests: int = REQUESTS, seed: int = 1
) -> Iterator[tuple[float, float]]:
    """Seconds of arrival and tokens of answers: gamma-distributed intervals (exponential for burstiness 1) and
    lengths."""
    chance, now = random.Random(seed), 0.0
    variation = serving.output_variation**2
    for _ in range(requests):
        now += chance.gammavariate(1 / serving.burstiness, serving.burstiness / requests_per_second)
        yield (
            now,
            (
                chance.gammavariate(1 / variation, serving.output_tokens * variation)
                if variation
                else serving.output_tokens
            ),
        )


MEDIAN_TOKENS = {"ContextTokens": 1020, "GeneratedTokens": 129}
"""Of the conversation service of Azure's trace of 2023 (Patel et al., Splitwise, ISCA 2024, section III)."""


def draw_trace(requests_per_second: float, *, is_bursty: bool, seed: int = 3) -> str:
    """An hour of requests in the form of Azure's public trace: lognormal lengths about its published medians; bursty
    arrivals change between 0.4 and 1.6 of their rate every 20 s on average."""
    chance, lines, now, level, until = random.Random(seed), [f"TIMESTAMP,{','.join(MEDIAN_TOKENS)}"], 0.0, 1.0, 0.0
    while True:
        if now >= until and is_bursty:
            level, until = chance.choice([0.4, 1.6]), now + chance.expovariate(1 / 20)
        now += chance.expovariate(requests_per_second * level)
        if now >= 3600:
            return "\n".join(lines) + "\n"
        lengths = [max(1, round(median * math.exp(chance.gauss(0, 0.9)))) for median in MEDIAN_TOKENS.values()]
        lines.append(f"2023-11-16 18:{int(now // 60):02}:{now % 60:010.7f},{lengths[0]},{lengths[1]}")


def simulate(
    replica: Replica, serving: Serving, count: int, requests: Iterable[tuple[float, float]],
    cycle: Callable[[int], float],
) -> KeptLimits:  # fmt: skip
    """Requests (arrival in order, tokens of the answer) go to the replica with the fewest requests; those that find no
    place wait in the order of their arrival. A replica with fewer requests works faster, as the speed model has it."""
    replicas = [SimulatedReplica(replica.concurrency, cycle) for _ in range(count)]
    waiting: deque[int] = deque()
    arrived, length = zip(*requests, strict=True)
    started, waits, steps = {}, [], []
    limit_s = (serving.tpot_ms or math.inf) / 1000
    now, number = 0.0, 0
    counted = len(arrived) * WARM_FRACTION

    def start(one: SimulatedReplica, request: int) -> None:
        heapq.heappush(one.running, (one.tokens + length[request], request))
        started[request] = now
        if request >= counted:
            waits.append(now - arrived[request])

    while number < len(arrived) or any(one.running for one in replicas):
        ends = [one.next_end() for one in replicas]
        soonest = min(ends)
        if number < len(arrived) and arrived[number] <= soonest:
            now = arrived[number]
            free = min(replicas, key=lambda one: len(one.running))
            if len(free.running) < free.places:
                free.advance(now)
                start(free, number)
            else:
                waiting.append(number)
            number += 1
            continue
        now = soonest
        one = replicas[ends.index(soonest)]
        one.advance(now)
        _, request = heapq.heappop(one.running)
        if request >= counted:
            steps.append((now - started[request] - replica.ttft_s) / max(1.0, length[request] - 1))
        if waiting:
            start(one, waiting.popleft())
    in_time = sum(wait <= replica.queue.wait_limit_s for wait in waits) / len(waits)
    return KeptLimits(in_time, sum(step <= limit_s for step in steps) / len(steps))
