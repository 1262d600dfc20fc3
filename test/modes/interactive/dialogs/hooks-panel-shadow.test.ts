import { expect, test } from "vitest";
import type { ShadowFigures } from "../../../../src/commands/shadow-figures.js";
import { writeFiles } from "../../../helpers/temp.js";
import { type App, type AppOptions, startApp } from "../app.js";

const CLEAR: ShadowFigures = {
	requests: 27,
	actual: { sent: 1_149_000, resent: 0, cost: 0.571 },
	shadow: { sent: 371_000, resent: 21_000, cost: 0.378 },
	evidence: 0.9967,
	unplayed: ["calls of recall that the model would have made"],
	problems: [],
};

/** A panel whose figures arrive when `finish` is called. */
async function openPanel(columns: number, options: AppOptions = {}) {
	const app = await startApp({ columns, rows: 40, agentSettings: { shadowHooks: ["pi:clear"] }, ...options });
	await app.terminal.waitFor("0%");
	const { inspector } = app.session();
	const signals: AbortSignal[] = [];
	let progress = (_share: number): void => {};
	let finish = (_figures: ReadonlyMap<string, ShadowFigures>): void => {};
	inspector.playShadows = ({ signal, onProgress }) => {
		signals.push(signal);
		progress = onProgress;
		return new Promise((resolve) => {
			finish = resolve;
		});
	};
	await app.submit("/hooks");
	await app.terminal.waitFor(/^ Hooks/m);
	return {
		app,
		signals,
		progress: (share: number) => progress(share),
		finish: (f: Parameters<typeof finish>[0]) => finish(f),
	};
}

/** The panel with its keys. */
async function panel(app: App): Promise<string> {
	const screen = await app.terminal.screen();
	const from = screen.findIndex((line) => /^ (Hooks|clear)/.test(line));
	const to = screen.findIndex((line, at) => at > from && (line.startsWith("~") || line.startsWith("/tmp")));
	return `${screen
		.slice(from, to)
		.map((line) => line.trimEnd())
		.join("\n")}\n`;
}

test.each([80, 40])(
	"at %d columns a hook in the shadow has a row with its figures, and all of them when it is selected",
	async (columns) => {
		const { app, progress, finish } = await openPanel(columns);
		progress(0.437);
		await app.terminal.waitFor("computing 43 %");
		await app.terminal.press("down", "down", "down");
		await app.terminal.waitFor("computing what it would");
		finish(new Map([["pi:clear", CLEAR]]));
		await app.terminal.waitFor("evidence 99.6 %");
		await expect(await panel(app)).toMatchFileSnapshot(`../../../screens/hooks-panel-shadow-${columns}.txt`);
		await app.terminal.press("enter");
		await app.terminal.waitFor("would have sent");
		await expect(await panel(app)).toMatchFileSnapshot(`../../../screens/hooks-panel-shadow-details-${columns}.txt`);
	},
);

test("ctrl+t puts a hook that is off into the shadow and takes it out, but not one that is on or that changes no request", async () => {
	const { app, signals } = await openPanel(80, { agentSettings: {} });
	expect(signals).toHaveLength(0);
	expect(await panel(app)).not.toContain("shadow");
	await app.terminal.press("ctrl+t");
	await app.terminal.type("dedupe");
	await app.terminal.waitFor("ctrl+t shadow");
	await app.terminal.press("ctrl+t");
	await app.terminal.waitFor("ctrl+t no shadow");
	expect(app.settings.current.shadowHooks).toEqual(["pi:dedupe"]);
	expect(signals).toHaveLength(1);
	await app.terminal.press("ctrl+t");
	await app.terminal.waitFor("ctrl+t shadow");
	expect(app.settings.current.shadowHooks).toEqual([]);
	expect(signals[0]?.aborted).toBe(true);
	await app.terminal.press("ctrl+u");
	await app.terminal.type("webhook");
	await app.terminal.waitFor("→ webhook");
	expect(await panel(app)).not.toContain("ctrl+t");
	await app.terminal.press("ctrl+t");
	expect(app.settings.current.shadowHooks).toEqual([]);
});

test("space turns a hook in the shadow on, and escape leaves while figures are computed", async () => {
	const { app, signals } = await openPanel(80, { agentSettings: { shadowHooks: ["pi:clear", "pi:dedupe"] } });
	await app.terminal.type("clear");
	await app.terminal.waitFor("→ clear");
	await app.terminal.type(" ");
	await app.terminal.waitFor(/→ clear .*1 call/);
	expect(app.settings.current).toMatchObject({ hooks: ["pi:clear"], shadowHooks: ["pi:dedupe"] });
	expect(signals).toHaveLength(2);
	expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
	await app.terminal.press("escape");
	await app.terminal.waitFor((screen) => !screen.some((line) => line.startsWith(" Hooks")));
	expect(signals[1]?.aborted).toBe(true);
});

test("a failure of a hook in the shadow is shown in the panel only", async () => {
	const app = await startApp({ columns: 80, rows: 40, agentSettings: { shadowHooks: ["bad.ts"] } });
	await app.terminal.waitFor("0%");
	const bad = `export default (pi) => { pi.on("context", () => { throw new Error("no idea"); }); };`;
	writeFiles(app.agentDir, { "bad.ts": bad });
	app.provider.reply("Done.");
	await app.submit("run it");
	await app.terminal.waitFor("Done.");
	await app.submit("/hooks");
	await app.terminal.waitFor(/^ Hooks/m);
	await app.terminal.type("bad");
	await app.terminal.waitFor("failed on context: no idea");
	await app.terminal.press("escape");
	await app.terminal.waitFor((screen) => !screen.some((line) => line.startsWith(" Hooks")));
	expect(await app.terminal.text()).not.toContain("no idea");
});
