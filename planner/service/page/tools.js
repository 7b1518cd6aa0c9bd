/**
 * What a reader takes away: a link, the review on paper, and files.
 * @module
 */

import { announce, byId, el, put } from "./elements.js";
import { keepReview } from "./kept.js";
import { linkTo, linkToShared } from "./link.js";
import { showProblem } from "./problem.js";
import { saveFile, shareReview } from "./service.js";

/** @typedef {import("./model.js").Review} Review */

/** Formats of files with the end of their names. @type {[string, string, string][]} */
const FORMATS = [
  ["xlsx", "Workbook", ".xlsx"],
  ["html", "Page (HTML)", ".html"],
  ["csv", "Table (CSV)", ".csv"],
  ["json", "Everything (JSON)", ".json"],
  ["markdown", "Markdown", ".md"],
  ["focus", "Bill forecast (FOCUS)", ".focus.csv"],
];

/** @param {HTMLElement} place @param {Review} review @param {import("./review.js").Rights} rights */
export function showTools(place, review, rights) {
  const copy = (/** @type {() => Promise<string>} */ find, /** @type {string} */ words) => async () => {
    const link = await find();
    await navigator.clipboard.writeText(link).then(() => announce(words), () => window.prompt("Copy this link", link));
    note.textContent = words;
  };
  const note = el("span", { class: "quiet-text", "aria-hidden": "true" });
  put(
    place,
    note,
    rights.isReadOnly ? null : el("a", { class: "button", href: "/" }, "Plan another file"),
    rights.isReadOnly ? null : el("button", { type: "button", click: copy(async () => linkTo(review, false), "Link copied") }, "Copy link"),
    el("button", { type: "button", click: copy(() => makeReadOnlyLink(review, rights), "Read-only link copied") }, "Copy read-only link"),
    el("button", { type: "button", click: () => window.print() }, "Print"),
    review.shared ? null : downloads(review),
  );
}

/**
 * A link that opens this review without a key, and nothing else; where none may be made, one that opens it without what
 * plans for whoever has a key. @param {Review} review @param {import("./review.js").Rights} rights
 */
async function makeReadOnlyLink(review, rights) {
  if (review.shared) return linkToShared(review.shared);
  if (rights.isReadOnly) return linkTo(review, true);
  try {
    await keepReview(review);
    return linkToShared(await shareReview(review.kept?.id ?? ""));
  } catch {
    return linkTo(review, true);
  }
}

/** @param {Review} review */
function downloads(review) {
  const choice = /** @type {HTMLSelectElement} */ (el("select", { "aria-label": "Download as" }, el("option", { value: "" }, "Download …"), ...options(review)));
  choice.addEventListener("change", async () => {
    const [path, name] = choice.value.split(" ");
    choice.value = "";
    try {
      await saveFile(path, name);
      announce(`${name} was downloaded.`);
    } catch (error) {
      byId("problem").hidden = false;
      showProblem(byId("problem"), error, { name, known: {}, answer: () => {}, retry: () => saveFile(path, name) });
    }
  });
  return choice;
}

/** @param {Review} review */
function options({ id, plan }) {
  const reports = FORMATS.map(([format, title, suffix]) => el("option", { value: `/v1/plans/${id}/reports/${format} plan-${plan.plan_id}${suffix}` }, title));
  const chosen = plan.strategies.find((/** @type {any} */ each) => each.name === plan.recommendation.strategy);
  const providers = [...new Set((chosen?.uses ?? []).map((/** @type {any} */ use) => use.provider))].filter(Boolean).sort();
  const terraform = providers.map((provider) => el("option", { value: `/v1/plans/${id}/terraform?provider=${provider} plan-${plan.plan_id}-${provider}.zip` }, `Terraform, ${provider}`));
  return [...reports, ...terraform];
}
