import { visibleWidth } from "@mariozechner/pi-tui";
import { expect, test } from "vitest";
import { ContextPanel } from "../../../../src/modes/interactive/dialogs/context-panel.js";
import { createKeymap } from "../../../../src/tui/keymap.js";
import { createTheme } from "../../../../src/tui/theme.js";
import { text, toolCall } from "../../../helpers/loopback-provider.js";
import { startSession } from "../../../helpers/session.js";
import { startApp } from "../app.js";
import { PRUNE, panel, startWithWork, TAIL } from "./support.js";

/** The title of the panel, short or in full. */
const OPEN = /Next request|Context of the next request/;

test("the panel lists the messages of the request, entries hidden or replaced by hooks, and cached messages", async () => {
	const app = await startWithWork({ "prune.ts": PRUNE, "tail.ts": TAIL });
	await app.submit("/context");
	await app.terminal.waitFor(OPEN);
	await expect(`${(await panel(app)).join("\n")}\n`).toMatchFileSnapshot("../../../screens/context-panel.txt");
	await app.terminal.press("escape");
	await app.submit("/tail");
	await app.submit("now the tax code");
	await app.terminal.waitFor("The tax code is next.");
	await app.submit("/context");
	await app.terminal.waitFor(OPEN);
	await app.terminal.type("h");
	await expect(`${(await panel(app)).join("\n")}\n`).toMatchFileSnapshot("../../../screens/context-panel-hidden.txt");
});

test("t shows the request without a hook, and x turns the hook off", async () => {
	const app = await startWithWork({ "tail.ts": TAIL });
	await app.submit("/tail");
	await app.submit("/context");
	await app.terminal.waitFor(OPEN);
	const before = app.session().entries.length;
	await app.terminal.type("t");
	await app.terminal.waitFor(/ithout tail/);
	await expect(`${(await panel(app)).join("\n")}\n`).toMatchFileSnapshot("../../../screens/context-panel-what-if.txt");
	expect(app.session().context.messages).toHaveLength(1);
	await app.terminal.type("t");
	await app.terminal.waitFor(OPEN);
	expect(app.session().entries).toHaveLength(before);
	await app.terminal.type("t");
	await app.terminal.waitFor(/ithout tail/);
	await app.terminal.type("x");
	await app.terminal.waitFor("Off for this session");
	expect(app.session().context.messages).toHaveLength(4);
	expect(
		app
			.session()
			.palette()
			.map(({ name }) => name),
	).not.toContain("tail");
	await app.terminal.press("escape");
	expect(await app.terminal.text()).not.toMatch(OPEN);
});

test("with several hooks the user chooses one", async () => {
	const app = await startWithWork({ "prune.ts": PRUNE, "tail.ts": TAIL });
	await app.submit("/context");
	await app.terminal.waitFor(OPEN);
	await app.terminal.press("up");
	await app.terminal.type("t");
	await app.terminal.waitFor("The request without");
	await app.terminal.press("enter", "escape");
	await app.terminal.waitFor(/ithout prune/);
	expect(await panel(app)).toContainEqual(expect.stringMatching(/^→▎ {2}3 read .* 244 +new$/));
});

test("enter shows a message in full, with its control sequences shown, and it scrolls", async () => {
	const app = await startApp({ rows: 24 });
	app.provider.reply(Array.from({ length: 40 }, (_, line) => `line ${line} \x1b]0;owned\x07`).join("\n"));
	await app.terminal.waitFor("0%");
	await app.submit("count");
	await app.terminal.waitFor("line 39");
	await app.submit("/context");
	await app.terminal.waitFor(OPEN);
	await app.terminal.press("enter");
	expect((await panel(app)).slice(1, 4)).toEqual([
		expect.stringMatching(/^ 2 assistant +\d+ · lines 1–10 of 40 $/),
		" line 0 ␛]0;owned^G",
		" line 1 ␛]0;owned^G",
	]);
	await app.terminal.press("pageDown", "down");
	expect((await panel(app))[2]).toBe(" line 10 ␛]0;owned^G");
	await app.terminal.press("escape");
	await app.terminal.waitFor(OPEN);
	expect(app.terminal.output).not.toContain("\x1b]0;owned");
});

test("d compares with the last request and / filters, at 40 columns too", async () => {
	const app = await startWithWork({ "tail.ts": TAIL }, { columns: 40 });
	await app.submit("/tail");
	await app.submit("/context");
	await app.terminal.waitFor(OPEN);
	await app.terminal.type("d");
	await expect(`${(await panel(app)).join("\n")}\n`).toMatchFileSnapshot("../../../screens/context-panel-diff-40.txt");
	await app.terminal.type("d/CHECKOUT");
	await app.terminal.press("enter");
	expect((await panel(app)).filter((line) => /^[→ ][▎┆◆]/.test(line))).toEqual([]);
	await app.terminal.type("h");
	expect((await panel(app)).filter((line) => /^[→ ][▎┆◆]/.test(line))).toEqual([
		expect.stringMatching(/^→┆ {2}1 user/),
	]);
	await app.terminal.press("escape");
	expect((await panel(app)).filter((line) => /^[→ ][▎┆◆]/.test(line)).length).toBeGreaterThan(1);
});

test("y copies the selected message, Y the full request", async () => {
	const app = await startWithWork({});
	await app.submit("/context");
	await app.terminal.waitFor(OPEN);
	await app.terminal.press("home", "down", "down", "down", "down");
	await app.terminal.type("y");
	await app.terminal.waitFor("Copied the message");
	await app.terminal.type("Y");
	await app.terminal.waitFor("Copied the full request");
	const copied = [...app.terminal.output.matchAll(/\x1b\]52;c;([^\x07]*)\x07/g)].map(([, text = ""]) =>
		Buffer.from(text, "base64").toString(),
	);
	expect(copied[0]).toBe("why does checkout round down?");
	expect(copied[1]).toMatch(/^system:\nYou are pi, /);
	expect(copied[1]).toMatch(/\n\nuser:\nwhy does checkout round down\?\n\nassistant:\nread\(/);
});

