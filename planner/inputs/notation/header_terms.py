"""The words by which headers are matched: data, in the order of trial (the first match decides).

Patterns apply to normalized headers (`units.normalize_text`): lower case, no brackets, GPU-hours as "gpu hours".
"""

from __future__ import annotations

from planner.inputs.notation.units import ACCELERATOR as ACC
from planner.inputs.notation.units import SPANS, WORK

COUNT = r"(?:number of|no\.? of|nr\.? of|num|count of|how many|quantity of|qty of)"
DONE = r"(?:measured|throughput|sustain|capacity|benchmark|achieved|observed)"
TRAFFIC = r"(?:requests?|reqs?|quer(?:y|ies)|calls?|inferences|prompts?)"
THING = rf"(?:{WORK}|work|units|volume)"
EVERY = r"(?:daily|weekly|monthly|annual|yearly)"
PERIOD = r"(?:day|week|wk|month|mo|mth|quarter|year|yr)"
RUN = r"(?:run|experiment|execution|job|training|session|epoch|task|cycle|iteration)"
MACHINE = r"(?:instance|machine|vm|node|server|host)"
AT_WORK = r"(?:work(?:ing)? |business |active |run(?:ning)? |usage |use )"
NOT_OF_ACCELERATORS = r"v?cpu|core|man|person|people|staff|engineer|engineering|support"
"""Whose hours are not those of accelerators."""

PRICED = (
    r"[$€£¥]|\b(?:prices?|pricing|priced|costs?|tariffs?|fees?|invoices?|spot rates?|hourly rates?|list rates?"
    r"|k?usd|k?eur|teur|k?gbp|k?chf|jpy|cad|aud|sek|nok|dkk|pln|brl|inr)\b"
)
"""Words of an amount of money: a header with one is never an amount of work, time or size."""
MAY_BE_PRICED = frozenset({"budget", "team", "notes", "source", "name", "residency", "provider", "region", "kind"})
"""Meanings that a header with such a word may have nevertheless."""

SHARE_OF_HOURS = r"share|of (?:the )?(?:hours|time|month)|uptime|duty|busy|active"
"""Words of a utilisation that lowers the hours beside it."""
KINDS = (
    ("batch", r"batch|offline|embed|\beval|scoring|\betl\b|render|simulation|processing"),
    ("interactive", r"interactive|notebook|jupyter|workstation|desktop|development|\bdev\b|exploration"),
    ("training", r"train|fine ?tun|\blora\b|\bsft\b|\brlhf\b|\bdpo\b|\bhpo\b|hyper ?param"),
    ("inference", r"inferenc|serving|\bserve|online|endpoint|real ?time|\bapi\b|chat"),
)
"""The kinds of workloads, as patterns over normalized texts."""

