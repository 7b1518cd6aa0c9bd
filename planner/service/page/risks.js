/**
 * Risks, the largest first, what was not understood, and the prices and dates that the plan stands on.
 * @module
 */

import { bullets, el, put, table } from "./elements.js";
import { inWords } from "./format.js";
import { priceRow } from "./source.js";

/** @typedef {import("./model.js").Review} Review */

const PRICES_MAX = 10;
const PRICES_PRINTED = 20;
const GAPS_MAX = 8;

/** @param {HTMLElement} place @param {Review} review */
export function showRisks(place, { plan, screen }) {
  const { risks, doubts } = screen;
  const gaps = plan.gaps.map((/** @type {any} */ gap) => [inWords(gap.kind), gap.subject, gap.workload || "–", gap.effect.text]);
  put(
    place,
    risks.length ? bullets(risks) : el("p", {}, "No risk was found by its money."),
    el("h3", {}, "Not understood, missing or old"),
    bullets(doubts),
    plan.prices.length ? table(`Prices in use, oldest ${plan.oldest_price}`, ["Price of", "Price", "Source", "Date"], plan.prices.map(priceRow), { numbers: [1], most: PRICES_MAX, printed: PRICES_PRINTED }) : null,
    gaps.length ? el("details", { class: "screen-only" }, el("summary", {}, `${gaps.length} gaps: what is missing or estimated, and what follows`), table("Gaps", ["Kind", "Of", "Workload", "What follows"], gaps, { most: GAPS_MAX * 5, isQuiet: true })) : null,
    el("p", { class: "quiet-text" }, `${screen.frame} Catalogue ${plan.catalog_digest}. ${screen.considered} offerings and systems were considered; the JSON has each with its outcome.`),
  );
}
