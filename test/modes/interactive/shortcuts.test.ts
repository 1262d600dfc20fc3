import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type App, startApp } from "./app.js";
import { panel } from "./dialogs/support.js";

/** One free key, one that pi has, one of another kind and one without a description. */
const GATE = `export default (pi) => {
	pi.shortcut("ctrl+q", { description: "Say hello", handler: (ctx) => ({ status: "hello " + JSON.stringify([ctx.args, ctx.argsRaw]) }) });
	pi.shortcut("ctrl+l", { description: "Clear the screen", handler: () => ({ status: "cleared" }) });
	pi.shortcut("f6", { description: "Wait", handler: ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("gone")))) });
	pi.shortcut("alt+q", { handler: () => { throw new Error("no luck"); } });
	pi.shortcut("f7", { description: "Ask the agent", handler: () => "what now?" });
};`;

function bind(value: unknown) {
	return { keybindings: () => ({ value, placeOf: (id: string) => `keybindings.json (${id})`, problem: null }) };
}

async function open(options: Parameters<typeof startApp>[0] = {}): Promise<App> {
	const app = await startApp({ hooks: { "gate.ts": GATE }, rows: 40, ...options });
	await app.terminal.waitFor("0%");
	return app;
}

test("the key of a hook runs its handler like a command without arguments", async () => {
	const { terminal } = await open();
	await terminal.type("a draft");
	await terminal.press("ctrl+q");
	await terminal.waitFor('hello [[],""]');
	await terminal.waitFor(/^ *a draft *$/m);
});

test("a text that the handler returns is sent to the agent", async () => {
	const { terminal, provider } = await open();
	provider.reply("Nothing.");
	terminal.send("\x1b[18~");
	await terminal.waitFor("Nothing.");
	expect(provider.requests[0]?.messages.at(-1)?.text).toBe("what now?");
});

test("an error in the handler is reported, and the editor stays usable", async () => {
	const { terminal } = await open();
	terminal.send("\x1bq");
	await terminal.waitFor("no luck");
	await terminal.type("still here");
	await terminal.waitFor(/^ *still here *$/m);
	expect((await terminal.text()).replace(/\s+/g, " ")).toMatch(
		/Hook gate\.ts:\d+:\d+ failed on shortcut alt\+q: no luck/,
	);
});

test("a loader shows a running shortcut, and escape cancels it", async () => {
	const { terminal } = await open();
	terminal.send("\x1b[17~");
	await terminal.waitFor(/shortcut f6 · .*esc cancels/);
	await terminal.press("escape");
	await terminal.waitFor((screen) => !screen.join("").includes("esc cancels"));
	expect(await terminal.text()).not.toContain("gone");
});

test("the key works while the agent runs, and not in a dialog", async () => {
	const { terminal, provider, submit } = await open();
	let finish = () => {};
	const hold = new Promise<void>((resolve) => {
		finish = resolve;
	});
	provider.reply({ content: [{ type: "text", text: "The beginning" }], hold });
	await submit("go");
	await terminal.waitFor("The beginning");
	await terminal.press("ctrl+q");
	await terminal.waitFor('hello [[],""]');
	finish();
	await terminal.waitFor((screen) => !screen.join("").includes("esc stops"));
	await submit("/hotkeys");
	await terminal.waitFor(/^ Key bindings/m);
	await terminal.press("ctrl+q");
	await terminal.press("escape");
	await terminal.waitFor((screen) => !screen.join("").includes("Key bindings"));
	expect((await terminal.text()).split("hello [[]").length).toBe(2);
});

test("a key that is in use keeps its meaning, and one notice says so", async () => {
	const { terminal } = await open({ columns: 120 });
	const notice = 'Hook gate gets no key for "Clear the screen": ctrl+l is in use: Choose the model';
	await terminal.waitFor(notice);
	await terminal.press("ctrl+l");
	await terminal.waitFor(/scripted/i);
	expect(await terminal.text()).not.toContain("cleared");
});

describe("/hotkeys", () => {
	test.each([40, 80, 120])("lists the keys of hooks in a section of their own, at %d columns", async (columns) => {
		const app = await open({ columns, rows: 24 });
		await app.submit("/hotkeys");
		await app.terminal.waitFor(/^ Key bindings/m);
		await app.terminal.type("gate");
		await app.terminal.waitFor((screen) => !screen.join("").includes("Stop the"));
		await expect(`${(await panel(app)).join("\n")}\n`).toMatchFileSnapshot(`../../screens/hotkeys-hook-${columns}.txt`);
	});
});

