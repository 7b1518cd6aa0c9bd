/**
 * The page from an empty table to a review: a file is asked about, planned with its progress, and shown.
 * @module
 */

import { announce, byId, put } from "./elements.js";
import { readSettings, setUpIntake } from "./intake.js";
import { continueReview, showKeptReviews } from "./kept.js";
import { Review } from "./model.js";
import { knownAnswers, rememberAnswers, showProblem } from "./problem.js";
import { showProgress } from "./progress.js";
import { readLink } from "./link.js";
import { showReview } from "./review.js";
import { ProblemError, askForPlan, followJob, readFailure, readKeptReview, readReview, readSharedReview } from "./service.js";

/** @typedef {import("./service.js").Question} Question */

/** The question of this tab: what is planned again, or answered and planned. @type {Question} */
let asked = { file: null, again: "", answers: {}, assumptions: {}, settings: {}, acceptsProposals: false, cells: [], continues: null };
/** The review on the page. @type {Review | null} */
let shown = null;

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
    const kept = question.continues ? await continueReview(question.continues, id) : null;
    const before = question.continues && shown ? shown : null;
    history.pushState(null, "", kept ? `/?review=${encodeURIComponent(kept.id)}` : `/?plan=${encodeURIComponent(id)}`);
    showPlan(await readReview(id), id, kept, before);
  } catch (error) {
    if (!showCellFaults(question, error)) await fail(error);
  } finally {
    progress.end();
  }
}

/** Shows the faults of edited cells beside them, in the review that they were edited in; whether these are all.
 * @param {Question} question @param {unknown} error */
function showCellFaults(question, error) {
  const faults = error instanceof ProblemError && !error.problem.questions?.length ? (error.problem.errors ?? []) : [];
  const edited = new Set(question.cells.map((each) => each.place));
  if (!shown || !question.again || !faults.length || !faults.every((/** @type {any} */ each) => edited.has(each.path))) return false;
  show("review");
  shown.showCellFaults(faults);
  announce(`${faults[0].path}: ${faults[0].message}`);
  const field = /** @type {HTMLElement | null} */ (document.querySelector(`[data-place="${CSS.escape(faults[0].path)}"]`));
  (field ?? byId("readings-title")).scrollIntoView({ block: "center", behavior: "instant" });
  (field ?? byId("readings-title")).focus({ preventScroll: true });
  return true;
}

/** Tells what went wrong, or asks what is in doubt. @param {unknown} error */
async function fail(error) {
  const known = await knownAnswers(error);
  show(...(readLink().isReadOnly ? [] : ["intake"]), "problem");
  showProblem(byId("problem"), error, {
    name: asked.file?.name ?? "",
    known,
    answer: (answers, acceptsProposals, cells) => planQuestion({ ...asked, answers: { ...asked.answers, ...answers }, acceptsProposals, cells: [...asked.cells.filter((each) => !cells.some(({ place }) => place === each.place)), ...cells] }),
    retry: () => (asked.file || asked.again ? planQuestion(asked) : openLinked()),
  });
}

/** Shows a plan. @param {any} stored @param {string} id @param {import("./service.js").KeptReview | null} kept
 * @param {Review | null} [before] The review as it was before its cells were edited. */
function showPlan(stored, id, kept, before = null) {
  const review = new Review(stored, id);
  review.before = before && { chosen: before.chosen, present: before.planned.get(before.chosen ?? "")?.present ?? null };
  const link = readLink();
  review.kept = kept;
  review.shared = link.shared;
  review.edits = new Map(kept?.edits.map((each) => [each.place, each]));
  if (!asked.file) asked = { ...asked, again: id };
  shown = review;
  show("review");
  /** @param {Record<string, number>} assumptions */
  const planAgain = (assumptions) => {
    const isSame = Object.keys(assumptions).length === 0; // other assumptions are another plan: the review stays with its own
    planQuestion({ ...asked, again: id, assumptions: { ...asked.assumptions, ...assumptions }, cells: review.cells, continues: isSame ? review.kept : null });
  };
  showReview(review, { isReadOnly: link.isReadOnly, planAgain });
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

/** What is jumped to stands below the header, however many lines that takes. */
function keepBelowHeader() {
  const header = /** @type {HTMLElement} */ (document.querySelector("header"));
  const covers = () => (getComputedStyle(header).position === "sticky" ? header.offsetHeight + 8 : 0);
  new ResizeObserver(() => { document.documentElement.style.scrollPaddingTop = `${covers()}px`; }).observe(header);
}

keepBelowHeader();
await openLinked();
setUpIntake((file) => planQuestion({ file, again: "", answers: {}, assumptions: {}, settings: readSettings(), acceptsProposals: false, cells: [], continues: null }), fail);
window.addEventListener("popstate", openLinked);
window.addEventListener("hashchange", () => readLink().shared && openLinked());
