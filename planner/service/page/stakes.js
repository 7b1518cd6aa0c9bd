/**
 * What orders cost and what is at stake in risks, at the figures as they are moved: by the audit trail, decisions as planned.
 * They are the amounts of `planner/reports/_content/order_payments.py` and `first_screen.py`.
 * @module
 */

import { chargeWorkloads } from "./charges.js";
import { amountsByMonth, DISCOUNT, growthFactor, surchargeFactor } from "./ledger.js";

/** @typedef {import("./formula.js").Figures} Figures */
/** @typedef {import("./model.js").Review} Review */

/** After the name of nodes that were there before the plan: what these bring is no resale of the plan's hardware. */
const EXISTING = " (existing)";

/** The amount of an order from its lines, each with the month whose prices hold; null where the plan names none.
 * @param {import("./ledger.js").Ledger} ledger @param {Figures} figures @param {[number, number][] | null} parts */
export function costOrder(ledger, figures, parts) {
  if (!parts) return null;
  return parts.reduce((sum, [number, priced]) => {
    const line = ledger.lines[number];
    return sum + line.paid[0].quantity * line.rate.value(figures) * growthFactor(line, priced, figures) * (line.isBilled ? surchargeFactor(figures) : 1);
  }, 0);
}

/** The money at stake by the kind of stake. @param {Review} review @returns {Record<string, number>} */
export function findStakes(review) {
  const { plan, ledger, figures, chosen } = review;
  const sums = review.amounts.get(chosen ?? "");
  if (!sums) return {};
  const rival = review.amounts.get(plan.recommendation.runner_up ?? "");
  const charges = chargeWorkloads(plan, ledger, figures);
  const all = (/** @type {Map<number, number>} */ amounts) => [...amounts.values()].reduce((sum, each) => sum + each, 0);
  const strategy = plan.strategies.find((/** @type {any} */ each) => each.name === chosen);
  const slower = strategy.workloads.filter((/** @type {any} */ each) => each.cost_high > each.cost);
  return {
    committed: sums.byCategory.get("commitment") ?? 0,
    spot: sums.byCategory.get("spot") ?? 0,
    resale: presentResale(review),
    slower: slower.reduce((/** @type {number} */ sum, /** @type {any} */ each) => sum + all(charges.get(each.workload)?.cash ?? new Map()) * (each.cost_high / each.cost - 1), 0),
    idle: [...charges.values()].reduce((sum, each) => sum + all(each.idle), 0),
    lead: rival ? Math.abs(rival.present - sums.present) : 0,
  };
}

/** What the hardware of the plan is sold for, as present value. @param {Review} review */
function presentResale({ ledger, figures, chosen }) {
  let worth = 0;
  for (const line of ledger.lines) {
    if (line.strategy !== chosen || line.category !== "resale" || line.what.endsWith(EXISTING)) continue;
    for (const [month, amount] of amountsByMonth(line, figures)) {
      if (amount < 0) worth -= amount * (1 + figures[DISCOUNT]) ** (-(month - (line.atStart ? 1 : 0)) / 12);
    }
  }
  return worth;
}
