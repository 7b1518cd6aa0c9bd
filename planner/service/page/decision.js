/**
 * The decision: its sentence, what it costs against its rival, and the strategies side by side.
 * @module
 */

import { pendingNotice } from "./cells.js";
import { asMade, bullets, el, put, table } from "./elements.js";
import { change, counted, inWords, money, preciseShare } from "./format.js";
import { explainable } from "./source.js";

/** @typedef {import("./model.js").Review} Review */
/** @typedef {import("./review.js").Rights} Rights */

/** A gap of less is the rounding of the search. */
const PROVEN = 1e-6;
const EDITS_NAMED = 4;

/** @param {HTMLElement} place @param {Review} review @param {Rights} rights */
export function showDecision(place, review, rights) {
  const { plan, screen } = review;
  const moved = el("div", { "aria-live": "polite" });
  const facts = el("div");
  const planned = el("p", { class: "quiet-text" });
  const costs = el("div", { class: "costs" });
  const impossible = plan.strategies.filter((/** @type {any} */ each) => each.status === "infeasible");
  put(
    place,
    el("p", { class: "headline" }, screen.headline),
    editedSentence(review),
    planned,
    moved,
    facts,
    costs,
    impossible.map((/** @type {any} */ each) => reasonsOf(each, screen.reasons[each.name])),
    asMade(review, "the remarks below, the bound and the state of the search, which only a search gives"),
    bullets([...equalSentences(review), ...screen.facts]),
    plan.reasons.length ? bullets(plan.reasons.map((/** @type {any} */ each) => each.text)) : null,
  );
  review.follow(() => {
    planned.textContent = review.isMoved ? "The sentence above is the plan as it was made. Costs, cash, cost centres, orders, scenarios and what is at stake in risks follow the figures as you moved them." : "";
    put(moved, pendingNotice(review, rights), movedNotice(review, rights));
    put(facts, keyFacts(review));
    put(costs, strategyTable(review), categoryTable(review));
  });
}

