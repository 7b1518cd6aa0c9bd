"""A finished plan lived through: which nodes run in every hour of its horizon, and the bill that they leave.

Takes the answer (uses, purchases, prices, assumptions), the request and the catalogue's prices of data; nothing of how
the plan was made. An hour here is one of the 168 of a week; in a month of 730 hours each comes 730 / 168 times, so a
year has 8,760. `schedule` finds nodes for every hour that serve what is due then, with what was bought and with the
node-hours billed; where there are none, the plan is wrong. `bill` adds up hour by hour what runs and what is committed.
Owned nodes are paid in cash, in space by the kW and with shared operators: other ways have sums of their own by hand.
"""

from __future__ import annotations

import math
from collections import defaultdict

import highspy

WEEK = 168
MONTH = 730.0
TIMES = MONTH / WEEK
NEAR = 1e-5


class Unserved(AssertionError):
    """A month that no schedule of the nodes of a plan can serve."""


def level(shape: str | list[float], hour: int) -> float:
    """What is asked for in an hour of the week (0: Monday, midnight), before it is scaled to a mean of 1."""
    if isinstance(shape, list):
        return shape[hour % len(shape)]
    if shape == "day_and_evening":
        return 1.0 if 8 <= hour % 24 < 23 else 0.3
    if shape == "business_hours":
        return 1.0 if 9 <= hour % 24 < 18 and hour < 5 * 24 else 0.0
    assert shape == "flat", shape
    return 1.0


def week(workload) -> list[float] | None:
    """The levels of a workload, of mean 1; None where its work may run at any hour of the month."""
    demand = workload.demand
    free = workload.kind in ("training", "batch") and demand.requests_per_second is None
    if demand.total_units is not None or (free and demand.daily_shape == "flat"):
        return None
    levels = [level(demand.daily_shape, hour) for hour in range(WEEK)]
    return [value * WEEK / math.fsum(levels) for value in levels]


