/**
 * The review on the page: a plan, its audit trail, and figures that a reader has moved. Each change tells all its parts.
 * @module
 */

import { costStrategies, readLedger } from "./ledger.js";

/** @typedef {import("./formula.js").Figures} Figures */
/** @typedef {Map<string, import("./ledger.js").StrategyAmounts>} Amounts By strategy. */

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
    /** The review in the store, once it is kept. @type {import("./service.js").KeptReview | null} */
    this.kept = null;
    /** The secret of the link that it was opened by. */
    this.shared = "";
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
    for (const show of this.listeners) show();
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
