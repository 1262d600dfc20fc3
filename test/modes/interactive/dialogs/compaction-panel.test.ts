import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { keyBytes } from "../../../helpers/keys.js";
import { httpError } from "../../../helpers/loopback-provider.js";
import { skipTime } from "../../../helpers/skip-time.js";
import { type App, startApp } from "../app.js";
import { panel } from "./support.js";

const PIN = readFileSync(join(import.meta.dirname, "../../../../hooks-examples/pin.ts"), "utf8");

const SUMMARY = [
	"## Goal",
	"Checkout must round half up.",
	"## Done",
	"- `Math.floor` became `Math.round` in src/price.ts",
	'- the test "rounds half up" passes',
	"## Next",
	"The tax code.",
].join("\n");

/** Three turns, entries 1 to 6. A compaction keeps the last turn. */
async function startWithTurns(options: { columns?: number; hooks?: Record<string, string> } = {}): Promise<App> {
	const app = await startApp({ rows: 30, ...options, agentSettings: { compaction: { keepRecentTokens: 10 } } });
	app.provider.reply(
		`Because price.ts uses Math.floor.${" So do others.".repeat(20)}`,
		`Done, the test passes.${" Every caller was checked.".repeat(20)}`,
		"I will read tax.ts.",
	);
	await app.terminal.waitFor("0%");
	await app.submit("why does checkout round down?");
	await app.terminal.waitFor("uses Math.floor");
	await app.submit("fix it");
	await app.terminal.waitFor("the test passes");
	await app.submit("now the tax code");
	await app.terminal.waitFor("I will read tax.ts");
	return app;
}

const lastTypes = (app: App, from: number) =>
	app
		.session()
		.entries.slice(from)
		.map(({ type }) => type);

const lastCompaction = (app: App) => app.session().entries.findLast(({ type }) => type === "compaction");

test("the preview shows dropped and kept messages, including those of hooks, and applies when accepted", async () => {
	const app = await startWithTurns({ hooks: { "pin.ts": PIN } });
	await app.submit("/pin 1");
	app.provider.reply(SUMMARY);
	await app.submit("/compact the tax code");
	await app.terminal.waitFor("summary by Scripted");
	await app.terminal.waitFor("enter accept");
	await expect(`${(await panel(app)).join("\n")}\n`).toMatchFileSnapshot("../../../screens/compaction-preview.txt");
	expect(app.provider.requests[3]?.messages.at(-1)?.text).toContain("particular attention to: the tax code");
	expect(lastTypes(app, 7)).toEqual(["pin"]);
	skipTime(1);
	await app.terminal.press("enter");
	await app.terminal.waitFor("compacted here");
	expect(lastCompaction(app)).toMatchObject({
		type: "compaction",
		summary: SUMMARY,
		firstKeptEntryIndex: 5,
	});
	expect(app.session().context.messages.map(({ entryIndex }) => entryIndex)).toEqual([null, 1, 2, 5, 6]);
});

test("escape after enter does not cancel the compaction that is being written", async () => {
	const app = await startWithTurns();
	app.provider.reply(SUMMARY);
	await app.submit("/compact");
	await app.terminal.waitFor("summary by Scripted");
	skipTime(1);
	app.terminal.send(keyBytes("enter"));
	// Enter counts after 30 ms without another key.
	await new Promise((resolve) => app.session().subscribe(({ type }) => type === "entry_appended" && resolve(null)));
	app.terminal.send(keyBytes("escape"));
	await app.terminal.waitFor("compacted here");
	expect(lastCompaction(app)).toMatchObject({ summary: SUMMARY });
});

test("the summary is shown while the model writes it, in 40 columns too, and escape changes nothing", async () => {
	const app = await startWithTurns({ columns: 40 });
	const hold = new Promise<never>(() => {});
	app.provider.reply({ content: [{ type: "text", text: SUMMARY }], hold });
	await app.submit("/compact");
	await app.terminal.waitFor("The tax code.");
	skipTime(1);
	await app.terminal.press("enter");
	await app.terminal.waitFor("still writing the summary");
	await app.terminal.press("up", "down");
	await expect(`${(await panel(app)).join("\n")}\n`).toMatchFileSnapshot("../../../screens/compaction-preview-40.txt");
	await app.terminal.press("escape");
	await app.terminal.waitFor("Nothing was compacted");
	expect(await app.provider.requests[3]?.closed).toBe(false);
	expect(app.session().entries).toHaveLength(7);
	expect(app.session().isCompacting).toBe(false);
});

