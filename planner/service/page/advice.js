/**
 * What would change the decision, and what to ask vendors for.
 * @module
 */

import { asMade, el, put, table } from "./elements.js";
import { amountInUnit, change, counted, inWords, money, number } from "./format.js";

/** @typedef {import("./model.js").Review} Review */

const FLIPS_MAX = 8;
const ASKED_MAX = 8;

/** @param {HTMLElement} place @param {Review} review */
export function showAdvice(place, review) {
  put(place, asMade(review, "where the decision turns is found by searching, one figure at a time, all others as planned"), flipParts(review), negotiationParts(review));
}

/** @param {Review} review */
function flipParts({ plan }) {
  const flips = plan.flips.filter((/** @type {any} */ each) => each.at !== null).sort((/** @type {any} */ one, /** @type {any} */ other) => distance(one) - distance(other));
  const never = plan.flips.length - flips.length;
  if (!plan.recommendation.runner_up) return el("p", {}, "There is no runner-up, so no single figure turns the decision.");
  const rows = flips.map((/** @type {any} */ each) => [
    el("span", {}, inWords(each.name), el("br"), el("span", { class: "quiet-text" }, each.meaning)),
    amountInUnit(each.value, each.unit),
    amountInUnit(each.at, each.unit),
    each.distance_fraction === null ? "–" : change(each.distance_fraction),
    `${each.cheaper_beyond}${each.is_inside_range ? " (within its published range)" : ""}`,
  ]);
  return [
    el("p", {}, flips.length ? "One figure alone, all else as planned, turns the decision at these values:" : "No single figure turns the decision within the range that was searched."),
    rows.length ? table("Figures that turn the decision, the nearest first", ["Figure", "Now", "Turns at", "Change", "Then cheaper"], rows, { numbers: [1, 2, 3], most: FLIPS_MAX, isQuiet: true }) : null,
    never ? el("p", { class: "quiet-text" }, `${counted(never, "other figure")} ${never === 1 ? "does" : "do"} not turn it anywhere in the range searched.`) : null,
  ];
}

/** @param {any} flip */
const distance = (flip) => (flip.distance_fraction === null ? Infinity : Math.abs(flip.distance_fraction));

/** @param {Review} review */
function negotiationParts({ plan }) {
  const asked = plan.negotiation.filter((/** @type {any} */ each) => each.spend > 0).sort((/** @type {any} */ one, /** @type {any} */ other) => other.spend - one.spend);
  if (!asked.length) return null;
  const rows = asked.map((/** @type {any} */ each) => [
    [each.provider, each.region, each.name, inWords(each.purchase_option)].filter(Boolean).join(" "),
    each.price === null ? "–" : number(each.price),
    money(each.spend / 100),
    targetText(each),
  ]);
  return [
    el("h3", {}, "What to ask vendors for"),
    table(`Prices worth a talk, those with most money behind them first, ${plan.currency}`, ["Price of", "Now", "1 % less saves", "Decision turns"], rows, { numbers: [1, 2], most: ASKED_MAX }),
  ];
}

/** @param {any} target */
function targetText(target) {
  if (target.change_fraction === null) return "at no price of it";
  const at = target.flip_price === null ? "" : ` (${number(target.flip_price)})`;
  return `to ${target.becomes} at ${change(target.change_fraction)}${at}${target.basis === "planned_again" ? ", planned again" : ""}`;
}
