/**
 * What each cost centre is charged with at other figures, by the audit trail: decisions and parts stay as they are.
 * It gives the rows of `planner/analysis/financial_views/cost_centres.py`.
 * @module
 */

import { amountsByMonth, surchargeFactor } from "./ledger.js";

/** @typedef {import("./formula.js").Figures} Figures */
/** @typedef {import("./ledger.js").Ledger} Ledger */
/** @typedef {Map<number, number>} Amounts By month. */
/** @typedef {{cash: Amounts, effective: Amounts, idle: Amounts, shared: Amounts}} Charges `idle` and `shared` are parts of `effective`. */
/** @typedef {{month: number, team: string, cash: number, effective: number, idle: number, shared: number, budget: number | null, variance: number | null}} CentreMonth */

/** @param {Amounts} amounts @param {number} month @param {number} amount */
const add = (amounts, month, amount) => amounts.set(month, (amounts.get(month) ?? 0) + amount);

/** @param {Amounts} amounts */
const total = (amounts) => [...amounts.values()].reduce((sum, each) => sum + each, 0);

/** What each workload of the recommended strategy is charged with.
 * @param {any} plan @param {Ledger} ledger @param {Figures} figures @returns {Map<string, Charges>} */
export function chargeWorkloads(plan, ledger, figures) {
  const charged = new Map(plan.workloads.map((/** @type {any} */ each) => [each.name, { cash: new Map(), effective: new Map(), idle: new Map(), shared: new Map() }]));
  /** @type {import("./ledger.js").PaymentLine[]} */
  const overheads = [];
  for (const line of ledger.lines) {
    if (line.strategy !== plan.recommendation.strategy) continue;
    const parts = line.workload ? [[line.workload, 1]] : line.parts;
    if (!parts.length) overheads.push(line);
    for (const [name, part] of parts) chargeLine(charged.get(name), line, Number(part), figures, plan.months);
  }
  const costs = new Map([...charged].map(([name, its]) => [name, total(its.cash)]));
  const whole = [...costs.values()].reduce((sum, each) => sum + each, 0);
  for (const line of overheads) {
    for (const [name, cost] of costs) chargeLine(charged.get(name), line, whole ? cost / whole : 1 / costs.size, figures, plan.months, true);
  }
  return charged;
}

/** @param {Charges} its @param {import("./ledger.js").PaymentLine} line @param {number} part @param {Figures} figures @param {number} months */
function chargeLine(its, line, part, figures, months, isShared = false) {
  const factor = part * (line.isBilled ? surchargeFactor(figures) : 1);
  const paid = amountsByMonth(line, figures);
  for (const [month, amount] of paid) add(its.cash, month, factor * amount);
  for (const [month, amount] of spreadPayments(line, paid)) {
    add(its.effective, month, factor * amount);
    if (isShared) add(its.shared, month, factor * amount);
    if (line.parts.length) add(its.idle, month, factor * amount * idleFraction(line, month, months));
  }
}

/** The months that bear a payment, evenly; those of the payment where none are named.
 * @param {import("./ledger.js").PaymentLine} line @param {Amounts} paid @returns {Amounts} */
function spreadPayments(line, paid) {
  if (!line.borneTo) return paid;
  const count = line.borneTo - line.borneFrom + 1;
  return new Map(Array.from({ length: count }, (_, index) => [line.borneFrom + index, total(paid) / count]));
}

/** The unused part of the hours of a purchase; all of them before and after the plan.
 * @param {import("./ledger.js").PaymentLine} line @param {number} month @param {number} months */
function idleFraction(line, month, months) {
  return month < 1 || month > months ? 1 : (line.idle[month - 1] ?? 0);
}

/** A row for each cost centre and month in which anything is paid or charged.
 * @param {any} plan @param {Map<string, Charges>} charged @returns {CentreMonth[]} */
export function listCentreMonths(plan, charged) {
  const all = [...charged.values()];
  const months = [...new Set(all.flatMap((its) => [...its.cash.keys(), ...its.effective.keys()]))].sort((one, other) => one - other);
  const teams = [...new Set(plan.workloads.map((/** @type {any} */ each) => each.team))].sort();
  return months.flatMap((month) => teams.map((team) => centreMonth(plan, charged, team, month)));
}

/** @param {any} plan @param {Map<string, Charges>} charged @param {string} team @param {number} month @returns {CentreMonth} */
function centreMonth(plan, charged, team, month) {
  const members = plan.workloads.filter((/** @type {any} */ each) => each.team === team);
  const its = (/** @type {any} */ each, /** @type {keyof Charges} */ kind) => charged.get(each.name)?.[kind].get(month) ?? 0;
  const sum = (/** @type {keyof Charges} */ kind) => members.reduce((/** @type {number} */ all, /** @type {any} */ each) => all + its(each, kind), 0);
  const budgeted = month < 1 || month > plan.months ? [] : members.filter((/** @type {any} */ each) => each.budget_per_month !== null);
  const budget = budgeted.reduce((/** @type {number} */ all, /** @type {any} */ each) => all + each.budget_per_month, 0);
  const cost = budgeted.reduce((/** @type {number} */ all, /** @type {any} */ each) => all + its(each, "effective"), 0);
  const held = budgeted.length > 0;
  return { month, team, cash: sum("cash"), effective: sum("effective"), idle: sum("idle"), shared: sum("shared"), budget: held ? budget : null, variance: held ? cost - budget : null };
}
