import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { isMessageEntry } from "../../src/log/entry.js";
import { createHookTest, type HookTestOptions, toolCall } from "../../src/testing/index.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

const examples = fileURLToPath(new URL("../../hooks-examples/", import.meta.url));

/** Starts a test with hooks from source text. */
async function start(sources: Record<string, string>, options: Omit<HookTestOptions, "hooks"> = {}) {
	const dir = tempDir();
	writeFiles(dir, sources);
	return keep(createHookTest({ ...options, hooks: Object.keys(sources).map((name) => join(dir, name)) }));
}

async function keep(started: ReturnType<typeof createHookTest>) {
	const hookTest = await started;
	onTestFinished(() => hookTest.dispose());
	return hookTest;
}

const QUIET = { "quiet.ts": "export default () => {};" };

describe("the scripted model", () => {
	test("answers each request with the next reply, and tools run for real", async () => {
		const t = await start(QUIET, {
			files: { "src/a.txt": "one" },
			replies: [
				{ thinking: "hm", text: "I look.", toolCalls: [{ name: "read", arguments: { path: "src/a.txt" } }] },
				({ messages, tools }) => `${messages.at(-1)?.text.trim()} of ${tools.includes("bash")}`,
			],
		});
		expect(await t.run("What is in it?")).toEqual({ status: null, reply: "one of true" });
		expect(t.requests.map(({ messages }) => messages.map(({ role, text }) => `${role}: ${text.trim()}`))).toEqual([
			["user: What is in it?"],
			["user: What is in it?", 'assistant: I look.\nread({"path":"src/a.txt"})', "toolResult: one"],
		]);
		expect(t.entries.map(({ type }) => type)).toEqual(["session", "message", "message", "message", "message"]);
		expect(t.errors).toEqual([]);
	});

	test("has the facts that the test gives it, and counts what it reads from the cache", async () => {
		const t = await start(QUIET, {
			model: { contextWindow: 30_000, cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 } },
			replies: ["a1", "a2"],
		});
		await t.run("u1");
		await t.run("u2");
		expect(t.session.model).toMatchObject({ contextWindow: 30_000 });
		const [first, second] = t.entries
			.filter(isMessageEntry)
			.flatMap(({ message }) => (message.role === "assistant" ? [message.usage] : []));
		expect(first?.cacheRead).toBe(0);
		expect(second?.cacheRead).toBeGreaterThan((first?.input ?? 0) - 10);
		expect(second?.cost.total).toBeLessThan(first?.cost.total ?? 0);
	});

	test("reports the request without a reply", async () => {
		const t = await start(QUIET, { replies: ["a1"] });
		await t.run("u1");
		await expect(t.run("u2")).rejects.toThrow("Request 2 has no reply: add one to replies");
		t.reply("a2");
		expect(await t.run("u3")).toMatchObject({ reply: "a2" });
	});

	test("a throwing reply function rejects run, and a provider error ends the run", async () => {
		const t = await start(QUIET, {
			replies: [
				() => {
					throw new Error("expected other messages");
				},
				{ error: "503 overloaded" },
			],
		});
		await expect(t.run("u1")).rejects.toThrow("The reply to request 1 failed: expected other messages");
		expect(await t.run("u2")).toEqual({ status: null, reply: "" });
		expect(t.entries.at(-1)).toMatchObject({ message: { stopReason: "error", errorMessage: "503 overloaded" } });
	});

	test("answers requests of hooks", async () => {
		const source = `import { complete } from "@mariozechner/pi-ai";
export default function (pi) {
	pi.command("ask", {
		async handler(ctx) {
			const message = { role: "user", content: "from a hook", timestamp: 0 };
			const apiKey = await ctx.resolveApiKey(ctx.model);
			const reply = await complete(ctx.model, { messages: [message] }, { apiKey });
			return { status: reply.content[0].text + " " + (await ctx.availableModels()).length };
		},
	});
}`;
		const t = await start({ "ask.ts": source }, { replies: ["to a hook"] });
		expect(await t.run("/ask")).toEqual({ status: "to a hook 1", reply: null });
		expect(t.requests[0]?.messages).toEqual([{ role: "user", text: "from a hook" }]);
	});

	test("two concurrent tests are independent", async () => {
		const [a, b] = await Promise.all([start(QUIET, { replies: ["a"] }), start(QUIET, { replies: ["b"] })]);
		expect(await Promise.all([a.run("u"), b.run("u")])).toMatchObject([{ reply: "a" }, { reply: "b" }]);
	});
});

