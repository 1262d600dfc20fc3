import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startSession } from "../helpers/session.js";
import { tempAgentDir, writeFiles } from "../helpers/temp.js";

/** Each registers a command that returns a value, and one that throws at a known place. */
const hook = (head: string, value: string) => `${head}
export default function (pi: any) {
	pi.command("value", { handler: (): object => ({ status: String(${value}) }) });
	const f = (a: string, b?: Map<string, number>): never => { throw new Error(a as string); }; pi.command("fail", { handler: () => f("no") });
}
`;

test.each([
	["plain types", "type A = { a: number };", "1", true],
	["an enum", "enum Color { red = 3 }", "Color.red", true],
	["a parameter property", "class P { constructor(readonly a: number) {} }", "new P(4).a", true],
	["an import by .js", 'import { five } from "./lib/five.js";', "five", true],
	["an import without extension", 'import { five } from "./lib/five";', "five", true],
	["JSON", 'import data from "./lib/data.json";', "data.six", true],
	[
		"a type imported without `type`",
		'import { HookAPI } from "@mariozechner/pi-coding-agent/hooks";\nlet x: HookAPI;',
		"7",
		true,
	],
	["a live binding", 'import { count, add } from "./lib/five";\nadd();', "count", true],
	[
		"a top-level await, also in an import",
		'import { late } from "./lib/late";\nconst more = await Promise.resolve(1);',
		"late + more",
		true,
	],
	["import.meta", "const url: string = import.meta.url;", 'url.startsWith("file:")', false],
	["a namespace", "namespace N { export const a: number = 2; }", "N.a", false],
	["a decorator", "function d(target: any) { target.a = 9; }\n@d\nclass D { static a: number; }", "D.a", false],
])("%s: the same value and the same place of an error, compiled and from the cache", async (_, head, value, isFast) => {
	const agentDir = tempAgentDir();
	const source = hook(head, value);
	writeFiles(join(agentDir, "hooks"), {
		"a.ts": source,
		"lib/five.ts":
			"export const five: number = 5;\nexport let count: number = 7;\nexport const add = (): void => void count++;",
		"lib/data.json": { six: 6 },
		"lib/late.ts": "export const late: number = await Promise.resolve(8);",
	});
	const row = source.split("\n").findIndex((line) => line.includes("new Error"));
	const place = `a.ts:${row + 1}:${(source.split("\n")[row] ?? "").indexOf("new Error") + 1} failed on /fail: no`;
	const seen: unknown[] = [];
	for (let round = 0; round < 2; round++) {
		const { session } = await startSession({ agentDir });
		expect(session.loaded.warnings).toEqual([]);
		const answer = await session.prompt("/value");
		seen.push(answer.kind === "command" && answer.status);
		await expect(session.prompt("/fail")).rejects.toThrow(place);
	}
	expect(seen[1]).toBe(seen[0]);
	expect(seen[0]).not.toContain("undefined");
	const files = readdirSync(join(agentDir, "cache", "jiti"));
	expect(files.some((name) => name.startsWith("a.ts.") && name.endsWith(".map"))).toBe(isFast);
});
