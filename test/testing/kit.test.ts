import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { SessionLog } from "../../src/log/session-log.js";
import { createHookTest, type HookTestOptions, type Reply } from "../../src/testing/index.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

const root = fileURLToPath(new URL("../../", import.meta.url));

async function start(source: string, options: Omit<HookTestOptions, "hooks"> = {}) {
	const dir = tempDir();
	writeFiles(dir, { "h.ts": source });
	const t = await createHookTest({ ...options, hooks: [join(dir, "h.ts")] });
	onTestFinished(() => t.dispose());
	return t;
}

const QUIET = "export default () => {};";
const MARK = { type: "mark", timestamp: "2026-01-01T00:00:00.000Z", text: "here" };

describe("a session starts", () => {
	test("with entries", async () => {
		const t = await start(QUIET, { entries: [MARK], replies: ["ok"] });
		expect(t.entries.map(({ type }) => type)).toEqual(["session", "mark"]);
		await t.run("go");
		expect(t.entries.map(({ type }) => type)).toEqual(["session", "mark", "message", "message"]);
	});

	test("with a copy of a session file", async () => {
		const path = join(tempDir(), "s.jsonl");
		const log = SessionLog.createAt(path, { cwd: "/w" });
		log.append(MARK);
		await log.flush();
		log.close();
		const t = await start(QUIET, { sessionFile: pathToFileURL(path), replies: ["ok"] });
		await t.run("go");
		expect(t.entries).toHaveLength(4);
		expect(SessionLog.open(path, { readOnly: true }).entries).toHaveLength(2);
	});

	test.each([
		["a header", { entries: [{ type: "session", timestamp: "" }] }, "must not contain a header"],
		["a missing file", { sessionFile: "/nowhere.jsonl" }, "/nowhere.jsonl cannot be read"],
		["both", { entries: [MARK], sessionFile: "/x" }, "either entries or sessionFile"],
	])("not with %s", async (_, options, message) => {
		await expect(start(QUIET, options)).rejects.toThrow(message);
	});
});

describe("a malformed reply is rejected with a sentence", () => {
	test.each([
		[7, "replies[1] must be a text, an object or a function"],
		[{ tool: "bash" }, "replies[1] has the unknown field tool; a reply has thinking, text, toolCalls or error"],
		[{ text: 7 }, "replies[1] has a text that is not a text"],
		[
			{ toolCalls: [{ name: "bash", args: {} }] },
			"replies[1] has a malformed toolCalls[0]: it must be { name, arguments }",
		],
		[{ error: 500 }, "replies[1] has an error that is not a text"],
	])("%j", async (reply, message) => {
		await expect(start(QUIET, { replies: ["ok", reply as unknown as Reply] })).rejects.toThrow(message);
	});

	test("also that of a function", async () => {
		const t = await start(QUIET, { replies: [() => ({ toolCall: 1 }) as unknown as string] });
		await expect(t.run("go")).rejects.toThrow("The reply to request 1 failed: it has the unknown field toolCall");
	});
});

test("draws entries and components at a width", async () => {
	const t = await start(
		`export default function (pi) {
	pi.entry("mark", { render: (entry, theme) => theme.bold("◆ " + entry.text + " and some more words") });
	pi.entry("box", { render: () => ({ invalidate() {}, render: (width) => ["x".repeat(width), "y".repeat(12)] }) });
	pi.entry("plain");
}`,
		{ entries: [MARK, { ...MARK, type: "box" }, { ...MARK, type: "plain" }] },
	);
	expect(await t.draw(1, 16)).toEqual(["◆ here and some", "more words"]);
	expect(await t.draw(2, 12)).toEqual(["xxxxxxxxxxxx", "yyyyyyyyyyyy"]);
	await expect(t.draw(2, 10)).rejects.toThrow("render() returned line 1 with 12 columns at width 10");
	await expect(t.draw(3)).rejects.toThrow("No hook draws entries of type plain");
	await expect(t.draw(9)).rejects.toThrow("There is no entry 9");
});

test("reports a hook whose context differs for the same entries", async () => {
	const t = await start(
		`let n = 0; export default (pi) => pi.on("context", ({ messages }) => ({
	messages: [{ role: "user", content: String(n++), timestamp: 0 }, ...messages] }));`,
		{ replies: ["ok"] },
	);
	await t.run("go");
	expect(t.errors).toEqual(["context: returns different messages for the same entries (h.ts)"]);
});

test("hooks import typebox/value", async () => {
	const t = await start(`import { Type } from "typebox";
import { Value } from "typebox/value";
export default (pi) => pi.command("ok", { handler: () => ({ status: String(Value.Check(Type.String(), "a")) }) });`);
	expect(await t.run("/ok")).toMatchObject({ status: "true" });
});

test("an unhandled rejection of a hook makes run reject", async () => {
	const dir = tempDir();
	writeFiles(dir, {
		"h.ts": 'export default (pi) => pi.on("agent_end", () => { Promise.reject(new Error("lost")); });',
		"t.mjs": `import { createHookTest } from ${JSON.stringify(pathToFileURL(join(root, "src/testing/index.ts")).href)};
const t = await createHookTest({ hooks: [new URL("./h.ts", import.meta.url)], replies: ["ok"] });
console.log(await t.run("go").catch((error) => error.message));
await t.dispose();`,
	});
	const args = ["--import", join(root, "bin/run-from-source.js"), join(dir, "t.mjs")];
	const stdout = await new Promise<string>((resolve) =>
		execFile(process.execPath, args, (_, out, err) => resolve(out + err)),
	);
	expect(stdout).toContain("A promise or timer of a hook failed: lost\n");
}, 30_000);
