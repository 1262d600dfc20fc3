import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isMessageEntry, messageText } from "../../src/log/entry.js";
import { text, toolCall } from "../helpers/loopback-provider.js";
import type { ReplyBlock } from "../helpers/provider-step.js";
import { startSession, type TestSession } from "../helpers/session.js";

const MODELS = ["loopback/scripted", "loopback-anthropic/scripted", "loopback-responses/scripted"];
const APIS = ["openai-completions", "anthropic-messages", "openai-responses"] as const;
const LIMIT =
	"The reply was cut off at the model's output limit, so this call was not run. Send it again, in smaller parts.";
const INCOMPLETE = "The arguments of this call are not complete JSON, so it was not run. Send it again.";

const start = (model: string) => startSession({ model, modelOptions: { apis: APIS } });

/** A call of `write` with these arguments, as they are streamed. */
function write(rawArguments: string): ReplyBlock {
	return { type: "toolCall", name: "write", rawArguments };
}

/** The tool results of the log: the error, or "ok". */
function results({ session }: TestSession): string[] {
	return session.entries.flatMap((entry) => {
		if (!isMessageEntry(entry) || entry.message.role !== "toolResult") return [];
		return [entry.message.isError ? messageText(entry.message) : "ok"];
	});
}

/** The files of the project with their content. */
function filesOf({ cwd }: TestSession): Record<string, string> {
	return Object.fromEntries(readdirSync(cwd).map((name) => [name, readFileSync(join(cwd, name), "utf8")]));
}

test.each(MODELS)(
	"%s: a call that is cut off at the output limit is not run, the complete one before it is",
	async (model) => {
		const started = await start(model);
		const { session, provider } = started;
		const half = write('{"path":"b.txt","content":"line 1\\nli');
		provider.reply(
			{ content: [text("Writing"), toolCall("write", { path: "a.txt", content: "a" }), half], stopReason: "length" },
			[toolCall("write", { path: "b.txt", content: "all" })],
			"done",
		);
		await session.prompt("go");
		expect(results(started)).toEqual(["ok", LIMIT, "ok"]);
		expect(filesOf(started)).toEqual({ "a.txt": "a", "b.txt": "all" });
		expect(JSON.stringify(session.entries)).not.toContain("CutOff");
	},
);

test.each(MODELS)(
	"%s: the last call of a reply at the output limit is not run, even if its arguments can be read",
	async (model) => {
		const started = await start(model);
		started.provider.reply({ content: [toolCall("ls", {})], stopReason: "length" }, "done");
		await started.session.prompt("go");
		expect(results(started)).toEqual([LIMIT]);
	},
);

test.each(MODELS)("%s: incomplete arguments of a finished reply are refused", async (model) => {
	const started = await start(model);
	const { session, provider } = started;
	provider.reply([write('{"path":"a.txt","content":"half')], [write('{"path":"a.txt","content":"half"')], "done");
	await session.prompt("go");
	expect(results(started)).toEqual([INCOMPLETE, INCOMPLETE]);
	expect(filesOf(started)).toEqual({});
});

test.each(MODELS)("%s: arguments with raw line ends and with text after them are accepted", async (model) => {
	const started = await start(model);
	const { session, provider } = started;
	provider.reply([write('{"path":"a.txt","content":"1\n2\\d"}'), write('{"path":"b.txt","content":"}"}}')], "done");
	await session.prompt("go");
	expect(results(started)).toEqual(["ok", "ok"]);
	expect(filesOf(started)).toEqual({ "a.txt": "1\n2\\d", "b.txt": "}" });
});

test("three replies in a row with incomplete calls end the run, and the next prompt works", async () => {
	const started = await start("loopback/scripted");
	const { session, provider, events } = started;
	const half = { content: [write('{"path":"a.txt","cont')], stopReason: "length" };
	provider.reply(half, half, [toolCall("ls", {})], half, half, half);
	const result = await session.prompt("go");
	const reason =
		"3 replies in a row had incomplete tool calls · raise maxTokens of the model in models.json, or ask for smaller steps";
	expect(result).toMatchObject({ kind: "run", outcome: { stopped: reason } });
	expect(results(started)).toEqual([LIMIT, LIMIT, "ok", LIMIT, LIMIT, LIMIT]);
	expect(events).toContainEqual({ type: "notice", level: "warning", message: reason });
	provider.reply("fine");
	await session.prompt("again");
});
