/**
 * The decision: its sentence, what it costs against its rival, and the strategies side by side.
 * @module
 */

import { bullets, el, put, table } from "./elements.js";
import { change, inWords, money } from "./format.js";
import { explainable } from "./source.js";

/** @typedef {import("./model.js").Review} Review */
/** @typedef {import("./review.js").Rights} Rights */

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
    planned,
    moved,
    facts,
    costs,
    impossible.map((/** @type {any} */ each) => reasonsOf(each, screen.reasons[each.name])),
    bullets([...equalSentences(review), ...screen.facts]),
    plan.reasons.length ? bullets(plan.reasons.map((/** @type {any} */ each) => each.text)) : null,
  );
  review.follow(() => {
    planned.textContent = review.isMoved ? "The sentence above is the plan as it was made. Costs, cash, cost centres and scenarios below follow the figures as you moved them." : "";
    put(moved, movedNotice(review, rights));
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
    ["Search of the plan", review.screen.status[review.chosen ?? ""]],
  ];
  return el("dl", { class: "facts" }, facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
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
    ["Proven bound of the present cost", ...cells((each) => (each.bound === null ? "none found" : money(each.bound)))],
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
