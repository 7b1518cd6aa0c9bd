/**
 * The review: its parts in the order of a meeting, each following the figures as they are moved.
 * @module
 */

import { showAdvice } from "./advice.js";
import { showCash } from "./cash.js";
import { showCentres } from "./centres.js";
import { showDecision } from "./decision.js";
import { byId, el, put } from "./elements.js";
import { showOrders } from "./orders.js";
import { showReadings } from "./readings.js";
import { showRisks } from "./risks.js";
import { setUpScenarios, showScenarios } from "./scenarios.js";
import { showSliders } from "./sliders.js";
import { showTools } from "./tools.js";

/** @typedef {import("./model.js").Review} Review */
/** @typedef {{isReadOnly: boolean, planAgain: (assumptions: import("./formula.js").Figures) => void}} Rights */

/** @type {[string, string, (place: HTMLElement, review: Review, rights: Rights) => void, string][]} */
const PARTS = [
  ["decision", "Decision", showDecision, "wide"],
  ["cash", "Cash", showCash, "wide"],
  ["figures", "Figures", showSliders, "screen-only"],
  ["advice", "What would change it", showAdvice, "screen-only"],
  ["scenarios", "Scenarios", showScenarios, "wide screen-only"],
  ["centres", "Cost centres", showCentres, "wide"],
  ["orders", "Orders", showOrders, "wide"],
  ["risks", "Risks and sources", showRisks, "wide"],
  ["readings", "What was read", showReadings, "wide screen-only"],
];

/** @param {Review} review @param {Rights} rights */
export function showReview(review, rights) {
  setUpScenarios(review);
  const places = PARTS.map(([id, title, show, kind]) => {
    const place = el("section", { id, class: `${kind} ${id}`, "aria-labelledby": `${id}-title` });
    place.append(el(id === "decision" ? "h1" : "h2", { id: `${id}-title`, tabindex: -1 }, id === "decision" ? "The decision" : title));
    const body = el("div");
    place.append(body);
    return { place, show: () => show(body, review, rights) };
  });
  put(byId("review"), places.map(({ place }) => place));
  for (const { show } of places) show();
  put(byId("contents"), el("ul", {}, PARTS.map(([id, title]) => el("li", {}, partLink(id, title)))));
  put(byId("plan-name"), `plan ${review.plan.plan_id} · ${review.plan.inputs.name || "a request"}`);
  showTools(byId("tools"), review, rights);
}

/** A link to a part; the address keeps the state of the review. @param {string} id @param {string} title */
function partLink(id, title) {
  const go = (/** @type {Event} */ event) => {
    event.preventDefault();
    byId(id).scrollIntoView();
    byId(`${id}-title`).focus({ preventScroll: true });
  };
  return el("a", { href: `#${id}`, click: go }, title);
}
