import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { assistant, result, user } from "../../../helpers/entries.js";
import { toolCall } from "../../../helpers/loopback-provider.js";
import { tempDir } from "../../../helpers/temp.js";
import { PRUNE, TAIL } from "../dialogs/support.js";
import { startResumed, turns } from "./support.js";

const EXAMPLE = [
	user("why does checkout round down?"),
	assistant("I'll look at the price code and its test.", [
		{ id: "a", name: "read", arguments: { path: "src/price.ts" } },
		{ id: "b", name: "bash", arguments: { command: "npm test -- price" } },
	]),
	result("a", "export const price = 1;\nexport const tax = 2;"),
	result("b", Array.from({ length: 9 }, (_, row) => `✓ case ${row}`).join("\n"), "bash"),
	assistant("`Math.floor` cut the half cent. Fixed; the test passes."),
	user("now the tax code, with every region that the shop delivers to, and a test for each of them"),
	assistant("Done."),
];

test.each([40, 80, 120])("Ctrl+O shows every entry at %i columns", async (columns) => {
	const app = await startResumed(EXAMPLE, { columns, rows: 20 });
	await app.terminal.press("ctrl+o");
	await app.terminal.waitFor("Transcript");
	const name = `../../../screens/transcript-${columns}.txt`;
	await expect(await app.terminal.text()).toMatchFileSnapshot(name);
	await app.terminal.press("up", "up", "up", "enter");
	await expect(await app.terminal.text()).toMatchFileSnapshot(name.replace("transcript", "transcript-open"));
});

test("the pager leaves the main screen and its scrollback as it found them", async () => {
	const app = await startResumed(turns(100), { rows: 16 });
	const screen = await app.terminal.screen();
	const scrollback = await app.terminal.scrollback();
	for (let round = 0; round < 2; round++) {
		await app.terminal.press("ctrl+o");
		await app.terminal.waitFor("Transcript · 400 entries");
		await app.terminal.press("home");
		await app.terminal.waitFor("question 0");
		await app.terminal.type("E");
		await app.terminal.press("pageDown", "end", "pageUp");
		await app.terminal.press(round === 0 ? "ctrl+o" : "escape");
		expect(await app.terminal.screen()).toEqual(screen);
		expect(await app.terminal.scrollback()).toEqual(scrollback);
	}
});

test("a search covers all entries, highlights matches and opens collapsed items", async () => {
	const app = await startResumed(turns(200), { rows: 14 });
	await app.terminal.press("ctrl+o");
	await app.terminal.waitFor("Transcript");
	await app.terminal.type("/SECOND 7");
	await app.terminal.press("enter");
	// From the end the search continues at the start: 7, then 70 to 79.
	await app.terminal.waitFor('"SECOND 7" 1 of 11');
	expect(await app.terminal.text()).toContain("▎  │ second 7\n");
	expect(app.terminal.output).toContain("\x1b[7msecond 7\x1b[m");
	await app.terminal.type("n");
	await app.terminal.waitFor("2 of 11");
	expect(await app.terminal.text()).toContain("▎  │ second 70\n");
	await app.terminal.type("NN");
	await app.terminal.waitFor("11 of 11");
	expect(await app.terminal.text()).toContain("▎  │ second 79\n");
	await app.terminal.type("/nowhere");
	await app.terminal.press("enter");
	await app.terminal.waitFor('"nowhere" not found');
	await app.terminal.type("/abc");
	await app.terminal.press("backspace", "escape");
	expect(await app.terminal.text()).toContain('"nowhere" not found');
});

test("brackets go from prompt to prompt", async () => {
	const app = await startResumed(turns(50), { rows: 14 });
	await app.terminal.press("ctrl+o");
	await app.terminal.waitFor("Transcript");
	await app.terminal.type("[".repeat(10));
	expect((await app.terminal.screen())[1]).toMatch(/^→▎ .*question 40$/);
	await app.terminal.type("]");
	expect((await app.terminal.screen())[1]).toMatch(/^→▎ .*question 41$/);
	await app.terminal.type("]".repeat(9));
	expect(await app.terminal.text()).toContain("This is the last prompt");
});

test.each([40, 80])(
	"alt+u opens the transcript at the last prompt, and keeps a draft, at %i columns",
	async (columns) => {
		const app = await startResumed(turns(50), { columns, rows: 14 });
		await app.terminal.type("a draft");
		await app.terminal.press("alt+u");
		await app.terminal.waitFor("Transcript");
		expect(await app.terminal.text()).toMatch(/^→▎ .*question 49$/m);
		await app.terminal.type("[");
		expect(await app.terminal.text()).toMatch(/^→▎ .*question 48$/m);
		await app.terminal.press("escape");
		await app.terminal.waitFor("a draft");
	},
);

test("y copies the complete item", async () => {
	const app = await startResumed(turns(2), { rows: 14 });
	await app.terminal.press("ctrl+o");
	await app.terminal.waitFor("Transcript");
	await app.terminal.press("up");
	await app.terminal.type("y");
	await app.terminal.waitFor("Copied the item");
	const copied = /\x1b\]52;c;([^\x07]*)\x07/.exec(app.terminal.output)?.[1] ?? "";
	expect(Buffer.from(copied, "base64").toString()).toBe("bash\ncommand: echo 1\n\nfirst 1\nsecond 1\nthird 1");
});