describe("the scripted user", () => {
	const ASK = `export default function (pi) {
	pi.command("ask", {
		async handler({ ui }) {
			const color = await ui.select("Color", ["red", "green"]);
			const size = await ui.select("Size", [{ label: "Large", value: 42 }]);
			const sure = await ui.confirm("Sure?", "It is " + color);
			const name = await ui.input("Name", "yours", { initial: "me" });
			ui.notify("asked");
			return { status: JSON.stringify([color, size, sure, name]) };
		},
	});
}`;

	test("answers dialogs in order, by label, and records them", async () => {
		const t = await start({ "ask.ts": ASK }, { dialogs: ["green", "Large", true, ({ text }) => `not ${text}`] });
		expect(await t.run("/ask")).toMatchObject({ status: '["green",42,true,"not yours"]' });
		expect(t.asked).toEqual([
			{ kind: "select", title: "Color", options: ["red", "green"] },
			{ kind: "select", title: "Size", options: ["Large"] },
			{ kind: "confirm", title: "Sure?", text: "It is green" },
			{ kind: "input", title: "Name", text: "yours", initial: "me" },
		]);
		expect(t.notices).toContain("asked");
	});

	test("null cancels a dialog; without a screen every dialog is canceled", async () => {
		const canceled = await start({ "ask.ts": ASK }, { dialogs: [null, null, null, null] });
		expect(await canceled.run("/ask")).toMatchObject({ status: "[null,null,false,null]" });
		const silent = await start({ "ask.ts": ASK }, { hasUI: false });
		expect(await silent.run("/ask")).toMatchObject({ status: "[null,null,false,null]" });
	});

	test.each([
		[["blue"], 'The select "Color" has no option "blue", only red, green'],
		[["red", "Large", "yes"], 'The confirm "Sure?" expects true or false, not "yes"'],
		[["red", "Large", true, false], 'The input "Name" expects text, not false'],
		[["red"], 'The select "Size" has no answer: add one to dialogs'],
	])("says when %j does not fit", async (dialogs, problem) => {
		const t = await start({ "ask.ts": ASK }, { dialogs });
		await expect(t.run("/ask")).rejects.toThrow(problem);
	});

	const GATE = `export default (pi) => pi.command("gate", { async handler(ctx) {
		const choices = [{ label: "Always", rule: "bash(touch *)" }];
		return { status: JSON.stringify(await ctx.ui.approve({ question: "Run it?", subject: { kind: "command", text: "touch a" }, choices })) };
	} });`;

	test.each([
		["Always: bash(touch *)", '{"allowed":true,"choice":0,"rule":"bash(touch *)"}'],
		["No", '{"allowed":false}'],
		["use the file tool", '{"allowed":false,"message":"use the file tool"}'],
	])("an approval is answered with %j", async (answer, status) => {
		const t = await start({ "gate.ts": GATE }, { dialogs: [answer] });
		expect(await t.run("/gate")).toMatchObject({ status });
	});

	test.each(["Always", "always: bash(touch *)", "Yes", "Yes, onec"])(
		"%j is nearly a label of an approval, and no refusal",
		async (answer) => {
			const t = await start({ "gate.ts": GATE }, { dialogs: [answer] });
			await expect(t.run("/gate")).rejects.toThrow(
				`The approval "Run it?" has no option "${answer}", only "Yes, once", "Always: bash(touch *)", "No"`,
			);
		},
	);

	test("a dialog without an answer fails the run even if the hook's error blocks a tool", async () => {
		const t = await keep(
			createHookTest({
				hooks: [pathToFileURL(join(examples, "permission-gate.ts"))],
				replies: [toolCall("bash", { command: "rm -r x" }), "a"],
			}),
		);
		await expect(t.run("u")).rejects.toThrow('The approval "Run this command?" has no answer');
	});
});

