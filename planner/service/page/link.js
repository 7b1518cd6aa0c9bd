/**
 * The address of a review: its plan, the figures that were moved, and the scenarios that were named.
 * @module
 */

/** @typedef {import("./formula.js").Figures} Figures */
/** @typedef {{name: string, moves: Figures}} Scenario */

/** Before the secret of a link: what follows a # is sent to nobody. */
const SHARED = "#shared=";

/** @param {string} text */
const encode = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text))).replaceAll("+", "-").replaceAll("/", "_");
/** @param {string} text */
const decode = (text) => new TextDecoder().decode(Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0)));

/** Numbers by name; whatever else a link has is dropped. @param {unknown} value @returns {Figures} */
function readFigures(value) {
  const entries = Object.entries(value && typeof value === "object" ? value : {});
  return Object.fromEntries(entries.filter(([, each]) => typeof each === "number" && Number.isFinite(each)));
}

/** What the address says.
 * @returns {{plan: string, kept: string, shared: string, isReadOnly: boolean, moves: Figures, scenarios: Scenario[]}} */
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
    kept: query.get("review") ?? "",
    shared: location.hash.startsWith(SHARED) ? decodeURIComponent(location.hash.slice(SHARED.length)) : "",
    isReadOnly: query.has("read") || location.hash.startsWith(SHARED),
    moves: readFigures(state.moves),
    scenarios: scenarios.map((/** @type {any} */ each) => ({ name: String(each?.name ?? "").slice(0, 60), moves: readFigures(each?.moves) })),
  };
}

/** The address of a review as it stands; one that is kept has its scenarios in the store.
 * @param {{id: string, moves: Figures, scenarios: Scenario[], kept: {id: string} | null}} review @param {boolean} isReadOnly */
export function linkTo(review, isReadOnly) {
  const { moves, kept } = review;
  const scenarios = kept ? [] : review.scenarios;
  const hasState = scenarios.length > 0 || Object.keys(moves).length > 0;
  const state = hasState ? `#v=${encode(JSON.stringify({ moves, scenarios }))}` : "";
  if (kept) return `${location.origin}/?review=${encodeURIComponent(kept.id)}${isReadOnly ? "&read" : ""}${state}`;
  return `${location.origin}/?plan=${encodeURIComponent(review.id)}${isReadOnly ? "&read" : ""}${state}`;
}

/** The address by which anybody reads a review. @param {string} token */
export const linkToShared = (token) => `${location.origin}/${SHARED}${encodeURIComponent(token)}`;

/** Keeps the address true, so that a reload shows the same.
 * @param {{id: string, moves: Figures, scenarios: Scenario[], kept: {id: string} | null, shared: string}} review */
export function writeLink(review) {
  if (review.shared) return;
  history.replaceState(null, "", linkTo(review, readLink().isReadOnly));
}
