import { expect, test } from "vitest";
import { isObject, parseJson } from "../helpers/json.js";
import { type LoopbackProvider, startProvider, toolCall } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { tempDir } from "../helpers/temp.js";
import { agentDirFor, openPi, submit } from "./support.js";

const place = (provider: LoopbackProvider) => ({
	agentDir: agentDirFor(provider, { settings: { hooks: ["pi:aside", "pi:past-sessions"] } }),
	cwd: tempDir("pi-project-"),
});

/** The request of a question aside begins like the request before it. */
function expectShared({ requests }: LoopbackProvider, aside: number): void {
	const [before, after] = [requests[aside - 1], requests[aside]];
	expect(after?.body.tools).toEqual(before?.body.tools);
	expect(after?.messages.slice(0, before?.messages.length)).toEqual(before?.messages);
}

test("print mode answers a question aside, and a later run searches that session", async () => {
	const provider = await startProvider();
	const at = place(provider);
	provider.reply("The parser is fixed.", "You asked for the parser.");
	const first = await runPi(["-p", "fix the parser", "/aside What did I ask?"], at);
	expect(first).toMatchObject({ code: 0, stdout: "The parser is fixed.\nYou asked for the parser.\n" });
	expectShared(provider, 1);
	provider.reply([toolCall("past_sessions", { search: "FIX THE PARSER" })], "Found.");
	const second = await runPi(["-p", "what did I do?"], at);
	expect(second).toMatchObject({ code: 0, stdout: "Found.\n" });
	expect(provider.requests[3]?.messages.at(-1)?.text).toMatch(/session \S+ · [\s\S]* user: fix the parser\n/);
});

test("JSON mode prints the answer aside, but no message of it", async () => {
	const provider = await startProvider();
	provider.reply("Done.", "You said go.");
	const run = await runPi(["--mode", "json", "go ahead", "/aside What did I say?"], place(provider));
	expect(run).toMatchObject({ code: 0 });
	const events = run.stdout.trimEnd().split("\n").map(parseJson).filter(isObject);
	expect(events.filter(({ type }) => type === "message_end")).toHaveLength(2);
	expect(run.stdout + run.stderr).toContain("You said go.");
	expectShared(provider, 1);
});

test("the screen shows the answer aside during a run, and the search of earlier sessions as a call", async () => {
	const provider = await startProvider();
	const at = place(provider);
	let release = () => {};
	const held = new Promise<void>((resolve) => {
		release = resolve;
	});
	provider.reply("Hello.");
	const pi = await openPi({ ...at, columns: 100, rows: 30 });
	await submit(pi, "hi");
	await pi.waitForText("Hello.");
	provider.reply(
		async () => {
			await held;
			return [toolCall("past_sessions", { search: "zebra" })];
		},
		"It is about a greeting.",
		"All is done.",
	);
	await submit(pi, "work");
	await provider.request(2);
	await submit(pi, "/aside What is this about?");
	expect(await pi.waitForText("It is about a greeting.")).not.toContain("All is done.");
	release();
	expect(await pi.waitForText("All is done.")).toMatch(/past_sessions[\s\S]*No earlier session/);
	expect(provider.requests[3]?.messages.map(({ text }) => text).join("\n")).not.toContain("about a greeting");
});
