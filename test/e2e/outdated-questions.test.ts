import { expect, test } from "vitest";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { type PiTerminal, startPi } from "../helpers/pty.js";
import { agentDirFor, answer, openPi, submit } from "./support.js";

/** A reply that ends when the test says so. */
function heldReply() {
	let release = () => {};
	const hold = new Promise<void>((resolve) => {
		release = resolve;
	});
	return { reply: { content: [{ type: "text" as const, text: "The answer." }], hold }, release };
}

test.each<[string, (pi: PiTerminal) => unknown]>([
	["/quit", (pi) => submit(pi, "/quit")],
	["Ctrl+D", (pi) => pi.press("ctrl+d")],
])("the question of %s closes when the run ends that it is about, and pi quits", async (_, ask) => {
	const provider = await startProvider();
	const { reply, release } = heldReply();
	provider.reply(reply);
	const pi = await openPi({ agentDir: agentDirFor(provider) });
	await submit(pi, "go");
	await pi.waitForText("The answer.");
	await ask(pi);
	await pi.waitForText("This ends the run.");
	release();
	expect(await pi.exited).toEqual({ code: 0, signal: 0 });
	expect(await pi.scrollback()).not.toContain("Stopped the run");
});

test.each<[string, string, string]>([
	["/new", "Start a new session?", "New session"],
	["/branch 1", "Start a new session from that message?", "branched before entry 1"],
])("the question of %s closes when the run ends, and the command is carried out", async (command, question, done) => {
	const provider = await startProvider();
	const { reply, release } = heldReply();
	provider.reply(reply);
	const pi = await openPi({ agentDir: agentDirFor(provider) });
	await submit(pi, "go");
	await pi.waitForText("The answer.");
	await submit(pi, command);
	await pi.waitForText(question);
	release();
	await pi.waitForText(done);
	expect(await pi.screen()).not.toContain(question);
});

test("while background commands still run, Ctrl+D asks about those when the run has ended", async () => {
	const provider = await startProvider();
	const { reply, release } = heldReply();
	provider.reply([toolCall("bash", { command: "sleep 2000", background: true })], reply);
	const pi = await openPi({ agentDir: agentDirFor(provider) });
	await submit(pi, "go");
	await pi.waitForText("The answer.");
	await pi.press("ctrl+d");
	await pi.waitForText("This ends the run and 1 background command.");
	release();
	await pi.waitForText("This ends 1 background command.");
	await answer(pi, "y");
	expect(await pi.exited).toEqual({ code: 0, signal: 0 });
});

test("plain mode closes the question, too", async () => {
	const provider = await startProvider();
	const { reply, release } = heldReply();
	provider.reply(reply);
	const pi = startPi({ agentDir: agentDirFor(provider), args: ["--plain"] });
	await pi.waitForText(/^>$/m);
	await submit(pi, "go");
	await expect.poll(() => provider.requests.length, { timeout: 10_000 }).toBe(1);
	await submit(pi, "/quit");
	await pi.waitForText("This ends the run.");
	release();
	expect(await pi.exited).toEqual({ code: 0, signal: 0 });
});
