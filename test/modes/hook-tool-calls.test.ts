import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runJson } from "../../src/modes/json.js";
import { runPrint } from "../../src/modes/print.js";
import { checkEvents } from "../helpers/event-schema.js";
import type { JsonObject } from "../helpers/json.js";
import { toolCall } from "../helpers/loopback-provider.js";
import { recordIO } from "../helpers/record-io.js";
import { startSession } from "../helpers/session.js";
import { serve as serveAcp } from "./acp/serve.js";
import { startApp } from "./interactive/app.js";
import { startPlain } from "./plain/start-plain.js";
import { serve as serveRpc } from "./rpc/serve.js";

/** The tool `outer` and the command /look, which call `ls` and `read`. */
const HOOK = `export default (pi) => {
	const look = async (ctx) => {
		await ctx.tools.call("ls", { path: "." });
		const { content, isError } = await ctx.tools.call("read", { path: "missing.txt" });
		return isError ? "it is missing" : content;
	};
	pi.tool({ name: "outer", description: "d", parameters: { type: "object", properties: {} },
		run: async (_, { ctx }) => ({ content: [{ type: "text", text: await look(ctx) }] }) });
	pi.command("look", { handler: async (ctx) => ({ status: await look(ctx) }) });
};`;
const hooks = { "caller.ts": HOOK };
const files = { "a.txt": "alpha\n" };
const OUTER = [toolCall("outer", {}, "c1")];

/** What a consumer that follows the calls of the model by id finds: names by the id of each finished call. */
function callsOf(events: readonly object[]): string[] {
	return events.flatMap((event) => {
		const { type, toolName, caller } = event as Record<string, unknown>;
		return type === "tool_execution_end" && caller === undefined ? [String(toolName)] : [];
	});
}

test("print mode indents them below the call, or names the hook", async () => {
	const { session, provider } = await startSession({ hooks, files });
	const io = recordIO();
	provider.reply(OUTER, "done");
	await runPrint(session, { first: { text: "go", images: [] }, rest: ["/look"] }, io);
	expect(io.stderr().trimEnd().split("\n")).toEqual([
		"outer",
		"  ls .",
		"  read missing.txt",
		"ls . · hook caller",
		"read missing.txt · hook caller",
	]);
	expect(io.stdout()).toBe("done\nit is missing\n");
});

test("JSON mode sends their events with the caller, and every event matches the schema", async () => {
	const { session, provider } = await startSession({ hooks, files });
	const io = recordIO();
	provider.reply(OUTER, "done");
	await runJson(session, { first: { text: "go", images: [] }, rest: [] }, io);
	checkEvents(["--mode", "json"], io.stdout());
	const events: JsonObject[] = io
		.stdout()
		.trimEnd()
		.split("\n")
		.slice(1)
		.map((line) => JSON.parse(line));
	const caller = { hook: "caller", toolCallId: expect.any(String) };
	expect(events.filter(({ type }) => type === "tool_execution_start")).toMatchObject([
		{ toolName: "outer" },
		{ toolName: "ls", caller },
		{ toolName: "read", caller },
	]);
	expect(callsOf(events)).toEqual(["outer"]);
	const results = events.flatMap(({ type, toolResults }) => (type === "turn_end" ? (toolResults as JsonObject[]) : []));
	expect(results.map(({ toolName }) => toolName)).toEqual(["outer"]);
	expect(
		events.filter(({ type, entry }) => type === "entry_appended" && JSON.stringify(entry).includes("hook_tool_call")),
	).toHaveLength(2);
});

test("RPC mode sends their events with the caller, also while a command runs", async () => {
	const { client, events } = await serveRpc({ hooks });
	expect(await client.call("prompt", { message: "/look" })).toMatchObject({ status: "it is missing" });
	expect(events("tool_execution_end")).toMatchObject([
		{ toolName: "ls", caller: { hook: "caller" }, isError: false },
		{ toolName: "read", caller: { hook: "caller" }, isError: true },
	]);
	expect(callsOf(events("tool_execution_end"))).toEqual([]);
});

test("an SDK program that asks for the messages finds only the calls of the model", async () => {
	const { session, provider, events } = await startSession({ hooks, files });
	provider.reply(OUTER, "done");
	await session.prompt("go");
	expect(callsOf(events)).toEqual(["outer"]);
	const roles = session.context.messages.map(({ message }) => message.role);
	expect(roles).toEqual(["user", "assistant", "toolResult", "assistant"].slice(0, roles.length));
	expect(session.stats()).toMatchObject({ totalMessages: 4, toolCalls: 1 });
});

test("ACP clients see the call of the agent alone", async () => {
	const { editor, provider, id } = await serveAcp({ hooks, files });
	provider.reply(OUTER, "done");
	await editor.prompt(id, "go");
	const calls = editor.updates.flatMap(({ update }) => ("toolCallId" in update ? [update.toolCallId] : []));
	expect(calls.length).toBeGreaterThan(0);
	expect(new Set(calls)).toEqual(new Set(["c1"]));
	expect(JSON.stringify(editor.call("c1").content)).toContain("it is missing");
});

test("plain mode says which hook calls, and shows an error of the call", async () => {
	const { provider, enter, until, text } = await startPlain({ hooks, files });
	provider.reply(OUTER, "finished");
	enter("go");
	await until("running ls ., called by hook caller");
	await until("done: ls ., in");
	await until("running read missing.txt, called by hook caller");
	await until("failed: read missing.txt");
	await until("finished");
	expect(text()).not.toContain("alpha");
});

test.each([40, 120])("the screen draws them below the call, after a resume too, at %i columns", async (columns) => {
	const { terminal, provider, submit, session } = await startApp({ columns, hooks, files, session: { kind: "new" } });
	await terminal.waitFor("0%");
	provider.reply(OUTER, "Done.");
	await submit("go");
	await terminal.waitFor("Done.");
	await submit("/look");
	await terminal.waitFor("· it is missing");
	const expectCalls = async () => {
		const lines = (await terminal.text()).split("\n").map((line) => line.replace(/^[▎ ]*/, "").trimEnd());
		const at = lines.findIndex((line) => line.startsWith("outer"));
		expect(lines.slice(at, at + 4)).toEqual([
			expect.stringMatching(/^outer/),
			expect.stringMatching(/^│ ls {4}\. +1 entry$/),
			expect.stringMatching(/^│ read {2}missing\.txt +(not found|failed).*✗$/),
			"│ it is missing",
		]);
		expect(lines.some((line) => /^ls {4}\. · hook caller +1 entry$/.test(line))).toBe(true);
		expect(lines.some((line) => line.startsWith("read  missing.txt · hook ca"))).toBe(true);
	};
	await expectCalls();
	const file = session().sessionFile;
	await submit("/new");
	await terminal.waitFor("New session");
	await session().switchSession(file ?? "");
	await terminal.waitFor("Done.");
	await expectCalls();
	await terminal.press("ctrl+o");
	await terminal.waitFor("hook caller");
});

test("the HTML export shows them with their hook", async () => {
	const { session, provider, cwd } = await startSession({ hooks, files });
	provider.reply(OUTER, "done");
	await session.prompt("go");
	const path = join(cwd, "page.html");
	await session.exportHtml(path);
	const html = readFileSync(path, "utf8");
	expect(html).toContain("Called by hook caller");
	expect(html).toMatch(/<b>ls<\/b>/);
});
