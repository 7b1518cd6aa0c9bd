/**
 * Where a file comes in: chosen, dropped, or one of the examples.
 * @module
 */

import { byId } from "./elements.js";
import { readExample } from "./service.js";

/** @param {(file: File) => void} take @param {(error: unknown) => void} fail */
export function setUpIntake(take, fail) {
  const drop = byId("drop");
  const input = /** @type {HTMLInputElement} */ (byId("file"));
  const takeChosen = () => {
    if (input.files?.length) take(input.files[0]);
    input.value = "";
  };
  input.addEventListener("change", takeChosen);
  if (input.files?.length) takeChosen(); // chosen before the page was ready
  byId("question").addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
  document.addEventListener("dragleave", () => drop.classList.remove("over"));
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    const file = event.dataTransfer?.files[0];
    if (file && !byId("intake").hidden) take(file);
  });
  for (const button of byId("examples").querySelectorAll("button")) {
    button.disabled = false; // in the shell it waits for this module
    button.addEventListener("click", () => readExample(button.dataset.example ?? "").then(take, fail));
  }
}

/** The settings that were stated, as parameters of a request. @returns {Record<string, string>} */
export function readSettings() {
  const form = new FormData(/** @type {HTMLFormElement} */ (byId("question")));
  const stated = ["start", "months", "currency", "effort", "as_of"].map((name) => [name, String(form.get(name) ?? "").trim()]);
  return Object.fromEntries(stated.filter(([, value]) => value));
}