test("the user can edit the summary, which is then theirs", async () => {
	const app = await startWithTurns();
	app.provider.reply("It was fixed.");
	await app.submit("/compact");
	await app.terminal.waitFor("enter accept");
	skipTime(1);
	await app.terminal.type("e");
	await app.terminal.waitFor("shift+enter new line");
	await app.terminal.type(" Thoroughly.");
	skipTime(1);
	await app.terminal.press("enter");
	await app.terminal.waitFor("summary by you");
	skipTime(1);
	await app.terminal.type("e");
	await app.terminal.waitFor("shift+enter new line");
	await app.terminal.type("never mind");
	await app.terminal.press("escape");
	await app.terminal.waitFor("It was fixed. Thoroughly.");
	expect(await app.terminal.text()).not.toContain("never mind");
	skipTime(1);
	await app.terminal.press("enter");
	await app.terminal.waitFor("compacted here");
	expect(lastCompaction(app)).toMatchObject({ summary: "It was fixed. Thoroughly." });
});

test("after the model fails, pi writes the summary and says so, and r asks the model again", async () => {
	const app = await startWithTurns();
	app.provider.reply(httpError(400, {}, "no such model"), "Second draft.", "Third draft.");
	await app.submit("/compact");
	await app.terminal.waitFor("summary by pi, without a model");
	expect((await panel(app)).join("\n")).toContain("## Prompts of the user");
	skipTime(1);
	await app.terminal.type("r");
	await app.terminal.waitFor("Second draft.");
	await app.terminal.waitFor("enter accept");
	skipTime(1);
	await app.terminal.type("r");
	await app.terminal.waitFor("Third draft.");
	await app.terminal.press("escape");
	await app.terminal.waitFor("Nothing was compacted");
	expect(lastTypes(app, 7)).toEqual(["request_usage", "request_usage"]);
});

test("a hook's compaction is attributed to the hook, and the hook's question comes first", async () => {
	const OWN = `export default (pi) => pi.on("session", async (event, ctx) => {
		if (event.reason !== "before_compact") return;
		if (!(await ctx.ui.confirm("Compact with the house style?", ""))) return { cancel: true };
		return { compactionEntry: { type: "compaction", summary: "IN HOUSE STYLE", firstKeptEntryIndex: 3, tokensBefore: 1 } };
	});`;
	const app = await startWithTurns({ hooks: { "house.ts": OWN } });
	await app.submit("/compact");
	await app.terminal.waitFor("house style?");
	skipTime(1);
	await app.terminal.type("y");
	await app.terminal.waitFor("summary by hook house");
	expect(await app.terminal.text()).toContain("drops 2 messages");
	skipTime(1);
	await app.terminal.press("enter");
	await app.terminal.waitFor("compacted here");
	expect(lastCompaction(app)).toMatchObject({ summary: "IN HOUSE STYLE", firstKeptEntryIndex: 3 });
	await app.submit("/uncompact");
	await app.terminal.waitFor(/entry \d+ undone/);
	await app.submit("/compact");
	await app.terminal.waitFor("house style?");
	await app.terminal.press("escape");
	await app.terminal.waitFor("Hook house canceled the compaction");
	expect((await app.terminal.text()).match(/Hook house canceled the compaction/g)).toHaveLength(1);
});