class Lived:
    """One strategy of a plan, lived through."""

    def __init__(self, plan, strategy, request, catalog) -> None:
        self.plan, self.strategy, self.request, self.catalog = plan, strategy, request, catalog
        self.a = {row.name: row.value for row in plan.assumptions}
        self.workloads = {workload.name: workload for workload in request.workloads}
        self.asked = {row.name: row for row in plan.workloads}
        self.price = {(p.provider, p.region, p.instance_type, p.purchase_option): p for p in plan.prices}
        self.running: dict[tuple[int, int], list[tuple[object, float]]] = {}
        self.paid: list[tuple[int, str, float]] = []

    def live(self) -> tuple[float, float]:
        """Everything paid, and what that is worth at the start."""
        for month in range(1, self.plan.months + 1):
            self.schedule(month)
            for hour in range(WEEK):
                for use, nodes in self.running[month, hour]:
                    self._bill(month, "end", self._rate(use, month) * nodes * TIMES, use.purchase_option)
                    if not use.provider:
                        at_work = self._energy(use.name, month) * (1 - self.a["idle_draw_fraction"])
                        self.paid.append((month, "end", at_work * nodes * TIMES))
        for purchase in self.strategy.purchases:
            if purchase.what == "owned":
                self._own(purchase)
            else:
                self._commit(purchase)
        for line in self.request.existing.commitments:
            for month, name in enumerate(self.plan.month_names, 1):
                if name <= line.ends:
                    self.paid.append((month, "end", line.fee_per_month))
        self._held()
        self._data()
        rate = (1 + self.plan.discount_rate_annual) ** (1 / 12) - 1
        worth = math.fsum(amount * (1 + rate) ** -(month - (at == "start")) for month, at, amount in self.paid)
        return math.fsum(amount for _, _, amount in self.paid), worth

    def _bill(self, month: int, at: str, amount: float, option: str) -> None:
        """An amount on a cloud bill: less the negotiated discount, with support, and tax on both."""
        listed = not option.startswith(("spot", "capacity_block", "data"))
        kept = 1 - self.a["enterprise_discount_fraction"] * listed
        more = (1 + self.a["cloud_support_fraction"]) * (1 + self.a["cloud_tax_fraction"])
        self.paid.append((month, at, amount * kept * more))

    def _rate(self, use, month: int) -> float:
        """What an hour of a node costs then; nothing where it is paid for as a purchase or covered by money."""
        if use.what != "hourly" or use.purchase_option.startswith("savings_plan"):
            return 0.0
        change = self.a["spot_price_change_annual" if use.purchase_option == "spot" else "cloud_price_change_annual"]
        price = self.price[use.provider, use.region, use.name, use.purchase_option]
        return price.price_per_hour * (1 + change) ** ((month - 1) / 12)

    def _commit(self, purchase) -> None:
        """Its fee in every hour of its term, its upfront part at once; what lies beyond the plan as was asked."""
        month, option = purchase.month, purchase.purchase_option
        factor = (1 + self.a["commitment_price_change_annual"]) ** ((month - 1) / 12)
        if purchase.unit == "money":
            rate = purchase.money_per_hour * factor
        else:
            price = self.price[purchase.provider, purchase.region, purchase.name, option]
            rate = price.price_per_hour * factor * purchase.count
        if purchase.unit == "node_day":
            self._bill(month, "start", rate * 24, option)
            return
        part = self.a["partial_upfront_fraction"]
        share = 1.0 if "all_upfront" in option else part if "partial_upfront" in option else 0.0
        inside = min(purchase.term_months, self.plan.months - month + 1)
        full = self.request.commitments_beyond_horizon == "full"
        hours = 8760 * purchase.term_months / 12 * (1.0 if full else inside / purchase.term_months)
        self._bill(month, "start", rate * share * hours, option)
        for covered in range(month, month + inside):
            for _ in range(WEEK):
                self._bill(covered, "end", rate * (1 - share) * TIMES, option)
        if full:
            beyond = 8760 * purchase.term_months / 12 - inside * MONTH
            self._bill(self.plan.months, "end", rate * (1 - share) * beyond, option)

    def _own(self, purchase) -> None:
        """Hardware and network at the order; what it costs from its delivery on; what it is sold for at the end."""
        a = self.a
        price, _ = self._system(purchase.name)
        self.paid.append((purchase.month, "start", purchase.count * price / (1 - a["network_fraction_of_capex"])))
        first = purchase.month + round(a["lead_time_months"])
        last = min(first + round(a["useful_life_months"]) - 1, self.plan.months)
        there, count = range(first, last + 1), purchase.count
        self._keep(purchase.name, purchase.accelerators_per_node, count, there)
        self.paid.append((last, "end", -count * self._sold(price, last + 1 - purchase.month)))

    def _held(self) -> None:
        """Owned nodes that are there already: their price is sunk."""
        start = self.plan.month_names[0]
        for line in self.request.existing.nodes:
            (a, b), (c, d) = (map(int, name.split("-")) for name in (line.bought or start, start))
            age = max(0, (c - a) * 12 + d - b)
            left = min(round(self.a["useful_life_months"]) - age, self.plan.months)
            if left > 0:
                accelerators = next(s.accelerator_count for s in self.catalog.systems if s.name == line.system)
                self._keep(line.system, accelerators, line.count, range(1, left + 1))
                if self.request.existing_value == "market":
                    price, _ = self._system(line.system)
                    self.paid.append((1, "start", line.count * self._sold(price, age)))
                    self.paid.append((left, "end", -line.count * self._sold(price, age + left)))

    def _sold(self, price: float, months_paid: int) -> float:
        """What a server sells for so long after its payment."""
        kept = (1 - self.a["value_loss_annual"]) ** (months_paid / 12) * (1 - self.a["liquidation_discount_fraction"])
        return price * min(kept, 1 - self.a["resale_loss_minimum_fraction"])

    def _system(self, name: str) -> tuple[float, float]:
        """Price and maximum power."""
        key = "_".join("".join(c if c.isalnum() else " " for c in name.casefold()).split())
        return self.a["price_of_" + key], self.a["power_kw_of_" + key]

    def _keep(self, name: str, accelerators: float, count: int, months: range) -> None:
        """Space, staff, support and idle power of every hour that it is there, used or not."""
        a = self.a
        price, power = self._system(name)
        monthly = power * a["colocation_per_kw_month"]
        monthly += accelerators / a["accelerators_per_staff"] * a["staff_cost_annual"] / 12
        monthly += price * (a["hardware_support_fraction_annual"] + a["insurance_fraction_annual"]) / 12
        monthly += accelerators * a["software_licence_per_accelerator_annual"] / 12
        for month in months:
            idle = math.fsum(self._energy(name, month) * a["idle_draw_fraction"] * TIMES for _ in range(WEEK))
            self.paid.append((month, "end", count * (monthly + idle)))

    def _energy(self, name: str, month: int) -> float:
        """What an hour at work costs at the site's meter."""
        a = self.a
        growth = (1 + a["electricity_price_growth_annual"]) ** ((month - 1) / 12)
        draw_kw = self._system(name)[1] * a["server_power_fraction"] * a["pue"]
        return draw_kw * a["electricity_price_per_kwh"] * growth

    def _data(self) -> None:
        """Storage, egress and transfer of a month, shared over where its work was done."""
        for use in self.strategy.uses:
            workload, asked = self.workloads[use.workload], self.asked[use.workload]
            if workload.demand.total_units is not None:
                due = math.fsum(asked.demand)
                share = use.units * (asked.demand.index(max(asked.demand)) + 1) / due
            else:
                share = use.units / asked.demand[use.month - 1]
            home = workload.data_region or ""
            moves = workload.data_region is not None and home != f"{use.provider} {use.region}"
            moved = "transfer_inter_region" if home.split(" ")[0] == use.provider else "egress_internet"
            far = self._tiered(*home.split(" ", 1), moved, workload.transfer_gb_per_month) if moves else 0.0
            if use.provider:
                near = self._tiered(use.provider, use.region, "object_storage", workload.storage_gb)
                near += self._tiered(use.provider, use.region, "egress_internet", workload.egress_gb_per_month)
                self._bill(use.month, "end", (near + far) * share, "data")
            else:
                kept = (1 + self.a["disaster_recovery_fraction"]) * self.a["own_storage_per_gb_month"]
                near = workload.storage_gb * kept + workload.egress_gb_per_month * self.a["own_egress_per_gb"]
                self.paid.append((use.month, "end", (near + far) * share))

    def _tiered(self, provider: str, region: str, item: str, volume: float) -> float:
        """Each step of the price for the part of the volume that lies in it."""
        if not volume:
            return 0.0
        steps = self.catalog.tiers(provider, region, item) or self.catalog.reference_tiers(provider, item)
        ends = [step.from_gb for step in steps[1:]] + [math.inf]
        return math.fsum(
            step.price_per_gb * max(0.0, min(volume, end) - step.from_gb) for step, end in zip(steps, ends, strict=True)
        )

    def schedule(self, month: int) -> None:
        """Nodes for every hour of a month, by hours that are alike: a small program, as it is not unique."""
        names = sorted(self.workloads)
        weeks = {name: week(self.workloads[name]) for name in names}
        vectors = [tuple(w[hour] if (w := weeks[name]) else 0.0 for name in names) for hour in range(WEEK)]
        alike = {vector: vectors.count(vector) * TIMES for vector in sorted(set(vectors))}
        uses = [use for use in self.strategy.uses if use.month == month]
        nodes = _Month(self, month, uses, alike, dict(zip(names, range(len(names)), strict=True))).nodes(weeks)
        for hour, vector in enumerate(vectors):
            self.running[month, hour] = [(use, nodes[n, vector]) for n, use in enumerate(uses)]

    def capacity(self, use, month: int) -> tuple[tuple, float]:
        """What a use shares, under which key, and how much of it there is in the month."""
        key = (use.name, use.provider, use.region, use.purchase_option)
        there = sum(
            p.count * (24.0 if p.unit == "node_day" else 1.0)
            for p in self.strategy.purchases
            if (p.name, p.provider, p.region, p.purchase_option) == key and p.usable_from <= month <= p.usable_to
        )
        for line in self.request.existing.commitments:
            held = (line.instance_type, line.provider, line.region, line.purchase_option)
            there += line.count * (held == key and self.plan.month_names[month - 1] <= line.ends)
        for line in self.request.existing.nodes:
            there += line.count * (line.system == use.name and not use.provider)
        return key, there

    def money(self, use, month: int) -> tuple[tuple, float, float]:
        """The committed money that covers a use, how much an hour there is, and what a node takes of it."""
        family = use.name.partition(".")[0]
        mine = ("all-regions", "any-type") if "_compute_" in use.purchase_option else (use.region, family)
        if not any(word in use.purchase_option for word in ("_compute_", "_instance_")):
            mine = ("all-regions", "any-type")
        there = sum(
            p.money_per_hour
            for p in self.strategy.purchases
            if (p.provider, p.region, p.name, p.purchase_option) == (use.provider, *mine, use.purchase_option)
            and p.usable_from <= month <= p.usable_to
        )
        rate = self.price[use.provider, use.region, use.name, use.purchase_option].price_per_hour
        return (use.provider, *mine, use.purchase_option), there, rate

    def speed(self, use) -> float:
        """Units of standing work that a node does in an hour: spare replicas are for failures and interruptions."""
        asked = self.asked[use.workload]
        row = next(
            t for t in self.plan.throughput
            if (t.workload, t.accelerator, t.gang) == (use.workload, use.accelerator, asked.gang)
        )  # fmt: skip
        return row.units_per_hour * self.gangs(use)

    def gangs(self, use) -> float:
        """Gangs on a node, or the part of one that a node is."""
        return max(1, math.floor(use.accelerators_per_node / self.asked[use.workload].gang + 1e-9)) / self.span(use)

    def span(self, use) -> int:
        """Nodes that a gang takes."""
        return max(1, math.ceil(self.asked[use.workload].gang / use.accelerators_per_node - 1e-9))


