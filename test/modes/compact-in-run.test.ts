import { expect, test } from "vitest";
import { isCompactionEntry } from "../../src/log/entry.js";
import { runJson } from "../../src/modes/json.js";
import { runPrint } from "../../src/modes/print.js";
import { checkEvents } from "../helpers/event-schema.js";
import { toolCall } from "../helpers/loopback-provider.js";
import { recordIO } from "../helpers/record-io.js";
import { startSession } from "../helpers/session.js";
import { serve as serveAcp } from "./acp/serve.js";
import { startPlain } from "./plain/start-plain.js";
import { serve as serveRpc } from "./rpc/serve.js";

/** Compacts once, at the end of the first turn that calls a tool. */
const HOOK = `export default (pi) => {
	let done = false;
	pi.on("turn_end", async ({ toolResults }, ctx) => {
		if (done || toolResults.length === 0) return;
		done = true;
		await ctx.compact();
	});
};`;
const hooks = { "shrink.ts": HOOK };
const userSettings = { compaction: { enabled: false, keepRecentTokens: 1 } };
const LONG = "a long explanation ".repeat(200);
const RUN = [[toolCall("ls", {})], "THE SUMMARY", "done"];

const prompts = { first: { text: "explain", images: [] }, rest: ["go"] };

test("print mode says that it compacts, and continues with the summary", async () => {
	const { session, provider, sent } = await startSession({ hooks, userSettings });
	provider.reply(LONG, ...RUN);
	const io = recordIO();
	expect(await runPrint(session, prompts, io)).toBe(0);
	expect(io.stderr().trimEnd().split("\n")).toEqual(["ls .", "compacting the context"]);
	expect(io.stdout()).toMatch(/done\n$/);
	expect(sent(4).join()).toContain("THE SUMMARY");
});

test("JSON mode sends the events of a compaction within the run", async () => {
	const { session, provider } = await startSession({ hooks, userSettings });
	provider.reply(LONG, ...RUN);
	const io = recordIO();
	expect(await runJson(session, prompts, io)).toBe(0);
	checkEvents(["--mode", "json"], io.stdout());
	const types = io
		.stdout()
		.trimEnd()
		.split("\n")
		.map((line): string => JSON.parse(line).type);
	const from = types.indexOf("auto_compaction_start");
	expect(types.lastIndexOf("turn_end", from)).toBeGreaterThan(0);
	expect(types.indexOf("auto_compaction_end", from)).toBeLessThan(types.indexOf("turn_start", from));
	expect(types.indexOf("agent_end", from)).toBeGreaterThan(from);
});

test("over RPC it happens within the run, and the client's own compact is still refused", async () => {
	const { client, provider, events } = await serveRpc({ hooks, userSettings });
	const run = async (message: string) => {
		const end = client.nextEvent(({ type }) => type === "agent_end");
		await client.call("prompt", { message });
		return end;
	};
	provider.reply(LONG, ...RUN);
	await run("explain");
	await run("go");
	expect(events("auto_compaction_end")).toMatchObject([{ aborted: false, result: { summary: expect.any(String) } }]);
	provider.reply([toolCall("bash", { command: "sleep 0.5" })], "end");
	const running = client.nextEvent(({ type }) => type === "tool_execution_start");
	const ended = run("wait");
	await running;
	await expect(client.call("compact", {})).rejects.toThrow("The agent is running");
	await ended;
});

test("ACP clients get the answer of the run that was compacted", async () => {
	const { editor, provider, id } = await serveAcp({ hooks, userSettings });
	provider.reply(LONG, ...RUN);
	await editor.prompt(id, "explain");
	expect(await editor.prompt(id, "go")).toMatchObject({ stopReason: "end_turn" });
	expect(JSON.stringify(provider.requests[3]?.messages)).toContain("THE SUMMARY");
});

test("plain mode says that it compacts, and how it ended", async () => {
	const { provider, enter, until, session } = await startPlain({ hooks });
	// More than what pi keeps of the recent messages.
	provider.reply(LONG.repeat(30), ...RUN);
	enter("explain");
	await until("a long explanation");
	await until(/\(.* tokens\)/);
	enter("go");
	await until("compacting the context");
	await until("context compacted");
	await until("done");
	expect(session().entries.filter(isCompactionEntry)).toHaveLength(1);
});
