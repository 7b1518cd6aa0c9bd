/**
 * The page from an empty table to a review: a file is asked about, planned with its progress, and shown.
 * @module
 */

import { announce, byId, put } from "./elements.js";
import { readSettings, setUpIntake } from "./intake.js";
import { Review } from "./model.js";
import { rememberAnswers, showProblem } from "./problem.js";
import { showProgress } from "./progress.js";
import { readLink } from "./link.js";
import { showReview } from "./review.js";
import { askForPlan, followJob, readFailure, readReview } from "./service.js";

/** @typedef {import("./service.js").Question} Question */

/** The question of this tab: what is planned again, or answered and planned. @type {Question} */
let asked = { file: null, again: "", answers: {}, assumptions: {}, settings: {}, acceptsProposals: false };

/** Shows one of the states and hides the others. @param {...string} shown */
function show(...shown) {
  for (const id of ["intake", "progress", "problem", "review"]) byId(id).hidden = !shown.includes(id);
  for (const id of ["contents", "tools"]) byId(id).hidden = !shown.includes("review");
}

/** Plans a question and shows what comes of it. @param {Question} question */
async function planQuestion(question) {
  asked = question;
  show("progress");
  const progress = showProgress(byId("progress"), question.file?.name ?? "the plan again", () => show(byId("review").childElementCount ? "review" : "intake"));
  try {
    const place = await askForPlan(question);
    progress.begin(place);
    const job = await followJob(place, progress.tell);
    if (job.state === "cancelled") return;
    if (job.state === "failed") throw await readFailure(place);
    rememberAnswers(question.answers);
    const id = job.plan_id;
    history.pushState(null, "", `/?plan=${encodeURIComponent(id)}`);
    await openReview(id);
  } catch (error) {
    fail(error);
  } finally {
    progress.end();
  }
}

/** Tells what went wrong, or asks what is in doubt. @param {unknown} error */
function fail(error) {
  show(...(readLink().isReadOnly ? [] : ["intake"]), "problem");
  showProblem(byId("problem"), error, {
    name: asked.file?.name ?? "",
    answer: (answers, acceptsProposals) => planQuestion({ ...asked, answers: { ...asked.answers, ...answers }, acceptsProposals }),
    retry: () => (asked.file || asked.again ? planQuestion(asked) : openLinked()),
  });
}

/** Shows a stored plan. @param {string} id */
async function openReview(id) {
  const review = new Review(await readReview(id), id);
  const link = readLink();
  if (!asked.file) asked = { ...asked, again: id };
  show("review");
  showReview(review, { isReadOnly: link.isReadOnly, planAgain: (assumptions) => planQuestion({ ...asked, again: id, assumptions: { ...asked.assumptions, ...assumptions } }) });
  review.setMoves(link.moves);
  document.title = `GPU review ${review.plan.plan_id}`;
  announce(`The review is ready. ${review.screen.headline}`);
  byId("review").querySelector("h1")?.focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

/** Shows the review that the address names, or the empty page. */
async function openLinked() {
  const { plan } = readLink();
  put(byId("problem"));
  if (!plan) {
    show("intake");
    return;
  }
  show();
  try {
    await openReview(plan);
  } catch (error) {
    fail(error);
  }
}

await openLinked();
setUpIntake((file) => planQuestion({ file, again: "", answers: {}, assumptions: {}, settings: readSettings(), acceptsProposals: false }), fail);
window.addEventListener("popstate", openLinked);
