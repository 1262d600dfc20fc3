import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { answerFields } from "../../src/hooks/check-answer.js";
import { EVENTS, isHookEventName, SESSION_REASONS } from "../../src/hooks/events.js";
import { isMessageEntry } from "../../src/log/entry.js";
import { toolCall as toolReply } from "../../src/testing/index.js";
import { BUILTIN_TOOLS } from "../../src/tools/index.js";
import { httpError, toolCall } from "../helpers/loopback-provider.js";
import { HookPage, membersOf, namesIn } from "./hook-page.js";

const page = new HookPage("hooks-events.md");

page.testCode({
	async "careful.ts"() {
		const { session, provider, events } = await page.startSession("careful.ts", { ui: { confirm: async () => false } });
		const commands = ["sudo ls", "npm publish", "npm test", "echo fine"];
		provider.reply(
			commands.map((command) => toolCall("bash", { command })),
			"ok",
		);
		await session.prompt("go");
		const results = provider.requests[1]?.messages.slice(-4).map(({ text }) => text.trim());
		expect(results?.[0]).toBe("No sudo in this project.");
		expect(results?.[1]).toBe("The user refused this call when hook careful asked: Publish this package?");
		expect(results?.[3]).toBe("fine");
		expect(events).toContainEqual(
			expect.objectContaining({ type: "tool_input_changed", args: { command: "npm test", timeout: 120 } }),
		);
	},
	async "full-output.ts"() {
		const { session, provider } = await page.startSession("full-output.ts");
		provider.reply([toolCall("bash", { command: "seq 1 100000" }), toolCall("bash", { command: "echo short" })], "ok");
		await session.prompt("count");
		const results = provider.requests[1]?.messages.slice(-2).map(({ text }) => text);
		expect(results?.[0]).toMatch(/Search the full output with grep in \/\S+\.$/);
		expect(results?.[1]).not.toContain("Search the full output");
	},
	async "rewrite.ts"() {
		const { session, provider, sent } = await page.startSession("rewrite.ts");
		provider.reply("ok");
		await expect(session.prompt(`use sk-${"a1".repeat(12)}`)).rejects.toThrow("The prompt contains an API key.");
		expect(await session.prompt("ping")).toEqual({ kind: "handled", by: "rewrite" });
		await session.prompt("Fix it!!");
		expect(sent(1)).toEqual(["user: Fix it. Do not ask me anything."]);
	},
	async "remote.ts"() {
		const { session, cwd } = await page.startSession("remote.ts");
		await expect(session.runBash("rm -rf x")).rejects.toThrow("Delete files yourself.");
		await session.runBash("where", { excludeFromContext: true });
		await session.runBash("t");
		const shells = session.entries.slice(-2).map((entry) => isMessageEntry(entry) && entry.message);
		expect(shells).toMatchObject([
			{ command: "where", output: expect.stringContaining(cwd), exitCode: 0 },
			{ command: "npm test" },
		]);
		expect(session.entries.at(-1)).toMatchObject({ typed: "t" });
	},
	async "limit.ts"() {
		const readFlags = () => ({ values: { "max-requests": "1" }, problem: null });
		const { session, provider, events } = await page.startSession("limit.ts", { readFlags });
		provider.reply([toolCall("ls", {})], "never sent");
		await session.prompt("go").catch(() => {});
		expect(session.entries.at(-1)).toMatchObject({ message: { role: "toolResult" } });
		expect(provider.requests.length).toBe(1);
		expect(JSON.stringify(events)).toContain("The run has reached 1 requests.");
	},
	async "seed.ts"() {
		const { session, provider } = await page.startSession("seed.ts");
		provider.reply("one");
		await session.prompt("go");
		expect(provider.requests[0]?.body.seed).toBe(7);
	},
	async "leave.ts"() {
		const t = await page.startTest("leave.ts", { files: { "a.ts": "a" }, dialogs: [false, true] });
		execFileSync("git", ["init", "--quiet", t.cwd]);
		const { sessionId } = t.session;
		await t.run("/new");
		expect(t.session.sessionId).toBe(sessionId);
		await t.run("/new");
		expect(t.session.sessionId).not.toBe(sessionId);
		expect(t.asked.map(({ title }) => title)).toEqual(["Leave this session?", "Leave this session?"]);
	},
	async "progress.ts"() {
		const command = "echo one; sleep 0.2; echo two";
		const replies = [{ text: "I run three commands now.", ...toolReply("bash", { command }) }, "Done."];
		const t = await page.startTest("progress.ts", { replies });
		const shown = new Set<string | undefined>();
		t.session.subscribe(() => shown.add(t.screen.statuses.progress));
		await t.run("go");
		expect([...shown]).toEqual(expect.arrayContaining(["4 words", "bash: two"]));
		expect(t.screen.statuses).toEqual({});
		expect(t.errors).toEqual([]);
	},
	async "watch.ts"() {
		const shown: string[] = [];
		const { session, provider } = await page.startSession("watch.ts", {
			modelOptions: { contextWindow: 64_000 },
			ui: { notify: (text) => void shown.push(text) },
			userSettings: { retry: { baseDelayMs: 1 } },
		});
		provider.reply(httpError(429), "ok");
		const [other] = (await session.controls.availableModels()).filter(({ provider: name }) => name !== "loopback");
		const { model } = session;
		if (!other || !model) throw new Error("no other model");
		await session.setModel(other);
		await session.setModel(model);
		session.setThinkingLevel("low");
		session.setName("trial");
		await session.prompt("go");
		expect(shown).toEqual([
			`Model: ${model.id} → ${other.id}`,
			`Model: ${other.id} → ${model.id}`,
			"Thinking: medium → low",
			"This session is now called trial",
			"The provider limits requests",
			"Done · context 0 %",
		]);
	},
});

