/**
 * How every row of the file was read: each workload with its cells, what they said and what they became.
 * @module
 */

import { bullets, el, put, showDialog, table } from "./elements.js";
import { counted, inWords } from "./format.js";

/** @typedef {import("./model.js").Review} Review */

const ROWS_MAX = 20;

/** @param {HTMLElement} place @param {Review} review */
export function showReadings(place, { plan }) {
  const { inputs } = plan;
  const refused = inputs.rows_refused.filter((/** @type {any} */ row) => row.reason !== "blank");
  const blank = inputs.rows_refused.length - refused.length;
  const counts = inputs.rows_in ? `${counted(inputs.rows_in, "row")}: ${inputs.rows_used} used (workloads and stated assumptions), ${inputs.rows_refused.length} left out${blank ? ` (${blank} blank)` : ""}.` : "";
  put(
    place,
    el("p", {}, `${inputs.name || "The request"}, read as ${inputs.format || "json"}. ${counts} ${counted(plan.workloads.length, "workload")}.`),
    inputs.notes.length ? bullets(inputs.notes) : null,
    table("Workloads as they were understood; click one for its cells", ["Workload", "Team", "Kind", "At", "Accelerators", "Asked for"], plan.workloads.map(workloadRow(plan)), { most: ROWS_MAX, isQuiet: true }),
    refused.length ? el("div", {}, el("h3", {}, "Rows left out"), table("Rows left out, with the reason", ["Row", "Reason", "Says"], refused.map((/** @type {any} */ row) => [row.place, row.reason, row.read]), { most: ROWS_MAX, isQuiet: true })) : null,
  );
}

/** @param {any} plan */
const workloadRow = (plan) => (/** @type {any} */ workload, /** @type {number} */ index) => [
  cellsOf(plan, workload, index),
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

/** The name of a workload, which opens its cells. @param {any} plan @param {any} workload @param {number} index */
function cellsOf(plan, workload, index) {
  const prefix = `workloads[${index}].`;
  const readings = plan.inputs.readings.filter((/** @type {any} */ each) => each.path.startsWith(prefix));
  const gaps = plan.gaps.filter((/** @type {any} */ gap) => gap.workload === workload.name && ["renamed", "predicted"].includes(gap.kind));
  if (!readings.length && !gaps.length) return workload.name;
  const open = () => {
    const rows = readings.map((/** @type {any} */ each) => [each.place, inWords(each.path.slice(prefix.length)), each.read, each.value]);
    showDialog(`How ${workload.name} was read`, [
      rows.length ? table("Its cells, what they say and what they became", ["Cell", "As", "Says", "Read as"], rows) : null,
      gaps.length ? bullets(gaps.map((/** @type {any} */ gap) => `${inWords(gap.kind)}: ${gap.subject}. ${gap.effect.text}`)) : null,
    ]);
  };
  return el("button", { type: "button", class: "figure", "aria-haspopup": "dialog", click: open }, workload.name);
}
