import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tempDir } from "../log/support.js";
import { imported, lines, short, write } from "./support.js";

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
		const { entries, made } = await imported(write(join(tempDir(), "session-2.jsonl"), `${text}{"id":\n`));
		expect(short(entries)).toEqual([...expected, "session_info A file"]);
		expect(made.damaged).toBe(1);
	});
});
