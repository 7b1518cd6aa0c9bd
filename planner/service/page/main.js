/**
 * The page from an empty table to a review: a file is asked about, planned with its progress, and shown.
 * @module
 */

import { announce, byId, put } from "./elements.js";
import { readSettings, setUpIntake } from "./intake.js";
import { showKeptReviews } from "./kept.js";
import { Review } from "./model.js";
import { knownAnswers, rememberAnswers, showProblem } from "./problem.js";
import { showProgress } from "./progress.js";
import { readLink } from "./link.js";
import { showReview } from "./review.js";
import { askForPlan, followJob, readFailure, readKeptReview, readReview, readSharedReview } from "./service.js";

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
    showPlan(await readReview(id), id, null);
  } catch (error) {
    await fail(error);
  } finally {
    progress.end();
  }
}

/** Tells what went wrong, or asks what is in doubt. @param {unknown} error */
async function fail(error) {
  const known = await knownAnswers(error);
  show(...(readLink().isReadOnly ? [] : ["intake"]), "problem");
  showProblem(byId("problem"), error, {
    name: asked.file?.name ?? "",
    known,
    answer: (answers, acceptsProposals) => planQuestion({ ...asked, answers: { ...asked.answers, ...answers }, acceptsProposals }),
    retry: () => (asked.file || asked.again ? planQuestion(asked) : openLinked()),
  });
}

/** Shows a plan. @param {any} stored @param {string} id @param {import("./service.js").KeptReview | null} kept */
function showPlan(stored, id, kept) {
  const review = new Review(stored, id);
  const link = readLink();
  review.kept = kept;
  review.shared = link.shared;
  if (!asked.file) asked = { ...asked, again: id };
  show("review");
  showReview(review, { isReadOnly: link.isReadOnly, planAgain: (assumptions) => planQuestion({ ...asked, again: id, assumptions: { ...asked.assumptions, ...assumptions } }) });
  review.setMoves({ ...kept?.moves, ...link.moves });
  document.title = `GPU review ${review.plan.plan_id}`;
  announce(`The review is ready. ${review.screen.headline}`);
  byId("review").querySelector("h1")?.focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

/** Shows the review that the address names, or the empty page. */
async function openLinked() {
  const { plan, kept, shared } = readLink();
  put(byId("problem"));
  if (!plan && !kept && !shared) {
    show("intake");
    showKeptReviews(byId("kept"));
    return;
  }
  show();
  try {
    if (shared) {
      const [review, stored] = await readSharedReview(shared);
      showPlan(stored, review.plan_id, review);
    } else {
      const review = kept ? await readKeptReview(kept) : null;
      const id = review ? review.plan_id : plan;
      showPlan(await readReview(id), id, review);
    }
  } catch (error) {
    await fail(error);
  }
}

await openLinked();
setUpIntake((file) => planQuestion({ file, again: "", answers: {}, assumptions: {}, settings: readSettings(), acceptsProposals: false }), fail);
window.addEventListener("popstate", openLinked);
window.addEventListener("hashchange", () => readLink().shared && openLinked());
