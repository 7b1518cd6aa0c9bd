/**
 * Reviews in the store: kept when a scenario is named, a cell is edited or a link is made, and listed on the empty page.
 * @module
 */

import { el, put } from "./elements.js";
import { counted } from "./format.js";
import { writeLink } from "./link.js";
import { ProblemError, changeReview, createReview, listReviews, readKeptReview } from "./service.js";

/** @typedef {import("./model.js").Review} Review */
/** @typedef {import("./link.js").Scenario} Scenario */

const LISTED_MAX = 8;
const CHANGED_MEANWHILE = 409;

/** The last change of a review that is on its way: they are sent one after the other. */
let sending = Promise.resolve();

/** Keeps a review as it stands, and names it in the address. @param {Review} review @returns {Promise<void>} */
export function keepReview(review) {
  sending = sending.catch(() => {}).then(() => sendReview(review));
  return sending;
}

/** @param {Review} review */
async function sendReview(review) {
  const state = () => ({ title: review.plan.inputs.name || "a request", moves: review.moves, scenarios: review.scenarios, edits: [...review.edits.values()] });
  if (!review.kept) {
    review.kept = await createReview({ ...state(), plan_id: review.plan.plan_id });
  } else {
    try {
      review.kept = await changeReview(review.kept.id, { ...state(), version: review.kept.version });
    } catch (error) {
      if (!(error instanceof ProblemError) || error.status !== CHANGED_MEANWHILE) throw error;
      const theirs = await readKeptReview(review.kept.id); // somebody else has named a scenario: both stay
      review.scenarios = mergeScenarios(theirs.scenarios, review.scenarios);
      if (theirs.plan_id === review.plan.plan_id) review.edits = new Map([...byPlace(theirs.edits), ...review.edits]);
      review.kept = await changeReview(theirs.id, { ...state(), version: theirs.version });
    }
  }
  // the store knows the day of each edit; one that was made meanwhile is on its way
  for (const each of review.kept.edits) if (review.edits.get(each.place)?.value === each.value) review.edits.set(each.place, each);
  writeLink(review);
}

/** @param {import("./model.js").CellEdit[]} edits */
const byPlace = (edits) => new Map(edits.map((each) => [each.place, each]));

/** A review goes on with a plan that was made with its edited cells. @param {import("./service.js").KeptReview} kept @param {string} planId */
export async function continueReview(kept, planId) {
  const body = (/** @type {import("./service.js").KeptReview} */ { title, moves, scenarios, version }) => ({ title, moves, scenarios, version, edits: [], plan_id: planId });
  try {
    return await changeReview(kept.id, body(kept));
  } catch (error) {
    if (!(error instanceof ProblemError) || error.status !== CHANGED_MEANWHILE) throw error;
    return changeReview(kept.id, body(await readKeptReview(kept.id)));
  }
}

/** Theirs, then ours; ours where both have a name. @param {Scenario[]} theirs @param {Scenario[]} ours */
function mergeScenarios(theirs, ours) {
  const names = new Set(ours.map((each) => each.name));
  return [...theirs.filter((each) => !names.has(each.name)), ...ours];
}

/** The reviews of the project; nothing where there are none or where a key is missing. @param {Element} place */
export async function showKeptReviews(place) {
  const reviews = await listReviews().catch(() => []);
  if (!reviews.length) return;
  const line = (/** @type {import("./service.js").KeptReview} */ each) => {
    const changed = new Date(each.changed).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
    const link = el("a", { href: `/?review=${encodeURIComponent(each.id)}` }, each.title || `plan ${each.plan_id}`);
    return el("li", {}, link, el("span", { class: "quiet-text" }, ` plan ${each.plan_id}, ${counted(each.scenarios.length, "scenario")}, ${changed}`));
  };
  put(place, el("h2", {}, "Reviews that are kept"), el("ul", {}, reviews.slice(0, LISTED_MAX).map(line)));
}
