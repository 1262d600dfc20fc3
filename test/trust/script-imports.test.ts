import fc from "fast-check";
import { expect, test } from "vitest";
import { scanImports } from "../../src/trust/script-imports.js";

test.each<[string, string, string[], [string, string][]]>([
	[
		"static imports",
		'import a from "./a.js"; import "./b"; export * from \'../c.ts\';',
		["./a.js", "./b", "../c.ts"],
		[],
	],
	[
		"dynamic imports and require",
		'await import("./a"); require( "./b" ); import(/* why */ "./c")',
		["./a", "./b", "./c"],
		[],
	],
	["options after a path", 'import("./a.json", { with: { type: "json" } })', ["./a.json"], []],
	[
		"provided modules",
		'import "node:fs"; import "fs"; import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks"; import "typebox";',
		[],
		[],
	],
	[
		"modules that pi provides to extensions",
		'import "@earendil-works/pi-coding-agent"; import "@earendil-works/pi-ai/compat"; import "@mariozechner/pi-agent-core"; import "typebox/compile";',
		[],
		[],
	],
	[
		"packages",
		'import x from "lodash"; require("@a/b/c")',
		[],
		[
			["lodash", "a package"],
			["@a/b/c", "a package"],
		],
	],
	[
		"places outside",
		'import "/etc/x.js"; import("file:///x"); import "https://x.example/a.js"',
		[],
		[
			["/etc/x.js", "outside the project"],
			["https://x.example/a.js", "outside the project"],
			["file:///x", "outside the project"],
		],
	],
	[
		"computed paths",
		"import(name); require(`./` + x); import('./' + x)",
		[],
		[
			["import(…)", "computed at run time"],
			["require(…)", "computed at run time"],
		],
	],
	["escapes that hide a path", 'import "\\x2e/evil.js"', [], [["\\x2e/evil.js", "contains escapes"]]],
	["line breaks in between", 'import {\n a,\n b,\n}\nfrom\n"./a"', ["./a"], []],
])("%s", (_name, source, imported, unresolved) => {
	const scan = scanImports(source);
	expect([...scan.imported]).toEqual(imported);
	expect(scan.unresolved.map(({ specifier, reason }) => [specifier, reason])).toEqual(unresolved);
});

test("every string that looks like a relative path counts, however it is used", () => {
	expect([
		...scanImports("const load = require; load('./hidden.js'); new URL(`../x.json`, import.meta.url)").relative,
	]).toEqual(["./hidden.js", "../x.json"]);
});

test.each(["import(/*", "import(", "from ", 'from "', "import('./", "import(//\n", "require(/**/", "`./"])(
	"a source that repeats %j is read in linear time",
	(part) => {
		expect(scanImports(part.repeat(200_000)).unresolved.length).toBeLessThanOrEqual(100);
	},
);

test("scanImports never throws", () => {
	const parts = fc.constantFrom(
		"import",
		"(",
		")",
		'"',
		"'",
		"`",
		"./a",
		"from",
		" ",
		"\n",
		"/*",
		"*/",
		"//",
		"require",
		"\\",
	);
	fc.assert(fc.property(fc.array(parts), (source) => void scanImports(source.join(""))));
});
