/**
 * The address of a review: its plan, the figures that were moved, and the scenarios that were named.
 * @module
 */

/** @typedef {import("./formula.js").Figures} Figures */
/** @typedef {{name: string, moves: Figures}} Scenario */

/** @param {string} text */
const encode = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text))).replaceAll("+", "-").replaceAll("/", "_");
/** @param {string} text */
const decode = (text) => new TextDecoder().decode(Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0)));

/** Numbers by name; whatever else a link has is dropped. @param {unknown} value @returns {Figures} */
function readFigures(value) {
  const entries = Object.entries(value && typeof value === "object" ? value : {});
  return Object.fromEntries(entries.filter(([, each]) => typeof each === "number" && Number.isFinite(each)));
}

/** What the address says. @returns {{plan: string, isReadOnly: boolean, moves: Figures, scenarios: Scenario[]}} */
export function readLink() {
  const query = new URLSearchParams(location.search);
  let state = {};
  try {
    state = JSON.parse(decode(location.hash.replace(/^#v=/, "")) || "{}");
  } catch {
    state = {}; // a link to a part of the page, or one that was cut
  }
  const scenarios = Array.isArray(state.scenarios) ? state.scenarios : [];
  return {
    plan: query.get("plan") ?? "",
    isReadOnly: query.has("read"),
    moves: readFigures(state.moves),
    scenarios: scenarios.map((/** @type {any} */ each) => ({ name: String(each?.name ?? "").slice(0, 60), moves: readFigures(each?.moves) })),
  };
}

/** The address of a review as it stands.
 * @param {{id: string, moves: Figures, scenarios: Scenario[]}} review @param {boolean} isReadOnly */
export function linkTo(review, isReadOnly) {
  const { moves, scenarios } = review;
  const hasState = scenarios.length > 0 || Object.keys(moves).length > 0;
  const state = hasState ? `#v=${encode(JSON.stringify({ moves, scenarios }))}` : "";
  return `${location.origin}/?plan=${encodeURIComponent(review.id)}${isReadOnly ? "&read" : ""}${state}`;
}

/** Keeps the address true, so that a reload shows the same. @param {{id: string, moves: Figures, scenarios: Scenario[]}} review */
export function writeLink(review) {
  history.replaceState(null, "", linkTo(review, readLink().isReadOnly));
}