test("the table of events matches the policies of the code", () => {
	const first: Record<string, string> = {
		session: "`cancel`",
		before_request: "stop",
		tool_call: "block",
		prompt: "`handled` or `stop`",
		user_bash: "`result` or block",
	};
	const combine = {
		none: () => "ignored",
		first: (name: string) => `the first ${first[name]} wins`,
		chain: () => "chained",
		gate: (name: string) => `changes are chained; the first ${first[name]} wins`,
	};
	const expected = Object.entries(EVENTS).map(([name, policy]) => [
		`\`${name}\``,
		combine[policy.combine](name),
		policy.deadline === "timeout" ? "`hookTimeout`" : policy.deadline,
		policy.onError === "block" ? "blocks the call" : "is reported",
	]);
	const rows = page.tableAfter("## Events").map((cells) => [cells[0], ...cells.slice(4)]);
	expect(rows).toEqual(expected);
});

test("the table of session reasons matches the policies of the code", () => {
	const rows = page
		.tableAfter("The event `session` has a `reason`")
		.flatMap(([reasons = "", runs = "", answers = ""]) =>
			reasons.split(", ").map((reason) => ({ reason, runs, answers: reason.includes("before_") ? answers : "" })),
		);
	const members = (text: string) => [...text.matchAll(/\{ (\w+)/g)].map(([, member]) => member);
	expect(Object.fromEntries(rows.map(({ reason, answers }) => [reason, members(answers)]))).toEqual(
		Object.fromEntries(Object.entries(SESSION_REASONS).map(([reason, { reads }]) => [`\`${reason}\``, reads])),
	);
	const limits = Object.entries(SESSION_REASONS).filter(([, { deadline }]) => deadline !== EVENTS.session.deadline);
	expect(limits.map(([reason, { deadline }]) => [reason, deadline])).toEqual([
		["before_compact", "none"],
		["shutdown", { togetherMs: 2000 }],
	]);
	expect(page.text).toContain("`before_compact` has no time limit");
	expect(rows.find(({ reason }) => reason === "`shutdown`")?.runs).toContain("at most 2 s for all hooks together");
});

test("the table of events lists every field of each event", () => {
	const fields: Record<string, string[]> = {
		session: ["reason", ...membersOf("SessionEventBase")],
		tool_result: ["toolName", "details", ...membersOf("ToolResultEventBase")],
	};
	for (const [event, , receives] of page.tableAfter("## Events")) {
		const [name = ""] = namesIn(event);
		const type = `${name.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())}Event`;
		const expected = (fields[name] ?? membersOf(type)).filter((field) => field !== "type");
		expect([name, ...namesIn(receives).sort()]).toEqual([name, ...expected.sort()]);
	}
});

test("the table of events lists every field of each answer", () => {
	for (const [event, , , returns = ""] of page.tableAfter("## Events")) {
		const [name = ""] = namesIn(event);
		if (!isHookEventName(name)) expect.fail(`${name} is not an event`);
		const objects = [...returns.matchAll(/`\{ (.*?) \}`/g)].flatMap(([, fields = ""]) => fields.split(", "));
		const documented = objects.map((field) => field.replace(/:.*/, ""));
		const expected = name === "context" ? membersOf("ContextEventResult") : answerFields(name);
		expect([name, ...[...new Set(documented)].sort()]).toEqual([name, ...[...expected].sort()]);
		expect([name, returns === "nothing"]).toEqual([name, EVENTS[name].combine === "none"]);
	}
});

test("the table of arguments lists those of the built-in tools", () => {
	const rows = page
		.tableAfter("`input` of the event contains")
		.map(([tool, args]) => [namesIn(tool)[0], namesIn(args)]);
	const argumentsOf = ({ parameters }: { parameters: { properties?: object } }) =>
		Object.keys(parameters.properties ?? {});
	expect(rows).toEqual(BUILTIN_TOOLS.map((tool) => [tool.name, argumentsOf(tool)]));
});
