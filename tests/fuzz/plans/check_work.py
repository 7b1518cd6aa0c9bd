"""Checks in natural units: the work of each workload is done in its home, on whole nodes that are there."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator

from tests.fuzz.plans import facts
from tests.fuzz.plans.answer import CLOSE, Answer, Fault, Row, Speed, key_of, place_of
from tests.fuzz.plans.facts import HOURS
from tests.fuzz.plans.question import WEEK, Work
from tests.fuzz.plans.served import count_replicas

SLACK = 1 + CLOSE


def amounts_are_sound(answer: Answer) -> Iterator[Fault]:
    """No negative or endless amounts, nothing outside the months, whole purchases, known workloads."""
    months = range(1, len(answer.question.months) + 1)
    for use in answer.uses:
        sound = all(math.isfinite(use[name]) and use[name] >= 0 for name in ("node_hours", "nodes", "units", "cost"))
        if not sound or use["month"] not in months or use["workload"] not in answer.question.works:
            yield Fault("unsound use", use["workload"], use)
    for each in answer.purchases:
        whole = each["unit"] == "money" or (each["count"] >= 1 and each["count"] == int(each["count"]))
        if not whole or each["month"] not in months or (each["unit"] == "money" and not each["money_per_hour"] > 0):
            yield Fault("unsound purchase", each["name"], each)


def work_is_done(answer: Answer) -> Iterator[Fault]:
    """Neither less nor more than is due, in its month or by its deadline."""
    for name, work in answer.question.works.items():
        uses = answer.by_workload[name]
        if work.deadline is not None:
            late = [use for use in uses if use["month"] > work.deadline and use["units"]]
            if late:
                yield Fault("after the deadline", name, late[0]["month"], work.deadline)
            done, wanted = math.fsum(use["units"] for use in uses), work.demand["total_units"]
            if not math.isclose(done, wanted, rel_tol=CLOSE):
                yield Fault("work done", name, done, wanted)
            continue
        for month, rows in answer.each_month(uses):
            wanted = work.monthly[month - 1]
            done = math.fsum(use["units"] for use in rows)
            if not math.isclose(done, wanted, rel_tol=CLOSE, abs_tol=CLOSE * max(work.monthly)):
                yield Fault("work done", f"{name} month {month}", done, wanted)


def hours_suit_the_work(answer: Answer) -> Iterator[Fault]:
    """Work at any hour takes just the node-hours of its work; work that nodes stand for has enough of them."""
    for use in answer.uses:
        work, where = answer.work(use), f"{use['workload']} month {use['month']} on {use['name']}"
        if not work.stands and answer.speed(use) is None:
            yield Fault(
                "hours of the work", where, use["node_hours"], [s.units_per_node_hour for s in answer.speeds(use)]
            )
        most = max((speed.units_per_node_hour for speed in answer.speeds(use)), default=0.0)
        if use["node_hours"] * most * SLACK < use["units"]:
            yield Fault("too few hours", where, use["node_hours"], use["units"] / most if most else math.inf)
        if use["node_hours"] > max(use["nodes"], 1e-9) * HOURS * SLACK and use["what"] != "commitment":
            yield Fault("more hours than its nodes have", where, use["node_hours"], use["nodes"] * HOURS)


def standing_nodes_are_whole(answer: Answer) -> Iterator[Fault]:
    """In every hour of the week whole nodes for all replicas and spares: exact in one home in the cloud, at least as
    many where owned nodes share the work, in each of several places, and together where workloads share nodes."""
    for name, work in answer.question.works.items():
        if not work.stands or work.row.get("shares_nodes"):
            continue
        if work.spreads:
            yield from _replicas_stand_in_several_places(answer, work)
            continue
        for month, uses in answer.each_month(answer.by_workload[name]):
            if not uses:
                continue
            hours = math.fsum(use["node_hours"] for use in uses)
            wanted = [_standing_hours(work, month, speed) for speed in answer.speeds(uses[0])]
            if len({place_of(use) for use in uses}) == 1 and uses[0]["provider"]:
                if not any(math.isclose(hours, each, rel_tol=CLOSE) for each in wanted):
                    yield Fault("standing nodes", f"{name} month {month}", hours, wanted)
            elif len({(use["accelerator"], use["accelerators_per_node"]) for use in uses}) == 1 and hours * SLACK < min(
                wanted
            ):
                yield Fault("too few standing nodes", f"{name} month {month}", hours, wanted)
    yield from _shared_nodes_suffice(answer)


def _replicas_stand_in_several_places(answer: Answer, work: Work) -> Iterator[Fault]:
    """Whole nodes in each place and load block; their shares of the replicas that all of the work would take there add
    up to all of it in its highest hour, and without those on spot to what spot may not hold."""
    share = answer.question.spot_share(work)
    for month, uses in answer.each_month(answer.by_workload[work.name]):
        for block, highest in enumerate(_highest_due(answer, work, month)):
            where, done, steady, may = f"{work.name} month {month} block {block}", 0.0, 0.0, 0.0
            places: dict[tuple[str, str, str], float] = defaultdict(float)
            for use in uses:
                nodes, speeds = _nodes_in_block(use, block), answer.speeds(use)
                places[place_of(use)] += nodes / min(speed.span for speed in speeds)
                # Which size of replica runs here the plan does not say: each may, so that of which most stand. With
                # spares it is not always the one that does most work on a node.
                sizes = [(nodes / each.granule, replicas(work, highest, each)) for each in speeds if highest]
                part = max((there / count for there, count in sizes), default=0.0)
                done += part
                steady += part if use["purchase_option"] != "spot" else 0.0
                may = max((may, *(math.floor(share * count + 1e-9) / count for _, count in sizes)))
            broken = [nodes for nodes in places.values() if abs(nodes - round(nodes)) > CLOSE]
            if broken:
                yield Fault("parts of nodes in a place", where, broken)
            if highest and done * SLACK < 1:
                yield Fault("too few replicas in all places", where, done, 1)
            if highest and steady * SLACK < 1 - may - CLOSE:
                yield Fault("replicas that spot may not hold", where, steady, 1 - may)


def _highest_due(answer: Answer, work: Work, month: int) -> list[float]:
    """Units an hour of the highest hour of each load block of the plan."""
    assert work.week is not None
    blocks = answer.plan["block_of_hour"] or [0] * WEEK
    highest = [0.0] * (max(blocks) + 1)
    for block, level in zip(blocks, work.week, strict=True):
        highest[block] = max(highest[block], work.monthly[month - 1] / HOURS * level)
    return highest


def _nodes_in_block(use: Row, block: int) -> float:
    return use["block_nodes"][block] if use["block_nodes"] else use["node_hours"] / HOURS


def replicas(work: Work, units_an_hour: float, speed: Speed) -> int:
    spares = work.row.get("spare_replicas", 0)
    if speed.estimate is not None:
        return count_replicas(work.row["serving"], speed.estimate, units_an_hour, speed.gang_rate) + spares
    return max(math.ceil(units_an_hour / speed.gang_rate - 1e-9), int(units_an_hour > 0)) + spares


def nodes_for(count: int, speed: Speed) -> int:
    return math.ceil(count * speed.granule - 1e-9)


def _standing_hours(work: Work, month: int, speed: Speed) -> float:
    return math.fsum(hours * nodes_for(replicas(work, u, speed), speed) for hours, u in work.hourly_due(month))


def _shared_nodes_suffice(answer: Answer) -> Iterator[Fault]:
    """Of workloads that share nodes at one place: as many whole nodes in every hour as their parts need together."""
    sharing = [work for work in answer.question.works.values() if work.stands and work.row.get("shares_nodes")]
    for month in range(1, len(answer.question.months) + 1):
        parts: dict[tuple[str, str, str], list[float]] = defaultdict(lambda: [0.0] * WEEK)
        hours: dict[tuple[str, str, str], float] = defaultdict(float)
        divided = set()
        for work in sharing:
            uses = [use for use in answer.by_workload[work.name] if use["month"] == month]
            places = {place_of(use) for use in uses}
            divided |= places if len(places) > 1 or not all(place[0] for place in places) else set()
            for use in uses:
                hours[place_of(use)] += use["node_hours"]
            for use in uses[:1]:
                speed = max(answer.speeds(use), key=lambda each: each.gang_rate)
                assert work.week is not None
                for hour, level in enumerate(work.week):
                    if level:
                        due = work.monthly[month - 1] / HOURS * level
                        parts[place_of(use)][hour] += replicas(work, due, speed) * speed.granule
        for place, needed in parts.items():
            least = math.fsum(math.ceil(each - 1e-6) for each in needed) * HOURS / WEEK
            if place not in divided and hours[place] * SLACK < least:
                yield Fault("shared nodes", f"{' '.join(place)} month {month}", hours[place], least)


def homes_are_kept(answer: Answer) -> Iterator[Fault]:
    """One place, or one owned system with one place in the cloud for what exceeds it, without new commitments there.
    A type that ends within the plan may be left for one other."""
    for name, uses in answer.by_workload.items():
        if answer.question.works[name].spreads:
            continue
        working = [use for use in uses if use["units"]]
        owned = {use["name"] for use in working if use["what"] == "owned"}
        rented = {place_of(use) for use in working if use["what"] != "owned"}
        ending = {place for place in rented if _ends_within(answer, working, place)}
        if len(owned) > 1 or len(ending) > 1 or len(rented) - len(ending) > 1:
            yield Fault("one home", name, sorted(owned) + sorted(map(str, rented)), "one place")
        held = {key for _, key, _ in answer.held_commitments}
        for use in working if owned else ():
            if use["what"] == "commitment" and key_of(use) not in held:
                yield Fault("overflow by new commitments", name, use["name"], "by the hour")


def _ends_within(answer: Answer, uses: list[Row], place: tuple[str, str, str]) -> bool:
    last = f"{answer.question.months[-1]}-31"
    rows = [facts.sale(key_of(use)) for use in uses if place_of(use) == place]
    return any(row is not None and row["ends"] and row["ends"] <= last for row in rows)


def nodes_are_there(answer: Answer) -> Iterator[Fault]:
    """Hours used of owned and committed nodes, of bought days and of committed money exist in every month; whole nodes
    that stand for work are there at once."""
    exists = _hours_bought(answer)
    used: dict[tuple[str, facts.Key, int], float] = defaultdict(float)
    for use in answer.uses:
        key, month, kind = key_of(use), use["month"], facts.kind_of(use["purchase_option"])
        if kind == "savings_plan":
            used["money", facts.pool_of(key), month] += use["node_hours"] * answer.prices[key]["price_per_hour"]
        elif use["what"] != "hourly":
            used["days" if kind in ("capacity_block", "calendar") else use["what"], key, month] += use["node_hours"]
        there = answer.there.get((use["what"], key, month))
        if there is not None and answer.work(use).stands and use["nodes"] > there + CLOSE:
            yield Fault("nodes there", f"{use['workload']} {key}", use["nodes"], there)
    for line, hours in used.items():
        if hours > exists[line] * SLACK + 1e-3:
            yield Fault("hours bought", str(line), hours, exists[line])


def money_pays_what_runs(answer: Answer) -> Iterator[Fault]:
    """Committed money is so much in each hour: it pays for no more nodes of a job at once, however short the job is;
    and the nodes of work at any hour are whole, so of money for 1.5 nodes half of one is idle but where it runs."""
    exists = _hours_bought(answer)
    on_nodes: dict[tuple[facts.Key, int], float] = defaultdict(float)
    for use in answer.uses:
        key, work = key_of(use), answer.work(use)
        if facts.kind_of(use["purchase_option"]) != "savings_plan" or work.stands or not use["units"]:
            continue
        on_nodes[key, use["month"]] += use["node_hours"]
        beside = [
            each for each in answer.by_workload[work.name]
            if each["month"] == use["month"] and place_of(each) == place_of(use)
        ]  # fmt: skip
        speed = answer.speed(use)
        span = speed.span if speed else 1
        running = math.fsum(each["node_hours"] for each in beside) / span / HOURS
        at_once = (
            exists["money", facts.pool_of(key), use["month"]] / HOURS / answer.prices[key]["price_per_hour"] / span
        )
        all_hours = math.floor(running * SLACK)
        most = HOURS * span * min(at_once, all_hours + max(running - all_hours, 0.0) * (at_once - all_hours))
        if use["node_hours"] > most * SLACK + 1e-2:
            yield Fault("money in each hour", f"{work.name} {key} {use['month']}", use["node_hours"], most)
    for (key, month), hours in on_nodes.items():
        money = exists["money", facts.pool_of(key), month] / HOURS
        most = HOURS * math.floor(money / answer.prices[key]["price_per_hour"] * SLACK)
        if hours > most * SLACK + 1e-2:
            yield Fault("money for whole nodes", f"{key} {month}", hours, most)


def _hours_bought(answer: Answer) -> dict[tuple[str, facts.Key, int], float]:
    """Node-hours of owned and committed nodes and of days, and money, by kind, key and month."""
    months = len(answer.question.months)
    exists: dict[tuple[str, facts.Key, int], float] = defaultdict(float)
    for (what, key, month), nodes in answer.there.items():
        exists[what, key, month] += HOURS * nodes
    for each in answer.purchases:
        if each["unit"] == "node_day":
            exists["days", key_of(each), each["month"]] += 24 * each["count"]
        if each["unit"] == "money":
            for month in range(each["usable_from"], min(each["usable_to"], months) + 1):
                exists["money", _pool(each), month] += HOURS * each["money_per_hour"]
    return exists


def _pool(purchase: Row) -> facts.Key:
    key = key_of(purchase)
    return key if "_instance" in key[3] else (key[0], "all-regions", "any-type", key[3])


def gangs_are_whole(answer: Answer) -> Iterator[Fault]:
    """All nodes of a gang at one place, joined by a fabric; of owned and committed nodes as many; whole days."""
    spans: dict[tuple[facts.Key, int], set[int]] = defaultdict(set)
    for use in answer.uses:
        work, key, month = answer.work(use), key_of(use), use["month"]
        speed = None if work.stands else answer.speed(use)
        # Of a service the plan does not say which of its gangs runs here: the fastest that may.
        speeds = [each for each in answer.speeds(use) if not _lacks_fabric(each, work, key)] or answer.speeds(use)
        speed = speed or max(speeds, key=lambda each: each.gang_rate, default=None)
        if speed is None or not use["units"]:
            continue
        most = (facts.sale(key) or {}).get("max_nodes") if use["provider"] else None
        if most and speed.span > int(most) and work.row.get("fabric", "joined") == "joined":
            yield Fault("a gang on two orders", f"{work.name} {key[2]}", speed.span, most)
        if facts.kind_of(key[3]) in ("capacity_block", "calendar"):
            spans[key, month].add(speed.span)
        elif use["what"] in ("owned", "commitment") and speed.span > answer.there[use["what"], key, month]:
            yield Fault("whole gang", f"{work.name} {key} {month}", answer.there[use["what"], key, month], speed.span)
        usual = speed.gang / speed.span if "serving" in work.row else min(speed.gang, 8)  # a replica may span nodes
        together = min(work.row.get("accelerators_per_node") or usual, speed.gang)
        if use["accelerators_per_node"] < together * (1 - 1e-9):
            yield Fault("accelerators of a node", work.name, use["accelerators_per_node"], together)
        if _lacks_fabric(speed, work, key):
            yield Fault("fabric", f"{work.name} {key[2]}", _fabric(key)["nodes_joined"], speed.span)
    for each in answer.purchases:
        span = spans.get((key_of(each), each["month"]), set())
        if each["unit"] == "node_day" and len(span) == 1 and each["count"] % min(span):
            yield Fault("whole days of a gang", each["name"], each["count"], f"a multiple of {min(span)}")


def gangs_at_work_are_whole(answer: Answer) -> Iterator[Fault]:
    """Gangs of one size at any hour do no more on owned and committed nodes than so many whole ones can."""
    at_work: dict[tuple[str, facts.Key, int, int], float] = defaultdict(float)
    for use in answer.uses:
        speed = None if answer.work(use).stands else answer.speed(use)
        is_node = facts.kind_of(use["purchase_option"]) not in ("capacity_block", "calendar")
        if speed is not None and speed.span > 1 and use["what"] in ("owned", "commitment") and is_node:
            at_work[use["what"], key_of(use), use["month"], speed.span] += use["node_hours"]
    for (what, key, month, span), hours in at_work.items():
        most = HOURS * span * (answer.there[what, key, month] // span)
        if hours > most * SLACK + 1e-2:
            yield Fault("hours of whole gangs", f"{key} {month}", hours, most)


def _lacks_fabric(speed: Speed, work: Work, key: facts.Key) -> bool:
    """Whether a gang spans rented nodes that nothing joins, or more than are joined."""
    if speed.span == 1 or not key[0] or work.row.get("fabric", "joined") != "joined":
        return False
    row = _fabric(key)
    return not row["rdma"] or bool(row["nodes_joined"] and speed.span > int(row["nodes_joined"]))


def _fabric(key: facts.Key) -> Row:
    return facts.fabrics().get((key[0], key[2]), {"rdma": "", "nodes_joined": ""})


def jobs_at_once(answer: Answer) -> Iterator[Fault]:
    """No more gangs at once than allowed: in the mean of a month, and in the days that it has."""
    for name, work in answer.question.works.items():
        if work.at_once is None:
            continue
        for month, uses in answer.each_month(answer.by_workload[name]):
            if work.stands:
                for use in uses[:1]:
                    speed = max(answer.speeds(use), key=lambda each: each.gang_rate)
                    most = max((replicas(work, due, speed) for _, due in work.hourly_due(month)), default=0)
                    if most > work.at_once:
                        yield Fault("jobs at once", f"{name} month {month}", most, work.at_once)
                continue
            gangs = [(use, use["node_hours"] / speed.granule) for use in uses if (speed := answer.speed(use))]
            dated = [h for use, h in gangs if facts.kind_of(use["purchase_option"]) in ("capacity_block", "calendar")]
            for hours, there in (
                (math.fsum(h for _, h in gangs), HOURS),
                (math.fsum(dated), 24 * answer.question.days(month)),
            ):
                if hours > work.at_once * there * SLACK:
                    yield Fault("jobs at once", f"{name} month {month}", hours / there, work.at_once)


CHECKS = (
    amounts_are_sound, work_is_done, hours_suit_the_work, standing_nodes_are_whole, homes_are_kept, nodes_are_there,
    gangs_are_whole, gangs_at_work_are_whole, jobs_at_once, money_pays_what_runs,
)  # fmt: skip