class _Month:
    """The schedule of one month as a small mixed program: busy[use, hour], whole nodes of standing work at a place."""

    def __init__(self, lived: Lived, month: int, uses, alike: dict[tuple, float], place: dict[str, int]) -> None:
        self.lived, self.month, self.uses, self.alike, self.place = lived, month, uses, alike, place
        self.lp = highspy.Highs()
        self.lp.setOptionValue("output_flag", False)
        self.columns = 0
        self.busy: dict[tuple[int, tuple], int] = {}

    def nodes(self, weeks) -> dict[tuple[int, tuple], float]:
        """Nodes running for each use in each kind of hour."""
        for n, use in enumerate(self.uses):
            self._use(n, use)
        for name, index in self.place.items():
            self._serve(name, weeks[name], index)
        self._capacity()
        if self.columns:
            self.lp.run()
            status = self.lp.getModelStatus()
            if status != highspy.HighsModelStatus.kOptimal:
                raise Unserved(f"{self.lived.strategy.name}, month {self.month}: {status}")
        values = list(self.lp.getSolution().col_value)
        return {key: values[column] for key, column in self.busy.items()}

    def _column(self, *, whole: bool = False) -> int:
        self.lp.addVar(0.0, math.inf)
        if whole:
            self.lp.changeColIntegrality(self.columns, highspy.HighsVarType.kInteger)
        self.columns += 1
        return self.columns - 1

    def _row(self, low: float, high: float, entries: list[tuple[int, float]]) -> None:
        self.lp.addRow(low, high, len(entries), [c for c, _ in entries], [v for _, v in entries])

    def _use(self, n: int, use) -> None:
        """Its node-hours are those that are billed."""
        hours = []
        for vector, times in self.alike.items():
            column = self.busy[n, vector] = self._column()
            hours.append((column, times))
        near = NEAR * max(use.node_hours, 1.0)
        self._row(use.node_hours - near, use.node_hours + near, hours)

    def _serve(self, name: str, levels: list[float] | None, index: int) -> None:
        """What is due in every hour, or in the month, is done; a job's units are those of its uses."""
        lived = self.lived
        due = lived.asked[name].demand[self.month - 1]
        mine = [(n, use) for n, use in enumerate(self.uses) if use.workload == name]
        if lived.workloads[name].demand.total_units is not None:
            return
        if levels is None:
            assert math.isclose(math.fsum(use.units for _, use in mine), due, rel_tol=NEAR, abs_tol=NEAR), name
            return
        for vector in self.alike:
            rate = due / MONTH * vector[index]
            if rate or mine:
                speeds = [(self.busy[n, vector], lived.speed(use)) for n, use in mine]
                self._row(rate * (1 - NEAR), math.inf, speeds)
                self._stand(vector, mine, rate)

    def _stand(self, vector: tuple, mine: list, rate: float) -> None:
        """Whole nodes at each place, however they are paid; in one place, whole replicas and the spare ones."""
        lived, places = self.lived, defaultdict(list)
        for n, use in mine:
            places[use.provider, use.region, use.name].append((n, use))
        for here in places.values():
            whole, nodes = self._column(whole=True), [(self.busy[n, vector], 1.0) for n, _ in here]
            span = float(lived.span(here[0][1]))
            self._row(-NEAR, NEAR, [*nodes, (whole, -span)])
        if rate and len(places) == 1:
            _, use = mine[0]
            spare = lived.workloads[use.workload].spare_replicas
            count = math.ceil(rate * lived.gangs(use) / lived.speed(use) * (1 - NEAR)) + spare
            self._row(count * (1 - NEAR), math.inf, [(self.busy[n, vector], lived.gangs(use)) for n, _ in mine])

    def _capacity(self) -> None:
        """No hour uses more nodes, node-days or money than were bought."""
        taken: dict[tuple, list[tuple[int, float]]] = defaultdict(list)
        most: dict[tuple, float] = {}
        for n, use in enumerate(self.uses):
            for vector, times in self.alike.items():
                column = self.busy[n, vector]
                if use.purchase_option.startswith("savings_plan"):
                    key, there, rate = self.lived.money(use, self.month)
                    taken[key, vector].append((column, rate))
                    most[key, vector] = there
                elif use.purchase_option == "capacity_block":
                    key, there = self.lived.capacity(use, self.month)
                    taken[key, ()].append((column, times))
                    most[key, ()] = there
                elif use.what != "hourly":
                    key, there = self.lived.capacity(use, self.month)
                    taken[key, vector].append((column, 1.0))
                    most[key, vector] = there
        for key, entries in taken.items():
            self._row(-math.inf, most[key] * (1 + NEAR) + NEAR, entries)
