"""The HTTP door: parses, has worker processes plan, answers. It keeps nothing and knows no user."""

from planner.service.app import create
from planner.service.worker_pool import ServiceLimits

__all__ = ["ServiceLimits", "create"]
