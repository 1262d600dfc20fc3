import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildContext } from "../../src/context/build-context.js";
import { earlierImports, importKey, importSession } from "../../src/imports/import-session.js";
import type { ImportPlace } from "../../src/imports/program.js";
import { findSessions, programNamed, sessionsAt } from "../../src/imports/programs.js";
import { checkSession } from "../../src/log/check-session.js";
import { SessionLog } from "../../src/log/session-log.js";
import { tempDir } from "../log/support.js";

const CWD = "/home/ada/shop";
const lines = (...values: unknown[]) =>
	values.map((value) => `${typeof value === "string" ? value : JSON.stringify(value)}\n`).join("");

function write(path: string, text: string): string {
	mkdirSync(dirname(path), { recursive: true });
	writeFileSync(path, text);
	return path;
}

/** Imports the first session in a file, and checks what must hold for each: legal, undamaged, the source unchanged. */
async function imported(path: string) {
	const before = readFileSync(path);
	const [found] = sessionsAt(path);
	if (!found) throw new Error("no session found");
	const made = await importSession(found, { dir: join(tempDir(), "sessions"), cwd: "/here" });
	expect(readFileSync(path)).toEqual(before);
	const log = SessionLog.open(made.path, { readOnly: true });
	const { entries, header } = log;
	log.close();
	const { messages, problems } = await buildContext(entries, []);
	expect(problems).toEqual([]);
	expect(checkSession(made.path).issues).toEqual([]);
	return { found, made, header, entries: entries.slice(1) as readonly Record<string, unknown>[], messages };
}

/** Entries in short: role or type, then text, calls, signature. */
function short(entries: readonly Record<string, unknown>[]): string[] {
	return entries.map((entry) => {
		const { role, content, toolName, command, isError } = (entry.message ?? {}) as Record<string, unknown>;
		const item = entry.item as { text: string } | undefined;
		if (role === undefined) return `${entry.type} ${item?.text ?? entry.summary ?? entry.name ?? ""}`.trim();
		if (role === "bashExecution") return `!${command}`;
		const blocks =
			typeof content === "string" ? [{ type: "text", text: content }] : (content as Record<string, unknown>[]);
		const texts = blocks.map((block) => {
			if (block.type === "toolCall") return `${block.name}(${JSON.stringify(block.arguments)})`;
			if (block.type === "thinking") return `<${block.thinking}${block.redacted ? "redacted" : ""}>`;
			return block.type === "image" ? `[${block.mimeType}]` : block.text;
		});
		return [role === "toolResult" ? `${toolName}${isError ? " failed" : ""}:` : role, ...texts].join(" ");
	});
}

/** The parts of a Claude Code session: each line continues the line before unless it says otherwise. */
function claudeLines(...parts: Record<string, unknown>[]): string {
	const common = { isSidechain: false, cwd: CWD, sessionId: "c-1", version: "2.1.37" };
	return lines(
		...parts.map((part, index) => {
			const uuid = String(index);
			const parentUuid = index === 0 ? null : String(index - 1);
			return { ...common, timestamp: `2026-01-01T10:00:0${index % 10}.000Z`, uuid, parentUuid, ...part };
		}),
	);
}
const typed = (content: unknown, more: object = {}) => ({ type: "user", message: { role: "user", content }, ...more });
const said = (id: string, block: object, more: object = {}) => ({
	type: "assistant",
	message: {
		...{ id, role: "assistant", model: "claude-opus-4-5-20251101", content: [block] },
		usage: { input_tokens: 10, output_tokens: 20, cache_read_input_tokens: 300, cache_creation_input_tokens: 40 },
	},
	...more,
});
const use = (id: string, name: string, input: object) => ({ type: "tool_use", id, name, input });
const result = (id: string, content: unknown, more: object = {}) =>
	typed([{ type: "tool_result", tool_use_id: id, content }], more);

