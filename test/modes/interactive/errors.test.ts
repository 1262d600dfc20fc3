import { expect, test } from "vitest";
import { httpError, type Reply, toolCall } from "../../helpers/loopback-provider.js";
import { tempAgentDir } from "../../helpers/temp.js";
import { startApp } from "./app.js";

const agentSettings = { retry: { enabled: true, maxRetries: 1, baseDelayMs: 1 } };
const half = [{ type: "text" as const, text: "half an answer that goes on" }];
const account = "the account has no quota left: add credit with the provider · choose another model with /model";
const key = "set an API key with /login · choose another model with /model";
const trouble = "the provider has problems: send the prompt again later · choose another model with /model";
const connection = "check the connection, then send the prompt again";

test.each<[string, Reply, string, string]>([
	["401", httpError(401, {}, "invalid x-api-key"), "401 invalid x-api-key", key],
	["402", httpError(402, {}, "Your credit balance is too low"), "402 Your credit balance is too low", account],
	["404", httpError(404, {}, "model: nosuch"), "404 model: nosuch", "choose another model with /model"],
	["400", httpError(400, {}, "odd"), "400 odd", "inspect the request with /context · choose another model with /model"],
	[
		"429 that lasts",
		httpError(429, { "retry-after": "0" }, "rate limit reached"),
		"429 rate limit reached",
		"wait and send the prompt again · choose another model with /model",
	],
	["529", httpError(529, {}, "Overloaded"), "529 Overloaded", trouble],
	[
		"full context",
		httpError(400, {}, "prompt is too long: 2 tokens > 1 maximum"),
		"400 prompt is too long",
		"choose a larger model with /model, or fewer tools with /tools",
	],
	[
		"connection cut before the reply",
		{ fault: { kind: "cut", at: "headers" } },
		"loopback-anthropic at 127.0.0.1:",
		connection,
	],
	[
		"broken connection",
		{ content: half, fault: { kind: "cut", at: 1 } },
		"the connection to loopback-anthropic at 127.0.0.1:",
		connection,
	],
	["cut stream", { content: half, fault: { kind: "end", at: 1 } }, "the reply ended unexpectedly", connection],
])("a %s is shown as a readable line and a line with the next step", async (_name, reply, problem, next) => {
	const app = await startApp({ rows: 40, columns: 110, agentSettings, model: "loopback-anthropic/scripted" });
	app.provider.on(() => reply);
	await app.terminal.waitFor("context");
	await app.submit("hi");
	await app.terminal.waitFor("▎   ");
	const screen = await app.terminal.screen();
	const at = screen.findIndex((row) => row.startsWith(`▎ ✗ ${problem}`));
	expect(screen[at + 1]).toContain(`▎   ${next}`);
});

const EXPLODE = `import { Type } from "typebox";
export default () => ({
	name: "explode", description: "explodes", parameters: Type.Object({}),
	run: async () => { throw new TypeError("the fuse was short"); },
});`;

test("a tool that crashes, gets invalid arguments or does not exist shows its error, and the run continues", async () => {
	const agentDir = tempAgentDir({ files: { "tools/explode/index.ts": EXPLODE } });
	const app = await startApp({ rows: 40, agentDir });
	app.provider.reply([toolCall("explode", {}), toolCall("bash", {}), toolCall("nosuch", {})], "So it goes.");
	await app.terminal.waitFor("context");
	await app.submit("go");
	await app.terminal.waitFor("So it goes.");
	const screen = await app.terminal.screen();
	const rows = screen.slice(screen.indexOf("▎ › go"), screen.indexOf("▎ So it goes."));
	expect(rows.map((row) => row.replace(/ {5,}/, " | "))).toEqual([
		"▎ › go",
		"▎",
		"▎ explode | failed ✗",
		"▎ │ the fuse was short",
		"▎ bash | failed ✗",
		'▎ │ Validation failed for tool "bash":',
		"▎ │   - command is missing",
		"▎ │ ",
		"▎ │ Received arguments:",
		"▎ │ {}",
		"▎ nosuch | failed ✗",
		expect.stringMatching(/There is no tool "nosuch"/),
		expect.stringMatching(/▎ │ find, ls/),
		"▎",
	]);
});

