import { expect, onTestFinished, test } from "vitest";
import { createHookTest, type DialogAnswer, type HookTest, toolCall } from "../../src/testing/index.js";
import { startSession } from "../helpers/session.js";
import { skipTime } from "../helpers/skip-time.js";
import { startApp } from "../modes/interactive/app.js";
import { example, tryExample } from "./example.js";
import { startGuarded } from "./guarded.js";
import { serveWeb } from "./web-server.js";

const PLAN = "I read it.\n\n## Plan\n\n1. Change a.ts\n2. Run the tests";
const READING = ["read", "grep", "find", "ls"];
const QUESTION = {
	kind: "approval",
	title: "Carry out this plan?",
	text: "",
	options: ["Carry it out", "Edit it first"],
};

async function plan(dialogs: DialogAnswer[], ...replies: string[]): Promise<HookTest> {
	const t = await tryExample("plan-mode.ts", { replies, dialogs });
	await t.run("/plan Fix the rounding");
	return t;
}

test("in plan mode the model gets the reading tools and the rules, and the footer shows the mode", async () => {
	const t = await plan([], "What is wrong with it?");
	expect(t.requests[0]?.tools.sort()).toEqual([...READING].sort());
	expect(t.requests[0]?.systemPrompt).toContain("You are in plan mode");
	expect(t.requests[0]?.messages).toEqual([{ role: "user", text: "Fix the rounding" }]);
	expect(t.screen.statuses).toEqual({ mode: "plan mode" });
	// No plan, no question.
	expect(t.asked).toEqual([]);
	t.reply("ok");
	await t.run("/plan");
	expect(t.entries.at(-1)).toMatchObject({ type: "permission_mode", mode: "act" });
	await t.run("Now change it");
	expect(t.requests[1]?.tools).toContain("bash");
	expect(t.requests[1]?.systemPrompt).not.toContain("plan mode");
	expect(t.screen.statuses).toEqual({});
	expect(t.errors).toEqual([]);
});

test("with clear, the model can still read what was cleared", async () => {
	const t = await createHookTest({ hooks: [example("plan-mode.ts"), example("clear.ts")], replies: ["ok"] });
	onTestFinished(() => t.dispose());
	await t.run("/plan go");
	expect(t.requests[0]?.tools.sort()).toEqual([...READING, "recall"].sort());
});

test("a call of another tool fails, because the tool is not offered", async () => {
	const t = await tryExample("plan-mode.ts", { replies: [toolCall("bash", { command: "touch made" }), "I cannot."] });
	await t.run("/plan go");
	expect(t.requests[1]?.messages.at(-1)).toMatchObject({ role: "toolResult", text: expect.stringMatching(/bash/) });
	expect(t.session.entries.some((entry) => JSON.stringify(entry).includes("exitCode"))).toBe(false);
});

test("yes ends plan mode and sends the go-ahead", async () => {
	const t = await plan(["Carry it out"], PLAN, "Done.");
	expect(t.asked).toEqual([QUESTION]);
	expect(t.requests[1]?.messages.at(-1)).toEqual({ role: "user", text: "Carry out the plan." });
	expect(t.requests[1]?.tools).toContain("write");
	expect(t.screen.statuses).toEqual({});
});

test("the edited plan is sent instead", async () => {
	const t = await plan(["Edit it first", "1. Change b.ts"], PLAN, "Done.");
	expect(t.asked[1]).toEqual({ kind: "editor", title: "Plan", initial: "1. Change a.ts\n2. Run the tests" });
	expect(t.requests[1]?.messages.at(-1)?.text).toBe("Carry out this plan. I have edited it:\n\n1. Change b.ts");
});

test.each<[DialogAnswer[]]>([[["Keep planning"]], [[null]], [["Edit it first", null]], [["Edit it first", " "]]])(
	"after %j plan mode continues and nothing is sent",
	async (dialogs) => {
		const t = await plan(dialogs, PLAN);
		expect(t.requests).toHaveLength(1);
		expect(t.screen.statuses).toEqual({ mode: "plan mode" });
	},
);

test("other text goes to the model, in plan mode", async () => {
	const t = await plan(["Change c.ts, too"], PLAN, "What for?");
	expect(t.requests[1]?.messages.at(-1)?.text).toBe("Change c.ts, too");
	expect(t.screen.statuses).toEqual({ mode: "plan mode" });
});

