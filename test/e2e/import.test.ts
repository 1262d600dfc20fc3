import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { tempAgentDir, tempDir } from "../helpers/temp.js";
import { agentDirFor, conversation, openPi, STACKING, submit, submitIdle } from "./support.js";

/** A Claude Code session in which a file was read. */
function claudeSession(home: string, cwd: string): string {
	const dir = join(home, ".claude", "projects", cwd.replace(/[^a-zA-Z0-9]/g, "-"));
	const usage = { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
	const said = (id: string, block: object) => ({
		type: "assistant",
		message: { id, role: "assistant", model: "claude-opus-4-5-20251101", content: [block], usage },
	});
	const typed = (content: unknown) => ({ type: "user", message: { role: "user", content } });
	const parts = [
		typed("Where is the price rounded?"),
		said("m1", { type: "thinking", thinking: "I look.", signature: "c2lnbmVk" }),
		said("m1", { type: "tool_use", id: "toolu_1", name: "Read", input: { file_path: "price.ts" } }),
		typed([{ type: "tool_result", tool_use_id: "toolu_1", content: "1→export const price = 1;" }]),
		said("m2", { type: "text", text: "In price.ts." }),
	];
	const lines = parts.map((part, index) => {
		const place = { uuid: `u${index}`, parentUuid: index === 0 ? null : `u${index - 1}`, isSidechain: false };
		return JSON.stringify({ ...place, ...part, sessionId: "c-77", cwd, timestamp: `2026-01-01T10:00:0${index}.000Z` });
	});
	mkdirSync(dir, { recursive: true });
	const path = join(dir, "c-77.jsonl");
	writeFileSync(path, `${lines.join("\n")}\n`);
	return path;
}

test("a session of another program is found in /resume, imported, continued, popped and counted", async () => {
	const provider = await startProvider();
	const [agentDir, cwd, home] = [
		agentDirFor(provider, { hooks: { "stacking.ts": STACKING } }),
		tempDir("pi-project-"),
		tempDir("pi-user-"),
	];
	const source = claudeSession(home, cwd);
	const before = readFileSync(source, "utf8");
	const at = { agentDir, cwd, env: { HOME: home } };
	const pi = await openPi(at);
	await submitIdle(pi, "/resume");
	await pi.waitForText("tab all directories");
	await pi.press("tab");
	await pi.waitForText("tab other programs");
	await pi.press("tab");
	const list = await pi.waitForText("Where is the price rounded?");
	expect(list).toContain("Claude Code");
	await pi.press("enter");
	await pi.waitForText("Imported 4 entries from Claude Code");
	expect(await pi.waitForText("In price.ts.")).toMatch(/read +price\.ts/);

	expect(await pi.screen()).toContain("claude-opus-4-5-20251101 has no key; using loopback/scripted");
	provider.reply("On line 1.");
	await submit(pi, "On which line?");
	await pi.waitForText("On line 1.");
	expect(conversation(provider, 0).join("\n")).toMatch(
		/Where is the price rounded\?[\s\S]*export const price[\s\S]*In price\.ts\.[\s\S]*On which line\?/,
	);
	provider.reply("The price is rounded in price.ts, line 1.");
	await submitIdle(pi, "/pop 1");
	await pi.waitForText("popped to turn 1");
	await submitIdle(pi, "/quit");
	await pi.exited;
	expect(readFileSync(source, "utf8")).toBe(before);

	const again = await runPi(["sessions", "import", "c-77"], at);
	expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining(`imported before: ${source}`) });
	const listed = await runPi(["sessions", "import", "--json"], at);
	expect(JSON.parse(listed.stdout)).toMatchObject([
		{ program: "claude", id: "c-77", importedBefore: expect.any(String) },
	]);
	const verified = await runPi(["context", "--verify"], at);
	expect(verified).toMatchObject({ code: 0 });
	expect(verified.stdout).toContain("The request matches the recorded one");
	expect(verified.stdout).toContain("2 replies without a recorded request");
	expect((await runPi(["usage", "--days", "10000"], at)).stdout).toContain("2026-01-01");

	// It can go back, with what was said here.
	const [{ id }] = JSON.parse((await runPi(["sessions", "list", "--json"], at)).stdout);
	const back = await runPi(["sessions", "export", id, "-", "--format", "claude"], at);
	expect(back.stdout).toMatch(/"name":"Read"[\s\S]*In price\.ts\.[\s\S]*On line 1\./);
	const text = await runPi(["sessions", "export", id, "notes.md"], at);
	expect(text).toMatchObject({ code: 0, stdout: expect.stringMatching(/\/notes\.md\n$/) });
});

