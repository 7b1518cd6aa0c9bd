"""The second place of a workload."""

from __future__ import annotations

from typing import Literal

from planner.request.field_types import Amount, RequestModel, Text

RecoveryLevel = Literal["pilot_light", "warm_standby", "active_active"]


class Recovery(RequestModel):
    """A second place for a workload, for the loss of the first: its data there, and nodes by the level."""

    level: RecoveryLevel
    """Readiness: pilot_light, the data alone; warm_standby, a share of the service (standby_fraction);
    active_active, all of it."""
    place: Text
    """Provider and region of the second place (aws us-west-2); the workload itself runs elsewhere."""
    replicated_gb_per_month: Amount = 0
    """Changed data in GB per month that is copied there."""