test("the mode survives a reload and a restart, and --plan does not turn it on again", async () => {
	const readFlags = () => ({ values: { plan: true }, problem: null });
	const run = await startSession({ hookFiles: [example("plan-mode.ts")], readFlags });
	const { provider, session } = run;
	provider.on(() => "ok");
	const isPlanning = async () => {
		await session.prompt("go");
		return JSON.stringify(provider.requests.at(-1)?.body).includes("You are in plan mode");
	};
	expect(await isPlanning()).toBe(true);
	await session.reload();
	expect(await isPlanning()).toBe(true);
	expect(session.entries.filter(({ type }) => type === "permission_mode")).toHaveLength(1);
	expect(await session.prompt("/plan")).toMatchObject({ status: "Mode: Act · the model can use all tools" });
	await session.reload();
	expect(await isPlanning()).toBe(false);
});

test("an entry of a former version counts", async () => {
	const run = await startSession({ hookFiles: [example("plan-mode.ts")], hooks: { "old.ts": OLD } });
	run.provider.on(() => "ok");
	await run.session.prompt("/old");
	await run.session.prompt("go");
	expect(JSON.stringify(run.provider.requests.at(-1)?.body)).toContain("You are in plan mode");
	await run.session.prompt("/plan");
	await run.session.prompt("go");
	expect(JSON.stringify(run.provider.requests.at(-1)?.body)).not.toContain("You are in plan mode");
});

const OLD = `export default (pi) => pi.command("old", { handler: (ctx) => ctx.saveEntry({ type: "plan_mode", on: true }).then(() => {}) });`;

test("with a preset that asks, the plan can be carried out with accepted edits", async () => {
	const { asked, session, provider } = await startGuarded({
		...{ presets: ["permissions"], flags: { plan: true }, answers: ["Carry it out, and accept edits"] },
	});
	provider.reply(PLAN, "Done.");
	await session.prompt("go");
	await session.waitForIdle();
	expect(asked[0]?.choices).toEqual(["Carry it out, and accept edits", "Edit it first"]);
	expect(session.entries.filter(({ type }) => type === "permission_mode")).toMatchObject([
		{ mode: "plan" },
		{ mode: "accept-edits" },
	]);
});

test("without a person the plan is printed and plan mode stays on", async () => {
	const t = await tryExample("plan-mode.ts", { replies: [PLAN], hasUI: false });
	expect(await t.run("/plan go")).toEqual({ status: null, reply: PLAN });
	expect(t.requests).toHaveLength(1);
	expect(t.errors).toEqual([]);
});

test("the footer shows the mode next to the statuses of other hooks, at 40 columns too, and hides the first one", async () => {
	const statuses = `export default (pi) => pi.on("session", (_, ctx) => {
		for (const name of ["one", "two", "three", "four"]) ctx.ui.setStatus(name, "a long status " + name);
	});`;
	const app = await startApp({
		columns: 40,
		hooks: { "busy.ts": statuses },
		agentSettings: { hooks: ["pi:permissions"] },
	});
	await app.terminal.waitFor("a long");
	for (const shown of ["accept edits", "plan mode"]) {
		await app.terminal.press("shift+tab");
		await app.terminal.waitFor(new RegExp(`^${shown} · a long`, "m"));
	}
	await app.terminal.press("shift+tab");
	await app.terminal.waitFor((rows) => !rows.includes("plan mode"));
});

test.each([40, 120])("at %i columns shift+tab turns it on, and the question follows the plan", async (columns) => {
	const app = await startApp({ columns, agentSettings: { hooks: ["pi:plan-mode"] } });
	app.provider.reply(PLAN, "All done.");
	await app.terminal.waitFor("0%");
	await app.terminal.press("shift+tab");
	await app.terminal.waitFor("plan mode");
	await app.submit("Fix it");
	await app.terminal.waitFor("Keep planning");
	// Enter alone, as of someone who was typing, carries out nothing.
	expect(await app.terminal.text()).toMatch(/Carry out this plan\?[\s\S]*→ n {2}Keep planning/);
	skipTime(1);
	await app.terminal.press("down");
	skipTime(1);
	await app.terminal.press("enter");
	await app.terminal.waitFor("All done.");
	expect((await app.terminal.screen()).slice(-2).join("\n")).not.toContain("plan mode");
});

test("in plan mode pages are read and searched for; a page of this machine still asks", async () => {
	const at = await serveWeb((_, response) => response.end("secret"));
	const run = await startGuarded({
		presets: ["plan-mode", "web"],
		flags: { plan: true },
		userSettings: { webSearch: { engine: "searxng", url: at } },
	});
	expect(await run.call("web_search", { query: "a" })).toContain("SearXNG did not answer with results");
	expect(run.asked).toEqual([]);
	expect(await run.call("web_fetch", { url: at })).toContain("Fetch from 127.0.0.1");
	expect(run.asked).toMatchObject([{ question: "Fetch from 127.0.0.1, which is this machine or in its network?" }]);
	expect(await run.bash("ls")).toContain('There is no tool "bash"');
});
