/**
 * Elements of the page, made without markup in strings: what comes from a file is text, never HTML.
 * @module
 */

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Record<string, string | number | boolean | EventListener | undefined>} Attributes */

/** @param {Element} element @param {Attributes} attributes @param {(Child | Child[])[]} children */
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== undefined && value !== false) element.setAttribute(name, String(value));
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false) element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

/** An HTML element; a function among the attributes listens to the event of its name.
 * @param {string} name @param {Attributes} [attributes] @param {...(Child | Child[])} children */
export const el = (name, attributes = {}, ...children) => /** @type {HTMLElement} */ (fill(document.createElement(name), attributes, children));

/** An SVG element.
 * @param {string} name @param {Attributes} [attributes] @param {...(Child | Child[])} children */
export const svg = (name, attributes = {}, ...children) => /** @type {SVGElement} */ (fill(document.createElementNS(SVG, name), attributes, children));

/** The element with this id. @param {string} id */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element;
}

/** Puts children in place of what an element has. @param {Element} element @param {...(Child | Child[])} children */
export function put(element, ...children) {
  element.replaceChildren();
  fill(element, {}, children);
}

/**
 * A table with headers; `numbers` are the columns of numbers; the first column names its row. Rows beyond `most` are
 * shown on demand.
 * @param {string} caption @param {string[]} titles @param {(Child | Child[])[][]} rows
 * @param {{numbers?: number[], total?: boolean, most?: number, printed?: number, isQuiet?: boolean}} [form]
 */
export function table(caption, titles, rows, form = {}) {
  const { numbers = [], total = false, most = Infinity, printed = Infinity, isQuiet = false } = form;
  const kind = (/** @type {number} */ column) => (numbers.includes(column) ? "number" : undefined);
  const body = rows.map((cells, index) =>
    el(
      "tr",
      { class: [total && index === rows.length - 1 && "total", index >= printed && "not-printed"].filter(Boolean).join(" ") || undefined, hidden: index >= most },
      cells.map((cell, column) => el(column ? "td" : "th", column ? { class: kind(column) } : { scope: "row" }, cell)),
    ),
  );
  const head = el("tr", {}, titles.map((title, column) => el("th", { scope: "col", class: kind(column) }, title)));
  const whole = el("table", {}, el("caption", { class: isQuiet ? "visually-hidden" : undefined }, caption), el("thead", {}, head), el("tbody", {}, body));
  const frame = el("div", { class: "table", tabindex: 0, role: "region", "aria-label": caption }, whole);
  if (rows.length <= most) return frame;
  const showAll = () => {
    for (const row of body) row.hidden = false;
    button.remove();
    frame.focus();
  };
  const button = el("button", { type: "button", class: "quiet", click: showAll }, `Show all ${rows.length}`);
  return el("div", {}, frame, button);
}

/** Shows parts over the page, until they are closed. @param {string} title @param {Child[]} parts */
export function showDialog(title, parts) {
  const dialog = /** @type {HTMLDialogElement} */ (byId("source"));
  const close = el("button", { type: "button", class: "main", click: () => dialog.close() }, "Close");
  put(dialog, el("h2", { id: "source-title", tabindex: -1, autofocus: true }, title), parts, el("div", { class: "actions" }, close));
  dialog.showModal();
  dialog.scrollTop = 0;
}

/**
 * Shown while figures are moved: what follows is of the plan as it was made, and why it does not follow them.
 * @param {{isMoved: boolean, follow: (show: () => void) => void}} review @param {string} reason
 */
export function asMade(review, reason) {
  const note = el("p", { class: "as-made" }, el("span", { class: "tag" }, "Of the plan as made"), `: ${reason}. Plan again to see it at the figures as you moved them.`);
  review.follow(() => note.toggleAttribute("hidden", !review.isMoved));
  return note;
}

/** A list of sentences. @param {string[]} items */
export const bullets = (items) => el("ul", {}, items.map((item) => el("li", {}, item)));

/** Text for the eyes of a screen reader when it changes. @param {string} text */
export function announce(text) {
  byId("announcements").textContent = text;
}
