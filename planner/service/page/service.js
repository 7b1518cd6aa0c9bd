/**
 * What the page asks of the service that served it: plans as jobs, their progress, and reports of stored plans.
 * @module
 */

/**
 * What a plan is asked for with: a file or a stored plan, answers to questions, and settings.
 * @typedef {{file: File | null, again: string, answers: Record<string, string>, assumptions: Record<string, number>,
 *   settings: Record<string, string>, acceptsProposals: boolean, cells: import("./model.js").CellEdit[], continues: KeptReview | null}} Question
 * `cells`: edited cells of the file; `continues`: the review that goes on with the new plan.
 */
/** @typedef {{id: string, state: string, phase: string, best: number | null, bound: number | null, gap: number | null, plan_id: string}} Job */

const JSON_TYPE = "application/json";
const KEY = "gpu-planner-key";
const ENDED = ["done", "failed", "cancelled"];
const RETRY_MS = 1000;

/** An answer that is a problem (RFC 9457): `problem.errors` and `problem.questions` have places. */
export class ProblemError extends Error {
  /** @param {any} problem @param {number} status */
  constructor(problem, status) {
    super(problem.detail || problem.title || `The service answered ${status}.`);
    this.problem = problem;
    this.status = status;
  }
}

/** Remembers an API key until the tab is closed. @param {string} key */
export const rememberKey = (key) => sessionStorage.setItem(KEY, key);

/** The answer of the service; ProblemError unless it is a success.
 * @param {string} path @param {RequestInit} [init] */
async function ask(path, init = {}) {
  const key = sessionStorage.getItem(KEY);
  const headers = { ...init.headers, ...(key ? { authorization: `Bearer ${key}` } : {}) };
  const answer = await fetch(path, { ...init, headers });
  if (!answer.ok) throw await readProblem(answer);
  return answer;
}

/** @param {Response} answer */
async function readProblem(answer) {
  const text = await answer.text();
  try {
    return new ProblemError(JSON.parse(text), answer.status);
  } catch {
    return new ProblemError({ title: answer.statusText, detail: text.slice(0, 500) }, answer.status);
  }
}

/** Asks for a plan; gives the place of its job. @param {Question} question @returns {Promise<string>} */
export async function askForPlan(question) {
  const query = new URLSearchParams({ ...question.settings, format: "review" });
  for (const [id, choice] of Object.entries(question.answers)) query.append("answer", `${id}=${choice}`);
  for (const [name, value] of Object.entries(question.assumptions)) query.append("assumption", `${name}=${value}`);
  for (const { place, value, on } of question.cells) {
    query.append("cell", `${place}=${value}`);
    if (on) query.append("edited", `${place}=${on}`);
  }
  if (question.acceptsProposals) query.set("accept_proposals", "true");
  if (!question.file) return postQuestion(`/v1/plans/${question.again}/again?${query}`, null, JSON_TYPE);
  query.set("name", question.file.name);
  return postQuestion(`/v1/plans/file?${query}`, question.file, "application/octet-stream");
}

/** @param {string} path @param {File | null} body @param {string} type */
async function postQuestion(path, body, type) {
  const answer = await ask(path, { method: "POST", body, headers: { "content-type": type, accept: JSON_TYPE } });
  return answer.headers.get("location") ?? "";
}

/**
 * Follows a job until it has ended, and tells each state on the way; gives the last.
 * @param {string} place @param {(job: Job) => void} tell @returns {Promise<Job>}
 */
export async function followJob(place, tell) {
  for (;;) {
    let last = null;
    try {
      for await (const job of readEvents(await ask(`${place}/events`, { headers: { accept: "text/event-stream" } }))) {
        tell(job);
        last = job;
      }
    } catch (error) {
      if (error instanceof ProblemError) throw error;
    }
    if (last && ENDED.includes(last.state)) return last;
    await new Promise((resume) => setTimeout(resume, RETRY_MS)); // the connection was cut: the job goes on
  }
}

/** The jobs in a stream of server-sent events. @param {Response} answer @returns {AsyncGenerator<Job>} */
async function* readEvents(answer) {
  const reader = /** @type {ReadableStream<Uint8Array>} */ (answer.body).getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = (rest + decoder.decode(value, { stream: true })).split("\n\n");
    rest = events.pop() ?? "";
    for (const event of events) {
      const data = event.split("\n").find((line) => line.startsWith("data:"));
      if (data) yield JSON.parse(data.slice("data:".length));
    }
  }
}

/** Why a job failed: its problem. @param {string} place */
export async function readFailure(place) {
  try {
    await ask(place, { headers: { accept: JSON_TYPE } });
  } catch (error) {
    return error;
  }
  return new ProblemError({ title: "The plan ended without an answer." }, 500);
}

/** @param {string} place */
export const cancelJob = (place) => ask(place, { method: "DELETE" });

/** A stored plan as the page reads it. @param {string} id */
export async function readReview(id) {
  return (await ask(`/v1/plans/${encodeURIComponent(id)}/reports/review`)).json();
}

/** A review that is kept: its plan, moved figures, scenarios and edited cells.
 * @typedef {{id: string, plan_id: string, title: string, version: number, changed: string, moves: Record<string, number>,
 *   scenarios: import("./link.js").Scenario[], edits: import("./model.js").CellEdit[]}} KeptReview */

/** @param {string} path @param {string} method @param {object} body */
const sendJson = async (path, method, body) =>
  (await ask(path, { method, body: JSON.stringify(body), headers: { "content-type": JSON_TYPE } })).json();

/** @param {object} review @returns {Promise<KeptReview>} */
export const createReview = (review) => sendJson("/v1/reviews", "POST", review);

/** @param {string} id @param {object} review @returns {Promise<KeptReview>} */
export const changeReview = (id, review) => sendJson(`/v1/reviews/${encodeURIComponent(id)}`, "PUT", review);

/** @param {string} id @returns {Promise<KeptReview>} */
export const readKeptReview = async (id) => (await ask(`/v1/reviews/${encodeURIComponent(id)}`)).json();

/** @returns {Promise<KeptReview[]>} */
export const listReviews = async () => (await ask("/v1/reviews")).json();

/** The secret of a new link to a review. @param {string} id @returns {Promise<string>} */
export const shareReview = async (id) => (await sendJson(`/v1/reviews/${encodeURIComponent(id)}/links`, "POST", {})).token;

/** The review of a link, and its plan. @param {string} token @returns {Promise<[KeptReview, any]>} */
export async function readSharedReview(token) {
  const path = `/v1/shared/${encodeURIComponent(token)}`;
  const [review, plan] = await Promise.all([ask(path), ask(`${path}/plan`)]);
  return [await review.json(), await plan.json()];
}

/** The last answers to questions about files, by question. @returns {Promise<Record<string, string>>} */
export const readAnswers = async () => (await ask("/v1/answers")).json();

/** A report of a stored plan as a file. @param {string} path @param {string} name */
export async function saveFile(path, name) {
  const url = URL.createObjectURL(await (await ask(path)).blob());
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

/** An example that the service ships, as if it had been dropped. @param {string} name */
export async function readExample(name) {
  return new File([await (await ask(`/page/examples/${name}`)).blob()], name);
}