describe("Claude Code", () => {
	const file = (...parts: Record<string, unknown>[]) => write(join(tempDir(), "c-1.jsonl"), claudeLines(...parts));

	test("a reply of several lines is one reply, and its calls are those of pi's tools", async () => {
		const { entries, made, header } = await imported(
			file(
				typed("Fix it"),
				said("m1", { type: "thinking", thinking: "Look first.", signature: "sig" }),
				said("m1", { type: "text", text: "I look." }),
				said("m1", use("t1", "Read", { file_path: "a.ts" })),
				said("m1", use("t2", "Bash", { command: "ls", timeout: 5000, description: "lists" })),
				result("t1", "1→x", { parentUuid: "3" }),
				result("t2", [{ type: "text", text: "a.ts" }], { parentUuid: "4" }),
				said("m2", use("t3", "Edit", { file_path: "a.ts", old_string: "x", new_string: "y", replace_all: true })),
				result("t3", "done"),
				said("m3", use("t4", "WebFetch", { url: "http://x" })),
			),
		);
		expect(short(entries)).toEqual([
			"user Fix it",
			'assistant <Look first.> I look. read({"path":"a.ts"}) bash({"command":"ls","timeout":5})',
			"read: 1→x",
			"bash: a.ts",
			'assistant edit({"path":"a.ts","oldText":"x","newText":"y","replaceAll":true})',
			"edit: done",
			'assistant WebFetch({"url":"http://x"})',
			"WebFetch failed: No result of this call was recorded.",
		]);
		expect(entries[1]?.message).toMatchObject({
			...{ api: "anthropic-messages", provider: "anthropic", model: "claude-opus-4-5-20251101", stopReason: "toolUse" },
			usage: { input: 10, output: 20, cacheRead: 300, cacheWrite: 40, cost: { total: expect.closeTo(0.000_95, 5) } },
			timestamp: Date.parse("2026-01-01T10:00:01.000Z"),
		});
		expect(header).toMatchObject({ cwd: CWD, importedFrom: { program: "claude", id: "c-1" } });
		expect(made.leftOut).toEqual({});
	});

	test("branches, side chains and lines that are no conversation are counted", async () => {
		const { entries, made } = await imported(
			file(
				typed("First try"),
				said("m1", { type: "text", text: "No." }),
				typed("Second try", { parentUuid: null }),
				said("s1", { type: "text", text: "sub" }, { isSidechain: true }),
				{ type: "progress", data: {} },
				{ type: "file-history-snapshot", snapshot: {}, uuid: undefined },
				{ type: "queue-operation", uuid: undefined },
				{ type: "summary", summary: "Another session", leafUuid: "x", uuid: undefined },
				{ type: "summary", summary: "The second try", leafUuid: "9", uuid: undefined },
				said("m2", { type: "text", text: "Yes." }, { parentUuid: "2" }),
				said("m3", { type: "text", text: "API Error" }, { isApiErrorMessage: true }),
				{ type: "novelty", uuid: undefined },
			),
		);
		expect(short(entries)).toEqual(["user Second try", "assistant Yes.", "session_info The second try"]);
		expect(made.leftOut).toEqual({
			...{ "lines of other branches": 2, "lines of side chains": 1, "progress lines": 1, "file snapshots": 1 },
			...{ "queue operations": 1, "titles of other sessions": 1, "errors and notes in place of a reply": 1 },
			"lines of the type novelty": 1,
		});
	});

	test("a compaction stays one: the model sees its summary and what follows", async () => {
		const { entries, messages } = await imported(
			file(
				typed("Old"),
				said("m1", { type: "text", text: "Old reply" }),
				{
					...{ type: "system", subtype: "compact_boundary", parentUuid: null, logicalParentUuid: "1" },
					compactMetadata: { preTokens: 155_577 },
				},
				typed("This is the summary.", { isCompactSummary: true }),
				typed("Go on"),
				said("m2", { type: "text", text: "New reply" }),
			),
		);
		expect(short(entries)).toEqual([
			...["user Old", "assistant Old reply", "compaction This is the summary.", "user Go on", "assistant New reply"],
		]);
		expect(entries[2]).toMatchObject({ tokensBefore: 155_577, firstKeptEntryIndex: 3 });
		expect(messages).toHaveLength(3);
	});

	test("commands, interruptions, images and redacted thinking", async () => {
		const { entries, made } = await imported(
			file(
				typed("<bash-input>git status</bash-input>"),
				typed("<bash-stdout>clean</bash-stdout><bash-stderr></bash-stderr>"),
				typed("<command-name>/clear</command-name>"),
				typed([
					{ type: "text", text: "See" },
					{ type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } },
				]),
				said("m1", { type: "redacted_thinking", data: "secret" }),
				said("m1", use("t1", "Bash", { command: "sleep 9" })),
				result("t1", "", {
					message: {
						role: "user",
						content: [{ type: "tool_result", tool_use_id: "t1", content: "stopped", is_error: true }],
					},
				}),
				typed([{ type: "text", text: "[Request interrupted by user for tool use]" }]),
				typed([
					{ type: "image", source: { type: "url", url: "http://x/y.png" } },
					{ type: "text", text: "and this" },
				]),
				result("none", "lost"),
			),
		);
		expect(short(entries)).toEqual([
			"!git status",
			"user See [image/png]",
			'assistant <redacted> bash({"command":"sleep 9"})',
			"bash failed: stopped",
			"system_item [Request interrupted by user for tool use]",
			"user and this",
		]);
		expect(made.leftOut).toEqual({ "local commands": 1, "images that are gone": 1, "results without a call": 1 });
	});

	test("broken lines and a missing beginning are said", async () => {
		const text = claudeLines(typed("Start", { parentUuid: "gone" }), said("m1", { type: "text", text: "x" }));
		const { made } = await imported(
			write(join(tempDir(), "a.jsonl"), `${text}{"type":"user","mess\n\n${"[".repeat(50)}\n`),
		);
		expect(made).toMatchObject({ entries: 2, damaged: 2, isCut: true });
	});
});

