import { expect, test } from "vitest";
import { startProvider, text, toolCall } from "../helpers/loopback-provider.js";
import { startPi } from "../helpers/pty.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";
import { agentDirFor, answerLine, STACKING, submit } from "./support.js";

test("a conversation in plain mode has a turn, a choice, a stopped run and an end, without control sequences and boxes", async () => {
	const provider = await startProvider();
	provider
		.reply("A shop.")
		.reply([text("I look."), toolCall("bash", { command: "printf 'buy \\033[31mmilk'; exit 3" })])
		.reply("It says: buy milk.")
		.reply("The notes were read.")
		.reply([toolCall("bash", { command: "sleep 60" })]);
	const agentDir = agentDirFor(provider, { hooks: { "stacking.ts": STACKING } });
	const cwd = tempDir();
	writeFiles(cwd, { ".pi/hooks/x.ts": "export default () => {};\n" });
	const pi = startPi({ agentDir, cwd, args: ["--plain"], columns: 200 });
	await pi.waitForText("number, empty is no:");
	await submit(pi, "n");
	await pi.waitForText("Model Scripted, 1 hook");
	await pi.waitForText(/^>$/m);
	await submit(pi, "what is this?");
	await pi.waitForText("pi: A shop.");
	await pi.waitForText(/tokens\)\n>$/);
	await submit(pi, "read the notes");
	await pi.waitForText(/running bash printf .*\s+done in \d\.\d s, exit 3\s+buy milk/);
	await pi.waitForText("pi: It says: buy milk.");
	await pi.waitForText(/tokens\)\n>$/);
	await submit(pi, "/pop");
	await pi.waitForText("number or text, empty cancels:");
	await answerLine(pi, "read the notes");
	await pi.waitForText("stacking: 4 messages hidden from the model");
	await pi.waitForText("replaced by: The notes were read.");
	await submit(pi, "now wait");
	await pi.waitForText("running bash sleep 60");
	await pi.press("ctrl+c");
	await pi.waitForText(/stopped[\s\S]*\n>$/);
	const screen = await pi.scrollback();
	await pi.press("ctrl+d");
	expect(await pi.exited).toEqual({ code: 0, signal: 0 });
	// The terminal adds `^C` and the line ends.
	expect(pi.output().replace(/\r\n/g, "\n")).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
	expect(screen).not.toMatch(/[\u2500-\u259f]/);
	expect(pi.output()).toMatch(/Resume this session with pi --session \w{8}/);
});

test("TERM=dumb and the setting start plain mode, too", async () => {
	const provider = await startProvider();
	const dumb = startPi({ agentDir: agentDirFor(provider), env: { TERM: "dumb" } });
	await dumb.waitForText("plain mode");
	const settings = { plain: true };
	const set = startPi({ agentDir: agentDirFor(provider, { settings }) });
	await set.waitForText("plain mode");
	set.kill("SIGTERM");
	expect((await set.exited).code).toBe(143);
	await dumb.waitForText(/^>$/m);
	await dumb.press("ctrl+d");
	expect((await dumb.exited).code).toBe(0);
});

test("on a new machine the selected demo starts in the same terminal and accepts input", async () => {
	const pi = startPi({ agentDir: tempAgentDir(), args: ["--plain", "--offline"], columns: 200 });
	await pi.waitForText("5. Demo");
	await pi.waitForText("empty cancels:");
	await answerLine(pi, "demo");
	await pi.waitForText("Model Demo (scripted)");
	await pi.waitForText(/^>$/m);
	await submit(pi, "/name corner shop");
	await pi.waitForText("Session: corner shop");
	await pi.press("ctrl+d");
	expect((await pi.exited).code).toBe(0);
});