test("no line is wider than the screen or moves the cursor, whatever the messages contain", async () => {
	const hostile = [
		"\x1b[2J\x1b]0;owned\x07",
		"漢字".repeat(60),
		"a\tb\u202ec",
		"x".repeat(5000),
		"👩‍👩‍👧 \r over",
	].join("\n");
	const { session, provider } = await startSession({ hooks: { "tail\u202e.ts": TAIL } });
	provider.reply([toolCall("bash", { command: hostile })], hostile, "end");
	await session.prompt(hostile);
	await session.prompt("/tail");
	const panel = new ContextPanel(
		{ theme: createTheme("plain"), keymap: createKeymap(), rows: () => 24 },
		{
			inspection: await session.inspector.inspectContext(),
			inspector: session.inspector,
			disable: async () => {},
			copy: async () => {},
			requestRender: () => {},
			onClose: () => {},
		},
	);
	const home = "\x1b[H";
	for (const keys of [[], ["h"], [home, "\r"], ["\x1b", "\x1b[B", "\r"], ["\x1b", "d"], ["/", "x"]]) {
		for (const key of keys) panel.handleInput(key);
		for (const width of [20, 40, 41, 80, 133]) {
			for (const line of panel.render(width)) {
				expect(visibleWidth(line)).toBeLessThanOrEqual(width);
				expect(line.replace(/\x1b\[0m/g, "")).not.toMatch(/[\x00-\x1f\x7f-\x9f\u202a-\u202e]/);
			}
		}
	}
});

test("the preamble is counted and can be read: the system prompt and each tool", async () => {
	const app = await startWithWork({});
	await app.submit("/context");
	await app.terminal.waitFor(OPEN);
	await app.terminal.press("home");
	expect((await panel(app))[3]).toMatch(/^→▎ {4}tools {7}8 tools: read, bash, edit, .* 1\.\dk {2}cached$/);
	await app.terminal.type("y");
	await app.terminal.waitFor("Copied the message");
	await app.terminal.press("down");
	expect((await panel(app))[4]).toMatch(/^→▎ {4}system {6}base: You are pi, a coding agent.* \d+ {2}cached$/);
	await app.terminal.press("enter");
	expect((await panel(app))[2]).toMatch(/^ You are pi, a coding agent/);
	await app.terminal.press("escape");
	for (const id of ["base", "tools", "environment"]) {
		await app.terminal.type("y");
		await app.terminal.waitFor("Copied the message");
		await app.terminal.press("down");
		expect((await panel(app)).join("\n")).toContain(`system      ${id}: `);
	}
	const copied = [...app.terminal.output.matchAll(/\x1b\]52;c;([^\x07]*)\x07/g)].map(([, text = ""]) =>
		Buffer.from(text, "base64").toString(),
	);
	const request = app.provider.requests.at(-1)?.body as { messages: { content: string }[]; tools: unknown[] };
	expect(copied.slice(1).join("\n\n")).toBe(request.messages[0]?.content);
	for (const tool of request.tools as { function: { name: string; description: string } }[]) {
		expect(copied[0]).toContain(`${tool.function.name}: ${tool.function.description}`);
	}
});

test.each([
	[40, ["2.3k of 200k", "2.3k of 200k", "2.3k of 200k", "2.3k of 200k"]],
	[
		80,
		[
			"2.3k of 200k · expected 99 % cached · 2 of 2 entries",
			"2.3k of 200k · expected 99 %, last reported 75 % cached",
			"2.3k of 200k · expected 99 %, reported 75 % cached",
			"2.3k of 200k · reported 0 % cached · 1 of 1 entries",
		],
	],
	[
		120,
		[
			"2.3k of 200k · expected 99 % cached · 2 of 2 entries · no hook can change it",
			"2.3k of 200k · expected 99 %, last reported 75 % cached · 4 of 4 entries · no hook can change it",
			"2.3k of 200k · expected 99 %, reported 75 % cached · 3 of 3 entries · no hook can change it",
			"2.3k of 200k · reported 0 % cached · 1 of 1 entries · no hook can change it",
		],
	],
])(
	"at %d columns the title shows the expected share of the cache next to the reported one",
	async (columns, expected) => {
		const app = await startApp({ columns, rows: 24 });
		await app.terminal.waitFor("0%");
		app.provider.reply(
			{ content: [text("first")], usage: { input: 2000, output: 10 } },
			{ content: [text("second")], usage: { input: 500, output: 10, cacheRead: 1500 } },
		);
		const title = async () => / {2,}(\S.*)$/.exec((await panel(app))[1]?.trim() ?? "")?.[1];
		const titles: (string | undefined)[] = [];
		for (const prompt of ["one", "two"]) {
			await app.submit(prompt);
			await app.terminal.waitFor(prompt === "one" ? "first" : "second");
			await app.submit("/context");
			await app.terminal.waitFor(OPEN);
			titles.push(await title());
			if (prompt === "one") await app.terminal.press("escape");
		}
		await app.terminal.type("[");
		await app.terminal.waitFor("Request 2 of 2");
		titles.push(await title());
		await app.terminal.type("[");
		await app.terminal.waitFor("Request 1 of 2");
		titles.push(await title());
		expect(titles).toEqual(expected);
	},
);
