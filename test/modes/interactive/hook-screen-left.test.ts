import { rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { writeFiles } from "../../helpers/temp.js";
import { type App, startApp } from "./app.js";

/** Calls that show something, with `ctx` and `id`. */
const CALLS = [
	"ctx.ui.setStatus(id, id)",
	"ctx.ui.setWidget(id, [id])",
	'ctx.ui.setWidget(id, () => ({ render: () => [id], invalidate() {} }), { placement: "belowEditor" })',
	'ctx.ui.setWidget(id, () => ({ render() { throw new Error("broken " + id); }, invalidate() {} }))',
	"ctx.ui.setTitle(id)",
	"ctx.ui.setWorkingMessage(id)",
	'ctx.ui.setLook("theme", "high-contrast")',
	'ctx.ui.setLook("expanded", true)',
	"ctx.ui.setEditor((tui, theme, keys, editor) => ({ ...editor, render: (width) => [id, ...editor.render(width)] }))",
	"ctx.ui.setFooter(() => ({ render: () => [id], invalidate() {} }))",
	"ctx.ui.setHeader(() => ({ render: () => [id], invalidate() {} }))",
	`ctx.ui.addAutocompleteProvider((current) => ({
		...current,
		getSuggestions: async () => ({ prefix: "#", items: [{ value: id, label: id }] }),
		applyCompletion: (...edit) => current.applyCompletion(...edit),
	}))`,
	"void ctx.ui.custom(() => ({ render: () => [id], invalidate() {} }))",
	"void ctx.ui.custom(() => ({ render: () => [id], invalidate() {} }), { overlay: true })",
	'void ctx.ui.select("Which?", [id, "other"])',
	"void ctx.ui.input(id)",
	"void ctx.ui.editor(id)",
];

const HOOKS = ["a", "b", "c"];

const cycle = fc.record({
	calls: fc.array(fc.record({ hook: fc.constantFrom(...HOOKS), call: fc.nat(CALLS.length - 1) }), {
		minLength: 1,
		maxLength: 8,
	}),
	end: fc.constantFrom("removed", "emptied", "turned off"),
});

/** A hook that shows something when a session starts. */
function source(name: string, calls: readonly number[]): string {
	const shown = calls.map((call, at) => `{ const id = "shown-${name}-${at}"; ${CALLS[call]}; }`);
	return `export default (pi) => pi.on("session", ({ reason }, ctx) => { if (reason === "start") { ${shown.join("\n")} } });`;
}

/** The screen, the window's title and the completions of a key, after a new session. */
async function look({ terminal, submit }: App): Promise<unknown> {
	await submit("/new");
	const rows = await terminal.screen();
	await terminal.type("#");
	const completions = await terminal.screen();
	await terminal.press("backspace");
	const titles = terminal.writes.join("").match(/\x1b\]2;.*?\x07/g);
	return { rows, completions, title: titles?.at(-1) };
}

test("whatever hooks show, removing, emptying or turning them off restores the screen", {
	timeout: 120_000,
}, async () => {
	const app = await startApp({
		rows: 30,
		hooks: Object.fromEntries(HOOKS.map((name) => [`${name}.ts`, source(name, [])])),
	});
	await app.terminal.waitFor("0%");
	const session = app.session();
	const path = (name: string) => join(app.agentDir, "hooks", `${name}.ts`);
	const write = (of: (name: string) => readonly number[]) =>
		writeFiles(app.agentDir, Object.fromEntries(HOOKS.map((name) => [`hooks/${name}.ts`, source(name, of(name))])));
	const before = await look(app);
	await fc.assert(
		fc.asyncProperty(cycle, async ({ calls, end }) => {
			write((name) => calls.flatMap(({ hook, call }) => (hook === name ? [call] : [])));
			await session.reload();
			await app.terminal.settle();
			if (end === "turned off") {
				for (const name of HOOKS) await session.inspector.setHookEnabled(path(name), false);
				write(() => []);
				await session.reload();
				for (const name of HOOKS) await session.inspector.setHookEnabled(path(name), true);
			} else {
				if (end === "removed") for (const name of HOOKS) rmSync(path(name));
				else write(() => []);
				await session.reload();
				write(() => []);
				await session.reload();
			}
			await app.terminal.settle();
			expect(await look(app)).toEqual(before);
		}),
		{ numRuns: 12 },
	);
});