describe("createHookTest", () => {
	test("rejects with file, line and reason if a hook does not load, and leaves no files", async () => {
		await expect(start({ "bad.ts": 'export default () => {\n\tthrow new Error("no luck");\n};' })).rejects.toThrow(
			/bad\.ts:2:8 did not load: no luck/,
		);
		await expect(keep(createHookTest({ hooks: ["gone.ts"] }))).rejects.toThrow(/gone\.ts cannot be read/);
	});

	test("records failed handlers and rejected answers", async () => {
		const source = `export default function (pi) {
	pi.on("turn_end", () => { throw new Error("boom"); });
	pi.on("context", ({ messages }) => ({ messages: [...messages, { role: "nobody" }] }));
}`;
		const t = await start({ "bad.ts": source }, { replies: ["a"] });
		await t.run("u");
		expect(t.errors).toContain("turn_end: boom (bad.ts:2:34)");
		expect(t.errors).toContain("context: message 1 has the unknown role nobody; its answer was dropped (bad.ts:3:5)");
	});

	test("shows the context with the hook that added each message, and the entries that a hook saved", async () => {
		const source = `export default function (pi) {
	pi.command("note", { async handler(ctx) { await ctx.saveEntry({ type: "note", text: ctx.argsRaw }); await ctx.rebuildContext(); } });
	pi.on("context", ({ entries, messages }) => ({ messages: [
		...messages,
		...entries.filter((e) => e.type === "note").map((e) => ({ role: "user", content: e.text, timestamp: 0 })),
	] }));
}`;
		const t = await start({ "note.ts": source }, { replies: ["a"] });
		await t.run("u");
		await t.run("/note remember");
		expect(t.entries.at(-1)).toMatchObject({ type: "note", text: "remember" });
		expect(t.context).toEqual([
			{ role: "user", text: "u", entryIndex: 1, hook: null },
			{ role: "assistant", text: "a", entryIndex: 2, hook: null },
			{ role: "user", text: "remember", entryIndex: null, hook: expect.stringMatching(/note\.ts$/) },
		]);
	});

	test("waits for runs that a hook starts", async () => {
		const source = `export default (pi) => pi.command("go", { handler: () => { pi.send("from the hook"); } });`;
		const t = await start({ "go.ts": source }, { replies: ["heard"] });
		expect(await t.run("/go")).toEqual({ status: null, reply: "heard" });
	});

	test("applies settings, such as grants", async () => {
		const source = `export default function (pi) {
	pi.requires("systemItems");
	pi.on("agent_start", (_, ctx) => ctx.systemItems.append({ kind: "notification", text: "hello" }));
}`;
		await expect(start({ "item.ts": source })).rejects.toThrow('it requires "systemItems"');
		const settings = { hookGrants: { "item.ts": ["systemItems"] } };
		const t = await start({ "item.ts": source }, { settings, replies: ["a"] });
		await t.run("u");
		expect(t.requests[0]?.messages.some(({ text }) => text.includes("hello"))).toBe(true);
	});

	test("a session that does not start leaves no directory and no listener", async () => {
		const dir = tempDir();
		vi.stubEnv("TMPDIR", dir);
		onTestFinished(() => void vi.unstubAllEnvs());
		const listeners = process.listenerCount("uncaughtException");
		await expect(start({ "none.ts": "export default () => {};" }, { flags: { nope: true } })).rejects.toThrow("nope");
		expect(process.listenerCount("uncaughtException")).toBe(listeners);
		expect(readdirSync(dir).filter((name) => name.startsWith("pi-hook-test-"))).toEqual([]);
	});

	test("dispose sends shutdown to hooks and deletes the directory", async () => {
		const dir = tempDir();
		const source = `import { writeFileSync } from "node:fs";
export default (pi) => pi.on("session", ({ reason }) => writeFileSync(${JSON.stringify(`${dir}/`)} + reason, ""));`;
		const t = await start({ "end.ts": source });
		expect(existsSync(t.cwd)).toBe(true);
		await t.dispose();
		await t.dispose();
		expect(existsSync(join(dir, "start")) && existsSync(join(dir, "shutdown"))).toBe(true);
		expect(existsSync(t.cwd)).toBe(false);
	});
});

