import { expect, test } from "vitest";
import { text, thinking } from "../../helpers/loopback-provider.js";
import { startApp } from "./app.js";
import { reply, Script } from "./script.js";
import { createStage } from "./stage.js";

const WIDTHS = [40, 80, 120];

const DOCUMENT = `# One with \`code\`
## Two
### Three
#### Four
##### Five
###### Six

1. First item, which is long enough to wrap at forty columns.

   A second paragraph of it, which must start below the text of the item.

   - Nested item

     A paragraph in the nested item that is also long enough to wrap.
     1. Deeper, with a [link](http://example.org) and words
   - > A quote in an item
2. Second item

| Name | Price | Quantity |
|:-----|------:|:--------:|
| \`tea\` | 10.12 | 3 |
| **coffee beans** | 4.5 | 120 |

| Setting | Meaning | Default | Applies | Where |
|---|---|---|---|---|
| \`compaction.reserveTokens\` | tokens that stay free for the reply of the model | 16384 | now | user settings |
| \`retry.maxRetries\` | maximum number of retries | 3 | now | project |

These words **are bold up to here and** \`then\` there are _some more of_ them, so that every style ends at a line break.
`;

test.each(WIDTHS)("headings, lists, tables and styled text at %i columns", async (columns) => {
	const stage = await createStage({ columns, rows: 90 });
	const script = new Script();
	stage.play(...script.user("show it"), ...script.reply([{ text: DOCUMENT }], { chunk: 60 }));
	const screen = await stage.terminal.text();
	expect(screen).not.toContain("#");
	await expect(screen).toMatchFileSnapshot(`../../screens/markdown-${columns}.txt`);
});

