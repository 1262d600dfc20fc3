import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findSessions } from "../../src/imports/programs.js";
import { tempDir } from "../log/support.js";
import { CWD, imported, placeIn, short, write } from "./support.js";

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
