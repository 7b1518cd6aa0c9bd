/**
 * Figures to move: each change is computed here from the audit trail, nothing is solved and nothing is sent.
 * @module
 */

import { el, put } from "./elements.js";
import { amountInUnit, counted, inWords, money, number } from "./format.js";
import { costStrategies } from "./ledger.js";

/** @typedef {import("./model.js").Review} Review */
/** @typedef {{name: string, meaning: string, unit: string, planned: number, low: number, high: number, swing: number, flip: any}} Slider */

const FIRST = 7;
const STEPS = 200;

/** The figures that payments depend on, those that move the decision most first. @param {Review} review @returns {Slider[]} */
export function listSliders(review) {
  const known = new Map(review.plan.assumptions.map((/** @type {any} */ each) => [each.name, each]));
  const sliders = review.screen.sliders.map((/** @type {string} */ name) => {
    const { meaning, unit, low, high } = /** @type {any} */ (known.get(name));
    const planned = review.screen.figures[name];
    const [from, to] = low === null || high === null ? [planned / 2, planned * 1.5 || 1] : [low, high];
    const flip = review.plan.flips.find((/** @type {any} */ each) => each.name === name && each.at !== null);
    const range = { name, meaning, unit, planned, low: Math.min(from, planned), high: Math.max(to, planned), flip };
    return { ...range, swing: swingOf(review, range) };
  });
  return sliders.sort((/** @type {Slider} */ one, /** @type {Slider} */ other) => other.swing - one.swing || one.name.localeCompare(other.name));
}

/** How far a figure moves the lead of the recommended strategy between its ends. @param {Review} review @param {{name: string, low: number, high: number}} range */
function swingOf(review, { name, low, high }) {
  const rival = review.plan.recommendation.runner_up;
  const leads = [low, high].map((value) => {
    const amounts = costStrategies(review.ledger, { ...review.screen.figures, [name]: value });
    return (amounts.get(rival ?? "")?.present ?? 0) - (amounts.get(review.chosen ?? "")?.present ?? 0);
  });
  return Math.abs(leads[1] - leads[0]);
}

/** @param {HTMLElement} place @param {Review} review @param {import("./review.js").Rights} rights */
export function showSliders(place, review, rights) {
  const sliders = listSliders(review);
  const rows = sliders.map((slider) => sliderRow(review, slider));
  const more = rows.length > FIRST ? /** @type {HTMLDetailsElement} */ (el("details", {}, el("summary", {}, `${rows.length - FIRST} more figures`), el("div", { class: "sliders" }, rows.slice(FIRST).map((row) => row.element)))) : null;
  const state = el("p", { class: "quiet-text", "aria-live": "off" });
  const result = el("p", { "aria-live": "polite" });
  put(
    place,
    el("p", {}, "Move a figure and costs, cash, cost centres, orders, risks and scenarios follow at once: the same decisions, paid for at other figures. Nothing is sent and nothing is planned anew."),
    result,
    more && finder(rows, more),
    el("div", { class: "sliders" }, rows.slice(0, FIRST).map((row) => row.element)),
    more,
    state,
    otherFigures(review, rights),
  );
  review.follow(() => {
    for (const row of rows) row.show();
    state.textContent = review.isMoved ? `Recomputed in ${review.milliseconds < 1 ? "less than 1" : review.milliseconds.toFixed(0)} ms.` : "";
    put(result, resultParts(review));
  });
}

/** A field that shows only the figures with some words in their names or meanings.
 * @param {{element: HTMLElement}[]} rows @param {HTMLDetailsElement} more Where those stand that move the decision less. */
function finder(rows, more) {
  const words = /** @type {HTMLInputElement} */ (el("input", { type: "search", id: "find-figure", placeholder: "such as: discount, power", autocomplete: "off" }));
  const found = el("span", { class: "quiet-text", role: "status" });
  words.addEventListener("input", () => {
    const asked = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const { element } of rows) element.hidden = !asked.every((word) => element.textContent?.toLowerCase().includes(word));
    const count = rows.filter(({ element }) => !element.hidden).length;
    more.open = asked.length > 0;
    found.textContent = asked.length ? (count ? counted(count, "figure") : "No figure of the costs has these words; “Plan again with another assumption” below has the others.") : "";
  });
  return el("p", { class: "actions" }, el("label", { for: "find-figure" }, "Find a figure"), words, found);
}

