import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { claudeCalls } from "../../hooks-examples/claude-hooks/calls.js";
import { CLAUDE_EVENTS, readConfig } from "../../hooks-examples/claude-hooks/config.js";
import { selectBundled } from "../../src/hooks/bundled-words.js";
import type { HookEventContext } from "../../src/hooks/index.js";
import { BUILTIN_TOOLS } from "../../src/tools/index.js";

const page = readFileSync(new URL("../../docs/claude-hooks.md", import.meta.url), "utf8");
const blocks = [...page.matchAll(/^```json (\S+)\n([\s\S]*?)^```$/gm)].map(([, name = "", text = ""]) => ({
	name,
	text,
}));
/** The rows of the table below a heading, as cells. */
const rowsBelow = (heading: string) =>
	(page.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? "")
		.split("\n")
		.filter((line) => line.startsWith("| `"))
		.map((line) => line.split("|").map((cell) => cell.trim()));

test("the settings of the page turn the hook on, and its file is valid", () => {
	const settings = JSON.parse(blocks.find(({ name }) => name === "settings.json")?.text ?? "");
	expect(selectBundled(settings.hooks, false).hooks.map(({ name }) => name)).toEqual(["claude-hooks"]);
	const text = blocks.find(({ name }) => name === "claude-hooks/settings.json")?.text ?? "";
	const config = readConfig([{ path: "settings.json", scope: "user", text }]);
	expect(config).toMatchObject({ problem: null, skipped: null, groups: [{ event: "PreToolUse" }] });
});

test("the page lists every event that runs", () => {
	expect(rowsBelow("Events").map(([, event]) => event)).toEqual(CLAUDE_EVENTS.map((event) => `\`${event}\``));
});

test("the page lists the built-in tools by their names and arguments", () => {
	const ctx = { toolHost: { name: "", cwd: "/" }, tools: { all: [] } } as unknown as HookEventContext;
	const rows = new Map(rowsBelow("Names of tools").map(([, own = "", ...rest]) => [own.replaceAll("`", ""), rest]));
	for (const { name, parameters } of BUILTIN_TOOLS) {
		const { edits: _, ...properties } = (parameters as { properties: Record<string, unknown> }).properties;
		const input = Object.fromEntries(Object.keys(properties).map((key) => [key, "x"]));
		const [there] = claudeCalls({ toolName: name, input }, ctx);
		const [named, args = ""] = rows.get(name) ?? [];
		if (named === undefined) expect(there?.name).toBe(name);
		else {
			expect(named).toBe(`\`${there?.name}\``);
			for (const key of Object.keys(there?.inputs[0] ?? {})) expect(args).toContain(`\`${key}\``);
		}
	}
});
