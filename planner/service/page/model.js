/**
 * The review on the page: a plan, its audit trail, and figures that a reader has moved. Each change tells all its parts.
 * @module
 */

import { costStrategies, readLedger } from "./ledger.js";

/** @typedef {import("./formula.js").Figures} Figures */
/** @typedef {Map<string, import("./ledger.js").StrategyAmounts>} Amounts By strategy. */

/** What a cell is to be read as; `on` is the day of the edit, once it is kept. @typedef {{place: string, value: string, on: string | null}} CellEdit */

/** One strategy is cheaper than another beyond this fraction: sums differ in their last digits. */
const EQUAL = 1e-9;

export class Review {
  /** @param {{plan: any, screen: any}} document @param {string} id */
  constructor(document, id) {
    this.id = id;
    this.plan = document.plan;
    this.screen = document.screen;
    this.ledger = readLedger(this.plan);
    /** @type {Figures} */
    this.moves = {};
    /** @type {Amounts} */
    this.planned = costStrategies(this.ledger, this.screen.figures);
    /** @type {Amounts} */
    this.amounts = this.planned;
    /** @type {import("./link.js").Scenario[]} */
    this.scenarios = [];
    /** Cells that were edited and that the plan does not have yet. @type {Map<string, CellEdit>} */
    this.edits = new Map();
    /** What is wrong with edited cells. @type {Map<string, {message: string, expected: string}>} */
    this.cellFaults = new Map();
    /** Cells that were edited before this plan was made. @type {Map<string, any>} */
    this.plannedEdits = new Map((this.plan.inputs.edits ?? []).map((/** @type {any} */ each) => [each.place, each])); // none in plans of before
    /** The review in the store, once it is kept. @type {import("./service.js").KeptReview | null} */
    this.kept = null;
    /** The secret of the link that it was opened by. */
    this.shared = "";
    /** The decision before the last edits of cells. @type {{chosen: string | null, present: number | null} | null} */
    this.before = null;
    this.milliseconds = 0;
    /** @type {(() => void)[]} */
    this.listeners = [];
  }

  /** The recommended strategy; null where none is. @returns {string | null} */
  get chosen() {
    return this.plan.recommendation.strategy;
  }

  /** Every figure as it stands now. @returns {Figures} */
  get figures() {
    return { ...this.screen.figures, ...this.moves };
  }

  get isMoved() {
    return Object.keys(this.moves).length > 0;
  }

  /** Calls back now and after every change. @param {() => void} show */
  follow(show) {
    this.listeners.push(show);
    show();
  }

  /** Sets figures over those planned; a figure at its planned value is not moved. @param {Figures} moves */
  setMoves(moves) {
    const moved = Object.entries(moves).filter(([name, value]) => value !== this.screen.figures[name]);
    this.moves = Object.fromEntries(moved);
    const begun = performance.now();
    this.amounts = costStrategies(this.ledger, this.figures);
    this.milliseconds = performance.now() - begun;
    this.tell();
  }

  /** Calls everybody who follows. */
  tell() {
    for (const show of this.listeners) show();
  }

  /** What the plan read in a cell. @param {string} place @returns {string | undefined} */
  plannedText(place) {
    return this.plannedEdits.get(place)?.value ?? this.plan.inputs.readings.find((/** @type {any} */ each) => each.place === place)?.read;
  }

  /** What the file says in a cell. @param {string} place @returns {string | undefined} */
  fileText(place) {
    return this.plannedEdits.get(place)?.said ?? this.plannedText(place);
  }

  /** What a cell is to be read as, with every edit. @param {string} place @returns {string} */
  textOf(place) {
    return this.edits.get(place)?.value ?? this.plannedText(place) ?? "";
  }

  /** Edits a cell; the plan has it once it is made again. @param {string} place @param {string} value */
  editCell(place, value) {
    const text = value.trim();
    this.cellFaults.delete(place);
    if (text === this.plannedText(place)) this.edits.delete(place);
    else this.edits.set(place, { place, value: text, on: null });
    this.tell();
  }

  /** Undoes the last edit of a cell: one that the plan has is edited back to what the file says. @param {string} place */
  undoCell(place) {
    this.cellFaults.delete(place);
    if (this.edits.has(place)) this.edits.delete(place);
    else this.edits.set(place, { place, value: this.fileText(place) ?? "", on: null });
    this.tell();
  }

  /** Undoes every edit that the plan does not have. */
  undoEdits() {
    this.edits.clear();
    this.cellFaults.clear();
    this.tell();
  }

  /** Every edited cell, for a plan that is made with them. @returns {CellEdit[]} */
  get cells() {
    return [...new Map([...this.plannedEdits, ...this.edits]).values()].map(({ place, value, on }) => ({ place, value, on }));
  }

  /** Shows what is wrong with edited cells, beside them. @param {{path: string, message: string, expected: string}[]} faults */
  showCellFaults(faults) {
    this.cellFaults = new Map(faults.map((each) => [each.path, each]));
    this.tell();
  }

  /** @param {string} name @param {number} value */
  move(name, value) {
    this.setMoves({ ...this.moves, [name]: value });
  }

  /**
   * What the figures say of the decision: the strategy that costs least by present cost, and whether that is another one
   * than with the planned figures.
   * @param {Amounts} [amounts]
   */
  judge(amounts = this.amounts) {
    const before = this.cheapest(this.planned);
    const now = this.cheapest(amounts);
    const chosen = this.chosen ?? before;
    const lead = (amounts.get(chosen ?? "")?.present ?? 0) - (amounts.get(now ?? "")?.present ?? 0);
    return { cheapest: now, flips: now !== before && now !== chosen, lead };
  }

  /** The recommended strategy where no other costs less. @param {Amounts} amounts @returns {string | null} */
  cheapest(amounts) {
    const present = (/** @type {string} */ name) => amounts.get(name)?.present ?? Infinity;
    let best = this.chosen && amounts.has(this.chosen) ? this.chosen : null;
    for (const name of amounts.keys()) {
      if (best === null || present(name) < present(best) - EQUAL * Math.abs(present(best))) best = name;
    }
    return best;
  }
}
