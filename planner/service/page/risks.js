/**
 * Risks, the largest first, what was not understood, and the prices and dates that the plan stands on.
 * @module
 */

import { bullets, el, put, table } from "./elements.js";
import { inWords, money } from "./format.js";
import { priceRow } from "./source.js";
import { findStakes } from "./stakes.js";

/** @typedef {import("./model.js").Review} Review */

const PRICES_MAX = 10;
const PRICES_PRINTED = 20;
const GAPS_MAX = 8;

/** @param {HTMLElement} place @param {Review} review */
export function showRisks(place, review) {
  const { plan, screen } = review;
  const gaps = plan.gaps.map((/** @type {any} */ gap) => [inWords(gap.kind), gap.subject, gap.workload || "–", gap.effect.text]);
  const live = el("div");
  put(
    place,
    live,
    el("h3", {}, "Not understood, edited by hand, missing or old"),
    bullets(screen.doubts),
    plan.prices.length ? table(`Prices in use, oldest ${plan.oldest_price}`, ["Price of", "Price", "Source", "Date"], plan.prices.map(priceRow), { numbers: [1], most: PRICES_MAX, printed: PRICES_PRINTED }) : null,
    gaps.length ? el("details", { class: "screen-only" }, el("summary", {}, `${gaps.length} gaps: what is missing or estimated, and what follows`), table("Gaps", ["Kind", "Of", "Workload", "What follows"], gaps, { most: GAPS_MAX * 5, isQuiet: true })) : null,
    el("p", { class: "quiet-text" }, `${screen.frame} Catalogue ${plan.catalog_digest}. ${screen.considered} offerings and systems were considered; the JSON has each with its outcome.`),
  );
  review.follow(() => put(live, riskParts(review)));
}

/** The risks with the most money at stake, which follows the figures; their sentences are those of the plan. @param {Review} review */
function riskParts(review) {
  const { plan, screen } = review;
  if (!screen.risks.length) return [el("p", {}, "No risk was found by its money.")];
  const now = review.isMoved ? findStakes(review) : null;
  const stakeOf = (/** @type {any} */ risk) => (now ? now[risk.stake] : risk.amount);
  const listed = [...screen.risks].sort((one, other) => stakeOf(other) - stakeOf(one)).slice(0, screen.risks_listed);
  const moved = el("p", { class: "as-made" }, el("span", { class: "tag" }, "Of the plan as made"), ": the sentences, with the amounts in them. What is at stake now follows the figures as you moved them.");
  const rows = listed.map((risk) => (now ? [risk.text, money(risk.amount), money(stakeOf(risk))] : [risk.text, money(risk.amount)]));
  const titles = ["Risk", now ? "At stake as planned" : "At stake", ...(now ? ["At stake now"] : [])];
  return [now ? moved : null, table(`Risks, those with the most money at stake first, ${plan.currency}`, titles, rows, { numbers: [1, 2] })];
}