/** @param {Review} review */
function keyFacts(review) {
  const { plan } = review;
  const chosen = review.amounts.get(review.chosen ?? "");
  if (!chosen) return null;
  const rival = review.amounts.get(plan.recommendation.runner_up ?? "");
  const facts = [
    ["Recommended", review.chosen],
    [`Total, ${plan.currency}`, money(chosen.total)],
    ...(rival ? [[`Present cost against ${plan.recommendation.runner_up}`, change((chosen.present - rival.present) / rival.present)]] : []),
    [`Committed, ${plan.currency}`, money(chosen.byCategory.get("commitment") ?? 0)],
    ["How good the plan is", searchWords(plan.strategies.find((/** @type {any} */ each) => each.name === review.chosen))],
  ];
  return el("dl", { class: "facts" }, facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

/** How far the plan may be from the best one. @param {any} strategy */
function searchWords({ gap_fraction: gap }) {
  if (gap === null) return "no bound known";
  return gap <= PROVEN ? "proven best" : `at most ${preciseShare(gap)} above the best`;
}

/** Which cells the plan reads otherwise than the file, and what the decision was before. @param {Review} review */
function editedSentence({ plan, plannedEdits, planned, before, chosen }) {
  if (!plannedEdits.size && !before) return null;
  const places = [...plannedEdits.keys()];
  const named = places.slice(0, EDITS_NAMED).join(", ") + (places.length > EDITS_NAMED ? " and others" : "");
  const edited = places.length ? `${counted(places.length, "cell")} of the file ${places.length === 1 ? "is" : "are"} read as edited by hand: ${named}.` : "No cell of the file is edited any more.";
  const now = planned.get(chosen ?? "")?.present;
  if (!before || before.present === null || now === undefined) return el("p", { class: "notice" }, edited);
  const more = now - before.present;
  const words = Math.round(more) ? `The present cost is ${money(Math.abs(more))} ${plan.currency} ${more > 0 ? "higher" : "lower"} than before the edit` : "It costs the same as before the edit";
  const other = before.chosen === chosen ? `${chosen} is recommended as before` : `${before.chosen} was recommended then`;
  return el("p", { class: "notice" }, `${edited} ${words}; ${other}.`);
}

/** A strategy that may do more and comes to the same plan. @param {Review} review */
function equalSentences({ planned, chosen }) {
  const cost = planned.get(chosen ?? "")?.present;
  const equal = [...planned].filter(([name, sums]) => name !== chosen && cost !== undefined && Math.abs(sums.present - cost) <= 1e-9 * Math.abs(cost));
  return equal.map(([name]) => `${name} comes to the same plan as ${chosen}: what it may do besides costs more.`);
}

/** What moved figures do to the decision, and how to plan with them. @param {Review} review @param {Rights} rights */
function movedNotice(review, rights) {
  if (!review.isMoved) return null;
  const { cheapest, flips, lead } = review.judge();
  const words = flips
    ? `With the figures as you moved them the decision changes: ${cheapest} as planned here costs ${money(lead)} ${review.plan.currency} less than ${review.chosen}.`
    : `With the figures as you moved them the decision stays: ${review.chosen} costs least of the plans made here.`;
  const count = Object.keys(review.moves).length;
  return el(
    "div",
    { class: `notice ${flips ? "warn" : "good"}` },
    el("span", {}, `${words} ${count === 1 ? "One figure is" : `${count} figures are`} moved; what is bought and where is as planned.`),
    rights.isReadOnly ? null : el("button", { type: "button", class: "main", click: () => rights.planAgain(review.moves) }, "Plan again with these figures"),
    el("button", { type: "button", click: () => review.setMoves({}) }, "Back to the planned figures"),
  );
}

/** @param {any} strategy @param {string[]} reasons */
const reasonsOf = (strategy, reasons) => el("div", {}, el("h2", {}, `Why not ${strategy.name}`), bullets(reasons.length ? reasons : ["It cannot serve the demand."]));

/** @param {Review} review */
function strategyTable(review) {
  const { plan, screen } = review;
  const names = plan.strategies.map((/** @type {any} */ each) => each.name);
  const cells = (/** @type {(strategy: any) => import("./elements.js").Child} */ cell) => plan.strategies.map((/** @type {any} */ each) => (each.status === "infeasible" ? "–" : cell(each)));
  const now = (/** @type {any} */ each) => review.amounts.get(each.name);
  const rows = [
    ["Total cost", ...cells((each) => explainable(review, now(each)?.total ?? 0, { strategy: each.name }))],
    ["Present cost", ...cells((each) => explainable(review, now(each)?.present ?? 0, { strategy: each.name, isPresent: true }))],
    [review.isMoved ? "Proven bound, of the plan as made" : "Proven bound of the present cost", ...cells((each) => (each.bound === null ? "none found" : money(each.bound)))],
    ["Search", ...plan.strategies.map((/** @type {any} */ each) => screen.status[each.name])],
  ];
  if (review.isMoved) rows.splice(2, 0, ["Present cost as planned", ...cells((each) => money(each.present_cost))]);
  return markChosen(table(`Strategies side by side, ${plan.currency}`, ["Measure", ...names], rows, { numbers: names.map((/** @type {string} */ _, /** @type {number} */ index) => index + 1) }), names.indexOf(review.chosen) + 1);
}

/** @param {Review} review */
function categoryTable(review) {
  const names = [...review.amounts.keys()];
  const categories = [...new Set([...review.amounts.values()].flatMap((each) => [...each.byCategory.keys()]))];
  const rows = categories.map((category) => [inWords(category), ...names.map((name) => amountCell(review, name, category))]);
  if (!rows.length) return null;
  rows.push(["total", ...names.map((name) => money(review.amounts.get(name)?.total ?? 0))]);
  const whole = table(`Cost by category, ${review.plan.currency}`, ["Category", ...names], rows, { numbers: names.map((_, index) => index + 1), total: true });
  return el("details", { open: true }, el("summary", {}, "What it is made of"), markChosen(whole, names.indexOf(review.chosen ?? "") + 1));
}

/** @param {Review} review @param {string} strategy @param {string} category */
function amountCell(review, strategy, category) {
  const amount = review.amounts.get(strategy)?.byCategory.get(category);
  return amount ? explainable(review, amount, { strategy, category }) : "–";
}

/** Marks the column of the recommended strategy. @param {HTMLElement} frame @param {number} column */
function markChosen(frame, column) {
  if (column > 0) for (const row of frame.querySelectorAll("tr")) row.children[column]?.classList.add("chosen");
  return frame;
}
