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

test("prompts of print and JSON mode are left out, also in sessions with others", async () => {
	const printed = (mode: string) => ({ ...user(`of ${mode}`), mode });
	const dir = sessions([printed("print")], [user("typed"), printed("json"), user("again")]);
	expect(await earlierPrompts(dir)).toEqual(["again", "typed"]);
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

test("at most as many prompts as wanted are returned, 500 by default", async () => {
	const dir = sessions(
		Array.from({ length: 300 }, (_, n) => user(`a${n}`)),
		Array.from({ length: 300 }, (_, n) => user(`b${n}`)),
	);
	const prompts = await earlierPrompts(dir);
	expect([prompts.length, prompts[0], prompts[299], prompts[300], prompts.at(-1)]).toEqual([
		...[500, "a299", "a0", "b299", "b100"],
	]);
	expect(await earlierPrompts(dir, { maxPrompts: 2 })).toEqual(["a299", "a298"]);
	expect(await earlierPrompts(dir, { maxPrompts: 0 })).toEqual([]);
});

test("replies and tool results are skipped, and prompts in the form of other programs are found", async () => {
	const reply = { type: "message", timestamp, message: { role: "assistant", content: [], stopReason: "stop" } };
	const output = {
		type: "message",
		timestamp,
		message: { role: "toolResult", toolCallId: "c", toolName: "ls", content: [] },
	};
	const foreign = { message: { content: "other order", role: "user" }, timestamp, type: "message" };
	const foreignReply = { message: { ...reply.message, role: "assistant" }, timestamp, type: "message" };
	const dir = sessions([
		user("one"),
		reply,
		output,
		foreign,
		foreignReply,
		{ type: "session_info", timestamp, name: "n" },
	]);
	expect(await earlierPrompts(dir)).toEqual(["other order", "one"]);
});

test("a pasted prompt of more than 256 KiB is skipped", async () => {
	const dir = sessions([user("kept"), user("x".repeat(256 * 1024)), user("y".repeat(255 * 1024))]);
	expect((await earlierPrompts(dir)).map((prompt) => prompt.slice(0, 4))).toEqual(["yyyy", "kept"]);
});

test("a prompt without a valid time comes after all commands", async () => {
	const dir = sessions([{ ...user("timeless"), timestamp: "?" }]);
	writeFiles(dir, { "commands.history": `${JSON.stringify({ text: "/pop", timestamp })}\n` });
	expect(await earlierPrompts(dir)).toEqual(["/pop", "timeless"]);
});

test("a command typed at the same time as a prompt comes after it in the list, and commands alone are listed too", async () => {
	const dir = sessions([user("same")]);
	writeFiles(dir, { "commands.history": `${JSON.stringify({ text: "/pop", timestamp })}\n` });
	expect(await earlierPrompts(dir)).toEqual(["same", "/pop"]);
	expect(await earlierPrompts(dir, { except: join(dir, "0.jsonl") })).toEqual(["/pop"]);
});
