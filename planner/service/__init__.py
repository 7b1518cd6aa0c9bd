"""The HTTP door: parses, has worker processes plan, answers. It keeps nothing and knows no user."""

from planner.service.app import create
from planner.service.pool import Limits

__all__ = ["Limits", "create"]
