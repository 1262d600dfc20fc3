import { join } from "node:path";
import { expect, test } from "vitest";
import { CompileCache } from "../../src/hooks/compile-cache.js";
import { SimpleModules } from "../../src/hooks/simple-modules.js";
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
	["plain types", "type A = { a: number };", "1", "simple"],
	["an enum", "enum Color { red = 3 }", "Color.red", "simple"],
	["a parameter property", "class P { constructor(readonly a: number) {} }", "new P(4).a", "simple"],
	["an import by .js", 'import { six } from "./lib/six.js";', "six", "simple"],
	["an import without extension", 'import { six } from "./lib/six";', "six", "simple"],
	["a default import", 'import six from "./lib/six.ts";', "six", "simple"],
	["a namespace import", 'import * as lib from "./lib/six";', "Object.keys(lib) + lib.six", "simple"],
	["a cycle", 'import { odd } from "./lib/odd";', "odd(7)", "simple"],
	["a CommonJS file", 'import seven from "./lib/seven.cjs";', "seven.seven", "jiti"],
	["a CommonJS package", 'import { eight } from "eight";', "eight", "jiti"],
	["files with and without an enum", 'import { nine } from "./lib/nine";', "nine", "simple"],
	["an exported variable of the hook", "export let counter: number = 3;\ncounter++;", "counter", "simple"],
	[
		"Node's modules",
		'import path, { sep as s } from "node:path";\nimport * as all from "path";',
		"path.join(s, all.sep)",
		"simple",
	],
	["export *", 'export * from "./lib/six";\nimport * as self from "./lib/all";', "self.six", "simple"],
	["import() of a file", 'const { six } = await import("./lib/six");', "six", "simple"],
	["import() of a computed name", 'const name = "node:os";\nconst os = await import(name);', "typeof os.EOL", "jiti"],
	["require", 'const os = require("node:os");', "typeof os.EOL", "jiti"],
	["import()", 'const os = await import("node:os");', "typeof os.EOL + typeof os.default.EOL", "simple"],
	["import() of a package", 'const { eight } = await import("eight");', "eight", "jiti"],
	["__dirname of CommonJS", "const here: string = __dirname;", "here.length > 0", "simple"],
	["JSON", 'import data from "./lib/data.json";', "data.six", "jiti"],
	[
		"a type imported without `type`",
		'import { HookAPI } from "@mariozechner/pi-coding-agent/hooks";\nlet x: HookAPI;',
		"7",
		"simple",
	],
	["a live binding", 'import { count, add } from "./lib/five";\nadd();', "count", "simple"],
	[
		"a top-level await, also in an import",
		'import { late } from "./lib/late";\nconst more = await Promise.resolve(1);',
		"late + more",
		"simple",
	],
	[
		"import.meta.url",
		"const url: string = import.meta.url;",
		'url.startsWith("file:") && url.endsWith("/a.ts")',
		"simple",
	],
	["import.meta", "const { url } = import.meta;", 'url.startsWith("file:")', "simple"],
	["import.meta.resolve", 'const url = import.meta.resolve("./lib/six.ts");', 'url.endsWith("six.ts")', "jiti"],
	["a namespace", "namespace N { export const a: number = 2; }", "N.a", "simple"],
	["a decorator", "function d(target: any) { target.a = 9; }\n@d\nclass D { static a: number; }", "D.a", "simple"],
	[
		"decorators of members and parameters",
		"const seen: string[] = [];\nconst d = (name: string) => (...at: any[]): void => void seen.push(name + at.length);\nclass D { @d('field') a = 1; @d('method') b(@d('parameter') c: string): void {} }",
		"seen",
		"simple",
	],
	[
		"a decorator in a file that a file of jiti imports",
		'import data from "./lib/data.json";\nimport { Marked } from "./lib/marked";',
		"Marked.mark + data.six",
		"jiti",
	],
	[
		"using",
		"const closed: number[] = [];\n{ using one = { [Symbol.dispose ?? Symbol.for('Symbol.dispose')]: () => void closed.push(7) }; }",
		"closed",
		"simple",
	],
	[
		"names of CommonJS",
		'const require = 1, __dirname = "d", module = 2, exports = 3;',
		"require + __dirname + module",
		"simple",
	],
	[
		"a require of its own",
		'import { createRequire } from "node:module";\nconst require = createRequire(import.meta.url);\nconst os = require("node:os");',
		"typeof os.EOL",
		"jiti",
	],
	["a __dirname like that of CommonJS", 'const __dirname: string = "d";', "__dirname", "simple"],
	["import.meta.env", "const { HOME } = import.meta.env;", "HOME.length > 0", "jiti"],
	["a required TypeScript file", 'const { ten } = require("./lib/ten");', "ten", "jiti"],
	["import = require()", 'import os = require("node:os");', "typeof os.EOL", "jiti"],
	[
		"an enum and a namespace with jiti",
		'import data from "./lib/data.json";\nenum E { a = 3 }\nnamespace N { export const b: number = data.six; }',
		"E.a + N.b",
		"jiti",
	],
	[
		"a top-level await with jiti",
		'import data from "./lib/data.json";\nconst late = await Promise.resolve(data.six);',
		"late",
		"jiti",
	],
	[
		"export * with jiti",
		'import "./lib/data.json";\nexport * from "./lib/six";\nimport * as all from "./lib/all";',
		"all.six",
		"jiti",
	],
	["a cycle with jiti", 'import "./lib/data.json";\nimport { odd } from "./lib/odd";', "odd(7)", "jiti"],
])("%s: the same value and the same place of an error, compiled and from the cache", async (_, head, value, by) => {
	const agentDir = tempAgentDir();
	const source = hook(head, value);
	writeFiles(join(agentDir, "hooks"), {
		"a.ts": source,
		"lib/five.ts":
			"export const five: number = 5;\nexport let count: number = 7;\nexport const add = (): void => void count++;",
		"lib/six.ts": "export const six = 6 as number;\nexport { six as default };",
		"lib/all.ts": 'export * from "./six";',
		"lib/odd.ts": 'import { even } from "./even";\nexport const odd = (n: number): boolean => n !== 0 && even(n - 1);',
		"lib/even.ts": 'import { odd } from "./odd";\nexport const even = (n: number): boolean => n === 0 || odd(n - 1);',
		"lib/seven.cjs": "module.exports = { seven: 7 };",
		"lib/nine.ts":
			'import { six } from "./six";\nenum More { three = 3 }\nexport const nine: number = six + More.three;',
		"node_modules/eight/package.json": { name: "eight", main: "main.js" },
		"node_modules/eight/main.js": "exports.eight = 8;",
		"lib/data.json": { six: 6 },
		"lib/marked.ts":
			"const d = (target: any): void => { target.mark = 4; };\n@d\nexport class Marked { static mark: number; }",
		"lib/ten.ts":
			'import { six } from "./six";\nimport { sep } from "node:path";\nexport const ten: number = six + 3 + sep.length;',
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
	const simple = SimpleModules.read(join(agentDir, "hooks", "a.ts"), new CompileCache(join(agentDir, "cache", "jiti")));
	expect(simple ? "simple" : "jiti").toBe(by);
});
