"""The HTTP service: parses requests, queues plans in a store, makes them in worker processes and answers.

`gate/` decides who may reach the routes, and records what they did. `planner.service.app.create` makes the
application; this package loads no library.
"""

from planner.service.gate.settings import AccessSettings, GateSettings
from planner.service.limits import ServiceLimits

__all__ = ["AccessSettings", "GateSettings", "ServiceLimits"]
