import { describe, expect, test } from "vitest";
import { createMatcher, describeResources, findResources, type ResourceFilters } from "../../src/packages/resources.js";

const FILES = [
	"README.md",
	"package.json",
	"hooks/a.ts",
	"hooks/types.d.ts",
	"hooks/folder/index.ts",
	"hooks/folder/part.ts",
	"extensions/e.js",
	"extensions/both/index.js",
	"extensions/both/index.ts",
	"tools/t/index.ts",
	"tools/loose.ts",
	"agents/scout.md",
	"skills/s/SKILL.md",
	"skills/deep/er/SKILL.md",
	"skills/s/notes.md",
	"prompts/p.md",
	"themes/t.json",
	"odd/[x].ts",
	"src/main.ts",
	"src/other.ts",
];

describe("findResources", () => {
	test("finds files in directories with the names of the kinds, without a manifest", () => {
		expect(findResources(FILES, { name: "x" })).toEqual({
			hooks: ["hooks/a.ts", "hooks/folder/index.ts"],
			extensions: ["extensions/both/index.ts", "extensions/e.js"],
			tools: ["tools/t/index.ts"],
			agents: ["agents/scout.md"],
			skills: ["skills/deep/er/SKILL.md", "skills/s/SKILL.md"],
			prompts: ["prompts/p.md"],
			themes: ["themes/t.json"],
		});
	});

	test.each<[string, unknown, Record<string, string[]>]>([
		[
			"paths",
			{ hooks: ["./src/main.ts", "hooks/"] },
			{ hooks: ["src/main.ts", "hooks/a.ts", "hooks/folder/index.ts"] },
		],
		["a single path", { hooks: "src/main.ts" }, { hooks: ["src/main.ts"] }],
		["a folder with an index file", { hooks: ["hooks/folder"] }, { hooks: ["hooks/folder/index.ts"] }],
		["globs with exceptions", { hooks: ["src/*.ts", "!src/other.ts"] }, { hooks: ["src/main.ts"] }],
		["globs of folders", { skills: ["skills/*"] }, { skills: ["skills/deep/er/SKILL.md", "skills/s/SKILL.md"] }],
		["a file whose name looks like a glob", { hooks: ["odd/[x].ts"] }, { hooks: ["odd/[x].ts"] }],
		["a file that is not code", { hooks: ["README.md", "nothing.ts"] }, {}],
		["values of another type", { hooks: 3, skills: [null] }, {}],
	])("pi in package.json: %s", (_, pi, expected) => {
		const none = { hooks: [], extensions: [], tools: [], agents: [], skills: [], prompts: [], themes: [] };
		expect(findResources(FILES, { pi })).toEqual({ ...none, ...expected });
	});

	test.each<[string, ResourceFilters, string[]]>([
		["no filter", {}, ["hooks/a.ts", "hooks/folder/index.ts"]],
		["an empty list", { hooks: [] }, []],
		["a pattern", { hooks: ["hooks/a*"] }, ["hooks/a.ts"]],
		["a name", { hooks: ["a.ts"] }, ["hooks/a.ts"]],
		["an exception", { hooks: ["!hooks/folder"] }, ["hooks/a.ts"]],
		["an added file", { hooks: ["!**", "+src/main.ts"] }, ["src/main.ts"]],
		["a removed file", { hooks: ["-hooks/a.ts"] }, ["hooks/folder/index.ts"]],
		["another kind", { skills: [] }, ["hooks/a.ts", "hooks/folder/index.ts"]],
	])("filters of the settings: %s", (_, filters, expected) => {
		expect(findResources(FILES, null, filters).hooks).toEqual(expected);
	});

	test("describes what it found", () => {
		expect(describeResources(findResources(FILES, null))).toBe(
			"2 hooks, 2 extensions, 1 tool, 1 agent, 2 skills, 1 prompt, 1 theme",
		);
		expect(describeResources(findResources([], null))).toBe("nothing");
	});
});

test.each([
	["*.ts", "a.ts", true],
	["*.ts", "x/a.ts", true],
	["x/*.ts", "x/y/a.ts", false],
	["x/**/*.ts", "x/y/z/a.ts", true],
	["x/**/*.ts", "x/a.ts", true],
	["./x", "x/a.ts", true],
	["x/", "x/a.ts", true],
	["{a,b}.ts", "b.ts", true],
	["a.ts", "axts", false],
	["a?.ts", "ab.ts", true],
	["a+(b)", "a+(b)", true],
	["[ab].ts", "b.ts", true],
	["{a,b}", "x/b/c.ts", true],
	["x/{a,b}", "x/b/c/d.ts", true],
	["x/{a,b}", "y/x/b/c.ts", false],
	["*a*a*a*a*a*ab", "a".repeat(200), false],
	[`${"**/".repeat(12)}b`, "a/".repeat(40), false],
])("%s matches %s: %s", (pattern, path, isExpected) => {
	expect(createMatcher(pattern)(path)).toBe(isExpected);
});