describe("Codex", () => {
	const item = (payload: object) => ({ timestamp: "2026-01-01T10:00:01.000Z", type: "response_item", payload });
	const event = (payload: object) => ({ timestamp: "2026-01-01T10:00:02.000Z", type: "event_msg", payload });
	const meta = {
		timestamp: "2026-01-01T10:00:00.000Z",
		type: "session_meta",
		payload: { id: "x-1", cwd: CWD, model_provider: "openai" },
	};
	const tokens = (total: number, last: object) =>
		event({ type: "token_count", info: { total_token_usage: { total_tokens: total }, last_token_usage: last } });
	const message = (role: string, text: string) =>
		item({ type: "message", role, content: [{ type: role === "assistant" ? "output_text" : "input_text", text }] });

	test("items become replies with their calls, results and tokens", async () => {
		const reasoning = {
			type: "reasoning",
			id: "rs_1",
			summary: [{ type: "summary_text", text: "Think" }],
			encrypted_content: "e",
		};
		const { entries, made, found } = await imported(
			write(
				join(tempDir(), "rollout-1.jsonl"),
				lines(
					meta,
					{ type: "turn_context", payload: { model: "gpt-5.1-codex" } },
					message("developer", "Be brief"),
					message("user", "<environment_context>\n</environment_context>"),
					message("user", "Run it"),
					item(reasoning),
					message("assistant", "I run it."),
					item({
						type: "function_call",
						name: "shell_command",
						arguments: JSON.stringify({ command: "ls", workdir: CWD, timeout_ms: 2000 }),
						call_id: "k1",
					}),
					item({
						type: "function_call",
						name: "shell",
						arguments: JSON.stringify({ command: ["bash", "-lc", "pwd"], workdir: "/tmp" }),
						call_id: "k2",
					}),
					tokens(1, { input_tokens: 100, cached_input_tokens: 60, output_tokens: 7 }),
					tokens(1, { input_tokens: 900, cached_input_tokens: 0, output_tokens: 9 }),
					item({
						type: "function_call_output",
						call_id: "k1",
						output: JSON.stringify({ output: "no", metadata: { exit_code: 2 } }),
					}),
					item({ type: "function_call_output", call_id: "k2", output: "/tmp" }),
					item({ type: "custom_tool_call", name: "apply_patch", input: "*** Begin", call_id: "k3" }),
					item({ type: "custom_tool_call_output", call_id: "k3", output: [{ type: "input_text", text: "Done" }] }),
					item({ type: "function_call", name: "find", namespace: "mcp__probe", arguments: "{not json", call_id: "k4" }),
					item({ type: "reasoning", summary: [], encrypted_content: "e" }),
					event({ type: "thread_name_updated", thread_name: "A run" }),
				),
			),
		);
		expect(found).toMatchObject({ program: "codex", id: "x-1", title: "Run it" });
		expect(short(entries)).toEqual([
			"user Run it",
			'assistant <Think> I run it. bash({"command":"ls","timeout":2}) shell({"command":["bash","-lc","pwd"],"workdir":"/tmp"})',
			"bash failed: no",
			"shell: /tmp",
			'assistant apply_patch({"input":"*** Begin"})',
			"apply_patch: Done",
			'assistant mcp__probe__find({"input":"{not json"})',
			"mcp__probe__find failed: No result of this call was recorded.",
			"session_info A run",
		]);
		expect(entries[1]?.message).toMatchObject({
			...{ model: "gpt-5.1-codex", provider: "openai", api: "openai-responses" },
			usage: { input: 40, cacheRead: 60, output: 7 },
			content: [{ thinkingSignature: JSON.stringify(reasoning) }, {}, {}, {}],
		});
		expect(made.leftOut).toEqual({ "instructions of the program": 2, "encrypted reasoning": 1 });
	});

	test("a compaction with an encrypted summary keeps what can be read", async () => {
		const history = [message("user", "Run it").payload, { type: "compaction", encrypted_content: "e" }];
		const { entries, made } = await imported(
			write(
				join(tempDir(), "rollout-2.jsonl"),
				lines(
					meta,
					message("user", "Run it"),
					{ type: "compacted", payload: { message: "", replacement_history: history } },
					message("user", "And now?"),
				),
			),
		);
		expect(short(entries)).toEqual(["user Run it", "compaction Run it", "user And now?"]);
		expect(made.leftOut).toEqual({ "encrypted summaries": 1 });
	});

	test("the first versions wrote items without an envelope", async () => {
		const { entries } = await imported(
			write(
				join(tempDir(), "rollout-3.jsonl"),
				lines(
					{ id: "old", timestamp: "2025-05-01T10:00:00.000Z", instructions: null },
					{ record_type: "state" },
					{ type: "message", role: "user", content: [{ type: "input_text", text: "Hi" }] },
					{ type: "message", role: "assistant", content: [{ type: "output_text", text: "Hello" }] },
				),
			),
		);
		expect(short(entries)).toEqual(["user Hi", "assistant Hello"]);
	});
});

