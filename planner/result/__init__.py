"""The answer: frozen values that make up a plan. Money is in the plan's currency, amounts paid are positive.

Months count from 1 (the first month of the plan); `Plan.month_names` gives their calendar names (2026-12).
"""

from __future__ import annotations

from planner.result.alternatives import OfferOutcome
from planner.result.audit_trail import AuditTrail
from planner.result.comparison import Changes
from planner.result.financial_views import FinancialViews
from planner.result.marginal_values import MarginalValue
from planner.result.message import Message
from planner.result.plans import (
    SCHEMA_VERSION,
    BreakEven,
    CallComparison,
    Plan,
    QuotaRequest,
    Recommendation,
    RecoveryOption,
    RequestedWorkload,
    RequestSetting,
)
from planner.result.risk import Risk, SwitchingValue
from planner.result.sources import (
    Assumption,
    CellEdit,
    Gap,
    InputProvenance,
    InputReading,
    PriceUsed,
    RefusedRow,
    ThroughputUsed,
)
from planner.result.strategies import (
    EXISTING_SUFFIX,
    NODE_ROUNDING,
    OPERATORS,
    SUPPORT_PLAN,
    CashRow,
    Category,
    DatedOrder,
    Emission,
    Purchase,
    Status,
    Strategy,
    StrategyName,
    Use,
    WorkloadCost,
    describe_amount,
    describe_orders,
)
from pricing.exchange_rates import RateUsed

__all__ = [
    "EXISTING_SUFFIX",
    "NODE_ROUNDING",
    "OPERATORS",
    "SCHEMA_VERSION",
    "SUPPORT_PLAN",
    "Assumption",
    "AuditTrail",
    "BreakEven",
    "CallComparison",
    "CashRow",
    "Category",
    "CellEdit",
    "Changes",
    "DatedOrder",
    "Emission",
    "FinancialViews",
    "Gap",
    "InputProvenance",
    "InputReading",
    "MarginalValue",
    "Message",
    "OfferOutcome",
    "Plan",
    "PriceUsed",
    "Purchase",
    "QuotaRequest",
    "RateUsed",
    "Recommendation",
    "RecoveryOption",
    "RefusedRow",
    "RequestSetting",
    "RequestedWorkload",
    "Risk",
    "Status",
    "Strategy",
    "StrategyName",
    "SwitchingValue",
    "ThroughputUsed",
    "Use",
    "WorkloadCost",
    "describe_amount",
    "describe_orders",
]
