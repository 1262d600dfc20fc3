import { expect, test } from "vitest";
import { modulesRun, scanPython } from "../../src/trust/python-imports.js";

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
	expect(scanPython(source)).toEqual(imports);
});

test.each([
	[["python3", "-u", "-m", "srv"], ["srv"]],
	[["python3", "-msrv.main", "x"], ["srv.main"]],
	[["make", "-m", "no module"], []],
	[["x", "-m"], []],
])("the modules that %j runs", (args, modules) => {
	expect(modulesRun(args)).toEqual(modules);
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
	continuations: "\\\n".repeat(500_000),
	"calls of import": `import_module(${" ".repeat(20)}`.repeat(30_000),
};

test.each(Object.entries(HOSTILE))("hostile code is scanned within the time of a test: %s", (_, source) => {
	expect(scanPython(source).length).toBeLessThan(source.length);
});