describe("Gemini CLI", () => {
	const session = { sessionId: "g-1", projectHash: "h", startTime: "2026-01-01T10:00:00.000Z" };
	const user = { id: "1", type: "user", timestamp: "2026-01-01T10:00:00.000Z", content: [{ text: "Write it" }] };
	const reply = {
		...{
			id: "2",
			type: "gemini",
			timestamp: "2026-01-01T10:00:01.000Z",
			content: "Writing.",
			model: "gemini-2.5-flash",
		},
		thoughts: [{ subject: "Plan", description: "write" }],
		tokens: { input: 100, output: 5, cached: 80, thoughts: 3, tool: 0, total: 108 },
		toolCalls: [
			{
				...{ id: "w", name: "write_file", args: { file_path: "a", content: "b" }, status: "success" },
				result: [{ functionResponse: { id: "w", name: "write_file", response: { output: "ok" } } }],
			},
			{
				id: "r",
				name: "replace",
				args: { file_path: "a", old_string: "b", new_string: "c", instruction: "i" },
				status: "cancelled",
			},
		],
	};
	const expected = [
		"user Write it",
		'assistant <Plan: write> Writing. write({"path":"a","content":"b"}) edit({"path":"a","oldText":"b","newText":"c"})',
		"write: ok",
		"edit failed: No result of this call was recorded.",
	];

	test("a pretty-printed document", async () => {
		const document = { ...session, messages: [user, { ...user, id: "i", type: "info" }, reply] };
		const { entries, made } = await imported(
			write(join(tempDir(), "session-1.json"), JSON.stringify(document, null, 2)),
		);
		expect(short(entries)).toEqual(expected);
		expect(entries[1]?.message).toMatchObject({ provider: "google", usage: { input: 20, cacheRead: 80, output: 8 } });
		expect(made.leftOut).toEqual({ "notes of the program": 1 });
	});

	test("lines, of which later ones replace or take back earlier ones", async () => {
		const text = lines(
			session,
			user,
			{ ...user, id: "x", content: "Never mind" },
			{ $rewindTo: "x" },
			{ ...reply, content: "" },
			reply,
			{ $set: { summary: "A file" } },
		);
		const { entries } = await imported(write(join(tempDir(), "session-2.jsonl"), text));
		expect(short(entries)).toEqual([...expected, "session_info A file"]);
	});
});

