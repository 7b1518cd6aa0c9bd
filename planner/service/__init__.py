"""The HTTP service: parses requests, plans in worker processes and answers.

Nothing is stored on disk; the last plans stay in memory (`PlanCache`). There is no authentication.
"""

from planner.service.app import create
from planner.service.worker_pool import ServiceLimits

__all__ = ["ServiceLimits", "create"]
