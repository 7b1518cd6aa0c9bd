/**
 * What the decisions of a plan cost at other figures, by its audit trail. Decisions stay as they are: nothing is solved.
 * It gives the amounts of `planner/result/ledger_costs.py`.
 * @module
 */

import { readFormula } from "./formula.js";

/** @typedef {import("./formula.js").Figures} Figures */
/** @typedef {import("./formula.js").Formula} Formula */
/**
 * Payments of one strategy that come about alike; `paid` has the quantity of each month and the month whose prices hold.
 * `parts` are those of workloads that share it, `idle` the unused fraction of a purchase in each month, `borneFrom` to
 * `borneTo` the months that bear it as effective cost, 0 where these are the months of payment.
 * @typedef {{strategy: string, what: string, workload: string, unit: string, category: string, isBilled: boolean, isByMonth: boolean,
 *   atStart: boolean, rate: Formula, growth: string, paid: {month: number, quantity: number, priced: number}[],
 *   parts: [string, number][], idle: number[], borneFrom: number, borneTo: number}} PaymentLine
 */
/** @typedef {{lines: PaymentLine[], strategies: string[], formulas: Formula[], firstMonth: number, lastMonth: number}} Ledger */
/**
 * Amounts of one strategy: in all, as present cost, by month and by category.
 * @typedef {{total: number, present: number, byMonth: Map<number, number>, byCategory: Map<string, number>,
 *   presentByCategory: Map<string, number>}} StrategyAmounts
 */

export const DISCOUNT = "discount_rate_annual";
const SUPPORT = "cloud_support_fraction";
const TAX = "cloud_tax_fraction";

/** The audit trail of a plan, ready to be computed.
 * @param {any} plan @returns {Ledger} */
export function readLedger(plan) {
  /** @type {Map<string, Formula>} */
  const formulas = new Map();
  for (const { rate } of plan.ledger.lines) if (!formulas.has(rate)) formulas.set(rate, readFormula(rate));
  const lines = plan.ledger.lines.map((/** @type {any} */ line) => readLine(line, plan.ledger.choices, formulas));
  const months = lines.flatMap((/** @type {PaymentLine} */ line) => [line.paid[0].month, line.paid.at(-1)?.month ?? 1]);
  return {
    lines,
    strategies: plan.strategies.filter((/** @type {any} */ s) => s.status !== "infeasible").map((/** @type {any} */ s) => s.name),
    formulas: [...formulas.values()],
    firstMonth: Math.min(1, ...months),
    lastMonth: Math.max(plan.months, ...months),
  };
}

/** @param {any} line @param {any[]} choices @param {Map<string, Formula>} formulas @returns {PaymentLine} */
function readLine(line, choices, formulas) {
  const choice = choices[line.choice];
  const whole = choice.quantity.reduce((/** @type {number} */ sum, /** @type {number} */ each) => sum + each, 0);
  const paid = [];
  for (let month = line.first; month <= line.last; month += 1) {
    const quantity = line.by_month ? choice.quantity[month - 1] : whole;
    paid.push({ month, quantity, priced: line.priced_in ?? month });
  }
  return {
    strategy: choice.strategy,
    what: choice.what,
    workload: choice.workload,
    unit: choice.unit,
    category: line.category,
    isBilled: line.is_billed,
    isByMonth: line.by_month,
    atStart: line.at === "start",
    rate: /** @type {Formula} */ (formulas.get(line.rate)),
    growth: line.growth,
    paid,
    parts: choice.parts,
    idle: choice.idle,
    borneFrom: line.borne_from,
    borneTo: line.borne_to,
  };
}

/** The factor of a payment on what it was in the first month's money.
 * @param {PaymentLine} line @param {number} priced @param {Figures} figures */
export function growthFactor(line, priced, figures) {
  return line.growth ? (1 + figures[line.growth]) ** ((priced - 1) / 12) : 1;
}

/** The amounts of a line by the month of payment, without what a bill adds.
 * @param {PaymentLine} line @param {Figures} figures @returns {Map<number, number>} */
export function amountsByMonth(line, figures) {
  const rate = line.rate.value(figures);
  return new Map(line.paid.map(({ month, quantity, priced }) => [month, quantity * rate * growthFactor(line, priced, figures)]));
}

/** What the support plan and tax make of an amount on a cloud bill. @param {Figures} figures */
export const surchargeFactor = (figures) => (1 + (figures[SUPPORT] ?? 0)) * (1 + (figures[TAX] ?? 0));

/** The amounts of every strategy at these figures.
 * @param {Ledger} ledger @param {Figures} figures @returns {Map<string, StrategyAmounts>} */
