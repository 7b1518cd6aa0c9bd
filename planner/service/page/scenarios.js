/**
 * Scenarios side by side: named sets of moved figures. The store keeps them; where it may not, the address has them.
 * @module
 */

import { announce, el, put, table } from "./elements.js";
import { inWords, money, number } from "./format.js";
import { costStrategies } from "./ledger.js";
import { keepReview } from "./kept.js";
import { readLink, writeLink } from "./link.js";

/** @typedef {import("./model.js").Review} Review */

const NAME_MAX = 60;

/** The scenarios of the store, else those of the address. @param {Review} review */
export function setUpScenarios(review) {
  review.scenarios = review.kept ? review.kept.scenarios : readLink().scenarios;
}

/** @param {HTMLElement} place @param {Review} review @param {import("./review.js").Rights} rights */
export function showScenarios(place, review, rights) {
  const name = /** @type {HTMLInputElement} */ (el("input", { id: "scenario-name", maxlength: NAME_MAX, required: true, placeholder: "such as: dear power", autocomplete: "off" }));
  const keep = el("button", { class: "main" }, "Keep as a scenario");
  const form = el("form", { class: "actions" }, el("label", { for: "scenario-name" }, "Name for the figures as they are now"), name, keep);
  const hint = el("p", { class: "quiet-text" });
  const side = el("div");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const others = review.scenarios.filter((each) => each.name !== name.value);
    review.scenarios = [...others, { name: name.value, moves: review.moves }];
    announce(`Scenario ${name.value} is kept.`);
    form.reset();
    change();
  });
  const kept = el("p", { class: "quiet-text", "aria-live": "polite" });
  const change = () => {
    show();
    if (!rights.isReadOnly) keepReview(review).then(
      () => { kept.textContent = "Kept in the store: this address opens the review with its scenarios."; show(); },
      () => { kept.textContent = "The service did not keep it; the address of this page has the scenarios."; },
    );
  };
  const show = () => {
    hint.textContent = review.isMoved ? "" : "Move a figure first; then name what you see.";
    keep.toggleAttribute("disabled", !review.isMoved);
    put(side, sideBySide(review, change, rights));
    writeLink(review);
  };
  put(place, form, hint, side, kept);
  review.follow(show);
}

/** @param {Review} review @param {() => void} change @param {import("./review.js").Rights} rights */
function sideBySide(review, change, rights) {
  const columns = [{ name: "as planned", moves: {} }, ...review.scenarios];
  const amounts = columns.map(({ moves }) => costStrategies(review.ledger, { ...review.screen.figures, ...moves }));
  if (!review.ledger.strategies.length) return null;
  const rows = review.ledger.strategies.map((name) => [`present cost, ${name}`, ...amounts.map((each) => money(each.get(name)?.present ?? 0))]);
  rows.push(["costs least", ...amounts.map((each) => `${review.cheapest(each)}${review.judge(each).flips ? " (changes)" : ""}`)]);
  const names = [...new Set(review.scenarios.flatMap(({ moves }) => Object.keys(moves)))];
  for (const name of names) rows.push([inWords(name), ...columns.map(({ moves }) => (name in moves ? number(/** @type {any} */ (moves)[name]) : `${number(review.screen.figures[name])}`))]);
  const actions = (/** @type {import("./link.js").Scenario} */ scenario) => [
    el("button", { type: "button", class: "link", "aria-label": `Show ${scenario.name}`, click: () => review.setMoves(scenario.moves) }, "show"),
    " ",
    el("button", { type: "button", class: "link", "aria-label": `Remove ${scenario.name}`, click: () => { review.scenarios = review.scenarios.filter((each) => each !== scenario); change(); } }, "remove"),
    rights.isReadOnly ? null : " ",
    rights.isReadOnly ? null : el("button", { type: "button", class: "link", "aria-label": `Plan again as ${scenario.name}`, click: () => rights.planAgain(scenario.moves) }, "plan again"),
  ];
  if (review.scenarios.length) rows.push(/** @type {any} */ (["do", "", ...review.scenarios.map(actions)]));
  return table(`Scenarios side by side, ${review.plan.currency}`, ["Measure or figure", ...columns.map((each) => each.name)], rows, { numbers: columns.map((_, index) => index + 1) });
}
