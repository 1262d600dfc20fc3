import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { tempAgentDir, writeFiles } from "../helpers/temp.js";
import { startApp } from "../modes/interactive/app.js";

const fixture = (name: string) => readFileSync(new URL(`../fixtures/extensions/${name}.ts`, import.meta.url), "utf8");

test.each([40, 80, 120])("at %d columns an extension shows status, widget and message like a hook", async (columns) => {
	const agentDir = tempAgentDir();
	writeFiles(agentDir, {
		"extensions/plan-mode.ts": fixture("plan-mode"),
		"extensions/note.ts": `export default (pi) => pi.registerCommand("note", { handler: async (text) =>
			pi.sendMessage({ customType: "note", content: text, display: true }) });`,
	});
	const { submit, terminal } = await startApp({ agentDir, columns });
	await submit("/plan");
	await terminal.waitFor("Plan mode is on");
	await submit("/note remember the milk");
	await terminal.waitFor("note remember the milk");
	const rows = await terminal.screen();
	const widget = rows.findIndex((row) => row.trim() === "Plan mode: the model may only read");
	const editor = rows.findIndex((row) => row.startsWith("────"));
	expect(widget).toBeGreaterThan(rows.findIndex((row) => row.includes("note remember the milk")));
	expect(widget).toBe(editor - 1);
	expect(rows.filter((row) => row.trim() === "plan")).toHaveLength(1);
	expect(rows.every((row) => row.length <= columns)).toBe(true);
});
