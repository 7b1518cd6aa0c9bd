/**
 * Charts as SVG: lines, bars beside one another and bars on one another; each with its numbers as a table.
 * Colours come from the style sheet by the class of a series. Knows no plan.
 * @module
 */

import { el, svg, table } from "./elements.js";
import { money, shortMoney } from "./format.js";

/** @typedef {{name: string, values: number[], kind: string}} Series `kind` is its class in the style sheet. */
/** @typedef {{title: string, summary: string, unit: string, across: string, labels: string[], lines?: Series[], beside?: Series[], stacked?: Series[], hasTable?: boolean}} Chart `hasTable`: its numbers stand beside it. */

const HEIGHT = 260;
const MARGIN = { left: 58, right: 10, top: 10, bottom: 28 };
const TICKS = 4;
const LABEL_WIDTH = 62;

/** About TICKS round amounts from at or below the least to at or above the most.
 * @param {number} least @param {number} most */
export function chooseTicks(least, most) {
  const span = most - least || 1;
  const power = 10 ** Math.floor(Math.log10(span / TICKS));
  const step = [1, 2, 5, 10].map((times) => times * power).find((each) => span <= each * TICKS) ?? 10 * power;
  const first = Math.floor(least / step);
  const last = Math.max(Math.ceil(most / step), first + 1);
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
}

/** Where a place along the axis and an amount are drawn.
 * @param {Chart} chart @param {number} width */
function makeScale(chart, width) {
  const tops = chart.labels.map((_, place) => (chart.stacked ?? []).reduce((sum, each) => sum + each.values[place], 0));
  const values = [...(chart.lines ?? []), ...(chart.beside ?? [])].flatMap((each) => each.values);
  const ticks = chooseTicks(Math.min(0, ...values), Math.max(0, ...values, ...tops));
  const [least, most] = [ticks[0], ticks[ticks.length - 1]];
  const slot = (width - MARGIN.left - MARGIN.right) / chart.labels.length;
  return {
    ticks,
    slot,
    across: (/** @type {number} */ place) => MARGIN.left + place * slot,
    upward: (/** @type {number} */ amount) => MARGIN.top + ((HEIGHT - MARGIN.top - MARGIN.bottom) * (most - amount)) / (most - least),
  };
}

/** @typedef {ReturnType<typeof makeScale>} Scale */

/** @param {Scale} scale @param {number} width */
function drawGrid(scale, width) {
  return scale.ticks.flatMap((tick) => [
    svg("line", { class: tick === 0 ? "axis" : "grid", x1: MARGIN.left, x2: width - MARGIN.right, y1: scale.upward(tick), y2: scale.upward(tick) }),
    svg("text", { x: MARGIN.left - 6, y: scale.upward(tick) + 4, class: "amount" }, shortMoney(tick)),
  ]);
}

/** @param {Chart} chart @param {Scale} scale */
function drawLabels(chart, scale) {
  const every = Math.ceil(LABEL_WIDTH / scale.slot);
  return chart.labels.map((label, place) =>
    place % every === 0 && svg("text", { x: scale.across(place + 0.5), y: HEIGHT - 8, class: "label" }, label),
  );
}

/** @param {Series} series @param {number} place @param {number} x @param {number} width @param {number} from @param {number} to @param {Scale} scale @param {string} label */
function drawBar(series, place, x, width, from, to, scale, label) {
  const [top, bottom] = [scale.upward(Math.max(from, to)), scale.upward(Math.min(from, to))];
  const words = `${series.name}, ${label}: ${money(series.values[place])}`;
  return svg("rect", { class: `bar ${series.kind}`, x, width, y: top, height: Math.max(0, bottom - top) }, svg("title", {}, words));
}

/** @param {Chart} chart @param {Scale} scale */
function drawBeside(chart, scale) {
  const series = chart.beside ?? [];
  const width = (0.8 * scale.slot) / Math.max(1, series.length);
  return chart.labels.flatMap((label, place) =>
    series.map((each, index) =>
      drawBar(each, place, scale.across(place + 0.1) + index * width, Math.max(0.5, width - 1), 0, each.values[place], scale, label),
    ),
  );
}

/** @param {Chart} chart @param {Scale} scale */
function drawStacked(chart, scale) {
  return chart.labels.flatMap((label, place) => {
    let height = 0;
    return (chart.stacked ?? []).map((each) => {
      const from = height;
      height += each.values[place];
      return drawBar(each, place, scale.across(place + 0.15), 0.7 * scale.slot, from, height, scale, label);
    });
  });
}

/** @param {Chart} chart @param {Scale} scale */
function drawLines(chart, scale) {
  return (chart.lines ?? []).map((each) => {
    const points = each.values.map((value, place) => `${scale.across(place + 0.5).toFixed(1)},${scale.upward(value).toFixed(1)}`);
    return svg("polyline", { class: `line ${each.kind}`, points: points.join(" ") }, svg("title", {}, each.name));
  });
}

/** @param {Chart} chart @param {number} width @param {string} id */
function drawChart(chart, width, id) {
  const scale = makeScale(chart, width);
  const shapes = [drawGrid(scale, width), drawLabels(chart, scale), drawStacked(chart, scale), drawBeside(chart, scale), drawLines(chart, scale)];
  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-labelledby": `${id}-title ${id}-desc` },
    svg("title", { id: `${id}-title` }, chart.title),
    svg("desc", { id: `${id}-desc` }, chart.summary),
    ...shapes,
  );
}

/** The numbers of a chart as a table. @param {Chart} chart */
function tabulate(chart) {
  const series = [...(chart.stacked ?? []), ...(chart.beside ?? []), ...(chart.lines ?? [])];
  const rows = chart.labels.map((label, place) => [label, ...series.map((each) => money(each.values[place]))]);
  return table(`${chart.title}, ${chart.unit}`, [chart.across, ...series.map((each) => each.name)], rows, { numbers: series.map((_, index) => index + 1) });
}

/** A figure with a chart that fills its width, its legend and its numbers. @param {string} id @param {Chart} chart */
export function makeChart(id, chart) {
  const space = el("div", { class: "drawing" });
  const series = [...(chart.stacked ?? []), ...(chart.beside ?? []), ...(chart.lines ?? [])];
  const legend = el("ul", { class: "legend" }, series.map((each) => el("li", { class: `key ${each.kind}` }, each.name)));
  const numbers = chart.hasTable ? null : el("details", { class: "numbers" }, el("summary", {}, "The numbers"), tabulate(chart));
  const figure = el("figure", { class: "chart" }, el("figcaption", {}, el("strong", {}, chart.title), ` ${chart.unit}`), space, legend, numbers);
  let drawn = 0;
  const draw = () => {
    const width = Math.max(280, Math.round(space.clientWidth || 640));
    if (width === drawn) return;
    drawn = width;
    space.replaceChildren(drawChart(chart, width, id));
  };
  new ResizeObserver(draw).observe(space);
  return figure;
}