test("the user's binding moves a shortcut, and may take a key from pi", async () => {
	const { terminal, submit } = await open({
		columns: 120,
		mode: bind({ "hook.gate.1": "ctrl+l", "hook.gate.0": "f8", "hook.absent.3": "f9" }),
	});
	await terminal.waitFor('binding ctrl+l to "hook.gate.1" leaves "app.model" without a key');
	expect(await terminal.text()).not.toMatch(/unknown action|in use/);
	await terminal.press("ctrl+l");
	await terminal.waitFor("cleared");
	await terminal.press("ctrl+q");
	terminal.send("\x1b[19~");
	await terminal.waitFor("hello");
	expect((await terminal.text()).split("hello [[]").length).toBe(2);
	await submit("/hotkeys");
	await terminal.type("gate");
	await terminal.waitFor(/f8 +Say hello/);
});

/** Shortcuts with the letters that pi-tui also reads as Alt with an arrow. */
const LETTERS = `export default (pi) => {
	for (const letter of ["p", "n", "b", "f"])
		pi.shortcut("alt+" + letter, { description: "Letter " + letter, handler: () => ({ status: "pressed " + letter }) });
};`;

test("alt with a letter reaches a hook as a plain terminal sends it", async () => {
	const { terminal } = await open({ columns: 120, hooks: { "letters.ts": LETTERS } });
	terminal.send("\x1bp");
	await terminal.waitFor("pressed p");
	terminal.send("\x1bn");
	await terminal.waitFor("pressed n");
	// These move the cursor by words.
	await terminal.waitFor('Hook letters gets no key for "Letter b": alt+b is in use: Move cursor word left');
	await terminal.waitFor('Hook letters gets no key for "Letter f": alt+f is in use: Move cursor word right');
	await terminal.type("one two");
	terminal.send("\x1bb");
	await terminal.type("and ");
	await terminal.waitFor(/^ *one and two *$/m);
});

test.each([40, 120])("/hooks names the keys that a hook does not get, at %d columns", async (columns) => {
	const { terminal, submit } = await open({ columns, hooks: { "letters.ts": LETTERS } });
	await submit("/hooks");
	await terminal.waitFor(/Hooks(, in the order| {2,})/);
	while (!/→ .*letters /.test(await terminal.text())) await terminal.press("down");
	await terminal.press("enter");
	await terminal.waitFor("keys      alt+p, alt+n, alt+b, alt+f");
	expect((await terminal.text()).replace(/\s+/g, " ")).toContain(
		'key no key for "Letter b": alt+b is in use: Move cursor word left · bind "hook.letters.2" in keybindings.json',
	);
});

test("the user can give alt+b to a hook", async () => {
	const { terminal } = await open({ hooks: { "letters.ts": LETTERS }, mode: bind({ "hook.letters.2": "alt+b" }) });
	terminal.send("\x1bb");
	await terminal.waitFor("pressed b");
});

test("of two hooks with one key, the first gets it", async () => {
	const of = (text: string) =>
		`export default (pi) => pi.shortcut("Ctrl+Q", { description: "${text}", handler: () => ({ status: "${text}" }) });`;
	const { terminal } = await open({ columns: 120, hooks: { "a.ts": of("first"), "b.ts": of("second") } });
	await terminal.waitFor('Hook b gets no key for "second": Ctrl+Q is in use: first (hook a)');
	await terminal.press("ctrl+q");
	await terminal.waitFor(/^ *· first *$/m);
});

test("a reload removes the keys of the old version", async () => {
	const { terminal, agentDir, submit } = await open();
	writeFileSync(
		`${agentDir}/hooks/gate.ts`,
		`export default (pi) => pi.shortcut("f6", { handler: () => ({ status: "new" }) });`,
	);
	await submit("/reload");
	await terminal.waitFor("1 hook loaded");
	await terminal.press("ctrl+q");
	terminal.send("\x1b[17~");
	await terminal.waitFor(/^ *· new *$/m);
	expect(await terminal.text()).not.toContain("hello");
});

test("a shortcut that a handler registers works at once", async () => {
	const late = `export default (pi) => pi.command("late", { handler: () => {
		pi.shortcut("ctrl+q", { description: "Late", handler: () => ({ status: "late" }) });
		return { status: "registered" };
	} });`;
	const { terminal, submit } = await open({ hooks: { "late.ts": late } });
	await submit("/late");
	await terminal.waitFor("registered");
	await terminal.press("ctrl+q");
	await terminal.waitFor(/^ *· late *$/m);
});
