import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { BUNDLED_HOOKS } from "../../src/hooks/bundled.js";
import { EVENTS, SESSION_REASONS } from "../../src/hooks/events.js";
import { PLAIN_THEME, THEME_STYLES } from "../../src/hooks/plain-theme.js";
import { isMessageEntry } from "../../src/log/entry.js";
import { createHookTest, type HookTestOptions } from "../../src/testing/index.js";
import { isObject, objects } from "../helpers/json.js";
import { httpError, toolCall } from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { startApp } from "../modes/interactive/app.js";

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

/** Starts the testing kit with a hook from the page. */
async function startTest(file: string, options: Omit<HookTestOptions, "hooks">) {
	const dir = tempDir();
	writeFiles(dir, { [file]: hooks.find((hook) => hook.file === file)?.code ?? "" });
	const t = await createHookTest({ ...options, hooks: [join(dir, file)] });
	onTestFinished(() => t.dispose());
	return t;
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
	async "count.ts"() {
		const { session, provider } = await startWith("count.ts");
		provider.reply("a1");
		await session.prompt("u1");
		const [shortcut] = session.shortcuts;
		expect(shortcut).toMatchObject({ id: "hook.count.0", key: "ctrl+q" });
		await session.rebuildContext();
		expect(shortcut && (await session.runShortcut(shortcut))).toMatchObject({ status: "The model sees 2 messages" });
	},
	async "read-only.ts"() {
		const readFlags = () => ({ values: { "read-only": true }, problem: null });
		const { session, provider } = await startWith("read-only.ts", { readFlags });
		provider.reply([toolCall("bash", { command: "echo no" }), toolCall("ls", {})], "ok");
		await session.prompt("go");
		const results = provider.requests[1]?.messages.slice(-2).map(({ text }) => text);
		expect(results?.[0]).toContain("This session is read-only.");
		expect(results?.[1]).not.toContain("read-only");
	},
	async "echo.ts"() {
		const { session } = await startWith("echo.ts", { model: "echo/parrot" });
		await session.prompt("Polly");
		await session.rebuildContext();
		expect(session.context.messages.at(-1)?.message).toMatchObject({ content: [{ type: "text", text: "Polly" }] });
		const { session: other } = await startWith("echo.ts", { model: "lab/small" });
		expect(other.model).toMatchObject({ contextWindow: 64_000, baseUrl: "https://models.lab.example/v1" });
		await expect(other.prompt("hi")).rejects.toMatchObject({
			message: "No key for lab: hook echo reads it from LAB_KEY, which is not set",
		});
	},
	async "bookmark.ts"() {
		const { session } = await startWith("bookmark.ts");
		expect(await session.prompt("/bookmark")).toMatchObject({ status: "No bookmarks yet" });
		expect(await session.prompt("/bookmark before the change")).toMatchObject({ status: "Marked entry 1" });
		expect(await session.prompt("/bookmark")).toMatchObject({ status: "1 before the change" });
		const entry = session.entries[1];
		expect(entry && session.entryRenderer("bookmark")?.(entry, PLAIN_THEME)).toBe("★ before the change");
	},
	async "commit.ts"() {
		const t = await startTest("commit.ts", {
			files: { "a.ts": "a", "b.ts": "b" },
			dialogs: [["a.ts"], "Add a\n\nIt is new.", true, null],
		});
		const git = (...args: string[]) => execFileSync("git", ["-C", t.cwd, ...args], { encoding: "utf8" });
		git("init", "--quiet");
		git("config", "user.email", "ada@example.com");
		git("config", "user.name", "Ada");
		await t.run("/commit");
		expect(t.notices).toEqual(["Committed 1 files"]);
		expect(git("log", "--format=%B", "--name-only").trim()).toBe("Add a\n\nIt is new.\n\n\na.ts");
		expect(await t.run("/commit")).toMatchObject({ status: "Nothing committed" });
		expect(t.asked.map(({ kind, initial }) => [kind, initial])).toContainEqual(["editor", "Change a.ts"]);
	},
	async "todos.ts"() {
		const t = await startTest("todos.ts", { replies: ["ok"] });
		await t.run("/todo write the test");
		await t.run("/todo fix the bug");
		await t.run("hello");
		expect(t.screen).toMatchObject({
			statuses: { count: "2 todos" },
			widgets: { list: ["○ write the test", "○ fix the bug"] },
			workingMessage: "working on: write the test",
			title: "pi · 1 prompts",
		});
		await t.run("/todo");
		expect(t.screen).toMatchObject({ statuses: {}, widgets: {}, workingMessage: null });
	},
	async "roll.ts"() {
		const t = await startTest("roll.ts", { dialogs: [["space", "space", "enter"], null] });
		expect(t.screen).toMatchObject({ header: ["dice"], footer: ["─".repeat(80)] });
		expect(await t.run("/roll")).toMatchObject({ status: "The result is 3" });
		expect(await t.run("/roll")).toMatchObject({ status: "No result" });
		expect(t.asked[0]?.lines).toEqual(["You rolled 1", "space rolls · enter accepts · esc closes"]);
	},
	async "issues.ts"() {
		const code = hooks.find((hook) => hook.file === "issues.ts")?.code ?? "";
		const { terminal, submit } = await startApp({ hooks: { "issues.ts": code } });
		await terminal.waitFor("0%");
		await submit("/fix");
		await terminal.waitFor("issues asks: Number of the issue");
		await terminal.type("12");
		await terminal.press("enter");
		await terminal.waitFor("Fix #12");
		await terminal.press("ctrl+c");
		await terminal.type("see #coup");
		await terminal.waitFor("13 coupons expire too early");
		await terminal.press("enter");
		await terminal.waitFor("see #13");
	},
	async "ask-user.ts"() {
		const asked: string[] = [];
		const confirm = async (title: string, message: string) => {
			asked.push(`${title}: ${message}`);
			return true;
		};
		const { session, provider } = await startWith("ask-user.ts", { ui: { confirm } });
		provider.reply([toolCall("ask_user", { question: "Blue?" })], "ok");
		await session.prompt("paint it");
		expect(asked).toEqual([expect.stringContaining("Blue?")]);
		expect(provider.requests[1]?.messages.at(-1)?.text).toBe("yes");
	},
	"announce.ts": announce,
	"alarm.ts": announce,
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
	async "look-only.ts"() {
		const { session, provider } = await startWith("look-only.ts", { tools: ["read", "bash"] });
		provider.reply("a1", [toolCall("bash", { command: "ls" })], "a2", "a3");
		const toolsOf = (request: number) =>
			objects(provider.requests[request - 1]?.body.tools).map((tool) => isObject(tool.function) && tool.function.name);
		await session.prompt("u1");
		expect(await session.prompt("/look-only")).toMatchObject({
			status: "The system prompt has the sections base, tools, environment, look-only:rule",
		});
		await session.prompt("u2");
		expect([toolsOf(1), toolsOf(2)]).toEqual([["read", "bash"], ["read"]]);
		expect(provider.requests[1]?.messages[0]?.text).toMatch(/You can only read files here.*making them\.$/s);
		expect(provider.requests[2]?.messages.at(-1)?.text).toBe('There is no tool "bash". The tools are: read.');
		await session.prompt("/look-only off");
		await session.prompt("u3");
		expect(toolsOf(4)).toEqual(["read", "bash"]);
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

/** The hook that announces, with the one that listens. */
async function announce(): Promise<void> {
	const code = (file: string) => hooks.find((hook) => hook.file === file)?.code ?? "";
	const notes: string[] = [];
	const { session, provider } = await startSession({
		hooks: { "alarm.ts": code("alarm.ts"), "announce.ts": code("announce.ts") },
		ui: { notify: (message) => void notes.push(message) },
	});
	provider.reply([toolCall("bash", { command: "exit 3" }), toolCall("bash", { command: "exit 4" })], "ok");
	await session.prompt("fail");
	expect(notes).toEqual([expect.stringContaining("This failed: exit 3")]);
}

describe("docs/hooks.md", () => {
	test("the table of styles matches the theme", () => {
		expect(tableAfter("### Theme")).toEqual(Object.entries(THEME_STYLES).map(([name, is]) => [`\`${name}\``, is]));
	});

	test("every member of ctx.ui is listed and has an example", () => {
		const source = readFileSync(`${root}src/hooks/types/ui.ts`, "utf8");
		const [, body = ""] = /export interface HookUI \{\n([\s\S]*?)\n\}/.exec(source) ?? [];
		const members = [
			...new Set([...body.matchAll(/^\t(?:readonly )?(\w+)[(:<]/gm)].map(([, name = ""]) => name)),
		].sort();
		const listed = tableAfter("## Screen").flatMap(([cell = ""]) =>
			[...cell.matchAll(/`(\w+)/g)].map(([, name = ""]) => name),
		);
		expect(listed.sort()).toEqual(members);
		const code = hooks.map((hook) => hook.code).join("\n");
		expect(members.filter((name) => !new RegExp(`ctx\\.ui(\\.${name}\\b|;)`).test(code))).toEqual([]);
	});

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
		const rows = tableAfter("## Recipes");
		expect(rows.map(([file]) => file).sort()).toEqual(BUNDLED_HOOKS.map(({ name }) => `\`${name}.ts\``).sort());
		for (const { name, commands } of BUNDLED_HOOKS) {
			const [, purpose = ""] = rows.find(([file]) => file === `\`${name}.ts\``) ?? [];
			expect(commands.filter((command) => !purpose.includes(`/${command}`))).toEqual([]);
		}
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
