import { expect, test } from "vitest";
import { entryRole, textsOf } from "../../src/log/searched-texts.js";

test.each<[Record<string, unknown>, string]>([
	[{ type: "message", message: { role: "user" } }, "user"],
	[{ type: "message", message: {} }, ""],
	[{ type: "message", message: "user" }, "message"],
	[{ type: "note", message: { role: "user" } }, "note"],
	[{ type: 7 }, ""],
])("the role of %j is %j", (entry, role) => {
	expect(entryRole(entry)).toBe(role);
});

const image = { type: "image", data: "aa", mimeType: "image/png" };
const call = { type: "toolCall", id: "c1", name: "bash", arguments: { command: "ls", flags: ["-l", 7, null] } };

test.each<[string, Record<string, unknown>, string[]]>([
	["a prompt", { type: "message", message: { role: "user", content: "hi" } }, ["hi"]],
	[
		"what the user typed before a hook changed it",
		{ type: "message", typed: "ho", message: { role: "user", content: "hi" } },
		["hi", "ho"],
	],
	[
		"a reply",
		{
			type: "message",
			context: { digest: "d" },
			message: {
				...{ role: "assistant", model: "m", errorMessage: "overloaded" },
				content: [{ type: "thinking", thinking: "hm", thinkingSignature: "s" }, { type: "text", text: "yes" }, call],
			},
		},
		["overloaded", "hm", "yes", "bash", "ls", "-l"],
	],
	[
		"a tool result",
		{
			type: "message",
			message: { role: "toolResult", toolCallId: "c1", content: ["plain", image, { type: "text", text: "out" }] },
		},
		["plain", "out"],
	],
	["a shell command", { type: "message", message: { role: "bashExecution", command: "ls", output: "a" } }, ["ls", "a"]],
	["a message that is no object", { type: "message", message: "hi" }, []],
	[
		"an entry of a hook",
		{ type: "note", timestamp: "t", id: "i", ids: "x", deep: { list: [{ text: "y" }, 7] } },
		["x", "y"],
	],
	[
		"an image of a hook, without its data",
		{ type: "note", image: { ...image, alt: "z" }, other: { data: "kept" } },
		["image", "image/png", "z", "kept"],
	],
	["a summary", { type: "compaction", timestamp: "t", summary: "s", tokensBefore: 7 }, ["s"]],
	...[
		"session",
		"model_change",
		"thinking_level_change",
		"request_usage",
		"context_undo",
		"context_freeze",
		"image_omission",
	].map((type): [string, Record<string, unknown>, string[]] => [type, { type, name: "x" }, []]),
])("the texts of %s are searched", (_, entry, texts) => {
	expect([...textsOf(entry)]).toEqual(texts);
});
