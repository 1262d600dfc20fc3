import { expect, test } from "vitest";
import { toolCall } from "../../helpers/loopback-provider.js";
import { serve } from "./serve.js";

test("an edit is announced, runs and ends with its diff and the changed line", async () => {
	const { editor, provider, id, cwd } = await serve({ files: { "a.txt": "one\ntwo\nthree\n" } });
	provider.reply([toolCall("edit", { path: "a.txt", oldText: "two", newText: "2" }, "c1")], "ok");
	await editor.prompt(id, "go");
	const states = editor.updates.flatMap(({ update }) =>
		"toolCallId" in update && update.toolCallId === "c1" ? [update.status ?? "-"] : [],
	);
	expect(states.filter((state) => state !== "-")).toEqual(["pending", "in_progress", "completed"]);
	expect(editor.call("c1")).toMatchObject({
		title: "Edit a.txt",
		name: "edit",
		kind: "edit",
		status: "completed",
		locations: [{ path: `${cwd}/a.txt`, line: 2 }],
		content: [{ type: "diff", path: `${cwd}/a.txt`, oldText: "two", newText: "2" }],
		rawInput: { path: "a.txt", oldText: "two", newText: "2" },
		rawOutput: { added: 1, removed: 1 },
	});
});

test("write shows the replaced file, and a new file without old text", async () => {
	const { editor, provider, id, cwd } = await serve({ files: { "a.txt": "old\n" } });
	provider.reply(
		[
			toolCall("write", { path: "a.txt", content: "new\n" }, "c1"),
			toolCall("write", { path: "b.txt", content: "made\n" }, "c2"),
		],
		"ok",
	);
	await editor.prompt(id, "go");
	expect(editor.call("c1").content).toEqual([
		{ type: "diff", path: `${cwd}/a.txt`, oldText: "old\n", newText: "new\n" },
	]);
	expect(editor.call("c2").content).toEqual([{ type: "diff", path: `${cwd}/b.txt`, oldText: null, newText: "made\n" }]);
});

test("the output of a command is text that grows; a failed call keeps its reason", async () => {
	const { editor, provider, id } = await serve();
	provider.reply(
		[
			toolCall("bash", { command: "printf '\\033[31mred\\033[0m\\n'; exit 3" }, "c1"),
			toolCall("edit", { path: "missing.txt", oldText: "a", newText: "b" }, "c2"),
			toolCall("nothing", { x: 1 }, "c3"),
		],
		"ok",
	);
	await editor.prompt(id, "go");
	const command = editor.call("c1");
	expect(command).toMatchObject({ kind: "execute", status: "failed", rawOutput: { exitCode: 3 } });
	const [content] = command.content ?? [];
	expect(content).toMatchObject({
		type: "content",
		content: { text: expect.stringMatching(/^```\nred\n[\s\S]*\n```$/) },
	});
	expect(JSON.stringify(editor.call("c2").content)).toContain("missing.txt does not exist");
	expect(editor.call("c3")).toMatchObject({ title: "nothing", kind: "other", status: "failed" });
});

test("read, search and list calls have titles, kinds and locations", async () => {
	const { editor, provider, id, cwd } = await serve({ files: { "src/a.ts": "const a = 1;\nconst b = 2;\n" } });
	provider.reply(
		[
			toolCall("read", { path: "src/a.ts", offset: 2 }, "c1"),
			toolCall("grep", { pattern: "const", path: "src" }, "c2"),
			toolCall("ls", {}, "c3"),
		],
		"ok",
	);
	await editor.prompt(id, "go");
	expect(editor.call("c1")).toMatchObject({
		title: "Read src/a.ts:2-",
		kind: "read",
		locations: [{ path: `${cwd}/src/a.ts`, line: 2 }],
		status: "completed",
	});
	expect(editor.call("c2")).toMatchObject({ title: 'Search "const" in src', kind: "search", status: "completed" });
	expect(editor.call("c3")).toMatchObject({ title: "List .", kind: "search", locations: [], status: "completed" });
});

test("hooks that change or block a call, and results that are no JSON, reach the client", async () => {
	const hook = `export default function (pi) {
		pi.on("tool_call", (event) => {
			if (event.toolName === "bash") return { input: { command: "echo changed" } };
			if (event.toolName === "ls") return { block: true, reason: "not here" };
		});
		pi.tool({
			name: "loop", description: "loops", parameters: { type: "object", properties: {} },
			run: async () => { const details = { big: 1n }; details.self = details; return { content: [{ type: "text", text: "fine" }], details }; },
		});
	}`;
	const { editor, provider, id } = await serve({ hooks: { "gate.ts": hook } });
	provider.reply(
		[toolCall("bash", { command: "echo x" }, "c1"), toolCall("ls", {}, "c2"), toolCall("loop", {}, "c3")],
		"ok",
	);
	await editor.prompt(id, "go");
	expect(editor.call("c1")).toMatchObject({ title: "echo changed", rawInput: { command: "echo changed" } });
	expect(editor.call("c2")).toMatchObject({ status: "failed" });
	expect(JSON.stringify(editor.call("c2").content)).toContain("not here");
	expect(JSON.stringify(editor.call("c3").content)).toContain("fine");
});
