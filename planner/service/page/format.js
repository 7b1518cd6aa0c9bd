/**
 * Numbers as the reader's locale writes them; words are English.
 * @module
 */

const whole = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });
const exact = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 6 });
const percents = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });
const changes = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1, signDisplay: "exceptZero" });
const monthNames = new Intl.DateTimeFormat("en", { month: "short", year: "numeric", timeZone: "UTC" });

/** An amount of money without its currency. @param {number} amount */
export const money = (amount) => whole.format(Math.round(amount) || 0);

/** An amount with its sign. @param {number} amount */
export const signedMoney = (amount) => (Math.round(amount) > 0 ? `+${money(amount)}` : money(amount));

/** 1.2M for 1,234,567. @param {number} amount */
export const shortMoney = (amount) => short.format(amount || 0);

/** Six digits. @param {number} value */
export const number = (value) => exact.format(value);

/** @param {number} fraction */
export const percent = (fraction) => percents.format(fraction);

const shares = new Intl.NumberFormat(undefined, { style: "percent", maximumSignificantDigits: 2 });

/** A small fraction with two digits, where a rounded per cent would be 0. @param {number} fraction */
export const preciseShare = (fraction) => shares.format(fraction);

/** A change with its sign. @param {number} fraction */
export const change = (fraction) => changes.format(fraction);

/** A value with its unit: fractions as per cent. @param {number} value @param {string} unit */
export function amountInUnit(value, unit) {
  if (unit.startsWith("fraction")) return `${percent(value)}${unit.slice("fraction".length).replace(" per year", " a year")}`;
  return unit === "ratio" ? number(value) : `${number(value)} ${unit}`;
}

/** "discount rate annual" for discount_rate_annual. @param {string} code */
export const inWords = (code) => code.replaceAll("_", " ");

/** "Dec 2026" for the month numbered from 1. @param {{start: string}} plan @param {number} month */
export function monthName(plan, month) {
  const [year, first] = plan.start.split("-").map(Number);
  return monthNames.format(new Date(Date.UTC(year, first - 1 + month - 1, 1))).replace(" ", "\u00a0");
}

/** "1 workload", "3 workloads". @param {number} count @param {string} noun */
export const counted = (count, noun) => `${whole.format(count)} ${noun}${count === 1 ? "" : "s"}`;