describe("opencode", () => {
	const info = {
		id: "ses_1",
		directory: CWD,
		title: "Fix shop",
		time: { created: 1_767_261_600_000, updated: 1_767_261_700_000 },
	};
	const asked = {
		info: { id: "msg_1", role: "user", time: { created: 1 } },
		parts: [
			{ type: "text", text: "Fix" },
			{ type: "text", text: "Called the Read tool", synthetic: true },
			{ type: "file", mime: "image/png", url: "data:image/png;base64,aGk=" },
		],
	};
	const answered = {
		info: {
			id: "msg_2",
			role: "assistant",
			time: { created: 2 },
			providerID: "anthropic",
			modelID: "claude-sonnet-4-5",
			cost: 0.5,
			tokens: { input: 1, output: 2, reasoning: 3, cache: { read: 4, write: 5 } },
		},
		parts: [
			{ type: "step-start" },
			{ type: "reasoning", text: "Hm", metadata: { anthropic: { signature: "s" } } },
			{
				type: "tool",
				callID: "o1",
				tool: "edit",
				state: { status: "completed", input: { filePath: "a", oldString: "x", newString: "y" }, output: "ok" },
			},
			{ type: "step-finish", tokens: { input: 1, output: 2, reasoning: 0, cache: { read: 0, write: 0 } }, cost: 0.25 },
			{ type: "step-start" },
			{ type: "text", text: "Fixed." },
			{ type: "step-finish", tokens: { input: 9, output: 2, reasoning: 0, cache: { read: 0, write: 0 } }, cost: 0.75 },
			{ type: "patch", hash: "h" },
		],
	};
	const compacted = {
		info: { id: "msg_3", role: "assistant", summary: true, time: { created: 3 } },
		parts: [{ type: "text", text: "So far." }],
	};
	const expected = [
		"system_item Called the Read tool",
		"user Fix [image/png]",
		'assistant <Hm> edit({"path":"a","oldText":"x","newText":"y"})',
		"edit: ok",
		"assistant Fixed.",
		"compaction So far.",
		"session_info Fix shop",
	];

	test("an export", async () => {
		const { entries } = await imported(
			write(join(tempDir(), "export.json"), JSON.stringify({ info, messages: [asked, answered, compacted] })),
		);
		expect(short(entries)).toEqual(expected);
		expect(entries[4]?.message).toMatchObject({ usage: { input: 9, cost: { total: 0.75 } }, provider: "anthropic" });
	});

	test("its storage, found from the working directory", async () => {
		const home = tempDir();
		const storage = join(home, ".local/share/opencode/storage");
		write(join(storage, "session/p/ses_1.json"), JSON.stringify(info));
		write(join(storage, "session/p/ses_2.json"), JSON.stringify({ ...info, id: "ses_2", directory: "/elsewhere" }));
		for (const { info: message, parts } of [compacted, answered, asked]) {
			write(join(storage, "message/ses_1", `${message.id}.json`), JSON.stringify(message));
			for (const [index, part] of parts.entries())
				write(join(storage, "part", message.id, `prt_${index}.json`), JSON.stringify(part));
		}
		const found = await findSessions(placeIn(home));
		expect(found).toMatchObject([{ program: "opencode", id: "ses_1", title: "Fix shop", cwd: CWD }]);
		const { entries } = await imported(found[0]?.path ?? "");
		expect(short(entries)).toEqual(expected);
	});
});

