import { expect, test } from "vitest";
import { runJson } from "../../src/modes/json.js";
import { runPrint } from "../../src/modes/print.js";
import { run } from "../cli/subcommands/run.js";
import type { LoopbackProvider } from "../helpers/loopback-provider.js";
import { recordIO } from "../helpers/record-io.js";
import { startSession } from "../helpers/session.js";
import { skipTime } from "../helpers/skip-time.js";
import { tempAgentDir } from "../helpers/temp.js";
import { serve as serveAcp } from "./acp/serve.js";
import { startApp } from "./interactive/app.js";
import { startPlain } from "./plain/start-plain.js";
import { serve as serveRpc } from "./rpc/serve.js";

/** Gives each compaction a form that only the provider can read. */
const HOOK = `export default (pi) => pi.on("session", (event) => {
	if (event.reason !== "before_compact") return undefined;
	const { api, provider } = event.model;
	return { nativeCompaction: { api, provider, items: [{ role: "user", content: "gAAAA" }] } };
});`;
const hooks = { "native.ts": HOOK };
const userSettings = { compaction: { keepRecentTokens: 1 } };
const session = { kind: "new" } as const;
const PROMPTS = ["u1", "u2", "/compact", "go"] as const;
const prompts = { first: { text: "u1", images: [] }, rest: ["u2", "/compact", "go"] };

function script(provider: LoopbackProvider): void {
	// Long enough that a summary shortens the context.
	provider.reply(`${"a long explanation ".repeat(60)}a1`, "a2", "THE SUMMARY", "finished");
}

/** Checks the request of the prompt "go" and what its reply records. */
async function expectNative(place: { provider: LoopbackProvider; agentDir: string; cwd: string }): Promise<void> {
	const { messages = [] } = place.provider.requests[3] ?? {};
	const sent = messages.slice(1).map(({ role, text }) => `${role}: ${text}`);
	expect(sent).toEqual(["user: gAAAA", "user: u2", "assistant: a2", "user: go"]);
	const { agentDir, cwd } = place;
	const verified = await run({ name: "context", verify: true }, { agentDir, cwd });
	expect(verified.stdout).toBe("All 3 requests match the recorded ones\n");
	const { stdout } = await run({ name: "context", verify: false, at: 8 }, { agentDir, cwd, json: true });
	expect(JSON.parse(stdout).messages[0]).toMatchObject({ native: true, text: expect.stringContaining("THE SUMMARY") });
}

test("SDK", async () => {
	const pi = await startSession({ hooks, userSettings, session });
	script(pi.provider);
	for (const prompt of PROMPTS) await pi.session.prompt(prompt);
	await expectNative(pi);
});

test.each([
	["print", runPrint],
	["JSON", runJson],
])("%s", async (_, runMode) => {
	const pi = await startSession({ hooks, userSettings, session });
	script(pi.provider);
	expect(await runMode(pi.session, prompts, recordIO())).toBe(0);
	await expectNative(pi);
});

test("RPC, where get_context marks the summary", async () => {
	const pi = await serveRpc({ hooks, userSettings, session });
	script(pi.provider);
	const prompt = async (message: string) => {
		const ended = pi.client.nextEvent(({ type }) => type === "agent_end");
		await pi.client.call("prompt", { message });
		await ended;
		await pi.session.waitForIdle();
	};
	await prompt("u1");
	await prompt("u2");
	await pi.client.call("compact", {});
	await prompt("go");
	expect(await pi.client.call("get_context", {})).toMatchObject({ messages: [{ native: true }, {}, {}, {}, {}] });
	await expectNative(pi);
});

test("ACP", async () => {
	const pi = await serveAcp({ hooks, userSettings });
	script(pi.provider);
	for (const prompt of PROMPTS) await pi.editor.prompt(pi.id, prompt);
	await expectNative(pi);
});

test("plain", async () => {
	const agentDir = tempAgentDir({ hooks, settings: userSettings });
	const pi = await startPlain({ agentDir, session });
	script(pi.provider);
	const { enter, until } = pi;
	enter("u1");
	await until("a1");
	await until("> ");
	enter("u2");
	await until("a2");
	await until("> ");
	enter("/compact");
	await until("empty cancels");
	enter("1");
	await until("305 →");
	enter("go");
	await until("finished");
	await until("> ");
	await expectNative(pi);
});

/** The screen with a preview of the compaction. */
async function previewed() {
	const pi = await startApp({ hooks, agentSettings: userSettings, session });
	script(pi.provider);
	const { terminal, submit } = pi;
	await terminal.waitFor("0%");
	await submit("u1");
	await terminal.waitFor("a1");
	await submit("u2");
	await terminal.waitFor("a2");
	await submit("/compact");
	await terminal.waitFor("summary by Scripted");
	return pi;
}

test("the screen, where /context says so", async () => {
	const pi = await previewed();
	const { terminal, submit } = pi;
	skipTime(1);
	await terminal.press("enter");
	await terminal.waitFor("compacted here");
	await submit("go");
	await terminal.waitFor("finished");
	await expectNative(pi);
	await submit("/context");
	await terminal.waitFor("compaction  provider's own form of entries 1–2");
});

test("a summary that the user edits is for every model", async () => {
	const { terminal, submit, provider } = await previewed();
	skipTime(1);
	await terminal.type("e");
	await terminal.waitFor("shift+enter new line");
	await terminal.type(", EDITED");
	skipTime(1);
	await terminal.press("enter");
	await terminal.waitFor("summary by you");
	skipTime(1);
	await terminal.press("enter");
	await terminal.waitFor("compacted here");
	await submit("go");
	await terminal.waitFor("finished");
	expect(provider.requests[3]?.messages[1]?.text).toContain("THE SUMMARY, EDITED");
});
