"""How much each caller may do: requests in a minute, plans in a day.

Answers say what is left in the fields RateLimit-Policy and RateLimit of draft-ietf-httpapi-ratelimit-headers-11.
Requests are counted by each replica, plans in the store.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from planner.service.callers import LOCAL_CALLER, Caller
from planner.service.gate.settings import AccessSettings
from planner.service.problems import problem_response
from planner.service.store import ServiceStore
from pricing.frozen_values import dataclass

MINUTE, DAY = 60, 24 * 3600
CALLERS_MAX = 10_000


@dataclass(frozen=True, slots=True)
class Allowance:
    """What is left of a limit. `reset`: seconds until there is all of it, or for a day until there is more."""

    name: str
    quota: int
    window: int
    remaining: int
    reset: int

    @property
    def policy(self) -> str:
        """The limit as an item of RateLimit-Policy."""
        return f'"{self.name}";q={self.quota};w={self.window}'

    @property
    def state(self) -> str:
        """What is left as an item of RateLimit."""
        return f'"{self.name}";r={self.remaining};t={self.reset}'


class TokenBuckets:
    """A bucket of `capacity` requests for each caller, which fills up again in `seconds`."""

    def __init__(self, capacity: int, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._capacity, self._rate, self._clock = capacity, capacity / seconds, clock
        self._levels: dict[tuple[str, str], tuple[float, float]] = {}

    def take(self, caller: Caller) -> tuple[bool, float]:
        """Take one request of a caller: whether there was one, and how many are left."""
        now = self._clock()
        who = (caller.project, caller.name)
        level, then = self._levels.pop(who, (float(self._capacity), now))
        level = min(self._capacity, level + (now - then) * self._rate)
        taken = level >= 1
        if len(self._levels) >= CALLERS_MAX:
            self._levels.pop(next(iter(self._levels)))  # the one that has called least recently
        self._levels[who] = (level - taken, now)
        return taken, level - taken

    def seconds_until(self, level: float, goal: float) -> int:
        """Whole seconds until a bucket has risen to a goal."""
        return max(0, math.ceil((goal - level) / self._rate))


class RateLimits:
    """Middleware that answers 429 to callers that have used up what they may do."""

    def __init__(self, app: ASGIApp, settings: AccessSettings, store: Callable[[], ServiceStore]) -> None:
        self._app, self._store = app, store
        self._requests, self._plans = settings.requests_per_minute, settings.plans_per_day
        self._buckets = TokenBuckets(self._requests, MINUTE) if self._requests else None
        self._unrecorded: Counter[Caller] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller = scope.get("state", {}).get("caller", LOCAL_CALLER)
        if caller == LOCAL_CALLER:
            await self._app(scope, receive, send)
            return
        allowances, wait = self._take_request(caller)
        counts = bool(self._plans) and scope["method"] == "POST" and "/plan" in scope["path"]
        if counts and not wait:
            plans = await self._read_plan_quota(caller)
            allowances.append(plans)
            wait = 0 if plans.remaining else plans.reset

        async def send_with_limits(message: Message) -> None:
            if message["type"] == "http.response.start" and allowances:
                headers = MutableHeaders(scope=message)
                headers["ratelimit-policy"] = ", ".join(allowance.policy for allowance in allowances)
                headers["ratelimit"] = ", ".join(allowance.state for allowance in allowances)
            await send(message)

        if not wait:
            self._unrecorded[caller] += counts
            try:
                await self._app(scope, receive, send_with_limits)
            finally:
                self._unrecorded[caller] -= counts
                self._unrecorded += Counter()  # drops those at zero
            return
        detail = f"The limit of {allowances[-1].name} is used up; try again in {wait} seconds."
        refusal = problem_response(429, "rate-limit", "Too many requests", detail)
        refusal.headers["retry-after"] = str(wait)
        await refusal(scope, receive, send_with_limits)

    def _take_request(self, caller: Caller) -> tuple[list[Allowance], int]:
        """What is left of the requests of a minute, and seconds to wait if there was none."""
        if self._buckets is None:
            return [], 0
        taken, level = self._buckets.take(caller)
        full_in = self._buckets.seconds_until(level, self._requests)
        left = Allowance("requests", self._requests, MINUTE, int(level), full_in)
        return [left], 0 if taken else max(1, self._buckets.seconds_until(level, 1))

    async def _read_plan_quota(self, caller: Caller) -> Allowance:
        now = time.time()
        made, first = await run_in_threadpool(self._store().audit.count_since, caller, "plan", now - DAY)
        left = max(0, self._plans - made - self._unrecorded[caller])
        return Allowance("plans", self._plans, DAY, left, max(1, math.ceil(first + DAY - now)))
