// Posts a request and a sheet with a client made from the OpenAPI document, reads a plan back, and prints all three.
// ADDRESS REQUEST SHEET: the address of the service, a request in JSON, and a sheet in CSV, both as text.
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

declare const process: { argv: string[] };

type Plan = components["schemas"]["Plan"];

const [address, request, sheet] = process.argv.slice(2) as [string, string, string];
const client = createClient<paths, "application/json">({ baseUrl: address });
const waiting = { header: { Prefer: "wait=600" } };

function asPlan(data: { plan_id: string } | undefined, error: unknown): Plan {
  if (!data || !("ledger" in data)) throw new Error(`no plan: ${JSON.stringify(error ?? data)}`);
  return data as Plan & typeof data; // no other answer has a ledger unless it is asked for
}

const body = JSON.parse(request) as components["schemas"]["Request"];
const answer = await client.POST("/v1/plans", { body, params: waiting });
const posted = asPlan(answer.data, answer.error);

const reading = await client.GET("/v1/plans/{plan_id}", { params: { path: { plan_id: posted.plan_id } } });
const read = asPlan(reading.data, reading.error);

const form = new FormData();
form.set("file", new Blob([sheet], { type: "text/csv" }), "plan.csv");
const sending = await client.POST("/v1/plans/file", {
  body: { file: sheet },
  bodySerializer: () => form,
  params: { ...waiting, query: { months: 2 } },
});
const fromFile = asPlan(sending.data, sending.error);

const wrong = await client.POST("/v1/plans", { body: { ...body, months: 0 }, params: waiting });
const problem = wrong.error as unknown as components["schemas"]["Problem"];

console.log(JSON.stringify({ posted, read, workloads: fromFile.workloads.length, faults: problem.errors }));