describe("aider", () => {
	const history = [
		...["", "# aider chat started at 2025-01-01 10:00:00", "", "> Main model: gpt-4o with diff edit format  ", ""],
		...[
			"#### /add a.py",
			"",
			"# aider chat started at 2025-01-02 10:00:00",
			"",
			"> Main model: anthropic/claude-sonnet-4-5 with diff  ",
		],
		...[
			"#### Rename it,  ",
			"#### everywhere",
			"",
			"> Add a.py to the chat?",
			"#### Add file to the chat? (Y)es/(N)o/(D)on't ask again [Yes]: skip",
			"",
			"<thinking-content-7bb>",
			"Hm.",
			"</thinking-content-7bb>",
			"",
			"I rename it.",
			"",
			"a.py",
			"```",
			"x",
			"```",
			"",
		],
		...[
			"> Tokens: 2.6k sent, 1k cache write, 500 cache hit, 85 received. Cost: $0.04 message, $0.05 session.  ",
			"> Applied edit to a.py  ",
		],
		...["#### /ask Why?", "", "Because."],
	].join("\n");

	test("the last chat with a prompt, with its model, tokens and cost", async () => {
		const { entries, made, found } = await imported(write(join(tempDir(), ".aider.chat.history.md"), history));
		expect(found).toMatchObject({ program: "aider", id: "2025-01-02T10:00:00", title: "Rename it, everywhere" });
		expect(short(entries)).toEqual([
			"user Rename it,\neverywhere",
			"assistant <Hm.> I rename it.\n\na.py\n```\nx\n```",
			"user /ask Why?",
			"assistant Because.",
		]);
		expect(entries[1]?.message).toMatchObject({
			...{ provider: "anthropic", model: "claude-sonnet-4-5" },
			usage: { input: 1100, cacheWrite: 1000, cacheRead: 500, output: 85, cost: { total: 0.04 } },
		});
		expect(made.leftOut).toEqual({ "notes of the program": 4 });
	});
});

/** Where programs keep sessions of `CWD`. */
function placeIn(home: string): ImportPlace {
	return { cwd: CWD, home, env: {}, sessionDir: join(home, "sessions") };
}