MEANINGS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("period", (r"^(?:calendar |plan(?:ning)? )?(?:month|period)$", r"^month of (?:use|demand|usage)$", r"^date$")),
    ("notes", (r"^(?:notes?|comments?|remarks?|justification|description|details|rationale)\b",)),
    ("source", (r"^(?:source|benchmark|measured (?:with|by)|measurement source|evidence)\b",)),
    ("measured_on", (r"\bmeasured (?:on|at)\b", r"measurement date", r"date measured")),
    ("interruptible", (r"interruptib", r"pre ?emptib", r"\bspot\b", r"can be interrupted")),
    ("substitution", (r"substitut", rf"\b(?:other|any) {ACC} (?:ok|allowed|possible|acceptable)")),
    (
        "accelerators",
        (rf"\b(?:allowed|acceptable|approved|permitted|eligible) {ACC}", rf"\b{ACC} (?:allowed|options)\b"),
    ),
    (
        "may_be_owned",
        (r"^(?!.*\b(?:gpus|accelerators|cards|nodes|servers)\b).*(?:\bowned\b|\bon ?prem)", r"\bownable\b"),
    ),
    ("residency", (r"residen", r"data location", r"\bdata (?:must )?stays?\b", r"sovereign", r"jurisdiction")),
    ("checkpoint_minutes", (r"checkpoint",)),
    ("restart_minutes", (r"\brestart",)),
    ("memory", (r"\bmemory\b", r"\bvram\b", r"\bhbm\b")),
    ("egress", (r"\begress\b", r"\boutbound\b", r"\bdata (?:transfer )?out\b")),
    ("storage", (r"\bstorage\b", r"\bdata ?set size\b", r"\bdisk\b", r"\bdata (?:kept|stored)\b")),
    (
        "budget",
        (
            rf"^(?!.*\b{ACC} ?(?:{SPANS})\b).*\bbudget",
            r"\b(?:cost|spend|spending) (?:cap|limit|ceiling)\b",
            r"\bmax(?:imum)? (?:cost|spend)",
        ),
    ),
    ("growth", (r"\bgrowth\b", r"\bmom\b", r"\bgrows\b")),
    (
        "deadline",
        (r"\bdeadline\b", r"\bdue\b", r"\b(?:needed|finish|finished|complete|done) by\b", r"\btarget (?:date|month)\b"),
    ),
    ("precision", (r"\bprecision\b", r"\bdtype\b")),
    (
        "utilisation",
        (r"\butili[sz]ation\b", r"\butil\b", r"\bduty cycle\b", r"\buptime\b", r"(?:share|%) of (?:hours|time)\b"),
    ),
    ("daily_shape", (r"\bshape\b", r"\b(?:traffic|load|daily|usage) (?:pattern|profile)\b", r"^(?:pattern|profile)$")),
    ("scaling", (r"^scaling\b",)),
    ("parallel_jobs", (r"\bparallel\b", r"\bconcurren")),
    ("gang", (rf"\b{ACC}(?: per |/)(?:job|replica|gang)\b", r"\bgang\b", r"\btensor parallel")),
    ("accelerators_per_node", (rf"\b{ACC}(?: per |/)(?:node|server|host|machine)\b",)),
    ("nodes", (rf"^(?:{COUNT} )?(?:nodes|servers|hosts|machines|instances|vms)(?: count)?$", rf"^{MACHINE} count$")),
    (
        "instance_type",
        (rf"^(?:cloud |ec2 |gcp |aws |azure )?{MACHINE} (?:type|size|sku|shape|class|name)s?$", r"^(?:ec2 )?instance$"),
    ),
    ("replicas", (rf"^(?:{COUNT} )?replicas$",)),
    ("runs", (rf"^(?:{COUNT} )?(?:training |tuning )?{RUN}s(?:(?: per |/){PERIOD})?$", rf"^{EVERY} {RUN}s$")),
    (
        "days",
        (
            rf"^(?:{COUNT} )?{AT_WORK}?days?(?: per |/)(?:week|wk|month|mo|mth|year|yr)$",
            r"^(?:working |work )?days$",
        ),
    ),
    (
        "start",
        (r"^(?:\w+ )?start(?:s|ing)?(?: date| month| on| in| from)?$", r"^(?:from|available from|go live(?: date)?)$"),
    ),
    (
        "end",
        (r"^(?:\w+ )?(?:end|stop)(?:s|ing)?(?: date| month| on| in)?$", r"^(?:to|until|till|through|fin|fim|fine)$"),
    ),
    (
        "duration",
        (r"^duration(?: months?)?$", r"^(?:number of )?(?:months|weeks|years)(?: needed| required| of use)?$"),
    ),
    ("included", (r"^includ(?:e|ed)(?: in (?:the )?(?:plan|scope|budget))?\??$", r"^in (?:the )?(?:scope|plan)\??$")),
    ("units_per_request", (rf"\b{WORK}(?: per |/)(?:request|query|call|prompt)\b",)),
    ("per", (r"^(?:per|basis|measured per)$", r"^(?:rate|throughput) (?:basis|per|for)$", rf"^per {ACC} or job$")),
    (
        "throughput",
        (
            r"\bthroughput\b",
            rf"\b(?:{TRAFFIC}|rps|qps)\b.*\b(?:{DONE}|per {ACC}|per replica|per job)",
            rf"{DONE}.*\b(?:{TRAFFIC}|rps|qps)\b",
        ),
    ),
    ("requests_per_second", (rf"\b{TRAFFIC}(?: per |/)(?:s|sec|second|min|minute)s?\b", r"\b[rq]ps\b", r"\btraffic\b")),
    ("accelerator_hours", (rf"\b{ACC} ?(?:{SPANS})\b(?! ?(?:count|ago))",)),
    ("node_hours", (rf"\b{MACHINE}s? ?(?:hours?|hrs?|h)\b",)),
    (
        "throughput",
        (rf"\b{WORK}(?: per |/)(?:s|secs?|seconds?|h|hr|hours?|mins?|minutes?)\b", r"\b(?:tps|ips)\b", r"\bit/s\b"),
    ),
    (
        "total_units",
        (
            rf"\btotal {THING}",
            rf"\b{THING} (?:in )?total\b",
            rf"^(?:[kmbt] )?{WORK}(?: [kmbt]| (?:m|b|tr)illions?)?$",
            rf"\b{WORK} to (?:train|process)\b",
            rf"^(?:training|target) {WORK}\b",
        ),
    ),
    (
        "units_per_month",
        (rf"\b{THING}\b.*(?:per |/){PERIOD}\b", rf"\b{EVERY} {THING}\b", rf"^(?:[kmbt] )?{WORK} monthly\b"),
    ),
    (
        "hours",
        (
            rf"^(?!.*\b(?:{NOT_OF_ACCELERATORS}) ?(?:hours?|hrs?)\b)(?!.*\bhours? only\b).*\b(?:hours?|hrs?|runtime)\b",
            r"^(?:usage |use |runtime )?h(?:/| per |$)",
        ),
    ),
    ("unit", (r"^(?:unit|units|uom|metric|measure)(?: of .*)?$", r"^(?:demand|work) (?:unit|metric)$")),
    ("amount", (r"^(?:demand|amount|usage|need|forecast|work needed|quantity needed)\b", r"^(?:work ?load )?volume$")),
    (
        "accelerator",
        (
            rf"\b(?:{ACC}|hardware) (?:type|model|name|kind|sku|family)\b",
            r"^(?:gpu|accelerator|chip|tpu|device|card|hardware)(?: required| requested| needed)?$",
            r"^gpu(?:/| or )tpu$",
        ),
    ),
    (
        "gpus",
        (
            rf"^{COUNT} {ACC}\b",
            rf"\b{ACC} (?:count|qty|quantity|number)\b",
            r"^(?:gpus|accelerators|tpus|chips|devices|cards)(?: (?:needed|required|requested))?$",
            rf"^(?:avg|average|mean) {ACC}$|^{ACC} (?:avg|average|mean)$",
            r"^(?:count|qty|quantity)$",
        ),
    ),
    (
        "team",
        (
            r"\bteam\b|\bowner\b|\bcost cent(?:er|re)\b|\bdepartment\b|\bdept\b|\bsquad\b|\bdivision\b",
            r"\brequest(?:er|or|ed by)\b|\bbusiness unit\b|^group$",
        ),
    ),
    ("kind", (r"\bkind\b", r"\b(?:workload|job) (?:type|class|category)\b", r"^(?:type|category|class)$")),
    ("provider", (r"\bprovider\b", r"\bcloud\b", r"\bvendor\b", r"\bcsp\b")),
    ("region", (r"\bregions?\b", r"\blocation\b")),
    (
        "name",
        (
            r"\bworkload\b|\bjob\b|\bservice\b|\bname\b|\bproject\b|\bapplication\b|\buse case\b",
            r"^(?:app|model|task)$",
        ),
    ),
)
