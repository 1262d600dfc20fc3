import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sessionsAt } from "../../src/imports/programs.js";
import { tempDir } from "../log/support.js";
import { CWD, claudeLines, imported, result, said, short, typed, use, write } from "./support.js";

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

	const command = (name: string, args = "") =>
		`<command-message>${name} is running…</command-message>\n<command-name>${name}</command-name>\n<command-args>${args}</command-args>`;

	test("a command that the model answers is a prompt, others are local", async () => {
		const { entries, made, found } = await imported(
			file(
				typed("<local-command-caveat>Caveat</local-command-caveat>", { isMeta: true }),
				typed(command("/mcp")),
				typed("<local-command-stdout>2 servers</local-command-stdout>"),
				typed(command("/review", "12")),
				typed([{ type: "text", text: "Review the pull request 12." }], { isMeta: true }),
				said("s1", { type: "text", text: "sub" }, { isSidechain: true }),
				said("m1", { type: "text", text: "It is fine." }, { parentUuid: "4" }),
				typed(command("/init")),
				said("m2", { type: "text", text: "API Error" }, { isApiErrorMessage: true }),
				typed(command("/exit")),
				typed("<local-command-stdout>Goodbye!</local-command-stdout>"),
				{
					...said("m3", { type: "text", text: "No response requested." }),
					message: { model: "<synthetic>", content: [] },
				},
				typed("Thanks"),
				said("m4", use("t1", "Skill", { skill: "pdf" })),
				result("t1", "Launching skill: pdf"),
				typed("<command-message>pdf</command-message>\n<command-name>/pdf</command-name>", { sourceToolUseID: "t1" }),
				typed('<command-message>The "pdf" skill is loading</command-message>\n<command-name>pdf</command-name>'),
				said("m5", { type: "text", text: "Done." }),
				typed(command("/clear")),
			),
		);
		expect(found.title).toBe("/review 12");
		expect(short(entries)).toEqual([
			...["user /review 12", "system_item Review the pull request 12.", "assistant It is fine.", "user /init"],
			...["user Thanks", 'assistant Skill({"skill":"pdf"})', "Skill: Launching skill: pdf", "assistant Done."],
		]);
		expect(made.leftOut).toEqual({
			...{ "local commands": 8, "lines of side chains": 1, "errors and notes in place of a reply": 2 },
		});
	});

	test("a file with only side chains is no session", () => {
		const path = file(
			typed("Look", { isSidechain: true }),
			said("m1", { type: "text", text: "x" }, { isSidechain: true }),
		);
		expect(() => sessionsAt(path)).toThrow(expect.objectContaining({ code: "log_not_a_session" }));
	});

	test("broken lines and a missing beginning are said", async () => {
		const text = claudeLines(typed("Start", { parentUuid: "gone" }), said("m1", { type: "text", text: "x" }));
		const { made } = await imported(
			write(join(tempDir(), "a.jsonl"), `${text}{"type":"user","mess\n\n${"[".repeat(50)}\n`),
		);
		expect(made).toMatchObject({ entries: 2, damaged: 2, isCut: true });
	});
});
