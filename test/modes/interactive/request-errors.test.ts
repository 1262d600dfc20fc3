import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { tempAgentDir } from "../../helpers/temp.js";
import { startApp } from "./app.js";

/** Answers of the provider `lab`, by model. */
const ANSWERS: Record<string, (response: ServerResponse) => void> = {
	page: (response) => {
		response.writeHead(502, { "content-type": "text/html" });
		response.end("<html><head><title>502 Bad Gateway</title></head><body><h1>502</h1></body></html>");
	},
	portal: (response) => {
		response.writeHead(200, { "content-type": "text/html" });
		response.end("<html><title>Log in to the WiFi</title></html>");
	},
	quota: (response) => {
		response.writeHead(429, { "content-type": "application/json" });
		response.end('{"error":{"message":"You exceeded your current quota.","code":"insufficient_quota"}}');
	},
	hour: (response) => {
		response.writeHead(429, { "content-type": "application/json", "retry-after": "3600" });
		response.end('{"error":{"message":"slow down"}}');
	},
	region: (response) => {
		response.writeHead(403, { "content-type": "application/json" });
		response.end('{"error":{"message":"Country, region, or territory not supported"}}');
	},
};

/** Sends a prompt to a model of `lab` and returns the lines of the error. @param model of `ANSWERS`, or `refused` */
async function failure(model: string, columns: number, api = "openai-completions") {
	let requests = 0;
	const server = createServer((request, response) => {
		requests++;
		request.resume().on("end", () => ANSWERS[model]?.(response));
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const { port } = server.address() as AddressInfo;
	if (model === "refused") await new Promise((resolve) => server.close(resolve));
	else onTestFinished(() => void server.close());
	const lab = { baseUrl: `http://127.0.0.1:${port}/v1`, api, apiKey: "k", models: [{ id: model }] };
	const app = await startApp({
		columns,
		rows: 40,
		withoutModel: true,
		agentDir: tempAgentDir({ models: { providers: { lab } } }),
		agentSettings: { defaultProvider: "lab", retry: { maxRetries: 1, baseDelayMs: 1 } },
	});
	await app.terminal.waitFor(/ 0%|context/);
	await app.submit("hi");
	await app.terminal.waitFor(/model|models\.json/);
	await expect.poll(() => app.session().isRunning).toBe(false);
	await app.terminal.waitFor("▎   ");
	const screen = (await app.terminal.screen()).map((row) => row.replaceAll(String(port), "PORT").trimEnd());
	const from = screen.findLastIndex((row) => row.startsWith("▎ ✗"));
	const end = screen.findIndex((row, at) => at > from && !row.startsWith("▎   "));
	const lines = screen.slice(from, end);
	return { lines, requests };
}

/** Hides the time, and the day near midnight. */
const clock = (lines: readonly string[]) =>
	lines
		.join("\n")
		.replace(/(?:on \d{4}-\d\d-\d\d )?at \d\d:\d\d/, "at HH:MM")
		.split("\n");

test.each([
	[
		"page",
		40,
		[
			"▎ ✗ the server 127.0.0.1:PORT answered",
			"▎   502 with a web page (502 Bad",
			"▎   Gateway)",
			"▎   the provider has problems: send the",
			"▎   prompt again later · choose another",
			"▎   model with /model",
		],
	],
	[
		"page",
		80,
		[
			"▎ ✗ the server 127.0.0.1:PORT answered 502 with a web page (502 Bad Gateway)",
			"▎   the provider has problems: send the prompt again later · choose another",
			"▎   model with /model",
		],
	],
	[
		"page",
		120,
		[
			"▎ ✗ the server 127.0.0.1:PORT answered 502 with a web page (502 Bad Gateway)",
			"▎   the provider has problems: send the prompt again later · choose another model with /model",
		],
	],
	[
		"refused",
		40,
		[
			"▎ ✗ cannot connect to lab at",
			"▎   127.0.0.1:PORT: connection refused",
			"▎   (ECONNREFUSED)",
			"▎   start the server, or correct its",
			"▎   address in models.json",
		],
	],
	[
		"refused",
		80,
		[
			"▎ ✗ cannot connect to lab at 127.0.0.1:PORT: connection refused (ECONNREFUSED)",
			"▎   start the server, or correct its address in models.json",
		],
	],
	[
		"region",
		80,
		[
			"▎ ✗ 403 Country, region, or territory not supported",
			"▎   the provider does not allow your region or account · choose another",
			"▎   provider's model with /model",
		],
	],
	[
		"quota",
		80,
		[
			"▎ ✗ 429 You exceeded your current quota.",
			"▎   the account has no quota left: add credit with the provider · choose another",
			"▎   model with /model",
		],
	],
	[
		"hour",
		80,
		["▎ ✗ 429 slow down: try again at HH:MM (in 1 h)", "▎   wait until then · choose another model with /model"],
	],
	[
		"hour",
		120,
		["▎ ✗ 429 slow down: try again at HH:MM (in 1 h)", "▎   wait until then · choose another model with /model"],
	],
])("the error of the model %s at %i columns", async (model, columns, expected) => {
	expect(clock((await failure(model, columns)).lines)).toEqual(expected);
});

test.each([
	"openai-completions",
	"openai-responses",
	"anthropic-messages",
	"google-generative-ai",
	"mistral-conversations",
])(
	"%s: a web page, quota and long delays are described, and only the page of a failing server is retried",
	async (api) => {
		const results = await Promise.all(["page", "portal", "quota", "hour"].map((model) => failure(model, 120, api)));
		expect(results.map(({ lines, requests }) => [clock(lines)[0], requests])).toEqual([
			["▎ ✗ the server 127.0.0.1:PORT answered 502 with a web page (502 Bad Gateway)", 2],
			["▎ ✗ lab at 127.0.0.1:PORT answered with a web page instead of a reply", 1],
			["▎ ✗ 429 You exceeded your current quota.", 1],
			["▎ ✗ 429 slow down: try again at HH:MM (in 1 h)", 1],
		]);
	},
);
