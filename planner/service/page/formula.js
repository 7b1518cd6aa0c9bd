/**
 * Formulas of the audit trail: read and computed as `planner/result/formulas.py` does, without eval.
 *
 * Names are those of assumptions and prices, and hours_per_month. As in mathematics, -2 ^ 2 is -4.
 * @module
 */

/** @typedef {Record<string, number>} Figures Values by name. */
/** @typedef {{text: string, names: Set<string>, value: (figures: Figures) => number}} Formula */
/** @typedef {(figures: Figures) => number} Term */

const SUM = 1;
const PRODUCT = 2;
const NEGATION = 3;
const POWER = 4;
const NESTING_MAX = 200;
const BINDS = new Map([["+", SUM], ["-", SUM], ["*", PRODUCT], ["/", PRODUCT], ["^", POWER]]);
const TOKEN = /\s*(?:(\d+\.?\d*(?:[eE][-+]?\d+)?)|([A-Za-z_][A-Za-z0-9_]*)|([-+*/^(),]))/y;

/** Present value of a payment at the end of each period, with the opposite sign.
 * @param {number} rate @param {number} periods @param {number} payment */
function annuity(rate, periods, payment) {
  // expm1 and log1p keep the digits of a tiny rate, of which 1 - (1 + rate)^-n would lose all
  return -payment * (rate === 0 ? periods : -Math.expm1(-periods * Math.log1p(rate)) / rate);
}

/** @type {Record<string, (left: number, right: number) => number>} */
const OPERATIONS = {
  "+": (left, right) => left + right,
  "-": (left, right) => left - right,
  "*": (left, right) => left * right,
  "/": (left, right) => left / right,
  "^": (left, right) => left ** right,
};
/** @type {Record<string, {arity: number, apply: (...values: number[]) => number}>} */
const FUNCTIONS = { MAX: { arity: 2, apply: Math.max }, PV: { arity: 3, apply: annuity } };

/** The pieces of a formula; SyntaxError for a character that belongs to none.
 * @param {string} text */
function splitTokens(text) {
  const tokens = [];
  const trimmed = text.trimEnd();
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < trimmed.length) {
    const match = TOKEN.exec(trimmed);
    if (!match) throw new SyntaxError(text);
    tokens.push({ number: match[1], name: match[2], sign: match[3] });
  }
  return tokens;
}

/** The formula, ready to be computed; SyntaxError if it is not of the grammar.
 * @param {string} text @returns {Formula} */
export function readFormula(text) {
  const tokens = splitTokens(text);
  const names = new Set();
  let at = 0;

  /** @param {string} sign */
  function expect(sign) {
    if (tokens[at]?.sign !== sign) throw new SyntaxError(text);
    at += 1;
  }

  /** @param {string} name @param {number} depth @returns {Term} */
  function readCall(name, depth) {
    const sides = [];
    do {
      at += 1;
      sides.push(readTerm(0, depth + 1));
    } while (tokens[at]?.sign === ",");
    expect(")");
    const known = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
    if (known?.arity !== sides.length) throw new SyntaxError(text);
    return (figures) => known.apply(...sides.map((side) => side(figures)));
  }

  /** @param {number} depth @returns {Term} */
  function readOperand(depth) {
    const { number, name, sign } = tokens[at] ?? {};
    at += 1;
    if (number !== undefined) {
      const constant = Number(number);
      return () => constant;
    }
    if (name !== undefined && tokens[at]?.sign === "(") return readCall(name, depth);
    if (name !== undefined) {
      names.add(name);
      return (figures) => figures[name];
    }
    if (sign === "-") {
      const inner = readTerm(NEGATION, depth + 1);
      return (figures) => -inner(figures);
    }
    if (sign !== "(") throw new SyntaxError(text);
    const inner = readTerm(0, depth + 1);
    expect(")");
    return inner;
  }

  /** @param {number} binds @param {number} depth @returns {Term} */
  function readTerm(binds, depth) {
    if (depth > NESTING_MAX) throw new SyntaxError(text);
    let term = readOperand(depth);
    for (let sign = tokens[at]?.sign; (BINDS.get(sign) ?? 0) > binds; sign = tokens[at]?.sign) {
      at += 1;
      const left = term;
      const right = readTerm(/** @type {number} */ (BINDS.get(sign)), depth + 1);
      const apply = OPERATIONS[sign];
      term = (figures) => apply(left(figures), right(figures));
    }
    return term;
  }

  const value = readTerm(0, 0);
  if (at < tokens.length) throw new SyntaxError(text);
  return { text, names, value };
}
