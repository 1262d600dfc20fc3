import { expect, test } from "vitest";
import { toolCall } from "../../helpers/loopback-provider.js";
import { tempAgentDir } from "../../helpers/temp.js";
import { answerBySystemPrompt, callAgent, SCOUT } from "../../hooks-examples/sub-agents.js";
import { type App, startApp } from "./app.js";

/** US dollars per million tokens. */
const COST = { input: 10, output: 100, cacheRead: 0, cacheWrite: 0 };
const TASKS = { tasks: [1, 2].map((at) => ({ agent: "scout", prompt: `Part ${at}` })) };

/** An app in which each scout costs $0.20, and each request of the session $0.10. */
async function startWithAgents(columns: number): Promise<App> {
	const app = await startApp({
		columns,
		rows: 30,
		agentSettings: { hooks: ["pi:agents"] },
		agentDir: tempAgentDir({ files: { "agents/scout.md": SCOUT } }),
		modelOptions: { cost: COST },
	});
	await app.terminal.waitFor("0%");
	return app;
}

/** Two scouts answer, then the session. */
async function delegate(app: App): Promise<void> {
	const usage = { input: 10_000, output: 0 };
	answerBySystemPrompt(app.provider, {
		"You are a scout.": () => ({
			content: [{ type: "text", text: "Nothing there." }],
			usage: { ...usage, output: 1000 },
		}),
		"": ({ messages }) =>
			messages.at(-1)?.role === "tool"
				? { content: [{ type: "text", text: "That is all." }], usage }
				: { content: callAgent(TASKS), usage },
	});
	await app.submit("go");
	await app.terminal.waitFor("That is all.");
}

/** The rows that match, without padding. */
async function rows({ terminal }: App, pattern: RegExp): Promise<string[]> {
	return (await terminal.screen()).map((row) => row.trimEnd()).filter((row) => pattern.test(row));
}

test.each([40, 120])(
	"at %i columns the call shows a row for each sub-agent while it runs and afterwards",
	async (columns) => {
		const app = await startApp({
			columns,
			agentSettings: { hooks: ["pi:agents"] },
			agentDir: tempAgentDir({ files: { "agents/scout.md": SCOUT } }),
		});
		await app.terminal.waitFor("0%");
		let release = () => {};
		const held = new Promise<void>((resolve) => {
			release = resolve;
		});
		answerBySystemPrompt(app.provider, {
			"You are a scout.": async ({ messages }) => {
				if (messages.at(-1)?.role !== "tool") return [toolCall("ls", { path: "." })];
				await held;
				return "Nothing there.";
			},
			"": ({ messages }) => (messages.at(-1)?.role === "tool" ? "That is all." : callAgent(TASKS)),
		});
		await app.submit("go");
		await app.terminal.waitFor(/● scout[\s\S]*● scout/);
		release();
		await app.terminal.waitFor("That is all.");
		const lines = (await app.terminal.screen()).map((line) => line.trimEnd());
		expect(lines.some((line) => line.includes("agent 2 tasks"))).toBe(true);
		const rows = lines.filter((line) => /│ ✓ scout .*tokens$/.test(line));
		expect(rows).toHaveLength(2);
		expect(rows.every((line) => line.length <= columns)).toBe(true);
		expect(rows[0]).toContain("Part 1");
	},
);

test.each([40, 120])(
	"at %i columns a call that Escape cancels is shown as canceled, not as failed",
	async (columns) => {
		const app = await startWithAgents(columns);
		answerBySystemPrompt(app.provider, {
			"You are a scout.": () => new Promise(() => {}),
			"": () => callAgent({ agent: "scout", prompt: "Look" }),
		});
		await app.submit("go");
		await app.terminal.waitFor("● scout");
		await app.terminal.press("escape");
		await app.terminal.waitFor("canceled");
		const lines = (await app.terminal.screen()).map((line) => line.trimEnd());
		const call = lines.findIndex((line) => line.includes("agent scout"));
		expect(lines[call]).toMatch(/^\W*agent scout Look$/);
		expect(lines[call + 1]).toMatch(/│ – scout +Look +canceled$/);
		expect(lines.join("\n")).not.toMatch(/✗|failed/);
	},
);

// The session costs $0.20 and each of two sub-agents $0.20.
test.each([
	[
		40,
		"~/src/shop                 Scripted · 5%",
		["  2026-11-22  $0.60   40k        2k", "  total       $0.60   40k        2k"],
	],
	[
		80,
		"context ▰▱▱▱▱▱▱▱▱▱ 5% of 200k · $0.60 · ↑40k ↓2k",
		[
			"  2026-11-22  $0.60   40k        2k      0%         4         1",
			"  total       $0.60   40k        2k      0%         4         1",
		],
	],
	[
		120,
		"context ▰▱▱▱▱▱▱▱▱▱ 5% of 200k · $0.60 · ↑40k ↓2k",
		[
			"  2026-11-22  $0.60   40k        2k      0%         4         1",
			"  total       $0.60   40k        2k      0%         4         1",
		],
	],
])(
	"at %i columns footer and /usage count tokens and cost of sub-agents to the session",
	async (columns, footer, usage) => {
		const app = await startWithAgents(columns);
		await delegate(app);
		await app.submit("/usage");
		await app.terminal.waitFor("Usage by day");
		expect((await app.terminal.screen()).at(-1)?.trimEnd()).toBe(footer);
		const today = new Date().toISOString().slice(0, 10);
		expect(await rows(app, /\$0\.60 {3}/)).toEqual(usage.map((row) => row.replace("2026-11-22", today)));
	},
);

test.each([
	[40, [" ▎    tool      agent: let sub-a…    177", " ▎  5 agent     ## 1. scout: don…     21"]],
	[
		80,
		[
			" ▎    tool        agent: let sub-agents with a …  added by agents    177  cached",
			" ▎  5 agent       ## 1. scout: done ↵ Nothing there. ↵ ## 2. sco…     21  cached",
		],
	],
	[
		120,
		[
			" ▎    tool        agent: let sub-agents with a context of their own do parts of the work  added by agents    177  cached",
			" ▎  5 agent       ## 1. scout: done ↵ Nothing there. ↵ ## 2. scout: done ↵ Nothing there.                     21  cached",
		],
	],
])(
	"at %i columns /context shows the tool and the result of sub-agents with their tokens",
	async (columns, expected) => {
		const app = await startWithAgents(columns);
		await delegate(app);
		await app.submit("/context");
		await app.terminal.waitFor(/Next request|Context of the next request/);
		expect(await rows(app, /^ ▎ +(tool|5 agent) /)).toEqual(expected);
	},
);

test.each([
	[40, [" → ● go                      $0.60  now"]],
	[80, [" → ● go                                   4 messages · 2 sub-agents  $0.60  now"]],
	[
		120,
		[
			" → ● go                                                                           4 messages · 2 sub-agents  $0.60  now",
		],
	],
])(
	"at %i columns /resume shows the number of sub-agents in the row of their session, and lists none of them",
	async (columns, expected) => {
		const app = await startWithAgents(columns);
		await delegate(app);
		await app.submit("/resume");
		await app.terminal.waitFor("$0.60");
		expect(await rows(app, / now$/)).toEqual(expected);
	},
);