/** SQLite, in versions of Node that have it. */
const sqlite = (process as { getBuiltinModule?(name: string): unknown }).getBuiltinModule?.("node:sqlite") as
	| undefined
	| { DatabaseSync: new (path: string) => { exec(sql: string): void; close(): void } };

test(`the database of opencode is ${sqlite ? "imported" : "named, with what to do"}`, async () => {
	const at = { agentDir: tempAgentDir(), cwd: tempDir("pi-project-"), env: { XDG_DATA_HOME: tempDir() } };
	const path = join(at.env.XDG_DATA_HOME, "opencode/opencode.db");
	mkdirSync(dirname(path));
	if (!sqlite) {
		writeFileSync(path, "SQLite format 3");
		for (const args of [[], [path]]) {
			expect((await runPi(["sessions", "import", ...args], at)).stderr).toMatch(
				/opencode\.db: databases need Node 22\.13/,
			);
		}
		return;
	}
	const sql = (value: unknown) =>
		`'${(typeof value === "string" ? value : JSON.stringify(value)).replaceAll("'", "''")}'`;
	const session = (id: string, parent: string, title: string) =>
		`INSERT INTO session VALUES (${[id].map(sql)}, ${parent}, ${[at.cwd, title].map(sql)}, ${sql({ messageID: "msg_4" })}, 1, 9);`;
	const message = (id: string, data: object) => `INSERT INTO message VALUES (${sql(id)}, 'ses_1', 1, ${sql(data)});`;
	const part = (id: string, of: string, data: object) =>
		`INSERT INTO part VALUES (${[id, of].map(sql)}, 'ses_1', ${sql(data)});`;
	const database = new sqlite.DatabaseSync(path);
	database.exec(`PRAGMA journal_mode = WAL;
		CREATE TABLE session (id text, parent_id text, directory text, title text, revert text, time_created int, time_updated int);
		CREATE TABLE message (id text, session_id text, time_created int, data text);
		CREATE TABLE part (id text, message_id text, session_id text, data text);`);
	database.exec(
		[
			session("ses_1", "NULL", "Where it's rounded"),
			session("ses_2", "'ses_1'", "A subagent"),
			message("msg_1", { role: "user", time: { created: 1 } }),
			part("prt_1", "msg_1", { type: "text", text: "Where is the price rounded?" }),
			message("msg_2", { role: "assistant", modelID: "glm-5", providerID: "zai", time: { created: 2 } }),
			part("prt_3", "msg_2", { type: "text", text: "In price.ts." }),
			part("prt_2", "msg_2", { type: "step-start" }),
			message("msg_4", { role: "user", time: { created: 3 } }),
			part("prt_4", "msg_4", { type: "text", text: "taken back" }),
		].join("\n"),
	);
	database.close();
	const listed = await runPi(["sessions", "import", "--json"], at);
	expect(listed.stderr).toBe("");
	expect(JSON.parse(listed.stdout)).toMatchObject([{ program: "opencode", id: "ses_1", title: "Where it's rounded" }]);
	expect((await runPi(["sessions", "import", "ses_1"], at)).stdout).toContain("omitted   reverted messages (1)");
	const [{ id }] = JSON.parse((await runPi(["sessions", "list", "--json"], at)).stdout);
	const text = await runPi(["sessions", "export", id, "-", "--format", "markdown"], at);
	expect(text.stdout).toMatch(/rounded\?\n\n## Assistant\n\nIn price\.ts\.\n$/);
});

const T = "2026-01-01T10:00:00.000Z";
const QUESTION = "Where is the price rounded?";
/** A session of each other program in which a file was read: the name of its file, and its text. */
const SESSIONS: Readonly<Record<string, (cwd: string) => [name: string, text: string]>> = {
	codex: (cwd) => {
		const item = (payload: object) => ({ timestamp: T, type: "response_item", payload });
		const said = (role: string, type: string, text: string) =>
			item({ type: "message", role, content: [{ type, text }] });
		return [
			"rollout-x.jsonl",
			jsonLines(
				{ timestamp: T, type: "session_meta", payload: { id: "x-1", cwd, model_provider: "openai" } },
				{ type: "turn_context", payload: { model: "gpt-5.1-codex" } },
				said("user", "input_text", QUESTION),
				item({ type: "function_call", name: "shell", arguments: '{"command":["cat","price.ts"]}', call_id: "k1" }),
				item({ type: "function_call_output", call_id: "k1", output: "export const price = 1;" }),
				said("assistant", "output_text", "In price.ts."),
			),
		];
	},
	opencode: (directory) => {
		const message = (id: string, info: object, ...parts: object[]) => ({
			info: { id, time: { created: 1 }, ...info },
			parts,
		});
		const state = { status: "completed", input: { filePath: "price.ts" }, output: "export const price = 1;", time: {} };
		const messages = [
			message("msg_1", { role: "user" }, { type: "text", text: QUESTION }),
			message(
				"msg_2",
				{ role: "assistant", modelID: "glm-5", providerID: "zai" },
				{ type: "tool", tool: "read", callID: "call_1", state },
				{ type: "step-start" },
				{ type: "text", text: "In price.ts." },
			),
		];
		return [
			"export.json",
			JSON.stringify({ info: { id: "ses_1", directory, title: "", time: { created: 1 } }, messages }),
		];
	},
	gemini: () => {
		const result = [
			{ functionResponse: { id: "r", name: "read_file", response: { output: "export const price = 1;" } } },
		];
		const toolCalls = [{ id: "r", name: "read_file", args: { file_path: "price.ts" }, status: "success", result }];
		const messages = [
			{ id: "1", type: "user", timestamp: T, content: QUESTION },
			{ id: "2", type: "gemini", timestamp: T, content: "", model: "gemini-2.5-flash", toolCalls },
			{ id: "3", type: "gemini", timestamp: T, content: "In price.ts.", model: "gemini-2.5-flash" },
		];
		return ["session-1.json", JSON.stringify({ sessionId: "g-1", projectHash: "h", startTime: T, messages }, null, 2)];
	},
	aider: () => [
		".aider.chat.history.md",
		`# aider chat started at 2026-01-01 10:00:00\n\n#### ${QUESTION}\n\nIn price.ts.\n`,
	],
	pi: (cwd) => {
		const entry = (id: string, parentId: string | null, message: object) => ({
			...{ type: "message", id, parentId, timestamp: T, message: { timestamp: 1, ...message } },
		});
		const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: { total: 0 } };
		const reply = { role: "assistant", api: "openai-completions", provider: "zai", model: "glm-5", usage };
		const call = { type: "toolCall", id: "r", name: "read", arguments: { path: "price.ts" } };
		const content = [{ type: "text", text: "export const price = 1;" }];
		return [
			"tree.jsonl",
			jsonLines(
				{ type: "session", version: 3, id: "t-1", timestamp: T, cwd },
				entry("a", null, { role: "user", content: QUESTION }),
				entry("b", "a", { ...reply, content: [call], stopReason: "toolUse" }),
				entry("c", "b", { role: "toolResult", toolCallId: "r", toolName: "read", content, isError: false }),
				entry("d", "c", { ...reply, content: [{ type: "text", text: "In price.ts." }], stopReason: "stop" }),
			),
		];
	},
};

