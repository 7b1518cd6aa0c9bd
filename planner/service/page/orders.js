/**
 * What to order by when, and the ladder of later commitments with the trigger of each.
 * @module
 */

import { asMade, el, put, table } from "./elements.js";
import { inWords, money, monthName, number, percent } from "./format.js";
import { costOrder } from "./stakes.js";

/** @typedef {import("./model.js").Review} Review */

const ROWS_MAX = 15;
const PRINTED_MAX = 30;

/** @param {HTMLElement} place @param {Review} review */
export function showOrders(place, review) {
  const { plan, screen } = review;
  if (!screen.orders.length) {
    put(place, el("p", {}, review.chosen ? "Nothing to order: all of it is rented by the hour." : "Nothing to order: no strategy can serve the demand."), ladderParts(review));
    return;
  }
  const live = el("div");
  put(place, live, ladderParts(review));
  review.follow(() => {
    const rows = screen.orders.map((/** @type {any} */ each) => [each.month, `${each.title}, ${each.where}`, each.usable, amountCell(review, each.upfront, each.upfront_lines), amountCell(review, each.per_month, each.per_month_lines)]);
    put(
      live,
      review.isMoved ? el("p", { class: "quiet-text" }, "Upfront and per month at the figures as you moved them; what is ordered, how much and when is as planned.") : null,
      table(`What to order by when, ${plan.currency}`, ["By", "Order", "Usable from", "Upfront", "Per month"], rows, { numbers: [3, 4], most: ROWS_MAX, printed: PRINTED_MAX }),
    );
  });
}

/** An amount of an order as the figures are now; that of the plan as made where the plan does not say what it is made of.
 * @param {Review} review @param {number | null} planned @param {[number, number][] | null | undefined} lines */
function amountCell(review, planned, lines) {
  const now = review.isMoved ? costOrder(review.ledger, review.figures, lines ?? null) : planned;
  if (now === null && planned) return [money(planned), " ", el("span", { class: "tag" }, "as made")];
  return now ? money(now) : "–";
}

/** @param {Review} review */
function ladderParts(review) {
  const { plan } = review;
  const steps = plan.uncertainty?.ladder ?? [];
  if (!steps.length) return el("p", { class: "quiet-text" }, "A ladder of later commitments, each with its trigger, is part of a plan over scenarios: state “uncertainty” in the request.");
  const rows = steps.map((/** @type {any} */ step) => [
    step.is_now ? "now" : `${monthName(plan, step.first_month)} to ${monthName(plan, step.last_month)}`,
    [step.name, inWords(step.purchase_option), step.provider, step.region].filter(Boolean).join(" "),
    step.least === step.most ? number(step.most) : `${number(step.least)} to ${number(step.most)}`,
    percent(step.probability),
    triggerText(step.trigger, step.is_now),
  ]);
  return el("div", {}, asMade(review, "the ladder is found by planning over scenarios"), table("The ladder: what to commit to now, and what later at which trigger", ["When", "Commit to", "How much", "In scenarios", "Trigger"], rows, { numbers: [2, 3], most: ROWS_MAX }));
}

/** @param {any} trigger @param {boolean} isNow */
function triggerText(trigger, isNow) {
  if (isNow) return "none: decide now";
  return trigger ? `${inWords(trigger.figure)} ${trigger.is_above ? "above" : "below"} ${number(trigger.at)}` : "no single figure tells";
}
