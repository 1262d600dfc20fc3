import { basename } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { guardTyping } from "../../../src/modes/interactive/dialogs/typing-guard.js";
import { createKeymap } from "../../../src/tui/keymap.js";
import { OverlayStack } from "../../../src/tui/overlay-stack.js";
import { PAUSE_MS } from "../../../src/util/clock.js";
import { skipTime } from "../../helpers/skip-time.js";
import { startApp } from "./app.js";
import { panel } from "./dialogs/support.js";

const ASK = `export default (pi) => pi.command("ask", { handler: async function ask(ctx) {
	ctx.ui.notify("chose " + (await ctx.ui.select("Which color?", ["red", "green"])));
} });`;

test("only the bound dialog and the dialog controller lie between ctx.ui.select and the overlay", async () => {
	const stacks: string[] = [];
	const open = OverlayStack.prototype.open;
	const spy = vi.spyOn(OverlayStack.prototype, "open").mockImplementation(function (this: OverlayStack, ...args) {
		stacks.push(new Error().stack ?? "");
		return open.apply(this, args);
	});
	onTestFinished(() => spy.mockRestore());
	const { terminal, submit } = await startApp({ hooks: { "ask.ts": ASK } });
	await terminal.waitFor("0%");
	await submit("/ask");
	await terminal.waitFor("Which color?");
	const frames = (stacks[0] ?? "").split("\n").flatMap((line) => {
		const [, file] = /([^\s()]+\.ts)(?::\d+)+\)?$/.exec(line) ?? [];
		return file === undefined || file.includes("/test/") ? [] : [basename(file)];
	});
	expect(frames.slice(0, frames.indexOf("ask.ts") + 1)).toEqual(["dialog-controller.ts", "bound-ui.ts", "ask.ts"]);
	await terminal.press("down", "enter");
	await terminal.waitFor("chose green");
});

const STACKING = `export default (pi) => {
	pi.command("fresh", { handler: async (ctx) => ({
		status: "cleared: " + (await ctx.ui.confirm("Clear session?", "This starts a new session; the old one stays in /resume.")),
	}) });
	pi.command("pick", { handler: async (ctx) => ({
		status: "picked: " + (await ctx.ui.select("Which color?", ["red", "green"], { hook: "another" })),
	}) });
	pi.command("word", { handler: async (ctx) => ({ status: "word: " + (await ctx.ui.input("Which word?", "any")) }) });
};`;

test.each([
	[
		40,
		[
			" stacking asks: Clear session?",
			" This starts a new session; the old one",
			" stays in /resume.",
			" → n  No",
			"   y  Yes",
			" ↑↓ choose · enter · esc no",
		],
	],
	[
		80,
		[
			" stacking asks: Clear session?",
			" This starts a new session; the old one stays in /resume.",
			" → n  No",
			"   y  Yes",
			" ↑↓ choose · enter · esc no",
		],
	],
	[
		120,
		[
			" stacking asks: Clear session?",
			" This starts a new session; the old one stays in /resume.",
			" → n  No",
			"   y  Yes",
			" ↑↓ choose · enter · esc no",
		],
	],
])("at %d columns a hook's confirm names the hook, and up and enter refuse", async (columns, lines) => {
	const app = await startApp({ columns, hooks: { "stacking.ts": STACKING } });
	await app.terminal.waitFor("0%");
	await app.submit("/fresh");
	await app.terminal.waitFor("→ n  No");
	skipTime(1);
	await app.terminal.press("up");
	expect(await panel(app)).toEqual(["─".repeat(columns), ...lines]);
	skipTime(1);
	await app.terminal.press("enter");
	await app.terminal.waitFor("cleared: false");
});

test.each([
	["/pick", "stacking asks: Which color?"],
	["/word", "stacking asks: Which word?"],
])("the dialog of %s names the hook that asks", async (command, title) => {
	const { terminal, submit } = await startApp({ hooks: { "stacking.ts": STACKING } });
	await terminal.waitFor("0%");
	await submit(command);
	await terminal.waitFor(title);
});

const LATE = `export default (pi) => pi.command("late", { handler: async (ctx) => {
	await new Promise((done) => { globalThis.askLate = done; });
	return { status: "answered " + (await ctx.ui.confirm("Delete it?", "")) };
} });`;

test("a dialog that opens while the user types takes no key as its answer until a pause", async () => {
	const { terminal, submit } = await startApp({ hooks: { "late.ts": LATE } });
	await terminal.waitFor("0%");
	await submit("/late");
	await vi.waitFor(() => expect(Reflect.get(globalThis, "askLate")).toBeInstanceOf(Function), 10_000);
	await terminal.type("also fix ");
	Reflect.get(globalThis, "askLate")();
	await terminal.waitFor("late asks: Delete it?");
	await terminal.type("yarn");
	await terminal.press("enter", "down");
	await terminal.waitFor("→ n  No");
	skipTime(Math.ceil(PAUSE_MS / 1000));
	await terminal.type("n");
	await terminal.waitFor("answered false");
	await terminal.waitFor("also fix yarn");
});

test("Escape closes such a dialog at once, and the draft is still there", async () => {
	const { terminal, submit } = await startApp({ hooks: { "late.ts": LATE } });
	await terminal.waitFor("0%");
	await submit("/late");
	await vi.waitFor(() => expect(Reflect.get(globalThis, "askLate")).toBeInstanceOf(Function), 10_000);
	await terminal.type("also fix ");
	Reflect.get(globalThis, "askLate")();
	await terminal.waitFor("late asks: Delete it?");
	await terminal.press("escape");
	await terminal.waitFor("answered false");
	await terminal.waitFor("also fix");
});