function jsonLines(...values: object[]): string {
	return values.map((value) => `${JSON.stringify(value)}\n`).join("");
}

test.each(Object.entries(SESSIONS))(
	"a session of %s is imported, continued, popped, verified and exported",
	async (from, make) => {
		const provider = await startProvider();
		const agentDir = agentDirFor(provider, { hooks: { "stacking.ts": STACKING } });
		const cwd = tempDir("pi-project-");
		const [name, text] = make(cwd);
		writeFileSync(join(cwd, name), text);
		const imported = await runPi(["sessions", "import", name, "--from", from], { agentDir, cwd });
		expect(imported).toMatchObject({ code: 0, stderr: "" });
		expect(readFileSync(join(cwd, name), "utf8")).toBe(text);

		const pi = await openPi({ agentDir, cwd, args: ["--continue", "--model", "loopback/scripted"] });
		await pi.waitForText("In price.ts.");
		provider.reply("On line 1.");
		await submit(pi, "On which line?");
		await pi.waitForText("On line 1.");
		// The provider of the tests refuses a request with calls without results, or out of order.
		const sent = conversation(provider, 0).join("\n");
		expect(sent).toMatch(/Where is the price rounded\?[\s\S]*In price\.ts\.[\s\S]*On which line\?/);
		if (from !== "aider") expect(sent).toContain("export const price = 1;");
		provider.reply("The price is rounded in price.ts, line 1.");
		await submitIdle(pi, "/pop 1");
		await pi.waitForText("popped to turn 1");
		await submitIdle(pi, "/quit");
		await pi.exited;

		const verified = await runPi(["context", "--verify"], { agentDir, cwd });
		expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining("matches the recorded one") });
		const [{ id }] = JSON.parse((await runPi(["sessions", "list", "--json"], { agentDir, cwd })).stdout);
		for (const format of ["markdown", "claude", "atif", "html"]) {
			const { code, stdout } = await runPi(["sessions", "export", id, "-", "--format", format], { agentDir, cwd });
			expect(code).toBe(0);
			expect(stdout).toMatch(/In price\.ts\.[\s\S]*On line 1\./);
		}
	},
);
