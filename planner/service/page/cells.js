/**
 * Cells of the file, edited in place: what was read from each, what the file said, since when, and how to undo it.
 * @module
 */

import { announce, el, put, table } from "./elements.js";
import { counted, inWords } from "./format.js";
import { keepReview } from "./kept.js";

/** @typedef {import("./model.js").Review} Review */
/** @typedef {import("./review.js").Rights} Rights */

const LISTED_MAX = 20;
const WIDTH_MAX = 44;
/** A place that names one cell: Plan!C5, or line 3 column 7. */
export const CELL = /^(?:.+!\$?[A-Z]{1,3}\$?\d{1,7}|line \d{1,7} column \d{1,4})$/;

/** Whether this reader may edit cells of this file. @param {Review} review @param {Rights} rights */
export const mayEdit = (review, rights) => review.plan.inputs.is_editable && !rights.isReadOnly;

/** Edits a cell, and keeps the review with it. @param {Review} review @param {string} place @param {string} value */
function edit(review, place, value) {
  review.editCell(place, value);
  keep(review, `${place} is edited. The plan does not have it yet.`);
}

/** @param {Review} review @param {string} place */
function undo(review, place) {
  review.undoCell(place);
  keep(review, `${place} is read as before the edit.`);
}

/** @param {Review} review @param {string} words */
function keep(review, words) {
  announce(words);
  keepReview(review).then(
    () => review.tell(),
    () => announce(`${words} The service did not keep it: plan again before you close the page.`),
  );
}

/** The cells of a workload: each with what it says, as a field where it may be edited, and what it became.
 * @param {Review} review @param {any[]} readings @param {number} skip Characters of a path that all have. @param {Rights} rights */
export function cellTable(review, readings, skip, rights) {
  /** @type {Map<string, any[]>} */
  const byPlace = new Map();
  for (const each of readings) byPlace.set(each.place, [...(byPlace.get(each.place) ?? []), each]);
  const rows = [...byPlace].map(([place, its]) => [
    place,
    [...new Set(its.map((each) => inWords(each.path.slice(skip).replace(/^demand\./, "").replace(/\[0\]\./, " "))))].join(", "),
    mayEdit(review, rights) && CELL.test(place) ? cellField(review, place) : [its[0].read, editedWords(review, place)],
    [...new Set(its.map((each) => each.value))].join(", "),
  ]);
  return table("Its cells, what they say and what they became", ["Cell", "As", mayEdit(review, rights) ? "Says (edit it here)" : "Says", "Read as"], rows, { isQuiet: true });
}

/** A field with the text of a cell and what became of it. @param {Review} review @param {string} place */
export function cellField(review, place) {
  const id = `cell-${place.replaceAll(/[^A-Za-z0-9]/g, "-")}`;
  const input = /** @type {HTMLInputElement} */ (el("input", { class: "cell", "data-place": place, "aria-label": `Text of ${place}`, "aria-describedby": id, autocomplete: "off", spellcheck: "false", size: Math.min(WIDTH_MAX, Math.max(8, review.textOf(place).length + 1)) }));
  const state = el("div", { class: "cell-state", id });
  input.addEventListener("change", () => edit(review, place, input.value));
  review.follow(() => {
    const fault = review.cellFaults.get(place);
    if (document.activeElement !== input || fault) input.value = review.textOf(place);
    if (fault) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
    put(state, fault && el("span", { class: "alarm", role: "alert" }, `${fault.message}${fault.expected ? `; expected ${fault.expected}` : ""} `), editedWords(review, place), isEdited(review, place) && undoButton(review, place, () => input.focus()));
  });
  return el("span", {}, input, state);
}

/** @param {Review} review @param {string} place */
const isEdited = (review, place) => review.edits.has(place) || review.plannedEdits.has(place);

/** @param {Review} review @param {string} place @param {() => void} [then] Where the keyboard goes on: the button may be gone. */
function undoButton(review, place, then = () => document.getElementById("readings-title")?.focus()) {
  const click = () => {
    undo(review, place);
    then();
  };
  return el("button", { type: "button", class: "link", "aria-label": `Undo the edit of ${place}`, click }, "undo");
}

