/**
 * Where a figure comes from: the payments behind it, their formulas, and each price and assumption with source and date.
 * @module
 */

import { el, showDialog, table } from "./elements.js";
import { amountInUnit, counted, inWords, money, monthName, number } from "./format.js";
import { findPayments, namesBehind } from "./ledger.js";

/** @typedef {import("./model.js").Review} Review */
/** @typedef {{strategy: string, category?: string, month?: number, isPresent?: boolean}} Figure */

const PAYMENTS_MAX = 12;

/** An amount that opens its source. @param {Review} review @param {number} amount @param {Figure} figure */
export function explainable(review, amount, figure) {
  return el("button", { type: "button", class: "figure", "aria-haspopup": "dialog", "aria-label": `${money(amount)}, ${titleOf(review, figure)}: where it comes from`, click: () => openSource(review, figure) }, money(amount));
}

/** @param {Review} review @param {Figure} figure */
function titleOf(review, figure) {
  const parts = [figure.strategy, figure.category ? inWords(figure.category) : figure.isPresent ? "present cost" : "total"];
  if (figure.month !== undefined) parts.push(monthName(review.plan, figure.month));
  return parts.join(", ");
}

/** @param {Review} review @param {Figure} figure */
function openSource(review, figure) {
  const payments = findPayments(review.ledger, review.figures, figure);
  const sum = payments.reduce((total, each) => total + each.amount, 0);
  const rest = payments.slice(PAYMENTS_MAX);
  const present = figure.isPresent ? ` Discounted at ${amountInUnit(review.figures.discount_rate_annual, "fraction per year")} to the start of the plan this is ${money(review.amounts.get(figure.strategy)?.present ?? 0)}.` : "";
  showDialog(`Where ${money(sum)} ${review.plan.currency} comes from: ${titleOf(review, figure)}`, [
    el("p", {}, `${counted(payments.length, "kind")} of payment: a quantity that was decided, times a rate, with growth of prices where there is any.${present}`),
    ...payments.slice(0, PAYMENTS_MAX).map((each) => paymentPart(review, each)),
    rest.length ? el("p", {}, `${counted(rest.length, "smaller kind")} of payment: ${money(rest.reduce((total, each) => total + each.amount, 0))}. The workbook has every one.`) : null,
    sourceTable(review, payments.slice(0, PAYMENTS_MAX)),
  ]);
}

/** @param {Review} review @param {ReturnType<typeof findPayments>[number]} payment */
function paymentPart(review, { line, quantity, times, rate, amount }) {
  const unit = line.unit === "money an hour" ? `${review.plan.currency} an hour` : line.unit;
  const months = times > 1 ? `, in ${times} months` : "";
  const growth = line.growth ? `, times growth at ${inWords(line.growth)} (${amountInUnit(review.figures[line.growth], "fraction per year")})` : "";
  const billed = line.isBilled && namesBehind(line, review.figures).some((name) => name.startsWith("cloud_")) ? ", with support plan and tax" : "";
  return el(
    "div",
    { class: "payment" },
    el("strong", {}, `${money(amount)}: ${line.what}`),
    el("p", { class: "quiet-text" }, [inWords(line.category), line.workload].filter(Boolean).join(", ")),
    el("p", { class: "formula" }, `${number(quantity)} ${unit} × `, el("code", {}, readableRate(review, line.rate.text)), ` = ${number(rate)} each${months}${growth}${billed}`),
  );
}

/** The formula with offers by what they are. @param {Review} review @param {string} text */
function readableRate(review, text) {
  return text.replaceAll(/offer_(\d+)/g, (whole) => {
    const price = priceOf(review, whole);
    return price ? `[${price.instance_type} ${price.purchase_option}]` : whole;
  });
}

/** @param {Review} review @param {string} name */
const priceOf = (review, name) => review.plan.prices[review.plan.ledger.offers.indexOf(name)];

/** @param {Review} review @param {ReturnType<typeof findPayments>} payments */
function sourceTable(review, payments) {
  const names = [...new Set(payments.flatMap(({ line }) => namesBehind(line, review.figures)))];
  const committed = payments.map(({ line }) => committedPrice(review, line)).filter(Boolean);
  const rows = names.map((name) => (priceOf(review, name) ? priceRow(priceOf(review, name)) : assumptionRow(review, name)));
  rows.push(...committed.map(priceRow));
  return rows.length ? table("Prices and assumptions in it", ["Figure", "Value", "Source", "Date"], rows, { numbers: [1] }) : el("p", {}, "No price or assumption is in it: the request states the amount.");
}

/** The price at which committed money is drawn, which its formula does not name: the money itself is what was decided.
 * @param {Review} review @param {import("./ledger.js").PaymentLine} line */
function committedPrice({ plan }, line) {
  if (line.unit !== "money an hour") return null;
  return plan.prices.find((/** @type {any} */ price) => line.what.startsWith(`${price.provider} ${price.region} `) && line.what.endsWith(` ${price.purchase_option}`));
}

/** @param {string} date */
const day = (date) => el("time", { datetime: date }, date);

/** @param {any} price */
export function priceRow(price) {
  const name = [price.provider, price.region, price.instance_type, inWords(price.purchase_option)].filter(Boolean).join(" ");
  return [name, `${number(price.price_per_hour)} ${price.currency} an hour`, [price.source, price.method, price.adjustment].filter(Boolean).join("; "), day(price.as_of)];
}

/** @param {Review} review @param {string} name */
function assumptionRow(review, name) {
  const assumption = review.plan.assumptions.find((/** @type {any} */ each) => each.name === name);
  const value = review.figures[name];
  const moved = name in review.moves ? `, moved from ${number(review.screen.figures[name])}` : "";
  if (!assumption) return [inWords(name), `${number(value)}${moved}`, "convention of the plan", day(review.plan.as_of)];
  return [`${inWords(name)}: ${assumption.meaning}`, `${amountInUnit(value, assumption.unit)}${moved}`, assumption.source + (assumption.overridden ? " (stated by the request)" : ""), day(assumption.as_of)];
}
