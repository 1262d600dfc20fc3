import { basename } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { OverlayStack } from "../../../src/tui/overlay-stack.js";
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
			"   Yes  → No",
			" ←→ choose · enter · y/n · esc no",
		],
	],
	[
		80,
		[
			" stacking asks: Clear session?",
			" This starts a new session; the old one stays in /resume.",
			"   Yes  → No                                   ←→ choose · enter · y/n · esc no ",
		],
	],
	[
		120,
		[
			" stacking asks: Clear session?",
			" This starts a new session; the old one stays in /resume.",
			`   Yes  → No${" ".repeat(75)}←→ choose · enter · y/n · esc no `,
		],
	],
])("at %d columns a hook's confirm names the hook, and down and enter refuse", async (columns, lines) => {
	const app = await startApp({ columns, hooks: { "stacking.ts": STACKING } });
	await app.terminal.waitFor("0%");
	await app.submit("/fresh");
	await app.terminal.waitFor("→ Yes    No");
	await app.terminal.press("down");
	await app.terminal.waitFor("Yes  → No");
	expect(await panel(app)).toEqual(["─".repeat(columns), ...lines]);
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
	await vi.waitFor(() => expect(Reflect.get(globalThis, "askLate")).toBeInstanceOf(Function));
	await terminal.type("also fix ");
	Reflect.get(globalThis, "askLate")();
	await terminal.waitFor("late asks: Delete it?");
	await terminal.type("yarn");
	await terminal.press("enter", "down");
	await terminal.waitFor("→ Yes    No");
	await new Promise((resolve) => setTimeout(resolve, 750));
	await terminal.type("n");
	await terminal.waitFor("answered false");
	await terminal.waitFor("also fix yarn");
});

test("Escape closes such a dialog at once, and the draft is still there", async () => {
	const { terminal, submit } = await startApp({ hooks: { "late.ts": LATE } });
	await terminal.waitFor("0%");
	await submit("/late");
	await vi.waitFor(() => expect(Reflect.get(globalThis, "askLate")).toBeInstanceOf(Function));
	await terminal.type("also fix ");
	Reflect.get(globalThis, "askLate")();
	await terminal.waitFor("late asks: Delete it?");
	await terminal.press("escape");
	await terminal.waitFor("answered false");
	await terminal.waitFor("also fix");
});