test("space shows a message in full and s the summary, without their control sequences", async () => {
	const app = await startApp({ rows: 30, agentSettings: { compaction: { keepRecentTokens: 10 } } });
	const hostile = "bad \x1b]0;owned\x07 text";
	app.provider.reply(`${hostile}${" and more".repeat(60)}`, "fine", `${hostile}\n${SUMMARY}`);
	await app.terminal.waitFor("0%");
	await app.submit("one");
	await app.terminal.waitFor("bad");
	await app.submit("two");
	await app.terminal.waitFor("fine");
	await app.submit("/compact");
	await app.terminal.waitFor("enter accept");
	await app.terminal.press("home", "down");
	skipTime(1);
	await app.terminal.type(" ");
	await app.terminal.waitFor("2 assistant");
	await app.terminal.press("escape");
	skipTime(1);
	await app.terminal.type("s");
	await app.terminal.waitFor("lines 1–8 of 8");
	await app.terminal.press("escape");
	skipTime(1);
	await app.terminal.type("e");
	await app.terminal.waitFor("shift+enter");
	expect(app.terminal.output).not.toContain("\x1b]0;owned");
	await app.terminal.press("escape");
	await app.terminal.waitFor("enter accept");
	await app.terminal.press("escape");
	await app.terminal.waitFor("Nothing was compacted");
});

test("a prompt sent during a preview is queued and starts a run after the preview is accepted", async () => {
	const app = await startWithTurns();
	app.provider.reply("DRAFT", "working");
	await app.submit("/compact");
	await app.terminal.waitFor("enter accept");
	expect(await app.session().send("a hook says this")).toEqual({ kind: "queued" });
	expect(app.session().activity.state).toBe("compacting");
	skipTime(1);
	await app.terminal.press("enter");
	await app.terminal.waitFor("compacted here");
	await app.terminal.waitFor("working");
	expect(lastTypes(app, 7)).toEqual(["compaction", "request_usage", "message", "message"]);
});

test.each([40, 120])(
	"/compact refuses to lengthen a small session and says so with figures, at %d columns",
	async (columns) => {
		const app = await startApp({ columns, rows: 30 });
		app.provider.reply("It rounds down.", "Yes.");
		await app.terminal.waitFor("0%");
		await app.submit("why?");
		await app.terminal.waitFor("It rounds down.");
		await app.submit("/compact");
		await app.terminal.waitFor("nothing to compact yet");
		await app.submit("sure?");
		await app.terminal.waitFor("Yes.");
		await app.submit("/compact");
		await app.terminal.waitFor("A summary would not shorten");
		const screen = (await app.terminal.screen()).map((line) => line.trim()).join(" ");
		expect(screen).toMatch(
			/A summary would not shorten the context: \d+ → at least \d+ tokens · compact when the conversation is longer/,
		);
		expect(app.provider.requests).toHaveLength(2);
		expect(app.session().entries).toHaveLength(5);
	},
);

test("the panel does not accept a summary that is longer than what it replaces, and the user can shorten it", async () => {
	const app = await startWithTurns();
	app.provider.reply("word ".repeat(400));
	await app.submit("/compact");
	await app.terminal.waitFor("enter accept");
	skipTime(1);
	await app.terminal.press("enter");
	await app.terminal.waitFor(/A summary would not shorten the context: \d+ → \d+ tokens/);
	expect(lastTypes(app, 7)).toEqual([]);
	skipTime(1);
	await app.terminal.type("e");
	await app.terminal.waitFor("shift+enter new line");
	await app.terminal.press("ctrl+u");
	await app.terminal.type("Short.");
	skipTime(1);
	await app.terminal.press("enter");
	await app.terminal.waitFor("summary by you");
	skipTime(1);
	await app.terminal.press("enter");
	await app.terminal.waitFor("compacted here");
	expect(lastCompaction(app)).toMatchObject({ summary: "Short." });
});

test("whoever types the next prompt into the preview neither changes nor accepts the summary", async () => {
	const app = await startWithTurns();
	app.provider.reply("It was fixed.");
	await app.submit("/compact");
	await app.terminal.waitFor("enter accept");
	for (const text of ["next prompt", "explain it", "then rerun it all"]) {
		skipTime(1);
		await app.terminal.type(text);
		await app.terminal.press("enter", "enter");
		await app.terminal.waitFor("keys count after a pause");
	}
	expect((await panel(app)).join("\n")).toContain("│ It was fixed.\n");
	expect(lastTypes(app, 7)).toEqual([]);
	skipTime(1);
	await app.terminal.press("enter");
	await app.terminal.waitFor("compacted here");
	expect(lastCompaction(app)).toMatchObject({ summary: "It was fixed." });
});
