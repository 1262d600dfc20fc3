import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startApp } from "./app.js";

/** The rows of the palette, without the pointer. */
function rows(screen: readonly string[]): string[] {
	const border = screen.findLastIndex((line) => /^─+$/.test(line));
	const listed = screen.slice(border + 1).filter((line) => /^ (→| ) \//.test(line));
	return listed.map((line) => line.replace("→", " ").trimEnd());
}

test.each([
	[
		40,
		[
			"   /model [provider/id]  Choose the mo…",
			"   /thinking [level]     Choose the th…",
			"   /new                  Start a new s…",
		],
	],
	[
		80,
		[
			"   /model [provider/id]         Choose the model                       built-in",
			"   /thinking [level]            Choose the thinking level              built-in",
			"   /new                         Start a new session                    built-in",
		],
	],
	[
		120,
		[
			"   /model [provider/id]         Choose the model                                                               built-in",
			"   /thinking [level]            Choose the thinking level                                                      built-in",
			"   /new                         Start a new session                                                            built-in",
		],
	],
])("at %d columns the descriptions of the palette stay in their column while it scrolls", async (columns, first) => {
	const app = await startApp({ columns, rows: 30 });
	await app.terminal.waitFor("0%");
	await app.terminal.type("/");
	await app.terminal.waitFor("/model");
	const seen = new Map<string, string>();
	for (let step = 0; step < 30; step += 1) {
		for (const row of rows(await app.terminal.screen())) {
			const name = /\/\w+/.exec(row)?.[0] ?? "";
			expect(row).toBe(seen.get(name) ?? row);
			seen.set(name, row);
		}
		await app.terminal.press("down");
	}
	expect([...seen.values()].slice(0, 3)).toEqual(first);
});

test("a list that continues shows the position of the selected row", async () => {
	const app = await startApp({ rows: 30, files: { "note1.md": "", "note2.md": "" } });
	await app.terminal.waitFor("0%");
	await app.terminal.type("/");
	await app.terminal.waitFor(/^ {3}1\/\d\d$/m);
	await app.terminal.press("up");
	await app.terminal.waitFor(/^ {3}(\d\d)\/\1$/m);
	expect(rows(await app.terminal.screen())).toHaveLength(7);
	await app.terminal.press("escape", "ctrl+c");
	await app.terminal.type("@note");
	await app.terminal.waitFor("note2.md");
	expect(await app.terminal.text()).not.toMatch(/^ {3}\d\/\d$/m);
});

test("Enter sends the exact name of a command whose hook is off, although the name matches another command", async () => {
	const hang = `export default (pi) => pi.command("hang", { handler: () => ({ status: "hung" }) });`;
	const app = await startApp({ columns: 120, rows: 30, hooks: { "hang.ts": hang } });
	await app.terminal.waitFor("1 hook");
	await app.submit("/pr");
	await app.terminal.waitFor("Unknown command /pr: the bundled hook pr, which provides it, is off");
	expect(readdirSync(app.cwd)).toEqual([]);
	await app.terminal.press("ctrl+c"); // the line is back in the editor
	await app.session().inspector.setHookEnabled(join(app.agentDir, "hooks", "hang.ts"), false);
	await app.submit("/hang");
	await app.terminal.waitFor(
		"Unknown command /hang: the hook hang.ts, which provides it, is off · turn it on in /hooks",
	);
});

test("Enter runs an alias that is typed in full, although the name matches another command", async () => {
	const prompts = { ".pi/prompts/cleaner.md": "Clean the code." };
	const app = await startApp({ rows: 30, files: prompts });
	await app.terminal.waitFor("1 prompt");
	await app.submit("/clear");
	await app.terminal.waitFor("New session");
	expect(app.provider.requests).toEqual([]);
});

test("enter runs a command whose name begins with what is typed, and only completes another", async () => {
	const app = await startApp({ columns: 80, rows: 30 });
	await app.terminal.waitFor("0%");
	await app.terminal.type("/otkeys");
	await app.terminal.waitFor("/hotkeys");
	await app.terminal.press("enter");
	await app.terminal.waitFor(/^ +\/hotkeys/m);
	expect(await app.terminal.text()).not.toContain("Key bindings");
	await app.terminal.press("ctrl+u");
	await app.terminal.type("/hotk");
	await app.terminal.waitFor("/hotkeys");
	await app.terminal.press("enter");
	await app.terminal.waitFor("Key bindings");
});
