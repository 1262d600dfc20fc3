import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import type { PiTerminal } from "../helpers/pty.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { agentDirFor, openPi, submit } from "./support.js";

/** A hook that asks a question when a file exists. */
const ASKING = `
import { existsSync } from "node:fs";
export default function (pi) {
	pi.on("session", (_, ctx) => {
		const timer = setInterval(() => {
			if (!existsSync(ctx.cwd + "/ask")) return;
			clearInterval(timer);
			void ctx.ui.confirm("Are you there?", "Say so.");
		}, 20);
	});
}
`;

const DRAFT = "a draft that nobody may lose";

test("a draft survives a picker, a resize, a hook's question, a failing and an interrupted editor, and a suspension", async () => {
	const provider = await startProvider();
	const dir = tempDir();
	writeFiles(dir, { "failing.sh": 'echo x >> runs\necho "editor $(grep -c x runs) runs"\nread -r line\nexit 1\n' });
	const pi = await openPi({
		agentDir: agentDirFor(provider, { hooks: { "asking.ts": ASKING } }),
		env: { VISUAL: `sh ${join(dir, "failing.sh")}` },
	});
	await pi.waitForText(/Scripted$/m);
	pi.type(DRAFT);
	await pi.waitForText(DRAFT);
	writeFiles(pi.cwd, { ask: "" });
	await pi.waitForText("Are you there?");
	await pi.press("escape");
	await untilDraft(pi);
	await pi.press("ctrl+l");
	await pi.waitForGone(DRAFT);
	await pi.press("escape");
	await untilDraft(pi);
	for (const [run, key] of ["enter", "ctrl+c"].entries()) {
		await pi.press("ctrl+g");
		await pi.waitForText(`editor ${run + 1} runs`);
		await pi.press(key);
		await pi.waitForText("the editor exited with an error · the text is unchanged");
		expect(await pi.screen()).not.toContain(`editor ${run + 1} runs`);
		await untilDraft(pi);
	}
	pi.resize(60, 20);
	await pi.waitForText(/^─{60}\n a draft/m);
	provider.reply("Read it whole.");
	await pi.press("enter");
	await pi.waitForText("Read it whole.");
	expect(provider.requests[0]?.messages.at(-1)?.text).toBe(DRAFT);
});

test("a draft with wide characters survives a terminal that is narrower than they are", async () => {
	const provider = await startProvider();
	const pi = await openPi({ agentDir: agentDirFor(provider) });
	await pi.waitForText(/Scripted$/m);
	const draft = "a👩‍👩‍👧 漢字 draft";
	pi.type(draft);
	await pi.waitForText("draft");
	for (const columns of [1, 2, 3]) {
		pi.resize(columns, 12);
		await pi.waitForText(new RegExp(`^─{${columns}}$`, "m"));
	}
	pi.resize(80, 24);
	await pi.waitForText(/^─{80}\n a\S+ 漢字 draft/m);
	provider.reply("Read it whole.");
	await pi.press("enter");
	await pi.waitForText("Read it whole.");
	expect(provider.requests[0]?.messages.at(-1)?.text).toBe(draft);
});

test("the prompt chosen with ctrl+r is on the screen before it is sent", async () => {
	const provider = await startProvider();
	provider.reply("First.", "Second.");
	const pi = await openPi({ agentDir: agentDirFor(provider) });
	await submit(pi, "look at the gamma rays");
	await pi.waitForText("First.");
	pi.type("only my draft");
	await pi.press("ctrl+r");
	await pi.waitForText("Search earlier prompts");
	pi.type("gamma");
	await pi.waitForText("1/1");
	await pi.press("enter");
	await pi.waitForText(/^ look at the gamma rays *$/m);
	await pi.press("enter");
	await pi.waitForText("Second.");
	expect(provider.requests[1]?.messages.at(-1)?.text).toBe("look at the gamma rays");
});

test("tabs of a paste, of the history and of the external editor are sent as they are", async () => {
	const provider = await startProvider();
	provider.reply("One.", "Two.", "Three.");
	const dir = tempDir();
	writeFiles(dir, { "editor.sh": "printf 'all:\\n\\tcc x.c\\n' > \"$1\"\n" });
	const pi = await openPi({ agentDir: agentDirFor(provider), env: { VISUAL: `sh ${join(dir, "editor.sh")}` } });
	await pi.waitForText(/Scripted$/m);
	const table = "a\tb\n\tc漢\td";
	pi.paste(table);
	await pi.waitForText(/^ a {3}b\n {4}c漢 {3}d *$/m);
	await pi.press("left", "left", "backspace", "ctrl+-", "enter");
	await pi.waitForText("One.");
	await pi.press("up");
	await pi.waitForText(/^─+\n a {3}b\n {4}c漢 {3}d *$/m);
	await pi.press("enter");
	await pi.waitForText("Two.");
	await pi.press("ctrl+g");
	await pi.waitForText(/^ all:\n {4}cc x\.c *$/m);
	await pi.press("enter");
	await pi.waitForText("Three.");
	expect(provider.requests.map(({ messages }) => messages.at(-1)?.text)).toEqual([table, table, "all:\n\tcc x.c"]);
});

async function untilDraft(pi: PiTerminal): Promise<void> {
	await pi.waitForText(new RegExp(`^ ${DRAFT} *$`, "m"));
}
