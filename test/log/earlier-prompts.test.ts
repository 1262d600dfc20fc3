import { utimesSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { earlierPrompts } from "../../src/log/earlier-prompts.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

const timestamp = "2026-01-02T03:04:05.000Z";
const user = (content: unknown) => ({ type: "message", timestamp, message: { role: "user", content, timestamp: 0 } });
const bash = (command: string, excludeFromContext = false) => ({
	type: "message",
	timestamp,
	message: {
		role: "bashExecution",
		command,
		output: "",
		exitCode: 0,
		cancelled: false,
		truncated: false,
		timestamp: 0,
		excludeFromContext,
	},
});

/** Session files with these entries, the first one the newest. @returns their directory */
function sessions(...files: unknown[][]): string {
	const dir = tempDir();
	for (const [index, entries] of files.entries()) {
		const header = { type: "session", version: 1, id: `id-${index}`, timestamp, cwd: "/" };
		const name = `${index}.jsonl`;
		writeFiles(dir, { [name]: [header, ...entries].map((entry) => JSON.stringify(entry)).join("\n") });
		utimesSync(join(dir, name), 1000 - index, 1000 - index);
	}
	return dir;
}

test("the prompts of all sessions are returned newest first, with shell commands as typed", async () => {
	const dir = sessions(
		[user("one"), bash("ls"), user([{ type: "text", text: "two [image #1]" }])],
		[user('three "role":"user"'), bash("pwd", true)],
	);
	expect(await earlierPrompts(dir)).toEqual(["two [image]", "!ls", "one", "!!pwd", 'three "role":"user"']);
	expect(await earlierPrompts(dir, { except: join(dir, "0.jsonl"), maxPrompts: 1 })).toEqual(["!!pwd"]);
});

test("incomplete lines, other entries, files that are not sessions and a missing directory are skipped", async () => {
	const dir = sessions([{ type: "note", timestamp, message: { role: "user", content: "of a hook" } }, user("kept")]);
	writeFiles(dir, { "broken.jsonl": '{"type":"message","message":{"role":"user","content":"to', "folder.jsonl/x": "" });
	expect(await earlierPrompts(dir)).toEqual(["kept"]);
	expect(await earlierPrompts(join(dir, "nowhere"))).toEqual([]);
});

test("only the end of a large session is read, without the truncated line", async () => {
	const dir = sessions([user("lost"), user("x".repeat(5 * 1024 * 1024)), user("kept")]);
	expect(await earlierPrompts(dir)).toEqual(["kept"]);
});