/** What a cell said before, and since when it does not. @param {Review} review @param {string} place */
function editedWords(review, place) {
  const pending = review.edits.get(place);
  const planned = review.plannedEdits.get(place);
  if (pending) return `edited, not planned with yet; the plan read ${quoted(review.plannedText(place))} `;
  return planned ? `edited by hand${planned.on ? ` on ${planned.on}` : ""}; the file said ${quoted(planned.said)} ` : "";
}

/** @param {string | undefined} text */
const quoted = (text) => (text ? `“${text}”` : "nothing");

/** Says which edits the plan does not have, and plans with them. @param {Review} review @param {Rights} rights */
export function pendingNotice(review, rights) {
  const count = review.edits.size;
  if (!count) return null;
  const faulty = [...review.edits.keys()].filter((place) => review.cellFaults.has(place)).length;
  const words = faulty ? `${counted(faulty, "edited cell")} cannot be read: see what is wrong beside it, or undo it.` : `${counted(count, "cell")} ${count === 1 ? "is" : "are"} edited and not in this plan yet.`;
  const undoAll = () => {
    review.undoEdits();
    keep(review, "The edits that were not planned with are undone.");
  };
  return el(
    "div",
    { class: "notice warn" },
    el("span", {}, words),
    rights.isReadOnly ? null : el("button", { type: "button", class: "main", click: () => rights.planAgain({}) }, count === 1 ? "Plan again with the edited cell" : "Plan again with the edited cells"),
    rights.isReadOnly ? null : el("button", { type: "button", click: undoAll }, count === 1 ? "Undo it" : "Undo them"),
  );
}

/** Every edited cell: those of the plan, and those that it does not have yet. @param {Review} review @param {Rights} rights */
export function editsTable(review, rights) {
  const places = [...new Set([...review.plannedEdits.keys(), ...review.edits.keys()])];
  if (!places.length) return null;
  const can = mayEdit(review, rights);
  const rows = places.map((place) => {
    const pending = review.edits.get(place);
    const planned = review.plannedEdits.get(place);
    const isBack = pending && planned && pending.value === planned.said;
    return [
      place,
      quoted(review.fileText(place)),
      isBack ? "as the file says" : quoted((pending ?? planned)?.value),
      pending ? "not yet: plan again" : "yes",
      pending?.on ?? planned?.on ?? "–",
      ...(can ? [undoButton(review, place)] : []),
    ];
  });
  return el("div", {}, el("h3", {}, "Edited by hand"), table("Cells that were edited by hand", ["Cell", "The file says", "Read instead", "In the plan", "Edited on", ...(can ? ["Undo"] : [])], rows, { most: LISTED_MAX, isQuiet: true }));
}

/** A cell by its place: a unit in a header, a row that was left out, a cell that is blank. @param {Review} review @param {Rights} rights */
export function otherCell(review, rights) {
  if (!mayEdit(review, rights)) return null;
  const place = /** @type {HTMLInputElement} */ (el("input", { id: "other-place", required: true, autocomplete: "off", spellcheck: "false", pattern: CELL.source.slice(1, -1), title: examplePlace(review), placeholder: examplePlace(review) }));
  const text = /** @type {HTMLInputElement} */ (el("input", { id: "other-text", autocomplete: "off" }));
  const form = el("form", { class: "actions" }, el("label", { for: "other-place" }, "Cell"), place, el("label", { for: "other-text" }, "Read instead"), text, el("button", {}, "Edit this cell"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    edit(review, place.value.trim(), text.value);
    /** @type {HTMLFormElement} */ (form).reset();
  });
  return el("details", { class: "other-cell" }, el("summary", {}, "Edit another cell: a header with its unit, a row that was left out, a blank cell"), form);
}

/** @param {Review} review */
const examplePlace = (review) => review.plan.inputs.readings.find((/** @type {any} */ each) => CELL.test(each.place))?.place ?? "Plan!C5";
