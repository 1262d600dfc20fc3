import { visibleWidth } from "@mariozechner/pi-tui";
import { expect, test } from "vitest";
import { startApp } from "../app.js";
import { panel } from "./support.js";

/** After the first reply: offers three tools, adds a section, changes one and removes one. */
const MODE = `
export default (pi) => pi.on("context", ({ entries, systemPrompt }) => {
	if (entries.length < 3) return;
	return {
		tools: ["read", "grep", "ls"],
		systemPrompt: [
			...systemPrompt.flatMap((one) => one.id === "context-files" ? [] : [one.id === "base" ? { ...one, text: "Only look." } : one]),
			{ id: "mode:rule", text: "Describe changes instead of making them." },
		],
	};
});`;

async function startWithMode(columns: number) {
	const app = await startApp({ columns, rows: 44, hooks: { "mode.ts": MODE }, files: { "AGENTS.md": "Use tabs." } });
	app.provider.reply("It rounds down.", "It still does.");
	await app.terminal.waitFor("0%");
	await app.submit("why does checkout round down?");
	await app.terminal.waitFor("It rounds down.");
	return app;
}

test.each([40, 80, 120])(
	"at %d columns the panel shows the sections and tools of a request, and what a hook added, changed and hid",
	async (columns) => {
		const app = await startWithMode(columns);
		await app.submit("/context");
		await app.terminal.waitFor(/Next request|Context of the next request/);
		await app.terminal.type("h");
		await app.terminal.waitFor("without hidden");
		const shown = await panel(app);
		for (const line of shown) expect(visibleWidth(line)).toBeLessThanOrEqual(columns);
		await expect(`${shown.join("\n")}\n`).toMatchFileSnapshot(`../../../screens/context-panel-request-${columns}.txt`);
		await app.terminal.type("d");
		await app.terminal.waitFor(/Changes/);
		await expect(`${(await panel(app)).join("\n")}\n`).toMatchFileSnapshot(
			`../../../screens/context-panel-request-diff-${columns}.txt`,
		);
		await app.terminal.type("dt");
		await app.terminal.waitFor(/ithout mode/);
		await expect(`${(await panel(app)).join("\n")}\n`).toMatchFileSnapshot(
			`../../../screens/context-panel-request-what-if-${columns}.txt`,
		);
	},
);