test.each(WIDTHS)("no line of a styled paragraph starts with a space at %i columns", async (columns) => {
	const stage = await createStage({ columns, rows: 90 });
	const script = new Script();
	const words = Array.from({ length: 120 }, (_, at) => (at % 3 ? `\`code${at}\`` : `**bold${at}**`));
	stage.play({ type: "agent_start" }, ...script.reply([{ text: words.join(" ") }]));
	const lines = (await stage.terminal.screen()).filter((line) => /code|bold/.test(line));
	expect(lines.filter((line) => line.startsWith("▎  "))).toEqual([]);
	expect(
		lines
			.map((line) => line.slice(2))
			.join(" ")
			.split(" "),
	).toEqual(words.map((word) => word.replace(/[`*]/g, "")));
});

test.each(WIDTHS)(
	"the lines of a prompt follow a mark, and a blank line is above it, at %i columns",
	async (columns) => {
		const stage = await createStage({ columns, rows: 20 });
		const script = new Script();
		const prompt = "why does checkout round down?\n\nIt should round half up, as the test says.";
		stage.play(...script.user("first"), ...script.reply([{ text: "An answer." }]), ...script.user(prompt));
		const screen = await stage.terminal.screen();
		const wrapped = ["▎   It should round half up, as the test", "▎   says."];
		expect(screen.slice(2).map((line) => line.trimEnd())).toEqual([
			"▎ › first",
			"▎",
			"▎ An answer.",
			"",
			"▎ › why does checkout round down?",
			"▎",
			...(columns === 40 ? wrapped : ["▎   It should round half up, as the test says."]),
		]);
		const { theme } = stage.style;
		expect(stage.terminal.output).toContain(theme.userText("›").replace(/\x1b\[22m$/, ""));
	},
);

test.each(WIDTHS)("a failed tool has a red mark at the right edge and a red title at %i columns", async (columns) => {
	const stage = await createStage({ columns, rows: 20 });
	const script = new Script();
	const args = { path: "src/price.ts" };
	const bash = { command: "npm test" };
	const calls = [
		{ id: "c1", tool: "read", args },
		{ id: "c2", tool: "bash", args: bash },
	];
	stage.play(
		{ type: "agent_start" },
		...script.reply(calls, { stop: "toolUse" }),
		...script.tool("c1", "read", args, "src/price.ts does not exist", undefined, true),
		...script.tool("c2", "bash", bash, "1 failed\n\nexit code 1", { exitCode: 1, durationMs: 1200 }, true),
		{ type: "agent_end", messages: [] },
	);
	expect((await stage.terminal.screen()).slice(2)).toEqual([
		`${"▎ read  src/price.ts".padEnd(columns - 8)}failed ✗`,
		"▎ │ src/price.ts does not exist",
		`${"▎ bash  npm test".padEnd(columns - 1)}✗`,
		"▎ │ 1 failed",
		"▎ │ exit 1 · 1.2 s",
	]);
	const red = stage.style.theme.error("x").split("x")[0] ?? "";
	expect(red).toMatch(/^\x1b/);
	for (const title of ["read", "bash", "failed ✗", "✗"]) {
		expect(stage.terminal.output).toMatch(new RegExp(`${red.replace("[", "\\[")}(?:\\x1b\\[1m)?${title}`));
	}
});

const DIFF = [
	" 10 // prices are in cents",
	" 11 import { rates } from './rates.js';",
	" 12 ",
	"-13 export const price = (cents) => Math.floor(cents * rates[region]) / 100;",
	"+13 export const price = (cents) => Math.round(cents * rates[region]) / 100;",
	" 14 ",
	" 15 export const tax = 1;",
	" …",
	" 40 }",
	"+41 // the end",
].join("\n");

test.each(WIDTHS)("a diff shows the unchanged lines around each change at %i columns", async (columns) => {
	const stage = await createStage({ columns, rows: 20 });
	const script = new Script();
	const args = { path: "src/price.ts", oldText: "floor", newText: "round" };
	stage.play(
		{ type: "agent_start" },
		...script.reply([{ id: "c1", tool: "edit", args }], { stop: "toolUse" }),
		...script.tool("c1", "edit", args, "ok", { diff: DIFF, added: 2, removed: 1 }),
		{ type: "agent_end", messages: [] },
	);
	await expect(await stage.terminal.text()).toMatchFileSnapshot(`../../screens/diff-${columns}.txt`);
});

const LONG = Array.from({ length: 1500 }, (_, at) => `word${at}`).join(" ");

test("an attached file is shown by its first lines, the user's own words around it in full", async () => {
	const stage = await createStage({ columns: 60, rows: 24 });
	const file = Array.from({ length: 100 }, (_, at) => `row${at}`).join("\n");
	const words = Array.from({ length: 40 }, (_, at) => `word${at}`).join("\n");
	stage.play(...new Script().user(`<file name="a.txt">\n${file}\n</file>\n\n${words}`));
	const seen = (await stage.terminal.scrollback()).join("\n");
	expect(seen.match(/row\d+/g)).toHaveLength(23);
	expect(seen).toContain("… 78 lines below · ctrl+o transcript");
	expect(seen.match(/word\d+/g)).toEqual(words.split("\n"));
});

test.each(WIDTHS)("a long paragraph is shown in full, whoever wrote it, at %i columns", async (columns) => {
	const stage = await createStage({ columns, rows: 24 });
	const script = new Script();
	stage.style.showThinking = true;
	stage.play(
		...new Script(2).user(LONG),
		...script.replyStart(reply([])),
		...script.updates(reply([{ thinking: LONG }, { text: LONG }]), 400),
	);
	const seen = (await stage.terminal.scrollback()).map((line) => line.replace(/^[▎›│ ]+/, "")).join(" ");
	expect(seen.match(/word\d+/g)).toEqual([LONG, LONG, LONG].join(" ").split(" "));
});

const THOUGHT = [
	"**Inspecting the price code**",
	"",
	"The test expects 10.13. The code floors the cents, which is why the result is too low in every case but one.",
].join("\n");

test.each([
	[40, "▎ ∴ too low in every case bu · ctrl+t"],
	[80, "▎ ∴ result is too low in every case bu · ctrl+t"],
	[
		120,
		"▎ ∴ The test expects 10.13. The code floors the cents, which is why the result is too low in every case bu · ctrl+t",
	],
])(
	"the preview of thinking is its end while it streams, and its first line afterwards, at %i columns",
	async (columns, end) => {
		const stage = await createStage({ columns, rows: 20 });
		const script = new Script();
		const message = reply([{ thinking: THOUGHT }]);
		const updates = script.updates(message);
		stage.play({ type: "agent_start" }, ...script.user("why?"), ...script.replyStart(message), ...updates.slice(0, 4));
		expect((await stage.terminal.screen())[4]).toMatch(/^▎ ∴ Inspecting the pric · ctrl\+t$/);
		stage.play(...updates.slice(4, -2));
		expect((await stage.terminal.screen())[4]).toBe(end);
		stage.play(...updates.slice(-2), script.replyEnd(message));
		expect((await stage.terminal.screen()).slice(4, 6)).toEqual([
			"▎ ∴ Inspecting the price code · ctrl+t",
			expect.not.stringContaining("∴"),
		]);
	},
);

test.each(WIDTHS)("full thinking is drawn without Markdown characters, at %i columns", async (columns) => {
	const stage = await createStage({ columns, rows: 20 });
	stage.style.showThinking = true;
	const script = new Script();
	const message = reply([{ thinking: THOUGHT }]);
	const updates = script.updates(message);
	const shown = async () =>
		(await stage.terminal.screen())
			.slice(4)
			.map((line) => line.slice(2).trimEnd())
			.filter(Boolean);
	stage.play({ type: "agent_start" }, ...script.user("why?"), ...script.replyStart(message), ...updates.slice(0, -2));
	expect((await shown())[0]).toBe("Inspecting the price code");
	stage.play(...updates.slice(-2), script.replyEnd(message));
	expect((await shown())[0]).toBe("Inspecting the price code");
	expect((await shown()).join(" ")).toContain("too low in every case but one.");
});

test.each(WIDTHS)(
	"hideThinkingBlock hides streaming and finished thinking behind a line at %i columns",
	async (columns) => {
		const app = await startApp({ columns, rows: 30, agentSettings: { hideThinkingBlock: true } });
		app.provider.reply([thinking(THOUGHT), text("Because it floors.")]);
		await app.terminal.waitFor("0%");
		await app.submit("why?");
		await app.terminal.waitFor("Because it floors.");
		expect(await app.terminal.screen()).toContain("▎ ∴ thinking hidden · ctrl+t shows it");
		expect(await app.terminal.text()).not.toContain("Inspecting");
		await app.submit("/settings hideThinkingBlock false");
		await app.terminal.waitFor("▎ ∴ Inspecting the price code · ctrl+t");
		await app.terminal.press("ctrl+t");
		await app.terminal.waitFor(/too low/);
		await app.submit("/settings hideThinkingBlock");
		const meaning = "true hides thinking behind one line, false shows a preview; Ctrl+T changes it for the session";
		await app.terminal.waitFor((screen) => screen.join(" ").replace(/\s+/g, " ").includes(meaning));
	},
);

test.each(WIDTHS)("a failed shell command shows its exit code once at %i columns", async (columns) => {
	const app = await startApp({ columns, rows: 30 });
	await app.terminal.waitFor("0%");
	await app.submit("!echo before; exit 3");
	await app.terminal.waitFor("✗");
	const screen = await app.terminal.screen();
	const at = screen.findIndex((line) => line.includes("! echo"));
	expect(screen.slice(at, at + 3)).toEqual([
		`${"▎ ! echo before; exit 3".padEnd(columns - 8)}exit 3 ✗`,
		"▎ │ before",
		"",
	]);
});

test.each(WIDTHS)("sixty pasted lines count as sixty at %i columns", async (columns) => {
	const app = await startApp({ columns, rows: 30 });
	await app.terminal.waitFor("0%");
	await app.terminal.paste("a line of a log\n".repeat(60));
	await app.terminal.waitFor("[paste #1 +60 lines]");
});

test.each(WIDTHS)("/changelog shows headings without hashes at %i columns", async (columns) => {
	const app = await startApp({ columns, rows: 30 });
	await app.terminal.waitFor("0%");
	await app.submit("/changelog");
	const screen = await app.terminal.waitFor(/Changes · this is pi \d/);
	expect(screen.join("\n")).not.toContain("#");
});
