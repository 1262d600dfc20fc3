import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import type { PiTerminal } from "../helpers/pty.js";
import { agentDirFor, modesLeftOn, openPi, submit, submitIdle } from "./support.js";

const GATE = 'export default (pi) => pi.on("tool_call", () => ({ ask: "Run it?" }));';

/** Longer than a row must have been on the screen. Only the clock of the program knows. */
const readIt = () => setTimeout(1000);

/** Clicks the first row of the screen that contains a text. */
async function click(pi: PiTerminal, text: string): Promise<void> {
	const rows = (await pi.screen()).split("\n");
	const row = rows.findIndex((line) => line.includes(text)) + 1;
	expect(row).toBeGreaterThan(0);
	pi.type(`\x1b[<0;5;${row}M`);
	pi.type(`\x1b[<0;5;${row}m`);
}

async function start(mouse: boolean, columns = 80) {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider, { hooks: { "gate.ts": GATE }, settings: { terminal: { mouse } } });
	const pi = await openPi({ agentDir, columns, rows: 30 });
	await pi.waitForText("0%");
	return { provider, pi };
}

test.each([40, 80])(
	"at %i columns a click answers a question and expands an item of the transcript",
	async (columns) => {
		const { provider, pi } = await start(true, columns);
		provider.reply([toolCall("bash", { command: "seq 1 40" })], "Counted.");
		await submit(pi, "count");
		await pi.waitForText("Yes, once");
		await readIt();
		await click(pi, "Yes, once");
		await pi.waitForText("Counted.");
		await pi.waitForGone("esc stops");

		await pi.press("ctrl+o");
		await pi.waitForText("Transcript");
		expect(await pi.screen()).not.toMatch(/^.*│ 17$/m);
		await readIt();
		await click(pi, "seq 1 40");
		await pi.waitForText(/^→.*seq 1 40/m);
		await readIt();
		await click(pi, "seq 1 40");
		await pi.waitForText(/ 17$/m);
		pi.type("\x1b[<64;5;5M".repeat(30));
		await pi.waitForText(/^.*› count/m);
		await pi.press("escape");
		await pi.waitForText("Ask anything");
		await submitIdle(pi, "/quit");
		expect(await pi.exited).toEqual({ code: 0, signal: 0 });
		expect(modesLeftOn(pi.output())).toEqual([25]);
	},
);

test("a click on the answer that refuses runs nothing", async () => {
	const { provider, pi } = await start(true);
	provider.reply([toolCall("bash", { command: "touch clicked" })], "Refused.");
	await submit(pi, "go");
	await pi.waitForText("Yes, once");
	await readIt();
	await click(pi, " No");
	await pi.waitForText("Refused.");
	expect(provider.requests[1]?.messages.at(-1)?.text).toContain("refused");
});

test("without the setting the terminal keeps the mouse", async () => {
	const { provider, pi } = await start(false);
	provider.reply([toolCall("bash", { command: "seq 1 40" })], "Refused.");
	await submit(pi, "count");
	await pi.waitForText("Yes, once");
	expect(pi.output()).not.toContain("\x1b[?1000h");
	await pi.press("escape");
	await pi.waitForText("Refused.");
});
