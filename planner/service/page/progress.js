/**
 * A plan in the making: what is worked on, the best found so far and its distance from the bound, and how to stop it.
 * @module
 */

import { announce, el, put } from "./elements.js";
import { inWords, money, percent } from "./format.js";
import { cancelJob } from "./service.js";

/** @typedef {import("./service.js").Job} Job */

const SLOW_SECONDS = 30;
const PROVEN = 1e-6;
const STRATEGIES = ["cloud", "onprem", "hybrid"];
const WORDS = new Map([["queued", "Waiting for its turn"], ["running", "Starting"], ["done", "Done"], ["cancelled", "Cancelled"]]);

/** @param {Job} job */
function describeState(job) {
  const phase = STRATEGIES.includes(job.phase) ? `Searching the best plan, strategy ${job.phase}` : inWords(job.phase);
  return (job.state === "running" && phase) || WORDS.get(job.state) || job.state;
}

/** @param {Element} place @param {string} name @param {() => void} leave */
export function showProgress(place, name, leave) {
  const phase = el("strong", {}, "Sending the file");
  const found = el("p", { class: "quiet-text" });
  const clock = el("span", {}, "0 s");
  const slow = el("p", { hidden: true, class: "notice" }, "This is taking a while: many workloads or months are searched longer. You may close the page; the plan goes on and stays in the store, and the search “quick” under Settings is faster.");
  const stop = el("button", { type: "button", disabled: true }, "Cancel");
  let job = "";
  stop.addEventListener("click", async () => {
    stop.setAttribute("disabled", "");
    await cancelJob(job);
    announce("The plan was cancelled.");
    leave();
  });
  put(
    place,
    el("h1", { id: "progress-title", tabindex: -1 }, `Planning ${name}`),
    el("progress", { "aria-labelledby": "progress-title" }),
    el("p", {}, phase, ", ", clock),
    found,
    slow,
    el("div", { class: "actions" }, stop),
  );
  /** @type {HTMLElement} */ (place.firstElementChild).focus();
  const begun = Date.now();
  const timer = setInterval(() => {
    const seconds = Math.round((Date.now() - begun) / 1000);
    clock.textContent = `${seconds} s`;
    slow.hidden = seconds < SLOW_SECONDS;
  }, 500);
  return {
    /** The job is in the queue and can be cancelled. @param {string} at */
    begin(at) {
      job = at;
      stop.removeAttribute("disabled");
    },
    /** @param {Job} state */
    tell(state) {
      const words = describeState(state);
      if (phase.textContent !== words) announce(words);
      phase.textContent = words;
      const bound = state.gap === null ? "" : state.gap <= PROVEN ? ", and no plan of this strategy costs less" : `, at most ${percent(state.gap)} above the proven bound`;
      found.textContent = state.best === null ? "" : `Best plan of it so far: present cost ${money(state.best)}${bound}.`;
    },
    end: () => clearInterval(timer),
  };
}
