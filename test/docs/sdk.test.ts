import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(join(root, "docs/sdk.md"), "utf8");

test("the table lists every option", () => {
	const source = readFileSync(join(root, "src/services/create-options.ts"), "utf8");
	const [, body = ""] = /export interface CreateAgentSessionOptions \{\n([\s\S]*?)\n\}/.exec(source) ?? [];
	const options = [...body.matchAll(/^\t(\w+)\??[:(]/gm)].map(([, name = ""]) => name);
	const [, section = ""] = /^## Options$([\s\S]*?)^## /m.exec(page) ?? [];
	const rows = section.split("\n").filter((line) => line.startsWith("| `"));
	const listed = rows.flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`(\w+)`/g)].map(([, name]) => name));
	expect(listed.sort()).toEqual(options.sort());
});

test("every member of a session that the page names exists", async () => {
	const { AgentSession } = await import("../../src/sdk/agent-session.js");
	const named = [...page.matchAll(/`session\.(\w+)[(`.]/g)].map(([, name = ""]) => name);
	const operations = await import("../../src/operations/all.js");
	const members = [...Object.getOwnPropertyNames(AgentSession.prototype), ...Object.keys(operations)];
	expect(named.length).toBeGreaterThan(8);
	expect(named.filter((name) => !members.includes(name))).toEqual([]);
});
