import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider, text, toolCall } from "../helpers/loopback-provider.js";
import { startPi } from "../helpers/pty.js";
import { agentDirFor, answerLine, conversation, read, submit } from "./support.js";

/** Asks once a file exists, so that there is time to type between the reply and the question. */
const ASKS_LATER = `import { existsSync } from "node:fs";
export default (pi) => pi.on("tool_call", async () => {
	await new Promise((resolve) => {
		const look = setInterval(() => existsSync("typed") && resolve(clearInterval(look)), 20);
	});
	return { ask: { question: "Run it?" } };
});`;

const MARK = "number, empty is no, other text is no and tells the model:";

async function openQuestion(typedBefore: string) {
	const provider = await startProvider();
	provider.reply([text("I look."), toolCall("bash", { command: "echo r''an" })]).reply("over");
	const agentDir = agentDirFor(provider, { hooks: { "gate.ts": ASKS_LATER } });
	const pi = startPi({ agentDir, args: ["--plain"], columns: 200 });
	await pi.waitForText(/^>$/m);
	await submit(pi, "go");
	await pi.waitForText("pi: I look.");
	pi.type(typedBefore);
	await pi.waitForText(typedBefore);
	writeFileSync(join(pi.cwd, "typed"), "");
	return { pi, provider };
}

test("a letter typed before a question is kept as the draft, and Enter refuses", async () => {
	const { pi, provider } = await openQuestion("y");
	await pi.waitForText(MARK);
	await pi.press("enter");
	await pi.waitForText("pi: over");
	expect(conversation(provider, 1).join("\n")).toContain("refused this call");
	await pi.waitForText("Press Enter to send: y");
	expect(await pi.scrollback()).toMatch(/^kept for the next prompt: y$/m);
	await pi.press("ctrl+d");
	expect((await pi.exited).code).toBe(0);
});

test("an answer that may continue a line begun before the question must be typed again to run the call", async () => {
	const { pi, provider } = await openQuestion("half");
	await pi.waitForText(MARK);
	await answerLine(pi, "y");
	await pi.waitForText("You were typing when pi asked: type it again");
	await answerLine(pi, "y");
	await pi.waitForText("pi: over");
	expect(conversation(provider, 1).join("\n")).toContain("tool: ran");
	await pi.waitForText("Press Enter to send: half");
	await pi.press("ctrl+d");
	expect((await pi.exited).code).toBe(0);
});

test("lines pasted without marks allow nothing", async () => {
	const { pi, provider } = await openQuestion("half");
	await pi.waitForText(MARK);
	await read();
	pi.type("y\rmake install");
	await pi.waitForText("Pasted together with other text: type it again");
	await pi.press("ctrl+u");
	await answerLine(pi, "n");
	await pi.waitForText("pi: over");
	expect(conversation(provider, 1).join("\n")).toContain("refused this call");
	await pi.press("ctrl+d");
	expect((await pi.exited).code).toBe(0);
});

const ASKS = `export default (pi) => pi.command("ask", { handler: async ({ ui }) => ({ status: "sure " + await ui.confirm("Sure?", "Now.") }) });`;

test("the line of a question is edited and canceled with the keys of the terminal's own lines", async () => {
	const agentDir = agentDirFor(await startProvider(), { hooks: { "ask.ts": ASKS } });
	const pi = startPi({ agentDir, args: ["--plain"], columns: 200 });
	await pi.waitForText(/^>$/m);
	await submit(pi, "/ask");
	await pi.waitForText(/empty is no:$/);
	pi.type("no way 日本");
	await pi.waitForText("no: no way 日本");
	pi.type("\x7f");
	await pi.waitForText(/no: no way 日$/);
	pi.type("\x17");
	await pi.waitForText(/no: no way$/);
	pi.type("\x15");
	await pi.waitForText(/no:$/);
	await answerLine(pi, "y");
	await pi.waitForText("sure true");
	await submit(pi, "/ask");
	await pi.waitForText(/empty is no:$/);
	pi.type("ye");
	await pi.press("ctrl+c");
	await pi.waitForText("sure false");
	await pi.waitForText(/^>$/m);
	// The terminal edits lines again.
	pi.type("/nameX\x7f shop");
	await pi.press("enter");
	await pi.waitForText("Session: shop");
	await pi.press("ctrl+d");
	expect((await pi.exited).code).toBe(0);
});