describe("the screen", () => {
	const BOARD = {
		"board.ts": `
import { Text } from "@mariozechner/pi-tui";
export default (pi) => {
	pi.on("session", (event, ctx) => {
		if (event.reason !== "start") return;
		ctx.ui.setStatus("todos", "3 todos");
		ctx.ui.setWidget("list", (tui, theme) => new Text(theme.accent("one") + "\\n\\x1b[31mtwo\\x1b[0m", 0, 0));
		ctx.ui.setWidget("broken", () => ({ render() { throw new Error("no data") }, invalidate() {} }));
		ctx.ui.setTitle("board");
		ctx.ui.setLook("expanded", true);
		ctx.ui.setEditor((tui, theme, keys, editor) => ({
			render: (width) => [">" + editor.render(width)[1]],
			invalidate() {},
		}));
		ctx.ui.setLook("theme", "dark");
		ctx.ui.setLook("theme", undefined);
		ctx.ui.setEditorText("draft");
	});
	pi.command("count", { handler: async (ctx) => {
		const counted = await ctx.ui.custom((tui, theme, keys, done) => {
			let count = 0;
			return {
				render: () => [theme.bold("count " + count)],
				handleInput: (data) => { if (keys.matches(data, "dialog.accept")) done(count); else count++; },
				invalidate() {},
			};
		});
		return { status: String(counted) };
	} });
	pi.command("ask", { handler: async (ctx) => {
		const colors = await ctx.ui.select("Colors?", ["red", "green"], { multiple: true });
		return { status: JSON.stringify([colors, await ctx.ui.editor("Text?", "old")]) };
	} });
};`,
	};

	test("shows statuses, widgets and the rest as text", async () => {
		const t = await start(BOARD);
		expect(t.screen).toEqual({
			statuses: { todos: "3 todos" },
			widgets: { list: ["one", "two"], broken: ["✗ board: no data"] },
			title: "board",
			workingMessage: null,
			look: { expanded: true },
			header: null,
			footer: null,
			editor: ["> draft"],
			editorText: "draft",
		});
		expect(t.errors).toEqual([expect.stringMatching(/^ui\.setWidget: no data \(board\.ts:\d+:\d+\)$/)]);
	});

	test("disposes of components that are replaced or removed, once", async () => {
		const source = `export default (pi) => {
	const disposed = [];
	const part = (name) => () => ({ render: () => [name], invalidate() {}, dispose() { disposed.push(name); } });
	pi.command("show", { handler(ctx) {
		ctx.ui.setWidget("w", part("widget " + ctx.argsRaw));
		ctx.ui.setFooter(part("footer " + ctx.argsRaw));
		ctx.ui.setHeader(part("header " + ctx.argsRaw));
	} });
	pi.command("hide", { handler(ctx) {
		ctx.ui.setWidget("w", undefined);
		ctx.ui.setFooter(undefined);
		ctx.ui.setHeader(undefined);
		return { status: disposed.join() };
	} });
};`;
		const t = await start({ "parts.ts": source });
		await t.run("/show 1");
		await t.run("/show 2");
		expect(t.screen).toMatchObject({ widgets: { w: ["widget 2"] }, footer: ["footer 2"], header: ["header 2"] });
		const all = ["widget 1", "footer 1", "header 1", "widget 2", "footer 2", "header 2"];
		expect(await t.run("/hide")).toMatchObject({ status: all.join() });
		expect(t.screen).toMatchObject({ widgets: {}, footer: null, header: null });
	});

	test("passes keys to components and draws them", async () => {
		const t = await start(BOARD, {
			dialogs: [["space", "space", "enter"], ({ press }) => [...(press?.("x") ?? []), "enter"], null, ["x"]],
		});
		expect(await t.run("/count")).toMatchObject({ status: "2" });
		expect(t.asked).toEqual([{ kind: "custom", title: "board", lines: ["count 0"] }]);
		expect(await t.run("/count")).toMatchObject({ status: "2" });
		expect(await t.run("/count")).toMatchObject({ status: "null" });
		await expect(t.run("/count")).rejects.toThrow("The component of board is still open after the keys x");
	});

	test("answers choices of several options and editors", async () => {
		const t = await start(BOARD, { dialogs: [["green"], "new\ntext", ["blue"]] });
		expect(await t.run("/ask")).toMatchObject({ status: '[["green"],"new\\ntext"]' });
		expect(t.asked).toEqual([
			{ kind: "select", title: "Colors?", options: ["red", "green"], multiple: true },
			{ kind: "editor", title: "Text?", initial: "old" },
		]);
		await expect(t.run("/ask")).rejects.toThrow('The select "Colors?" has no option "blue", only red, green');
	});
});

describe("flags", () => {
	const FLAGS = {
		"flags.ts": `export default (pi) => {
			pi.flag("read-only", { type: "boolean" });
			pi.flag("level", { type: "string", default: "low" });
			pi.command("flags", { handler: (ctx) => ({ status: JSON.stringify(ctx.flags) }) });
		};`,
	};

	test("are those of the command line, and defaults for all others", async () => {
		const t = await start(FLAGS, { flags: { "read-only": true } });
		expect(await t.run("/flags")).toMatchObject({ status: '{"read-only":true,"level":"low"}' });
		const all = await start(FLAGS, { flags: { "read-only": false, level: "high" } });
		expect(await all.run("/flags")).toMatchObject({ status: '{"read-only":false,"level":"high"}' });
	});

	test.each([
		[{ readonly: true }, "No hook declares the flag --readonly"],
		[{ "read-only": "yes" }, "The value of the flag --read-only must be a boolean"],
		[{ level: true }, "The value of the flag --level must be a string"],
	])("%j is refused by name", async (flags, message) => {
		await expect(start(FLAGS, { flags })).rejects.toThrow(message);
	});
});
