import { statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tempDir } from "../log/support.js";
import { CWD, imported, lines, short, write } from "./support.js";

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
		const { entries, made, messages } = await imported(
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
		const summary =
			"Codex encrypted its summary of this part: what was done in it, and with which result, is not known here, " +
			"except that the user wrote these prompts:\n\nRun it";
		expect(short(entries)).toEqual(["user Run it", `compaction ${summary}`, "user And now?"]);
		expect(JSON.stringify(messages[0])).toContain("is not known here, except that the user wrote these prompts:");
		expect(made.leftOut).toEqual({ "encrypted summaries": 1 });
	});

	test.each([
		[[{ type: "compaction", encrypted_content: "e" }], "and with which result, is not known here."],
		[[], "Codex recorded no summary of this part."],
		[[message("user", "Summary: it ran").payload], "Summary: it ran"],
	])("a compaction without a readable prompt or summary says so (%#)", async (history, words) => {
		const { entries } = await imported(
			write(
				join(tempDir(), "rollout-4.jsonl"),
				lines(meta, message("user", "Run it"), {
					type: "compacted",
					payload: { message: "", replacement_history: history },
				}),
			),
		);
		expect(short(entries)[1]).toMatch(words.endsWith(".") ? new RegExp(`${words.replaceAll(".", "\\.")}$`) : words);
	});

	test("the first versions wrote items without an envelope", async () => {
		const { entries, made } = await imported(
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
		// Without times of the items, the session has that of its beginning.
		expect(statSync(made.path).mtimeMs).toBe(Date.parse("2025-05-01T10:00:00.000Z"));
	});
});