export function costStrategies(ledger, figures) {
  const rates = new Map(ledger.formulas.map((formula) => [formula, formula.value(figures)]));
  const discount = discountFactors(ledger, figures);
  const amounts = new Map(ledger.strategies.map((name) => [name, emptyAmounts()]));
  for (const line of ledger.lines) {
    const sums = amounts.get(line.strategy);
    if (!sums) continue;
    const rate = /** @type {number} */ (rates.get(line.rate));
    for (const { month, quantity, priced } of line.paid) {
      if (quantity === 0) continue;
      const amount = quantity * rate * growthFactor(line, priced, figures);
      const factor = discount[month - (line.atStart ? 1 : 0) - ledger.firstMonth + 1];
      addPayment(sums, line.category, month, amount, factor);
      if (line.isBilled) addSurcharges(sums, month, amount, factor, figures);
    }
  }
  return amounts;
}

/** Discount factors from one month before the first payment on.
 * @param {Ledger} ledger @param {Figures} figures */
function discountFactors(ledger, figures) {
  const factors = [];
  for (let time = ledger.firstMonth - 1; time <= ledger.lastMonth; time += 1) factors.push((1 + figures[DISCOUNT]) ** (-time / 12));
  return factors;
}

/** @returns {StrategyAmounts} */
function emptyAmounts() {
  return { total: 0, present: 0, byMonth: new Map(), byCategory: new Map(), presentByCategory: new Map() };
}

/** The support plan goes on what is billed, tax on both.
 * @param {StrategyAmounts} sums @param {number} month @param {number} amount @param {number} factor @param {Figures} figures */
function addSurcharges(sums, month, amount, factor, figures) {
  const support = amount * (figures[SUPPORT] ?? 0);
  const tax = (amount + support) * (figures[TAX] ?? 0);
  if (support) addPayment(sums, "cloud_support", month, support, factor);
  if (tax) addPayment(sums, "tax", month, tax, factor);
}

/** @param {StrategyAmounts} sums @param {string} category @param {number} month @param {number} amount @param {number} factor */
function addPayment(sums, category, month, amount, factor) {
  sums.total += amount;
  sums.present += amount * factor;
  sums.byMonth.set(month, (sums.byMonth.get(month) ?? 0) + amount);
  sums.byCategory.set(category, (sums.byCategory.get(category) ?? 0) + amount);
  sums.presentByCategory.set(category, (sums.presentByCategory.get(category) ?? 0) + amount * factor);
}

/**
 * The payments behind a figure, the largest first: of a strategy, in a category or a month where one is named.
 * @param {Ledger} ledger @param {Figures} figures @param {{strategy: string, category?: string, month?: number}} figure
 * @returns {{line: PaymentLine, quantity: number, times: number, rate: number, amount: number}[]} `times`: how often the
 * same quantity is paid; 1 where each month has its own, and `quantity` is their sum.
 */
export function findPayments(ledger, figures, figure) {
  const found = [];
  for (const line of ledger.lines) {
    const part = partOfFigure(line, figure.category, figures);
    if (line.strategy !== figure.strategy || !part) continue;
    const paid = line.paid.filter(({ month }) => figure.month === undefined || month === figure.month);
    const rate = line.rate.value(figures);
    const quantity = line.isByMonth ? paid.reduce((sum, each) => sum + each.quantity, 0) : (paid[0]?.quantity ?? 0);
    const amount = paid.reduce((sum, each) => sum + each.quantity * rate * growthFactor(line, each.priced, figures), 0) * part;
    if (amount !== 0) found.push({ line, quantity, times: line.isByMonth ? 1 : paid.length, rate, amount });
  }
  return found.sort((one, other) => Math.abs(other.amount) - Math.abs(one.amount));
}

/** What of each payment of a line is in a category: surcharges have no lines of their own.
 * @param {PaymentLine} line @param {string | undefined} category @param {Figures} figures */
function partOfFigure(line, category, figures) {
  const support = line.isBilled ? (figures[SUPPORT] ?? 0) : 0;
  const tax = line.isBilled ? (1 + support) * (figures[TAX] ?? 0) : 0;
  if (category === undefined) return 1 + support + tax;
  const own = line.category === category ? 1 : 0;
  return own + (category === "cloud_support" ? support : 0) + (category === "tax" ? tax : 0);
}

/** The names of the figures that a payment depends on.
 * @param {PaymentLine} line @param {Figures} figures */
export function namesBehind(line, figures) {
  const surcharges = line.isBilled ? [SUPPORT, TAX].filter((name) => figures[name]) : [];
  return [...line.rate.names, ...(line.growth ? [line.growth] : []), ...surcharges];
}