test("the wait before a retry counts down, and escape ends it", async () => {
	const patient = { retry: { enabled: true, maxRetries: 3, baseDelayMs: 60_000 } };
	const app = await startApp({ rows: 40, columns: 100, agentSettings: patient, model: "loopback-anthropic/scripted" });
	app.provider.on(() => httpError(529, {}, "Overloaded"));
	await app.terminal.waitFor("context");
	await app.submit("hi");
	await app.terminal.waitFor("retry 1/3 in 60 s · 529 Overloaded · esc stops");
	await app.terminal.waitFor("retry 1/3 in 59 s");
	await app.terminal.press("escape");
	await app.terminal.waitFor("▎ stopped before a retry · 529 Overloaded");
	expect(await app.terminal.text()).not.toContain("retry 1/3");
	expect(app.provider.requests).toHaveLength(1);
});

test("an empty reply is reported, immediately and when the session is resumed", async () => {
	const app = await startApp({ rows: 24 });
	app.provider.reply({ content: [], stopReason: "stop" });
	await app.terminal.waitFor("context");
	await app.submit("hi");
	await app.terminal.waitFor("▎ the model returned an empty reply");
	const target = app.session().sessionFile ?? "";
	await app.session().dispose();
	const { agentDir, cwd } = app;
	const again = await startApp({ rows: 24, agentDir, cwd, session: { kind: "open", target } });
	await again.terminal.waitFor("▎ the model returned an empty reply");
});

test("a failed command is reported once, with its name, hook, cause and next step", async () => {
	const kept = `let kept; export default (pi) => pi.command("keep", {
		handler: (ctx) => { kept ??= ctx; return { status: "in " + typeof kept.cwd }; },
	});`;
	const agentDir = tempAgentDir({ hooks: { "keeper.ts": kept } });
	const app = await startApp({ rows: 40, columns: 80, agentDir });
	await app.terminal.waitFor("context");
	await app.submit("/keep");
	await app.terminal.waitFor("in string");
	await app.submit("/new");
	await app.terminal.waitFor("New session");
	await app.submit("/keep");
	await app.terminal.waitFor("do not keep it");
	const reports = (await app.terminal.text()).replace(/\s+/g, " ").match(/✗ .*?keep it/g);
	expect(reports).toEqual([
		expect.stringMatching(
			/^✗ Hook keeper\.ts:2:\d+ failed on \/keep: ctx\.\w+ of \/keep was used after the session changed · use the ctx that each handler receives, and do not keep it$/,
		),
	]);
});

test("a hook that fails at each tool call is named once, with the next step", async () => {
	const app = await startApp({
		hooks: { "broken.ts": "export default (pi) => pi.on('tool_call', () => { throw new Error('no rules') });" },
		files: { "a.txt": "a" },
		rows: 40,
	});
	const read = [toolCall("read", { path: "a.txt" })];
	app.provider.reply(read, read, "Stopped.");
	await app.terminal.waitFor("context");
	await app.submit("go");
	await app.terminal.waitFor("Stopped.");
	const text = (await app.terminal.text()).replace(/\s+/g, " ");
	expect(text.split("✗ Hook broken.ts:1").length - 1).toBe(1);
	expect(text).toContain("failed on tool_call: no rules · /hooks turns it off");
});

const FAILING = `export default (pi) => {
	pi.command("deploy", { handler: async () => { throw new Error("no network"); } });
};`;

test("a command that fails is suggested again, so that whoever types on writes the next prompt; one to correct is in the editor", async () => {
	const app = await startApp({ hooks: { "deploy.ts": FAILING } });
	await app.terminal.waitFor("0%");
	await app.submit("/deploy to staging, then tell me");
	await app.terminal.waitFor("no network");
	await app.terminal.waitFor(/^.{0,3}\/deploy to staging, then tell me\b/m);
	await app.terminal.press("right");
	await app.terminal.type(" more");
	await app.terminal.waitFor(/^.{0,3}\/deploy to staging, then tell me more *$/m);
	await app.terminal.press("enter");
	await app.terminal.waitFor("(2 times)");
	await app.submit("/new with this text");
	await app.terminal.waitFor("/new takes no arguments · send /new alone");
	await app.terminal.waitFor(/^.{0,3}\/new with this text *$/m);
});

test("an error that repeats the last line is counted there", async () => {
	const app = await startApp();
	await app.terminal.waitFor("0%");
	for (let time = 0; time < 2; time++) {
		await app.submit("/settings theme nope");
		await app.terminal.waitFor(time === 0 ? 'Theme "nope" not found' : "(2 times)");
		await app.terminal.press("ctrl+c");
	}
	const text = (await app.terminal.text()).replace(/\s+/g, " ");
	expect(text.match(/Theme "nope" not found · use one of auto, dark, light, .*? \(2 times\)/g)).toHaveLength(1);
});
