/**
 * Cost centres with their budgets, and what each workload costs and where it lives.
 * @module
 */

import { chargeWorkloads, listCentreMonths } from "./charges.js";
import { bullets, el, put, table } from "./elements.js";
import { money, monthName, number, signedMoney } from "./format.js";

/** @typedef {import("./model.js").Review} Review */
/** @typedef {{name: string, rows: any[]}} Centre */

const CENTRES_MAX = 15;
const CENTRES_PRINTED = 30;
const WORKLOADS_MAX = 15;

/** @param {any[]} rows @param {string} field */
const sum = (rows, field) => rows.reduce((total, row) => total + (row[field] ?? 0), 0);

/** The cost centres, the largest first. @param {any[]} charges @returns {Centre[]} */
function listCentres(charges) {
  /** @type {Map<string, any[]>} */
  const byTeam = new Map();
  for (const row of charges) byTeam.set(row.team, [...(byTeam.get(row.team) ?? []), row]);
  const centres = [...byTeam].map(([team, rows]) => ({ name: team || "no team", rows }));
  return centres.sort((one, other) => sum(other.rows, "effective") - sum(one.rows, "effective"));
}

/** @param {HTMLElement} place @param {Review} review */
export function showCentres(place, review) {
  const { plan } = review;
  if (!plan.views.cost_centres.length) {
    put(place, el("p", {}, "No strategy is recommended, so nobody is charged."));
    return;
  }
  const note = el("p", { class: "quiet-text screen-only" });
  const live = el("div");
  put(place, note, live);
  review.follow(() => {
    const charged = review.isMoved ? chargeWorkloads(plan, review.ledger, review.figures) : null;
    const charges = charged ? listCentreMonths(plan, charged) : plan.views.cost_centres;
    const centres = listCentres(charges);
    const moved = charged ? "At the figures as you moved them. " : "";
    note.textContent = `${moved}Effective cost spreads purchases over the months they serve; idle hours stay with whoever uses the rest.`;
    put(live, centreTable(plan, centres, charges), bullets(budgetSentences(plan, centres)), monthsTable(plan, centres, charges), workloadTable(review, charged));
  });
}

/** @param {any} plan @param {Centre[]} centres @param {any[]} charges */
function centreTable(plan, centres, charges) {
  const cells = (/** @type {any[]} */ rows) => {
    const budgeted = rows.filter((row) => row.budget !== null);
    const [budget, variance] = budgeted.length ? [money(sum(budgeted, "budget")), signedMoney(sum(budgeted, "variance"))] : ["–", "–"];
    return [money(sum(rows, "cash")), money(sum(rows, "effective")), money(sum(rows, "idle")), money(sum(rows, "shared")), budget, variance];
  };
  const rows = centres.map(({ name, rows: its }) => [name, ...cells(its)]);
  if (rows.length <= CENTRES_MAX) rows.push(["total", ...cells(charges)]);
  const titles = ["Cost centre", "Cash", "Effective", "of it idle", "of it shared", "Budget", "Over (+) or under"];
  return table(`Cost by cost centre, ${plan.currency}`, titles, rows, { numbers: [1, 2, 3, 4, 5, 6], total: rows.length > centres.length, most: CENTRES_MAX + 1, printed: CENTRES_PRINTED });
}

/** @param {any} plan @param {Centre[]} centres */
function budgetSentences(plan, centres) {
  const stated = plan.workloads.filter((/** @type {any} */ each) => each.budget_per_month !== null).length;
  if (!stated) return ["No workload states a budget."];
  const passed = centres.flatMap(({ name, rows }) => {
    const over = rows.filter((row) => Math.round(row.variance ?? 0) > 0);
    if (!over.length) return [];
    const most = over.reduce((one, other) => (other.variance > one.variance ? other : one));
    return [`${name} passes its budget in ${over.length} months, most in ${monthName(plan, most.month)} (${signedMoney(most.variance)}).`];
  });
  const about = `${stated} of ${plan.workloads.length} workloads state a budget; it is held against the effective cost of these workloads alone.`;
  return [about, ...(passed.length ? passed : ["No budget is passed."])];
}

/** @param {any} plan @param {Centre[]} centres @param {any[]} charges */
function monthsTable(plan, centres, charges) {
  const months = [...new Set(charges.map((/** @type {any} */ row) => row.month))].sort((/** @type {any} */ one, /** @type {any} */ other) => one - other);
  const rows = centres.map(({ name, rows: its }) => [name, ...months.map((month) => money(sum(its.filter((row) => row.month === month), "effective")))]);
  const titles = ["Cost centre", ...months.map((month) => monthName(plan, month))];
  return el("details", { class: "screen-only" }, el("summary", {}, "By month"), table(`Effective cost by cost centre and month, ${plan.currency}`, titles, rows, { numbers: months.map((_, index) => index + 1), most: CENTRES_MAX }));
}

/** @param {Review} review @param {Map<string, import("./charges.js").Charges> | null} charged */
function workloadTable({ plan, chosen }, charged) {
  const strategy = plan.strategies.find((/** @type {any} */ each) => each.name === chosen);
  if (!strategy) return null;
  const cost = (/** @type {any} */ each) => (charged ? [...(charged.get(each.workload)?.cash.values() ?? [])].reduce((all, one) => all + one, 0) : each.cost);
  const priced = strategy.workloads.map((/** @type {any} */ each) => {
    const times = each.cost ? cost(each) / each.cost : 1; // the range of its throughput does not change with what an hour costs
    return { ...each, cost: cost(each), cost_low: each.cost_low * times, cost_high: each.cost_high * times, cost_per_unit: each.cost_per_unit * times };
  });
  const costs = priced.sort((/** @type {any} */ one, /** @type {any} */ other) => other.cost - one.cost);
  const rows = costs.map((/** @type {any} */ each) => [each.workload, each.team || "–", money(each.cost), each.cost_high > each.cost_low ? `${money(each.cost_low)} to ${money(each.cost_high)}` : "measured", `${number(each.cost_per_unit)} a ${each.unit.replace(/s$/, "")}`, each.where]);
  return el("details", { class: "screen-only" }, el("summary", {}, "By workload, and where each lives"), table(`Cost by workload, ${plan.currency}`, ["Workload", "Team", "Cost", "80 % of cases", "Unit cost", "Lives at"], rows, { numbers: [2, 3, 4], most: WORKLOADS_MAX }));
}
