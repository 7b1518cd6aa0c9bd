"""What can be set about the gate: each field is an option of `planner serve` and an environment variable."""

from __future__ import annotations

from planner.service.callers import SCOPES
from planner.service.setting_fields import setting
from pricing.frozen_values import dataclass


@dataclass(frozen=True, slots=True)
class GateSettings:
    """Names and limits of one service. The defaults suit one that only this machine reaches."""

    allowed_hosts: tuple[str, ...] = setting(
        (),
        "Host name that is answered beside localhost and IP addresses; *.example.com, or * for any. May be repeated.",
        option="allow_host",
    )
    allowed_origins: tuple[str, ...] = setting(
        (),
        "Site whose pages may use the service, as https://portal.example.com. May be repeated.",
        option="allow_origin",
    )
    connections: int = setting(
        512, "Open connections; beyond it the one that has been idle longest, for a second at least, is closed."
    )
    header_seconds: float = setting(10.0, "Seconds in which the headers of a request must be complete.")
    header_bytes: int = setting(16 * 1024, "Bytes of the headers of a request.")
    header_count: int = setting(100, "Number of the headers of a request.")
    body_seconds: float = setting(120.0, "Seconds in which the body of a request must be complete.")
    send_seconds: float = setting(60.0, "Seconds in which a client must take each part of an answer.")
    keep_alive_seconds: int = setting(
        75,
        "Seconds for which an idle connection stays open after an answer: longer than clients and load balancers keep "
        "theirs, which else send a request on a connection that is being closed.",
    )


@dataclass(frozen=True, slots=True)
class AccessSettings:
    """Who is let in, and how much each caller may do. The defaults let everybody in who reaches the service."""

    key_required: bool = setting(False, "Whether a request needs a key or a token.", option="")
    requests_per_minute: int = setting(600, "Requests of one caller in a minute; 0: any number.", least=0)
    plans_per_day: int = setting(0, "Plans that one caller may ask for in 24 hours; 0: any number.", least=0)
    oidc_issuer: str = setting("", "URL of an OpenID Connect provider whose tokens are taken.")
    oidc_audience: str = setting("", "Audience that its tokens must name.")
    oidc_project_claim: str = setting("planner_project", "Claim with the project of a caller.")
    oidc_scope_claim: str = setting("scope", "Claim with the scopes of a caller: scope, roles or groups.")
    oidc_name_claim: str = setting("sub", "Claim with the name of a caller in log and audit.")
    oidc_grants: tuple[str, ...] = setting(
        tuple(f"planner:{scope}={scope}" for scope in SCOPES),
        "What a value of the scope claim grants, as VALUE=plan, VALUE=read or VALUE=admin. May be repeated.",
        option="oidc_grant",
    )
