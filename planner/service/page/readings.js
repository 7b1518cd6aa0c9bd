/**
 * How every row of the file was read: each workload with its cells, what they said and what they became, edited in place.
 * @module
 */

import { cellTable, editsTable, mayEdit, otherCell, pendingNotice } from "./cells.js";
import { bullets, el, put, table } from "./elements.js";
import { counted, inWords } from "./format.js";

/** @typedef {import("./model.js").Review} Review */
/** @typedef {import("./review.js").Rights} Rights */

const ROWS_MAX = 20;
const COLUMNS = ["Workload", "Team", "Kind", "At", "Accelerators", "Asked for"];

/** @param {HTMLElement} place @param {Review} review @param {Rights} rights */
export function showReadings(place, review, rights) {
  const { plan } = review;
  const { inputs } = plan;
  const refused = inputs.rows_refused.filter((/** @type {any} */ row) => row.reason !== "blank");
  const blank = inputs.rows_refused.length - refused.length;
  const counts = inputs.rows_in ? `${counted(inputs.rows_in, "row")}: ${inputs.rows_used} used (workloads and stated assumptions), ${inputs.rows_refused.length} left out${blank ? ` (${blank} blank)` : ""}.` : "";
  const live = el("div", { "aria-live": "polite" });
  const does = mayEdit(review, rights) ? "click one to see its cells and to correct them" : "click one to see its cells";
  put(
    place,
    el("p", {}, `${inputs.name || "The request"}, read as ${inputs.format || "json"}. ${counts} ${counted(plan.workloads.length, "workload")}: ${does}.`),
    live,
    inputs.is_editable || rights.isReadOnly ? null : el("p", { class: "quiet-text" }, "The lines of this file are a record of what was used, and are not edited here. Change the file, or ask with a sheet or a request."),
    inputs.notes.length ? bullets(inputs.notes) : null,
    table("Workloads as they were understood", COLUMNS, plan.workloads.map(workloadRow(review, rights)), { most: ROWS_MAX, isQuiet: true }),
    refused.length ? el("div", {}, el("h3", {}, "Rows left out"), table("Rows left out, with the reason", ["Row", "Reason", "Says"], refused.map((/** @type {any} */ row) => [row.place, row.reason, row.read]), { most: ROWS_MAX, isQuiet: true })) : null,
    otherCell(review, rights),
  );
  review.follow(() => {
    put(live, pendingNotice(review, rights), editsTable(review, rights));
    for (const fault of review.cellFaults.keys()) openWorkload(place, review, fault);
  });
}

/** @param {Review} review @param {Rights} rights */
const workloadRow = (review, rights) => (/** @type {any} */ workload, /** @type {number} */ index) => [
  cellsOf(review, workload, index, rights),
  workload.team || "–",
  workload.kind,
  workload.place || "–",
  workload.accelerators.join(", ") || "any",
  demandText(workload),
];

/** @param {any} workload */
function demandText(workload) {
  const [least, most] = [Math.min(...workload.demand), Math.max(...workload.demand)];
  const short = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });
  return `${short.format(least)}${most > least ? ` to ${short.format(most)}` : ""} ${inWords(workload.unit)} a month`;
}

/** @param {number} index */
const prefixOf = (index) => `workloads[${index}].`;

/** The name of a workload, which shows its cells below it. @param {Review} review @param {any} workload @param {number} index @param {Rights} rights */
function cellsOf(review, workload, index, rights) {
  const { plan } = review;
  const prefix = prefixOf(index);
  const readings = plan.inputs.readings.filter((/** @type {any} */ each) => each.path.startsWith(prefix));
  const gaps = plan.gaps.filter((/** @type {any} */ gap) => gap.workload === workload.name && ["renamed", "predicted"].includes(gap.kind));
  if (!readings.length && !gaps.length) return workload.name;
  /** @type {HTMLElement | null} */
  let below = null;
  const button = el("button", { type: "button", class: "figure", "aria-expanded": "false", "data-workload": String(index) }, workload.name);
  const show = (/** @type {boolean} */ isOpen) => {
    if (isOpen && !below) {
      const parts = [
        readings.length ? cellTable(review, readings, prefix.length, rights) : null,
        gaps.length ? bullets(gaps.map((/** @type {any} */ gap) => `${inWords(gap.kind)}: ${gap.subject}. ${gap.effect.text}`)) : null,
      ];
      below = el("tr", { class: "cells" }, el("td", { colspan: COLUMNS.length }, parts));
      button.closest("tr")?.after(below);
    }
    if (below) below.hidden = !isOpen;
    button.setAttribute("aria-expanded", String(isOpen));
  };
  button.addEventListener("click", () => show(button.getAttribute("aria-expanded") !== "true"));
  return button;
}

/** Shows the cells of the workload that a cell belongs to. @param {HTMLElement} place @param {Review} review @param {string} cell */
function openWorkload(place, review, cell) {
  const reading = review.plan.inputs.readings.find((/** @type {any} */ each) => each.place === cell);
  const index = /^workloads\[(\d+)\]/.exec(reading?.path ?? "")?.[1];
  const button = index === undefined ? null : /** @type {HTMLElement | null} */ (place.querySelector(`[data-workload="${index}"]`));
  if (button?.getAttribute("aria-expanded") === "false") button.click();
}
