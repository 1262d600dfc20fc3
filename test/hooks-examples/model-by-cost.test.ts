import { expect, test } from "vitest";
import { httpError } from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";
import { startApp } from "../modes/interactive/app.js";
import { example } from "./example.js";

const price = (cost: number) => ({ input: cost, output: cost, cacheRead: 0, cacheWrite: 0 });
const LAB = [
	{ id: "middle", input: ["text", "image"], cost: price(2) },
	{ id: "cheap", input: ["text", "image"], cost: price(1) },
	{ id: "blind", input: ["text"], cost: price(0.1) },
	{ id: "narrow", input: ["text", "image"], contextWindow: 8, cost: price(0.1) },
];
const CHEAP = "lab/cheap ($1 in, $1 out per million tokens)";

function lab(models: object[]): string {
	const provider = { baseUrl: "http://127.0.0.1:9/v1", api: "openai-completions", apiKey: "none", models };
	return `export default (pi) => pi.provider("lab", ${JSON.stringify(provider)});`;
}

/** A session with an expensive model, and others of the provider `lab`. */
async function start({ budget, models = LAB }: { budget?: string; models?: object[] } = {}) {
	const notices: string[] = [];
	const run = await startSession({
		hookFiles: [example("model-by-cost.ts")],
		hooks: { "lab.ts": lab(models) },
		userSettings: { retry: { enabled: false } },
		modelOptions: { cost: price(5000), apis: ["openai-completions"] },
		ui: { notify: (text) => void notices.push(text) },
		readFlags: () => ({ values: budget === undefined ? {} : { budget }, problem: null }),
	});
	run.provider.on(() => "ok");
	return { ...run, notices };
}

test("at the budget it offers the cheapest model that can continue, once, and /cheaper switches", async () => {
	const { session, notices } = await start({ budget: "0.01" });
	await session.prompt("hi");
	await session.prompt("hi");
	expect(notices).toEqual([
		expect.stringMatching(/^This session has cost \$\d+\.\d\d · \/cheaper or alt\+m switches to lab\/cheap /),
	]);
	expect(await session.prompt("/cheaper")).toMatchObject({ status: `The model is now ${CHEAP}` });
	expect(session.model).toMatchObject({ provider: "lab", id: "cheap" });
	expect(await session.prompt("/cheaper")).toMatchObject({
		status: "No cheaper model is available that can continue this work",
	});
});

test("--service-tier is sent to OpenAI only", async () => {
	const { session, provider } = await startSession({
		hookFiles: [example("model-by-cost.ts")],
		readFlags: () => ({ values: { "service-tier": "flex" }, problem: null }),
	});
	provider.reply("ok");
	await session.prompt("hi");
	expect(provider.requests[0]?.body.service_tier).toBeUndefined();
	const registered: Record<string, (event: object, ctx: object) => unknown> = {};
	const { default: hook } = await import(example("model-by-cost.ts"));
	hook({ on: (name: string, handler: never) => (registered[name] = handler), flag() {}, command() {}, shortcut() {} });
	const answer = registered.payload?.(
		{ model: { provider: "openai" }, payload: { a: 1 } },
		{ flags: { "service-tier": "flex" } },
	);
	expect(answer).toEqual({ payload: { a: 1, service_tier: "flex" } });
});

test("below the budget it is silent", async () => {
	const { session, notices } = await start({ budget: "1000" });
	await session.prompt("hi");
	expect(notices).toEqual([]);
});

test("an invalid budget is reported by its name, and the default is used", async () => {
	const { notices } = await start({ budget: "lots" });
	expect(notices).toEqual(["--budget expects an amount in USD; 5 is used"]);
});

test("after a rate limit it offers a model of another provider, also a more expensive one", async () => {
	const dear = { id: "dear", input: ["text", "image"], cost: price(9000) };
	const { session, provider, notices } = await start({ budget: "1000", models: [dear] });
	provider.reply(httpError(429, {}, "slow down"));
	await session.prompt("hi");
	expect(notices).toEqual([
		"loopback limits requests · /cheaper or alt+m switches to lab/dear ($9000 in, $9000 out per million tokens)",
	]);
	await session.prompt("/cheaper");
	expect(session.model).toMatchObject({ provider: "lab", id: "dear" });
});

test("without another model it says so", async () => {
	const { session, notices } = await start({ budget: "0", models: [] });
	await session.prompt("hi");
	expect(notices).toEqual([expect.stringMatching(/· no other available model can continue$/)]);
});

test.each([40, 120])("at %i columns the offer is a notice, and alt+m switches", async (columns) => {
	const app = await startApp({
		columns,
		rows: 30,
		agentSettings: { hooks: ["pi:model-by-cost"] },
		hooks: { "lab.ts": lab(LAB) },
		modelOptions: { cost: price(1e6) },
	});
	app.provider.reply("Hello.");
	await app.terminal.waitFor("0%");
	await app.submit("hi");
	await app.terminal.waitFor("This session has cost");
	app.terminal.send("\x1bm");
	await app.terminal.waitFor("The model is now");
	expect(app.session().model).toMatchObject({ id: "cheap" });
});
