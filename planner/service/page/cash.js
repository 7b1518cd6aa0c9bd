/**
 * Cash by month and strategy, use against what is committed to, and break-even of owning.
 * @module
 */

import { makeChart } from "./charts.js";
import { asMade, el, put, table } from "./elements.js";
import { money, monthName } from "./format.js";
import { explainable } from "./source.js";

/** @typedef {import("./model.js").Review} Review */
/** @typedef {import("./charts.js").Chart} Chart */

/** @param {HTMLElement} place @param {Review} review */
export function showCash(place, review) {
  const live = el("div", { class: "beside" });
  const breakEven = breakEvenChart(review);
  put(place, live, el("div", { class: "pair" }, usageChart(review), breakEven && el("div", {}, asMade(review, "break-even compares one machine with its rented equal, which the payments of the plan do not have"), breakEven)));
  review.follow(() => put(live, cashChart(review), cashTable(review)));
}

/** Every month in which a strategy pays, in order. @param {Review} review */
function monthsPaid(review) {
  const months = new Set([...review.amounts.values()].flatMap((each) => [...each.byMonth.keys()]));
  for (let month = 1; month <= review.plan.months; month += 1) months.add(month);
  return [...months].sort((one, other) => one - other);
}

/** @param {Review} review */
function cashChart(review) {
  const months = monthsPaid(review);
  const beside = [...review.amounts].map(([name, sums]) => ({ name, kind: name, values: months.map((month) => sums.byMonth.get(month) ?? 0) }));
  if (!beside.length) return el("p", {}, "No strategy can serve the demand, so nothing is paid.");
  const words = beside.map((each) => `${each.name} pays at most ${money(Math.max(...each.values))} in a month`).join("; ");
  const title = review.isMoved ? "Cash by month, figures as moved" : "Cash by month";
  return makeChart("cash-chart", { title, summary: `${words}. Negative amounts are resale.`, unit: review.plan.currency, across: "month", labels: months.map((month) => monthName(review.plan, month)), beside, hasTable: true });
}

/** @param {Review} review */
function cashTable(review) {
  const names = [...review.amounts.keys()];
  const cell = (/** @type {string} */ name, /** @type {number} */ month) => {
    const amount = review.amounts.get(name)?.byMonth.get(month);
    return amount ? explainable(review, amount, { strategy: name, month }) : "–";
  };
  const rows = monthsPaid(review).map((month) => [monthName(review.plan, month), ...names.map((name) => cell(name, month))]);
  rows.push(["total", ...names.map((name) => money(review.amounts.get(name)?.total ?? 0))]);
  const whole = table(`Cash by month, ${review.plan.currency}`, ["month", ...names], rows, { numbers: names.map((_, index) => index + 1), total: true });
  return el("details", { class: "cash-table", open: rows.length <= 13 }, el("summary", {}, "Cash by month as a table; click an amount for its formula and prices"), whole);
}

/** @param {Review} review */
function usageChart(review) {
  const { usage } = review.screen;
  if (!usage.bars.length) return null;
  const kind = (/** @type {string} */ name) => name.replaceAll(" ", "-");
  const labels = Array.from({ length: review.plan.months }, (_, index) => monthName(review.plan, index + 1));
  return makeChart("usage-chart", {
    title: `Use against commitments, ${review.chosen}`,
    summary: "Accelerator-hours of each month by how they are paid for; the line is what is committed to, used or not.",
    unit: "accelerator-hours",
    across: "month",
    labels,
    stacked: usage.bars.map((/** @type {any} */ each) => ({ ...each, kind: kind(each.name) })),
    lines: usage.lines.map((/** @type {any} */ each) => ({ ...each, kind: "committed" })),
  });
}

/** @param {Review} review */
function breakEvenChart(review) {
  const pair = review.screen.break_even === null ? null : review.plan.break_even[review.screen.break_even];
  if (!pair) return null;
  const months = Array.from({ length: pair.life_months + 1 }, (_, month) => month);
  const when = pair.month === null ? "never within its life" : `after ${pair.month} months`;
  return makeChart("break-even-chart", {
    title: `Owning one ${pair.system} costs less ${when}`,
    summary: `Cumulative cost at full use, from delivery: owning a ${pair.system} against renting ${pair.rented}.`,
    unit: `${review.plan.currency}, at full use, without resale`,
    across: "month from delivery",
    labels: months.map(String),
    lines: [
      { name: `own ${pair.system}`, kind: "owned", values: months.map((month) => pair.capital + month * pair.own_per_month) },
      { name: `rent ${pair.rented}`, kind: "on-demand", values: months.map((month) => month * pair.rent_per_month) },
    ],
  });
}