const CHOICES = `export default (pi) => {
	const colors = ["red", "green", "blue"].map((label) => ({ label, value: label[0], description: "a color" }));
	pi.command("many", { handler: async (ctx) => ({
		status: "chose " + JSON.stringify(await ctx.ui.select("Which colors?", colors, { multiple: true, initial: ["g"] })),
	}) });
	pi.command("one", { handler: async (ctx) => ({
		status: "chose " + (await ctx.ui.select("Which color?", colors, { initial: "b" })),
	}) });
	pi.command("eight", { handler: async (ctx) => ({
		status: "chose " + JSON.stringify(await ctx.ui.select("Which number?", [..."12345678"], { multiple: true })),
	}) });
	pi.command("wrong", { handler: (ctx) => ctx.ui.select("Which?", ["a"], { multiple: "yes" }) });
	pi.command("write", { handler: async (ctx) => ({
		status: "wrote " + JSON.stringify(await ctx.ui.editor("Commit message", "fix: round")),
	}) });
};`;

async function startChoices(columns = 80, mode = {}) {
	const app = await startApp({ columns, hooks: { "paint.ts": CHOICES }, mode });
	await app.terminal.waitFor("0%");
	return app;
}

test.each([
	[40, " enter accept · space toggle esc cancel"],
	[80, " enter accept · space toggle · esc cancel"],
	[120, " enter accept · space toggle · esc cancel"],
])("at %d columns several options are chosen with space and returned in their order", async (columns, keys) => {
	const app = await startChoices(columns);
	await app.submit("/many");
	await app.terminal.waitFor("Which colors?");
	const rows = await panel(app);
	expect(rows[1]).toMatch(/^ paint asks: Which colors\? +1\/3 $/);
	expect(rows.slice(2).join("\n")).toMatch(/^ → ○ red .*\n {3}● green .*\n {3}○ blue /);
	expect(rows.slice(5).join("").replace(/ +/g, " ")).toContain(keys);
	await app.terminal.press("space", "down", "down", "space", "up", "space");
	await app.terminal.waitFor("→ ○ green");
	await app.terminal.press("enter");
	await app.terminal.waitFor('chose ["r","b"]');
});

test("no option is a valid choice, and Escape returns null", async () => {
	const app = await startChoices();
	await app.submit("/many");
	await app.terminal.waitFor("Which colors?");
	await app.terminal.press("down", "space", "enter");
	await app.terminal.waitFor("chose []");
	await app.submit("/many");
	await app.terminal.waitFor("● green");
	await app.terminal.press("escape");
	await app.terminal.waitFor("chose null");
});

test("eight options can be filtered, fewer cannot, and the initial one is selected", async () => {
	const app = await startChoices();
	await app.submit("/eight");
	await app.terminal.waitFor("type to filter");
	await app.terminal.type("7 ");
	await app.terminal.waitFor("→ ● 7");
	await app.terminal.press("enter");
	await app.terminal.waitFor('chose ["7"]');
	await app.submit("/one");
	await app.terminal.waitFor("→ blue");
	await app.terminal.type("red");
	expect((await panel(app)).join("\n")).not.toContain("filter");
	await app.terminal.press("enter");
	await app.terminal.waitFor("chose b");
});

test("malformed options of a dialog are refused by name", async () => {
	const app = await startChoices();
	await app.submit("/wrong");
	await app.terminal.waitFor(/ctx\.ui\.select:\s+multiple\s+must\s+be\s+true\s+or\s+false/);
});

test.each([40, 120])("at %d columns editor asks for several lines", async (columns) => {
	const app = await startChoices(columns);
	await app.submit("/write");
	await app.terminal.waitFor("fix: round");
	const rows = await app.terminal.screen();
	const at = rows.findIndex((row) => row.includes("Commit message"));
	expect(rows.slice(at, at + 4).map((row) => row.trimEnd())).toEqual([
		" paint asks: Commit message",
		"─".repeat(columns),
		" fix: round",
		"─".repeat(columns),
	]);
	await app.terminal.press("ctrl+j");
	await app.terminal.type("  half up");
	await app.terminal.press("enter");
	await app.terminal.waitFor('wrote "fix: round\\n  half up"');
});

test("editor opens the external editor with Ctrl+G, and Escape cancels it", async () => {
	const app = await startChoices(80, { findEditor: async () => "printf 'from outside' >" });
	await app.submit("/write");
	await app.terminal.waitFor("fix: round");
	await app.terminal.press("ctrl+g");
	// The text of the dialog, not the command of the editor.
	await app.terminal.waitFor(/^ from outside ?$/m);
	await app.terminal.press("escape");
	await app.terminal.waitFor("wrote null");
});

test("a dialog that opens while the user types receives key releases after a pause, if it wants them", () => {
	const received: string[] = [];
	const typed: string[] = [];
	const draft = { getText: () => "draft", handleInput: (data: string) => void typed.push(data) };
	const dialog = {
		wantsKeyRelease: true,
		render: () => [],
		invalidate() {},
		handleInput: (data: string) => void received.push(data),
	};
	const guarded = guardTyping(dialog, { draft, keymap: createKeymap(), keepsText: true });
	expect(guarded.wantsKeyRelease).toBe(true);
	guarded.handleInput?.("\x1b[97;1:3u");
	expect([received, typed]).toEqual([[], []]);
});
