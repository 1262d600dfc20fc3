import { expect, test } from "vitest";
import { isMessageEntry } from "../../../src/log/entry.js";
import { toolCall } from "../../helpers/loopback-provider.js";
import { startSession } from "../../helpers/session.js";

const GATE = `export default (pi) => pi.on("tool_call", ({ toolName, input }) => {
	if (toolName === "write") return { block: true, reason: "no writing of " + input.path };
});`;

test("a call by another program's names runs, is recorded as it ran, and passes the gates by pi's names", async () => {
	const { session, provider, sent } = await startSession({ files: { "a.txt": "alpha" }, hooks: { "gate.ts": GATE } });
	provider.reply(
		[toolCall("Read", { file_path: "a.txt" })],
		[toolCall("Write", { file_path: "b", content: "x" })],
		"done",
	);
	await session.prompt("go");
	expect(sent(2).slice(1)).toEqual([expect.stringMatching(/^assistant: read#/), "tool: alpha"]);
	expect(sent(3).at(-1)).toContain("no writing of b");
	const calls = session.entries.flatMap((entry) =>
		isMessageEntry(entry) && entry.message.role === "assistant"
			? entry.message.content.flatMap((block) => (block.type === "toolCall" ? [[block.name, block.arguments]] : []))
			: [],
	);
	expect(calls).toEqual([
		["read", { path: "a.txt" }],
		["write", { path: "b", content: "x" }],
	]);
});

test("a call whose meaning is not plain is answered with the parameters of the tool", async () => {
	const { session, provider, sent } = await startSession();
	provider.reply(
		[toolCall("Bash", { command: "ls", timeout: 5000 })],
		[toolCall("edit", { file: "a", oldText: "x" })],
		"done",
	);
	await session.prompt("go");
	expect(sent(2).at(-1)).toMatch(/^tool: There is no tool "Bash"\. The tools are: .*\. bash takes \{"type":"object"/);
	expect(sent(3).at(-1)).toMatch(/path is missing[\s\S]*edit takes \{"type":"object"/);
});