test("b asks, then starts a new session before the prompt of the item", async () => {
	const app = await startResumed(turns(3), { rows: 14 });
	const before = app.session().sessionId;
	await app.terminal.press("ctrl+o");
	await app.terminal.waitFor("Transcript");
	await app.terminal.type("b");
	await app.terminal.waitFor("Start a new session before “question 2”?");
	await app.terminal.type("n");
	expect(await app.terminal.text()).toContain("Transcript");
	await app.terminal.type("b");
	await app.terminal.press("enter");
	await app.terminal.waitFor("branched before entry 9");
	expect(app.session().sessionId).not.toBe(before);
	expect(app.session().log.length).toBe(9);
	expect(await app.terminal.text()).toMatch(/^ question 2/m);
});

test("e opens a copy in the external editor and keeps the main screen", async () => {
	const kept = `${tempDir("pi-kept-")}/copy.txt`;
	const app = await startResumed(turns(20), {
		rows: 14,
		mode: { findEditor: async () => `sh -c 'cp "$1" ${kept}' sh` },
	});
	const scrollback = await app.terminal.scrollback();
	await app.terminal.press("ctrl+o");
	await app.terminal.waitFor("Transcript");
	await app.terminal.type("e");
	await expect.poll(() => existsSync(kept) && readFileSync(kept, "utf8")).toBe("answer 19");
	await app.terminal.waitFor("Transcript");
	await app.terminal.press("escape");
	expect(await app.terminal.scrollback()).toEqual(scrollback);
});

/** A promise and the function that resolves it. */
function holder() {
	let resolve = () => {};
	const promise = new Promise<void>((done) => {
		resolve = done;
	});
	return { promise, resolve };
}

test("entries that arrive meanwhile appear at the end, and on the main screen once after closing", async () => {
	const app = await startResumed(turns(20), { rows: 14 });
	const hold = holder();
	app.provider.on(async () => {
		await hold.promise;
		return "the late answer";
	});
	await app.submit("late question");
	await app.terminal.waitFor("late question");
	await app.terminal.press("ctrl+o");
	await app.terminal.waitFor("Transcript · 81 entries");
	hold.resolve();
	await app.terminal.waitFor("Transcript · 82 entries");
	expect(await app.terminal.text()).toContain("→▎  the late answer");
	await app.terminal.press("escape");
	await app.terminal.waitFor("▎ the late answer");
	const all = await app.terminal.scrollback();
	expect(all.filter((line) => line.includes("late answer"))).toHaveLength(1);
	expect(all.filter((line) => line.includes("answer 19"))).toHaveLength(1);
});

test("a question that comes meanwhile is announced, and asked after closing", async () => {
	const hook = `export default (pi) => pi.on("agent_end", async (_, ctx) => { await ctx.ui.confirm("Really?", "Sure?"); });`;
	const app = await startResumed(turns(3), { rows: 14, hooks: { "ask.ts": hook } });
	const hold = holder();
	app.provider.on(async () => {
		await hold.promise;
		return "done";
	});
	await app.submit("go");
	await app.terminal.press("ctrl+o");
	await app.terminal.waitFor("Transcript");
	hold.resolve();
	await app.terminal.waitFor("1 question waiting · close to answer");
	await app.terminal.press("escape");
	await app.terminal.waitFor("Really?");
	expect(await app.terminal.text()).not.toContain("Transcript");
});

test("a resize redraws the pager, and the main screen once after closing", async () => {
	const app = await startResumed(turns(30), { rows: 14 });
	await app.terminal.press("ctrl+o");
	await app.terminal.waitFor("Transcript");
	app.terminal.resize(50, 10);
	await app.terminal.waitFor((screen) => screen.length === 10);
	for (const line of await app.terminal.screen()) expect(line.length).toBeLessThanOrEqual(50);
	expect(await app.terminal.text()).toContain("answer 29");
	await app.terminal.press("escape");
	await app.terminal.waitFor("────");
	expect((await app.terminal.screen()).filter((line) => line.includes("answer 29"))).toHaveLength(1);
});

test("hidden and changed entries say what did it", async () => {
	const app = await startResumed(turns(3), { rows: 24, hooks: { "tail.ts": TAIL, "prune.ts": PRUNE } });
	await app.submit("/tail");
	app.provider.reply([toolCall("bash", { command: "seq 200" })], "ok");
	await app.submit("one more");
	await app.terminal.waitFor("▎ ok");
	await app.terminal.press("ctrl+o");
	await app.terminal.waitFor("Transcript");
	const screen = (await app.terminal.text()).replace(/exit 0 · \d\.\d s/, "exit 0 · 0.0 s");
	await expect(screen).toMatchFileSnapshot("../../../screens/transcript-hooks.txt");
});

test("what hid a message stands once below it if its first row has no room", async () => {
	const summary = { type: "compaction", summary: "Much was said.", firstKeptEntryIndex: 3, tokensBefore: 100 };
	const entries = [user("a long question ".repeat(12)), assistant("Done."), user("next"), summary, assistant("Yes.")];
	const app = await startResumed(entries, { columns: 70, rows: 24 });
	await app.terminal.press("ctrl+o");
	await app.terminal.waitFor("Transcript");
	const notes = (await app.terminal.screen()).filter((line) => line.includes("hidden by"));
	expect(notes[0]?.trim()).toBe("hidden by compaction");
});
