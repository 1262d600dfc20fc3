import { expect, test } from "vitest";
import { scanPython, scanShell } from "../../src/config/script-imports.js";

const named = (name: string, members: string[] = [], level = 0) => ({ level, name, members });

test.each([
	["import os", [named("os")]],
	["import a.b as c, d # e", [named("a.b"), named("d")]],
	["\tfrom a import b as c, d", [named("a", ["b", "d"])]],
	["from . import (\n  a, # b\n  c,\n)", [named("", ["a", "c"], 1)]],
	["from ..a.b import c; import d", [named("a.b", ["c"], 2), named("d")]],
	["from a \\\n  import b", [named("a", ["b"])]],
	['x = importlib.import_module("a.b")', [named("a.b")]],
	["important = 1\nfrom_x = 2", []],
])("the imports of %j", (source, imports) => {
	expect(scanPython(source).imports).toEqual(imports);
});

test("the words of a shell script that can be paths, and its Python modules", () => {
	const { imports, paths } = scanShell('exec python3 -m srv.main "$HERE/a.sh" --x=./b.js $(dirname "$0")/c d');
	expect(imports).toEqual([named("srv.main")]);
	expect([...paths]).toEqual(expect.arrayContaining(["a.sh", "./b.js", "c", "d"]));
});

/** About 1 MB each. */
const HOSTILE = {
	"open parentheses": "from x import (\n".repeat(60_000),
	blanks: `from${" ".repeat(1_000_000)}`,
	"blanks after a name": `from a${" ".repeat(1_000_000)}`,
	dots: `from ${".".repeat(1_000_000)}`,
	"names with dots": `from ${"a.".repeat(500_000)}`,
	"lines of dots": `from ${".".repeat(100)}\n`.repeat(10_000),
	commas: `import ${",".repeat(1_000_000)}`,
	variables: "${".repeat(500_000),
	commands: "$(".repeat(500_000),
	options: " -m ".repeat(250_000),
	continuations: "\\\n".repeat(500_000),
	"calls of import": `import_module(${" ".repeat(20)}`.repeat(30_000),
};

test.each(Object.entries(HOSTILE))("scanning takes linear time: %s", (_, source) => {
	const startedAt = performance.now();
	scanPython(source);
	scanShell(source);
	expect(performance.now() - startedAt).toBeLessThan(2000);
});