test("sessions of this directory are found where each program keeps them, newest first", async () => {
	const home = tempDir();
	const claude = claudeLines(typed("Fix it"));
	write(join(home, ".claude/projects/-home-ada-shop/c-1.jsonl"), claude);
	write(join(home, ".claude/projects/-home-ada-shop/agent-1.jsonl"), claude);
	write(join(home, ".claude/projects/-home-ada-other/c-2.jsonl"), claude);
	const meta = (id: string, cwd: string) => lines({ type: "session_meta", payload: { id, cwd } }, {});
	write(join(home, ".codex/sessions/2026/01/01/rollout-a.jsonl"), meta("here", CWD));
	write(join(home, ".codex/sessions/2026/01/01/rollout-b.jsonl"), meta("there", "/elsewhere"));
	const hash = createHash("sha256").update(CWD).digest("hex");
	const gemini = (sessionId: string) => JSON.stringify({ sessionId, projectHash: hash, messages: [] });
	write(join(home, `.gemini/tmp/${hash}/chats/session-1.json`), gemini("hashed"));
	write(join(home, ".gemini/tmp/shop/.project_root"), CWD);
	write(join(home, ".gemini/tmp/shop/chats/session-2.json"), gemini("named"));
	write(join(home, "sessions/old.jsonl"), lines({ type: "session", version: 3, id: "tree", cwd: CWD }));
	const found = await findSessions(placeIn(home));
	expect(found.map(({ program, id }) => `${program} ${id}`).sort()).toEqual([
		...["claude c-1", "codex here", "gemini hashed", "gemini named", "pi tree"],
	]);
	expect(await findSessions(placeIn(home), programNamed("codex"))).toMatchObject([{ id: "here" }]);
	expect(await findSessions(placeIn(tempDir()))).toEqual([]);
	expect(() => programNamed("cursor")).toThrow("pi knows pi, claude, codex, opencode, gemini, aider");
});

test("an import is known again by its program and id, also when the file was moved", async () => {
	const dir = tempDir();
	const sessions = join(dir, "sessions");
	const [found] = sessionsAt(write(join(dir, "c-1.jsonl"), claudeLines(typed("Fix it"))));
	const made = await importSession(found as never, { dir: sessions, cwd: "/here" });
	expect(earlierImports(sessions).get(importKey({ program: "claude", id: "c-1" }))).toBe(made.path);
});

test("a directory holds all sessions below it; a file of no program is refused", () => {
	const dir = tempDir();
	write(join(dir, "a/c-1.jsonl"), claudeLines(typed("Fix it")));
	write(join(dir, "package.json"), "{}");
	expect(sessionsAt(dir)).toMatchObject([{ program: "claude" }]);
	const refused = (path: string, code: string) =>
		expect(() => sessionsAt(path)).toThrow(expect.objectContaining({ code }));
	refused(join(dir, "package.json"), "log_not_a_session");
	refused(join(dir, "none.jsonl"), "log_not_found");
	refused(tempDir(), "log_not_a_session");
});

test("whatever is in the lines of a known file, an import is legal or refused with a reason", async () => {
	const value = fc.jsonValue({ maxDepth: 3 });
	const part = fc.oneof(
		value,
		fc.record({
			type: fc.constantFrom("user", "assistant", "system", "response_item", "event_msg", "compacted", "gemini"),
			uuid: value,
			payload: value,
			message: fc.oneof(
				value,
				fc.record({
					id: value,
					content: fc.array(
						fc.record({
							type: fc.constantFrom("text", "tool_use", "tool_result", "thinking", "image"),
							text: value,
							id: value,
							name: value,
							input: value,
							content: value,
							tool_use_id: value,
						}),
					),
				}),
			),
			content: value,
			toolCalls: value,
			id: value,
			timestamp: value,
		}),
	);
	const heads = [
		claudeLines(typed("Fix it")),
		lines({ type: "session_meta", payload: { id: "x", cwd: CWD } }),
		lines({ sessionId: "g", projectHash: "h" }),
	];
	const dir = tempDir();
	let count = 0;
	await fc.assert(
		fc.asyncProperty(fc.constantFrom(...heads), fc.array(part, { maxLength: 8 }), async (head, parts) => {
			const path = write(join(dir, `${count++}.jsonl`), head + lines(...parts.map((each) => JSON.stringify(each))));
			const [found] = sessionsAt(path);
			if (!found) return;
			const made = await importSession(found, { dir: join(dir, "s"), cwd: "/" }).catch((error) => {
				expect(error).toMatchObject({ code: "log_not_a_session" });
			});
			if (!made) return;
			const log = SessionLog.open(made.path, { readOnly: true });
			expect((await buildContext(log.entries, [])).problems).toEqual([]);
			log.close();
			expect(checkSession(made.path).issues).toEqual([]);
		}),
		{ numRuns: 150 },
	);
});