/** @param {Review} review */
function resultParts(review) {
  if (!review.amounts.size) return [];
  const parts = [...review.amounts].map(([name, sums]) => `${name} ${money(sums.present)}`);
  const { flips, cheapest } = review.judge();
  return [
    el("strong", {}, `Present cost, ${review.plan.currency}: ${parts.join(", ")}.`),
    review.isMoved && el("span", { class: `tag ${flips ? "warn" : "good"}` }, flips ? `decision changes: ${cheapest}` : "decision stays"),
    review.isMoved && el("button", { type: "button", class: "link", click: () => review.setMoves({}) }, "reset"),
  ].flatMap((part) => (part ? [part, " "] : []));
}

/** @param {Review} review @param {Slider} slider */
function sliderRow(review, slider) {
  const { name, planned, low, high, unit, flip } = slider;
  const id = `slider-${name}`;
  const range = /** @type {HTMLInputElement} */ (el("input", { type: "range", id, min: low, max: high, step: (high - low) / STEPS || "any", "aria-describedby": `${id}-meaning` }));
  const exact = /** @type {HTMLInputElement} */ (el("input", { type: "number", step: "any", "aria-label": `${inWords(name)}, exact, ${unit}` }));
  const reach = [`planned ${amountInUnit(planned, unit)}, range ${number(low)} to ${number(high)}`];
  if (flip) reach.push(`${flip.cheaper_beyond} costs less beyond ${number(flip.at)}, all else as planned`);
  const element = el(
    "div",
    { class: "slider" },
    el("label", { for: id }, inWords(name)),
    range,
    exact,
    el("p", { class: "meaning", id: `${id}-meaning` }, `${slider.meaning}; ${reach.join("; ")}`),
  );
  range.addEventListener("input", () => review.move(name, Number(range.value)));
  exact.addEventListener("change", () => {
    if (exact.value !== "" && Number.isFinite(exact.valueAsNumber)) review.move(name, exact.valueAsNumber);
  });
  const show = () => {
    const value = review.figures[name];
    if (document.activeElement !== range || Number(range.value) !== value) range.value = String(value);
    range.setAttribute("aria-valuetext", amountInUnit(value, unit));
    exact.value = String(Number(value.toPrecision(8)));
    element.classList.toggle("moved", name in review.moves);
  };
  return { element, show };
}

/** Figures that change what a plan can do are planned with, not moved. @param {Review} review @param {import("./review.js").Rights} rights */
function otherFigures(review, rights) {
  const names = new Set(review.screen.sliders);
  const others = review.plan.assumptions.filter((/** @type {any} */ each) => !names.has(each.name));
  const words = `${others.length} further assumptions (lead times, spot interruption, life of hardware ...) change what can be planned, not only what it costs, or do not touch this plan.`;
  if (rights.isReadOnly || !others.length) return el("p", { class: "quiet-text" }, words);
  others.sort((/** @type {any} */ one, /** @type {any} */ other) => one.name.localeCompare(other.name));
  const choice = /** @type {HTMLSelectElement} */ (el("select", { id: "further-name" }, others.map((/** @type {any} */ each) => el("option", { value: each.name }, inWords(each.name)))));
  const value = /** @type {HTMLInputElement} */ (el("input", { id: "further-value", type: "number", step: "any", required: true, "aria-describedby": "further-meaning" }));
  const meaning = el("p", { class: "meaning", id: "further-meaning" });
  const form = el("form", { class: "actions" }, el("label", { for: "further-name" }, "Assumption"), choice, el("label", { for: "further-value" }, "Value"), value, el("button", { class: "main" }, "Plan again with it"));
  const describe = () => {
    const { meaning: text, unit, value: planned } = others.find((/** @type {any} */ each) => each.name === choice.value);
    meaning.textContent = `${text}; planned with ${amountInUnit(planned, unit)}`;
    value.value = String(Number(planned.toPrecision(8)));
  };
  choice.addEventListener("change", describe);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    rights.planAgain({ ...review.moves, [choice.value]: value.valueAsNumber });
  });
  describe();
  return el("details", { class: "further" }, el("summary", {}, "Plan again with another assumption"), el("p", { class: "quiet-text" }, words), form, meaning);
}
