/**
 * What to order by when, and the ladder of later commitments with the trigger of each.
 * @module
 */

import { el, put, table } from "./elements.js";
import { inWords, money, monthName, number, percent } from "./format.js";

/** @typedef {import("./model.js").Review} Review */

const ROWS_MAX = 15;
const PRINTED_MAX = 30;

/** @param {HTMLElement} place @param {Review} review */
export function showOrders(place, review) {
  const { plan, screen } = review;
  const rows = screen.orders.map((/** @type {any} */ each) => [each.month, `${each.title}, ${each.where}`, each.usable, amount(each.upfront), amount(each.per_month)]);
  put(
    place,
    rows.length
      ? table(`What to order by when, ${plan.currency}`, ["By", "Order", "Usable from", "Upfront", "Per month"], rows, { numbers: [3, 4], most: ROWS_MAX, printed: PRINTED_MAX })
      : el("p", {}, review.chosen ? "Nothing to order: all of it is rented by the hour." : "Nothing to order: no strategy can serve the demand."),
    ladderParts(review),
  );
}

/** @param {number | null} value */
const amount = (value) => (value ? money(value) : "–");

/** @param {Review} review */
function ladderParts({ plan }) {
  const steps = plan.uncertainty?.ladder ?? [];
  if (!steps.length) return el("p", { class: "quiet-text" }, "A ladder of later commitments, each with its trigger, is part of a plan over scenarios: state “uncertainty” in the request.");
  const rows = steps.map((/** @type {any} */ step) => [
    step.is_now ? "now" : `${monthName(plan, step.first_month)} to ${monthName(plan, step.last_month)}`,
    [step.name, inWords(step.purchase_option), step.provider, step.region].filter(Boolean).join(" "),
    step.least === step.most ? number(step.most) : `${number(step.least)} to ${number(step.most)}`,
    percent(step.probability),
    triggerText(step.trigger, step.is_now),
  ]);
  return table("The ladder: what to commit to now, and what later at which trigger", ["When", "Commit to", "How much", "In scenarios", "Trigger"], rows, { numbers: [2, 3], most: ROWS_MAX });
}

/** @param {any} trigger @param {boolean} isNow */
function triggerText(trigger, isNow) {
  if (isNow) return "none: decide now";
  return trigger ? `${inWords(trigger.figure)} ${trigger.is_above ? "above" : "below"} ${number(trigger.at)}` : "no single figure tells";
}
