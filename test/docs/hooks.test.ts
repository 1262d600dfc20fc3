import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { EVENTS, SESSION_REASONS } from "../../src/hooks/events.js";
import { isMessageEntry } from "../../src/log/entry.js";
import { httpError, toolCall } from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(`${root}docs/hooks.md`, "utf8");

interface CodeBlock {
	/** The text after `ts`: the file name, or the file that is quoted. */
	file: string;
	code: string;
}

const blocks: CodeBlock[] = [...page.matchAll(/^```(?:ts|typescript)\b *(.*)\n([\s\S]*?)^```$/gm)].map(
	([, file = "", code = ""]) => ({ file: file.trim(), code }),
);
const quotes = blocks.filter(({ file }) => file.startsWith("hooks-examples/"));
const hooks = blocks.filter((block) => !quotes.includes(block));

/** Starts a session with a hook from the page. */
function startWith(file: string, options: Parameters<typeof startSession>[0] = {}) {
	const found = hooks.find((hook) => hook.file === file);
	return startSession({
		...options,
		hooks: { [file]: found?.code ?? `throw new Error("${file} is not on the page")` },
	});
}

const scenarios: Record<string, () => Promise<void>> = {
	async "no-push.ts"() {
		const { session, provider } = await startWith("no-push.ts");
		provider.reply([toolCall("bash", { command: "git push" }), toolCall("bash", { command: "echo fine" })], "ok");
		await session.prompt("push");
		const results = provider.requests[1]?.messages.slice(-2).map(({ text }) => text.trim());
		expect(results?.[0]).toContain("Only the user pushes. Describe what you would push.");
		expect(results?.[1]).toContain("fine");
	},
	async "careful.ts"() {
		const { session, provider, events } = await startWith("careful.ts", { ui: { confirm: async () => false } });
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
	async "remote.ts"() {
		const { session, provider, sent, cwd } = await startWith("remote.ts");
		provider.reply("ok");
		await expect(session.prompt(`use sk-${"a1".repeat(12)}`)).rejects.toThrow("The prompt contains an API key.");
		expect(await session.prompt("ping")).toEqual({ kind: "handled", by: "remote" });
		await session.prompt("Fix it!!");
		expect(sent(1)).toEqual(["user: Fix it. Do not ask me anything."]);
		await expect(session.runBash("rm -rf x")).rejects.toThrow("Delete files yourself.");
		await session.runBash("where", { excludeFromContext: true });
		await session.runBash("t");
		const shells = session.entries.slice(-2).map((entry) => isMessageEntry(entry) && entry.message);
		expect(shells).toMatchObject([
			{ command: "where", output: expect.stringContaining(cwd), exitCode: 0 },
			{ command: "npm test" },
		]);
	},
	async "watch.ts"() {
		const shown: string[] = [];
		const { session, provider } = await startWith("watch.ts", {
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
	async "rounds.ts"() {
		const { session, provider, sent } = await startWith("rounds.ts");
		provider.reply("first", "critique", "better");
		await session.prompt("question");
		expect(await session.prompt("/rounds")).toEqual({ kind: "command", status: "Finished rounds" });
		expect(sent(3).filter((text) => text.startsWith("user"))).toEqual([
			"user: question",
			"user: Criticize your answer.",
			"user: Improve your answer.",
		]);
		expect(session.entries.length).toBe(1);
	},
	async "travel.ts"() {
		const { session, provider } = await startWith("travel.ts", { session: { kind: "new" } });
		expect(await session.prompt("/undo")).toMatchObject({ status: "Nothing to undo" });
		provider.reply("one", "two");
		await session.prompt("first");
		await session.prompt("second");
		const { sessionId } = session;
		expect(await session.prompt("/undo")).toMatchObject({ status: "Went back before entry 3" });
		expect(session.entries.length).toBe(3);
		expect(await session.prompt(`/open ${sessionId.slice(0, 8)}`)).toMatchObject({ status: "Opened" });
		expect(session.entries.length).toBe(5);
		expect(await session.prompt("/refresh")).toMatchObject({ status: "Loaded all hooks again" });
		expect(await session.prompt("/bye")).toMatchObject({ status: "In sdk mode the caller ends pi" });
	},
	async "full-output.ts"() {
		const { session, provider } = await startWith("full-output.ts");
		provider.reply([toolCall("bash", { command: "seq 1 100000" }), toolCall("bash", { command: "echo short" })], "ok");
		await session.prompt("count");
		const results = provider.requests[1]?.messages.slice(-2).map(({ text }) => text);
		expect(results?.[0]).toMatch(/Search the full output with grep in \/\S+\.$/);
		expect(results?.[1]).not.toContain("Search the full output");
	},
	async "explain.ts"() {
		const { session, provider, sent } = await startWith("explain.ts", { files: { "a.ts": "a", "b.ts": "b" } });
		provider.reply("It is short.");
		expect(await session.prompt("/explain")).toEqual({ kind: "command", status: "Specify a file: /explain <file>" });
		await session.prompt("/explain a.ts");
		expect(sent(1)).toEqual(["user: Read a.ts and explain it to someone who is new here. Do not change anything."]);
		expect(await session.completeArguments("explain", "a")).toEqual([{ value: "a.ts" }]);
	},
	async "bookmark.ts"() {
		const { session } = await startWith("bookmark.ts");
		expect(await session.prompt("/bookmark")).toMatchObject({ status: "No bookmarks yet" });
		expect(await session.prompt("/bookmark before the change")).toMatchObject({ status: "Marked entry 1" });
		expect(await session.prompt("/bookmark")).toMatchObject({ status: "1 before the change" });
		const plain = (text: string) => text;
		const theme = { accent: plain, dim: plain, bold: plain, success: plain, warning: plain, error: plain };
		const entry = session.entries[1];
		expect(entry && session.entryRenderer("bookmark")?.(entry, theme)).toBe("★ before the change");
	},
	async "forget.ts"() {
		const { session, provider, sent } = await startWith("forget.ts", { files: { "a.txt": "a" } });
		provider.reply("a1", [toolCall("read", { path: "a.txt" })], "a2", "a3");
		await session.prompt("u1");
		await session.prompt("u2");
		expect(await session.prompt("/forget 2")).toMatchObject({ status: expect.stringContaining("Specify the entry") });
		expect(await session.prompt("/forget 3")).toMatchObject({ status: "Turn 3 is hidden from the model" });
		await session.prompt("u3");
		expect(sent(4)).toEqual(["user: u1", "assistant: a1", "user: u3"]);
		expect(session.context.problems).toEqual([]);
	},
	async "replace.ts"() {
		const { session, provider, sent } = await startWith("replace.ts");
		provider.reply("a1", "a2", "a3");
		await session.prompt("u1");
		await session.prompt("/replace We met.");
		await session.prompt("u2");
		expect(sent(2)).toEqual(["user: [Summary]\n\nWe met.", "user: u2"]);
		await session.prompt("/replace We talked.");
		await session.prompt("u3");
		expect(sent(3)).toEqual(["user: [Summary]\n\nWe talked.", "user: u3"]);
	},
};

describe("docs/hooks.md", () => {
	test.each(quotes)("the page quotes $file exactly", ({ file, code }) => {
		expect(readFileSync(root + file, "utf8")).toContain(code);
	});

	test("a test runs every other code block as a complete hook", () => {
		expect(hooks.map(({ file }) => file).sort()).toEqual(Object.keys(scenarios).sort());
	});

	test.each(Object.entries(scenarios))("%s does what the page says", (_, run) => run());

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
		const rows = tableAfter("## Events").map((cells) => [cells[0], ...cells.slice(4)]);
		expect(rows).toEqual(expected);
	});

	test("the table of session reasons matches the policies of the code", () => {
		const rows = tableAfter("### Session reasons").flatMap(([reasons = "", runs = "", answers = ""]) =>
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
		expect(page).toContain("`before_compact` has no time limit");
		expect(rows.find(({ reason }) => reason === "`shutdown`")?.runs).toContain("at most 2 s for all hooks together");
	});

	test("the table of recipes lists every example and no other file", () => {
		const files = readdirSync(`${root}hooks-examples`).filter((name) => name.endsWith(".ts"));
		const rows = tableAfter("## Recipes").map(([file]) => file);
		expect(rows.sort()).toEqual(files.map((name) => `\`${name}\``).sort());
	});

	test("internal links point to existing headings", () => {
		const anchors = [...page.matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
			title
				.toLowerCase()
				.replace(/[^\w -]/g, "")
				.replaceAll(" ", "-"),
		);
		const links = [...page.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor);
		expect(links.filter((link) => !anchors.includes(link ?? ""))).toEqual([]);
	});
});

/** Cells of the first table after a heading, without its header row. */
function tableAfter(heading: string): string[][] {
	const lines = page.slice(page.indexOf(`\n${heading}\n`)).split("\n");
	const start = lines.findIndex((line) => line.startsWith("|"));
	const end = lines.findIndex((line, i) => i > start && !line.startsWith("|"));
	return lines.slice(start + 2, end).map((line) =>
		line
			.split("|")
			.slice(1, -1)
			.map((cell) => cell.trim()),
	);
}
