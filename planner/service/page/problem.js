/**
 * What stops a plan: doubts about a file as questions to answer, problems with their places, or a service that fails.
 * @module
 */

import { CELL } from "./cells.js";
import { announce, el, put, table } from "./elements.js";
import { counted, percent } from "./format.js";
import { ProblemError, readAnswers, rememberKey } from "./service.js";

/** @typedef {{id: string, places: string[], read: string, question: string, proposed: string, choices: string[], change: number | null}} Doubt */
/** `known`: earlier answers by question. @typedef {{name: string, known: Record<string, string>, answer: (answers: Record<string, string>, acceptsProposals: boolean, cells: import("./model.js").CellEdit[]) => void, retry: () => void}} Ways */

const ANSWERS = "gpu-planner-answers";

/** The answers given on this machine before: a question keeps its id in the next file of its kind. @returns {Record<string, string>} */
function rememberedAnswers() {
  try {
    return JSON.parse(localStorage.getItem(ANSWERS) ?? "{}");
  } catch {
    return {};
  }
}

/** Earlier answers to the questions of a problem: those of this machine over those of the project. @param {unknown} error */
export async function knownAnswers(error) {
  if (!(error instanceof ProblemError) || !error.problem.questions?.length) return {};
  return { ...(await readAnswers().catch(() => ({}))), ...rememberedAnswers() };
}

/** @param {Record<string, string>} answers */
export function rememberAnswers(answers) {
  if (Object.keys(answers).length) localStorage.setItem(ANSWERS, JSON.stringify({ ...rememberedAnswers(), ...answers }));
}

/** @param {Element} place @param {unknown} error @param {Ways} ways */
export function showProblem(place, error, ways) {
  const problem = error instanceof ProblemError ? error.problem : { title: "The service cannot be reached", detail: String(error) };
  const status = error instanceof ProblemError ? error.status : 0;
  if (status === 401) put(place, ...keyParts(ways));
  else if (problem.questions?.length) put(place, ...questionParts(problem, ways));
  else put(place, ...faultParts(problem, status, ways));
  const title = /** @type {HTMLElement} */ (place.querySelector("h2"));
  announce(title.textContent ?? "");
  title.focus();
}

/** @param {any} problem @param {Ways} ways */
function questionParts(problem, ways) {
  const { known } = ways;
  const others = (problem.errors ?? []).filter((/** @type {any} */ fault) => !problem.questions.some((/** @type {Doubt} */ doubt) => doubt.places.includes(fault.path)));
  const mended = faultFields(others, problem.is_editable);
  const form = el("form", {}, mended.table, problem.questions.map((/** @type {Doubt} */ doubt, /** @type {number} */ index) => questionField(doubt, index, known[doubt.id])));
  form.append(el("div", { class: "actions" }, el("button", { class: "main" }, "Plan with these answers"), el("button", { type: "button", click: () => ways.answer({}, true, mended.cells()) }, "Take every proposal")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const chosen = problem.questions.map((/** @type {Doubt} */ doubt, /** @type {number} */ index) => [doubt.id, String(new FormData(/** @type {HTMLFormElement} */ (form)).get(`doubt-${index}`))]);
    ways.answer(Object.fromEntries(chosen), false, mended.cells());
  });
  return [
    el("h2", { id: "problem-title", tabindex: -1 }, `${counted(problem.questions.length, "question")} about ${ways.name || "the file"}`),
    el("p", {}, "These cells can be read in more than one way, and the plan depends on it. The proposal is chosen; your answers are remembered for the next file of this kind."),
    form,
  ];
}

/** @param {Doubt} doubt @param {number} index @param {string | undefined} known */
function questionField(doubt, index, known) {
  const chosen = known !== undefined && doubt.choices.includes(known) ? known : doubt.proposed;
  const change = doubt.change === null ? "It decides the demand." : `Another reading changes up to ${percent(doubt.change)} of the demand.`;
  const choices = doubt.choices.map((choice) =>
    el("label", {}, el("input", { type: "radio", name: `doubt-${index}`, value: choice, checked: choice === chosen }), ` ${choice}`, choice === doubt.proposed && " (proposed)", choice === known && " (your last answer)"),
  );
  return el("fieldset", {}, el("legend", {}, doubt.question), el("p", { class: "quiet-text" }, `${doubt.places.join(", ")} says “${doubt.read}”. ${change}`), choices);
}

/** The faults by place, with a field for each cell that can be mended here. @param {any[]} faults @param {boolean | undefined} isEditable */
function faultFields(faults, isEditable) {
  /** @type {Map<string, HTMLInputElement>} */
  const inputs = new Map();
  const rows = faults.map((fault) => {
    const row = [fault.path, fault.message, fault.value, fault.expected];
    if (!isEditable) return row;
    if (!CELL.test(fault.path) || inputs.has(fault.path)) return [...row, ""];
    const input = /** @type {HTMLInputElement} */ (el("input", { class: "cell", "aria-label": `Read in ${fault.path} instead`, autocomplete: "off", spellcheck: "false" }));
    inputs.set(fault.path, input);
    return [...row, input];
  });
  const titles = ["Place", "Problem", "Read", "Expected", ...(isEditable ? ["Read instead"] : [])];
  return {
    table: faults.length ? table("What is wrong, by place", titles, rows, { most: 30, isQuiet: true }) : null,
    canMend: inputs.size > 0,
    cells: () => [...inputs].filter(([, input]) => input.value.trim()).map(([place, input]) => ({ place, value: input.value.trim(), on: null })),
  };
}

/** @param {any} problem @param {number} status @param {Ways} ways */
function faultParts(problem, status, ways) {
  const faults = problem.errors ?? [];
  const isInput = status >= 400 && status < 500 && faults.length;
  const { table: listed, cells, canMend } = faultFields(faults, isInput && problem.is_editable);
  const mend = canMend ? "Write here what to read instead and plan again, or mend these places in the file and give it to the page again" : "Mend these places in the file and give it to the page again";
  const form = el("form", {}, listed, canMend && el("div", { class: "actions" }, el("button", { class: "main" }, "Plan with these cells")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    ways.answer({}, false, cells());
  });
  return [
    el("h2", { id: "problem-title", tabindex: -1 }, isInput ? `${counted(faults.length, "problem")} in ${ways.name || "the request"}` : problem.title || "It did not work"),
    el("p", { class: "alarm", role: "alert" }, isInput ? `${mend}; all of them are listed.` : problem.detail),
    form,
    problem.id ? el("p", {}, "For the log of the service: ", el("code", {}, problem.id)) : null,
    isInput ? null : el("div", { class: "actions" }, el("button", { type: "button", click: () => ways.retry() }, "Try again")),
  ];
}

/** @param {Ways} ways */
function keyParts(ways) {
  const input = el("input", { type: "password", name: "key", autocomplete: "off", required: true });
  const form = el("form", {}, el("label", {}, "API key ", input), " ", el("button", { class: "main" }, "Go on"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    rememberKey(/** @type {HTMLInputElement} */ (input).value);
    ways.retry();
  });
  return [el("h2", { id: "problem-title", tabindex: -1 }, "This service asks for a key"), el("p", {}, "It is kept in this tab alone, until you close it."), form];
}
