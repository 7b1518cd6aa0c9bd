"""Checks of what the request allows and what is sold: places, ways of paying, dates, sizes, limits, quotas, advice."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from datetime import date, timedelta
from fnmatch import fnmatchcase
from fractions import Fraction

from tests.fuzz.plans import facts
from tests.fuzz.plans.answer import CLOSE, Answer, Fault, Row, Speed, key_of, nodes_at_once, place_of
from tests.fuzz.plans.check_work import nodes_for, replicas
from tests.fuzz.plans.facts import HOURS
from tests.fuzz.plans.question import Work

SLACK = 1 + CLOSE
LADDER_ROUNDING = 1e-5
CAPITAL = ("hardware", "installation")
DATED = ("capacity_block", "calendar")
SIMPLEST_FIRST = ("cloud", "onprem", "hybrid")


def places_are_permitted(answer: Answer) -> Iterator[Fault]:
    """Providers, regions, residency, ownership and accelerators as the request and the workload allow."""
    question = answer.question
    for use in answer.uses:
        work, key = answer.work(use), key_of(use)
        if use["what"] == "owned":
            if work.row.get("may_be_owned") is False:
                yield Fault("may not be owned", work.name, use["name"])
        elif not question.may_run(work, key):
            yield Fault("not permitted there", work.name, key)
        elif facts.provider_facts()[key[0]].get("on_request") and key[0] not in question.named_providers():
            yield Fault("provider on request", work.name, key[0])
        written = work.row.get("accelerators") or ()
        if work.demand.get("accelerator") and not work.row.get("substitution") and not work.is_measured:
            written = (work.demand["accelerator"],)
        if written and not any(is_accelerator(use["accelerator"], each) for each in written):
            yield Fault("another accelerator", work.name, use["accelerator"], written)
        if fault := _host_fault(work, use):
            yield fault


def is_accelerator(name: str, written: str) -> bool:
    """Whether a canonical name is one of those that a short name means: H100-80GB-SXM for H100, trn1 for Trainium1."""
    part = facts.accelerators()[name]
    return name.startswith(written) or part["model"].casefold().startswith(written.casefold().partition("-")[0])


def _host_fault(work: Work, use: Row) -> Fault | None:
    if not use["provider"]:
        return None
    offering, part = facts.offerings()[use["provider"], use["name"]], facts.accelerators()[use["accelerator"]]
    count = float(Fraction(offering["accelerator_count"]))
    memory = offering["accelerator_memory_gib"] or part["memory_gib"]
    for name, needed, has in (
        ("memory", work.row.get("memory_gib_per_accelerator"), float(memory or 0) * min(1.0, count)),
        ("processors", work.row.get("cpus_per_accelerator"), float(offering["vcpus"] or 0) / count),
        ("host memory", work.row.get("host_memory_gib_per_accelerator"), float(offering["memory_gib"] or 0) / count),
    ):
        held = use["what"] == "commitment" and name != "memory"  # of a commitment that runs, the size is known to suit
        if needed and has < needed * (1 - 1e-9) and not held:
            return Fault(name, f"{work.name} on {use['name']}", has, needed)
    return None


def ways_of_paying_suit(answer: Answer) -> Iterator[Fault]:
    """Spot only for what may be interrupted, days and queued runs not for what stands; allowed kinds and estimates."""
    allowed = answer.question.limits.get("purchase_options")
    held = {key for _, key, _ in answer.held_commitments}
    for use in answer.uses:
        if use["what"] == "owned" or (use["what"] == "commitment" and key_of(use) in held):
            continue
        work, key, kind = answer.work(use), key_of(use), facts.kind_of(use["purchase_option"])
        interruptible = work.row.get("interruptible", False)
        row = facts.sale(key) or {"queued": "", "max_days": ""}
        if kind == "spot" and not interruptible:
            yield Fault("interrupted", work.name, key)
        if kind in DATED and work.stands:
            yield Fault("days for standing work", work.name, key)
        waits = (row["queued"] == "yes" and work.stands) or (row["max_days"] and not interruptible)
        if kind in ("flex_start", "on_demand", "spot") and waits:
            yield Fault("a queued or ended run", work.name, key)
        if allowed and kind not in allowed:
            yield Fault("way of paying", work.name, kind, allowed)
        if answer.question.document.get("allow_estimates") is False and answer.prices[key]["method"] != "listed":
            yield Fault("an estimated price", work.name, key)


def all_is_sold(answer: Answer) -> Iterator[Fault]:
    """Sold in its way at the start and until it is used; days ordered in time; terms that end before their type."""
    question, a = answer.question, answer.assumed
    held = {key for _, key, _ in answer.held_commitments}
    for use in answer.uses:
        row = facts.sale(key_of(use)) if use["provider"] else None
        if row is None:
            continue
        if row["ends"] and date.fromisoformat(row["ends"]) < _first_day(question.months, use["month"] + 1):
            yield Fault("used after its end", use["name"], question.months[use["month"] - 1], row["ends"])
        if row["sold"] == "no" and key_of(use) not in held:
            yield Fault("not sold so", use["workload"], key_of(use))
    for each in answer.purchases:
        row = facts.sale(key_of(each)) if each["unit"] != "money" and each["provider"] else None
        if row is None:
            continue
        begins = _first_day(question.months, each["month"])
        if row["ends"] and each["term_months"]:
            over = _first_day(question.months, each["month"] + each["term_months"])
            if over > date.fromisoformat(row["ends"]):
                yield Fault("term beyond the end", each["name"], str(over), row["ends"])
        in_time = question.as_of + timedelta(days=int(row["order_ahead_days"] or 100_000))
        if each["unit"] == "node_day" and not a["capacity_blocks_beyond_window"]:
            last = begins + timedelta(days=max(order["first_day"] for order in each["orders"]) - 1)
            if last > in_time:
                yield Fault("days beyond the window", each["name"], str(last), str(in_time))


def _first_day(months: tuple[str, ...], month: int) -> date:
    """The first day of a month of the plan, or after it."""
    number = 12 * int(months[0][:4]) + int(months[0][5:]) - 1 + month - 1
    return date(number // 12, number % 12 + 1, 1)


def days_are_ordered_as_sold(answer: Answer) -> Iterator[Fault]:
    """Dated days are ordered in lengths that are sold, inside their month, and add up to what is bought."""
    for each in answer.purchases:
        orders = each.get("orders", ())
        days = sum(order["nodes"] * order["days"] for order in orders)
        if each["unit"] == "node_day" and days != each["count"]:
            yield Fault("days ordered", each["name"], days, each["count"])
        month = _first_day(answer.question.months, each["month"] + 1) - timedelta(days=1)
        for order in orders:
            length, last = order["days"], order["first_day"] + order["days"] - 1
            is_sold = length <= 14 or (length % 7 == 0 and length <= 182) or each["purchase_option"] == "calendar"
            if not is_sold or order["nodes"] < 1 or not length <= last <= month.day:
                yield Fault("an order of days", each["name"], str(order), str(month))


def spot_is_limited(answer: Answer) -> Iterator[Fault]:
    """Of work at any hour a share, by month or of all of a deadline; of standing nodes whole ones within it, where none
    of the work is ever on owned nodes: of work that these may share, spot has the share alone."""
    for name, work in answer.question.works.items():
        share, uses = answer.question.spot_share(work), answer.by_workload[name]
        divided = any(use["purchase_option"] == "owned" for use in uses)
        groups = [(0, uses)] if work.deadline is not None else list(answer.each_month(uses))
        for month, rows in groups:
            spot = [use for use in rows if use["purchase_option"] == "spot"]
            done = math.fsum(use["units"] for use in rows)
            if (on_spot := math.fsum(use["units"] for use in spot)) > share * done * SLACK + CLOSE * done:
                yield Fault("spot share", f"{name} month {month}", on_spot / done, share)
            alone = len({place_of(use) for use in rows}) == 1 and not (work.row.get("shares_nodes") or work.spreads)
            if work.stands and spot and alone and not divided:
                hours = math.fsum(use["node_hours"] for use in spot)
                most = max(_spot_hours(work, month, speed, share) for speed in answer.speeds(spot[0]))
                if hours > most * SLACK:
                    yield Fault("spot nodes", f"{name} month {month}", hours, most)


def _spot_hours(work: Work, month: int, speed: Speed, share: float) -> float:
    """The most node-hours on spot: the other replicas stand on whole nodes that are not."""
    total = 0.0
    for hours, due in work.hourly_due(month):
        count = replicas(work, due, speed)
        nodes, steady = nodes_for(count, speed), nodes_for(count - math.floor(share * count + 1e-9), speed)
        total += hours * min(nodes - steady, math.floor(share * nodes + 1e-9))
    return total


def budgets_are_kept(answer: Answer) -> Iterator[Fault]:
    """Hardware, and everything else, paid in each year; resale, received or forgone, is part of neither."""
    for field, capital in (("capex_per_year", True), ("opex_per_year", False)):
        if (yearly := answer.question.limits.get(field)) is None:
            continue
        for year, most in enumerate(answer.question.by_year(yearly)):
            paid = [row["amount"] for row in answer.strategy["cash"]
                    if (row["month"] - 1) // 12 == year and (row["category"] in CAPITAL) == capital
                    and row["amount"] > 0 and row["category"] != "resale"]  # fmt: skip
            if math.fsum(paid) > most * SLACK + 0.01:
                yield Fault(field, f"year {year + 1}", math.fsum(paid), most)


def site_is_kept(answer: Answer) -> Iterator[Fault]:
    """Power and racks of all owned nodes on site, from delivery on."""
    limits, on_site = answer.question.limits, _on_site(answer)
    for field, size in (("owned_power_kw", answer.power_kw), ("owned_racks", answer.racks)):
        for month, nodes in on_site.items() if limits.get(field) else ():
            taken = math.fsum(count * size(system) for system, count in nodes.items())
            if taken > limits[field] * SLACK:
                yield Fault(field, f"month {month}", taken, limits[field])


def _on_site(answer: Answer) -> dict[int, dict[str, float]]:
    """Owned nodes by month and system, from delivery on."""
    months = len(answer.question.months)
    on_site: dict[int, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for line, system, covers, _ in answer.held_nodes:
        for month in covers:
            on_site[month][system] += line["count"]
    for each in answer.purchases:
        if each["what"] == "owned":
            migrating = round(answer.assumed["migration_months"])
            for month in range(each["usable_from"] - migrating, min(each["usable_to"], months) + 1):
                on_site[month][each["name"]] += each["count"]
    return on_site


def carbon_is_kept(answer: Answer) -> Iterator[Fault]:
    """Emission of each year and of each place and month: hours of use of rented nodes; all hours of owned ones from
    delivery on, at work or idle."""
    months, a = len(answer.question.months), answer.assumed
    kwh: dict[tuple[int, str, str], float] = defaultdict(float)
    for use in answer.uses:
        kwh[use["month"], use["provider"], use["region"]] += use["node_hours"] * _kw_of_use(answer, use)
    for month, nodes in _on_site(answer).items():
        for system, count in nodes.items():
            kwh[month, "", ""] += (
                count
                * HOURS
                * answer.power_kw(system)
                * a["pue"]
                * a["idle_draw_fraction"]
                * (a["server_power_fraction"])
            )
    shown = {(row["month"], row["provider"], row["region"]): row for row in answer.strategy["emissions"]}
    for key in kwh.keys() | shown.keys():
        energy = shown[key]["energy_kwh"] if key in shown else 0.0
        if energy is not None and not math.isclose(energy, kwh[key], rel_tol=1e-6, abs_tol=1e-6):
            yield Fault("energy", str(key), energy, kwh[key])
    if (yearly := answer.question.limits.get("carbon_kg_per_year")) is None:
        return
    for year, most in enumerate(answer.question.by_year(yearly)):
        keys = [key for key in kwh if (key[0] - 1) // 12 == year]
        kg = math.fsum(kwh[key] * answer.question.grid(*key[1:]) / 1000 for key in keys if kwh[key])
        if kg > most * SLACK + CLOSE:
            yield Fault("carbon_kg_per_year", f"year {year + 1} of {months} months", kg, most)


def _kw_of_use(answer: Answer, use: Row) -> float:
    """The draw of a rented node at work, of an owned one what work adds; 0 where a power is unknown."""
    a = answer.assumed
    if not use["provider"]:
        return answer.power_kw(use["name"]) * a["server_power_fraction"] * a["pue"] * (1 - a["idle_draw_fraction"])
    watts = facts.accelerators()[use["accelerator"]]["tdp_w"]
    if not watts or not answer.question.document.get("allow_estimates", True):
        return 0.0
    kw = float(watts) / 1000 * use["accelerators_per_node"] * a["server_power_over_accelerator_power"]
    return kw * a["server_power_fraction"] * a["cloud_pue"]


def commitment_targets_are_kept(answer: Answer) -> Iterator[Fault]:
    """Coverage by the cost on demand of hours, and ends by quarter by the cost of an hour, at the prices of the files;
    where prices are not assumed to change."""
    limits, prices = answer.question.limits, facts.prices()
    covered = on_demand = 0.0
    for use in answer.uses:
        listed = prices.get((use["provider"], use["region"], use["name"], "on_demand"))
        cost = use["node_hours"] * float(listed["price_per_hour"]) if listed else 0.0
        if use["provider"] and facts.term_months(use["purchase_option"]):
            covered += cost
        elif use["purchase_option"] == "on_demand":
            on_demand += cost
    least, changes = limits.get("commitment_coverage_min"), answer.assumed["cloud_price_change_annual"]
    if least and not changes and covered + on_demand and covered < (covered + on_demand) * least / SLACK:
        yield Fault("commitment_coverage_min", "plan", covered / (covered + on_demand), least)
    ends: dict[tuple[int, int], float] = defaultdict(float)
    for each in answer.purchases:
        if each["provider"] and facts.term_months(each["purchase_option"]):
            year, month = map(int, answer.question.months[0].split("-"))
            index = year * 12 + month - 1 + each["usable_to"] - 1
            if each["unit"] == "money":  # in the currency of the request, unlike the files
                rate = each["money_per_hour"] / answer.question.per_dollar
            else:
                rate = each["count"] * float(prices[key_of(each)]["price_per_hour"])
            ends[index // 12, index % 12 // 3] += rate
    most = limits.get("commitment_ending_per_quarter_max")
    if most and ends and max(ends.values()) > math.fsum(ends.values()) * (most + LADDER_ROUNDING):
        yield Fault("commitment_ending_per_quarter_max", "plan", max(ends.values()) / math.fsum(ends.values()), most)


def quotas_are_held(answer: Answer) -> Iterator[Fault]:
    """Nodes at once of each type and way of paying, rounded up, against what each quota leaves."""
    if answer.question.limits.get("quotas") != "hold":
        return
    running = nodes_at_once(answer)
    for quota in answer.question.document["quotas"]:
        taken: dict[int, float] = defaultdict(float)
        for (key, month), nodes in running.items():
            counts = facts.kind_of(key[3]) in quota["kinds"].split() and any(
                fnmatchcase(key[2], pattern) for pattern in quota["types"].split()
            )
            if counts and key[:2] == (quota["provider"], quota["region"]):
                offering = facts.offerings()[key[0], key[2]]
                column = {"vcpu": "vcpus", "accelerator": "accelerator_count"}.get(quota["unit"])
                taken[month] += math.ceil(round(nodes, 6)) * float(Fraction(offering[column]) if column else 1)
        free = max(0.0, quota["limit"] - (quota["used"] or 0))
        for month, amount in taken.items():
            if amount > free * SLACK:
                yield Fault("quota", f"{quota['code']} month {month}", amount, free)


def strategies_do_what_they_say(answer: Answer) -> Iterator[Fault]:
    """Cloud buys no hardware; onprem rents what it can own only until its nodes work."""
    if answer.name == "cloud":
        for each in answer.purchases:
            if each["what"] == "owned":
                yield Fault("hardware in the cloud", each["name"], each["count"], 0)
    if answer.name != "onprem":
        return
    bridge = round(answer.assumed["lead_time_months"] + answer.assumed["migration_months"])
    stays = {gap["workload"] for gap in answer.plan["gaps"] if gap["kind"] == "not_ownable"}
    held = {key for _, key, _ in answer.held_commitments}
    for use in answer.uses:
        rented = use["provider"] and key_of(use) not in held
        if rented and use["month"] > bridge and use["workload"] not in stays and use["units"]:
            yield Fault("rented though it can be owned", f"{use['workload']} month {use['month']}", key_of(use))


def advice_is_right(plan: Row, document: Row) -> Iterator[Fault]:
    """Of the feasible strategies the simplest within the materiality of the cheapest, or of the least objective over
    scenarios; hybrid is never dearer by that. No work costs less than nothing."""
    solved = {s["name"]: s for s in plan["strategies"] if s["status"] != "infeasible"}
    costs = {name: s["present_cost"] for name, s in solved.items()}
    advice = plan["recommendation"]
    if not costs:
        if advice["strategy"] is not None or plan["status"] != "infeasible":
            yield Fault("advice", "no strategy is feasible", advice["strategy"])
        return
    uncertainty = (plan["uncertainty"] or {}).get("strategies", ())
    objectives = {s["strategy"]: s["objective"] for s in uncertainty if s["objective"] is not None}
    compared = objectives or costs
    wanted = simplest_near(compared, document.get("materiality_fraction", 0.02))
    if advice["strategy"] != wanted:
        yield Fault("advice", str(compared), advice["strategy"], wanted)
    if "hybrid" in document.get("strategies", SIMPLEST_FIRST) and "hybrid" not in costs:
        yield Fault("hybrid", "infeasible though another is not", costs)
    least = min(compared.values())
    if "hybrid" in compared and compared["hybrid"] > least + 1e-5 * max(1.0, abs(least)):
        yield Fault("hybrid", "dearer than another", compared)
    if advice["strategy"] in solved:
        yield from runner_up_is_right(advice, solved)
    for name, strategy in solved.items():
        for row in strategy["workloads"]:
            if row["cost_per_unit"] < 0:
                yield Fault("unit cost", f"{name} {row['workload']}", row["cost_per_unit"], 0)


def simplest_near(costs: dict[str, float], materiality: float) -> str:
    least = min(costs.values())
    most = least + abs(least) * materiality + 1e-5
    return min((name for name, cost in costs.items() if cost <= most), key=SIMPLEST_FIRST.index)


def runner_up_is_right(advice: Row, solved: dict[str, Row]) -> Iterator[Fault]:
    """The cheapest plan with other decisions whose cost differs by more than either proof leaves open."""
    chosen = solved[advice["strategy"]]
    apart = {name: s["present_cost"] - chosen["present_cost"] for name, s in solved.items()}
    rivals = [
        name
        for name, s in solved.items()
        if decisions(s) != decisions(chosen)
        and abs(apart[name]) > max(left_open(s), left_open(chosen), 1e-6 * max(1.0, abs(s["present_cost"])))
    ]
    runner = min(rivals, key=lambda name: apart[name], default=None)
    if advice["runner_up"] != runner or (runner and abs(advice["worth"] - apart[runner]) > 0.01):
        yield Fault("runner-up", str(apart), (advice["runner_up"], advice["worth"]), runner)


def left_open(strategy: Row) -> float:
    """What the proof leaves open of a plan's cost; everything where nothing bounds it."""
    return math.inf if strategy["bound"] is None else strategy["present_cost"] - strategy["bound"]


def decisions(strategy: Row) -> set[tuple[object, ...]]:
    """What is bought and used where and when, to six digits."""
    bought = ((p["month"], *key_of(p), f"{p['money_per_hour'] or p['count']:.6g}") for p in strategy["purchases"])
    used = ((u["month"], u["workload"], *key_of(u), f"{u['node_hours']:.6g}") for u in strategy["uses"])
    return {*bought, *used}


CHECKS = (
    places_are_permitted, ways_of_paying_suit, all_is_sold, days_are_ordered_as_sold, spot_is_limited,
    budgets_are_kept, site_is_kept, carbon_is_kept, commitment_targets_are_kept, quotas_are_held,
    strategies_do_what_they_say,
)  # fmt: skip
