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
	['import_module(".lib", "a")', [named("a.lib")]],
	['import_module("..lib", package="a.b")', [named("a.lib")]],
	['import_module(".lib", __package__)', [named("lib", [], 1)]],
	["important = 1\nfrom_x = 2", []],
])("the imports of %j", (source, imports) => {
	expect(scanPython(source)).toEqual({ imports, files: [], dirs: [] });
});

test.each([
	['runpy.run_path("lib.py")\nexec(open(\'a/b.py\').read())\nx = "lib.py"', ["lib.py", "a/b.py"], []],
	['sys.path.insert(0, "vendor")', [], ["vendor"]],
	["import sys\nsys.path.append(dirname(dirname(__file__)))", [], ["..", "../.."]],
	['site.addsitedir("a/b")', [], ["a/b"]],
	['open("vendor")', [], []],
])("the files and directories in %j", (source, files, dirs) => {
	expect(scanPython(source)).toMatchObject({ files, dirs });
});

test.each([
	[["python3", "-u", "-m", "srv"], ["srv"]],
	[["python3", "-msrv.main", "x"], ["srv.main"]],
	[["python3", "-um", "srv"], ["srv"]],
	[["uvicorn", "srv.main:app"], ["srv.main"]],
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
	"texts of paths": `sys.path "${"a.".repeat(500_000)}`,
	quotes: `sys.path ${"'a".repeat(500_000)}`,
	"calls with a package": `import_module("a",${" ".repeat(20)}`.repeat(20_000),
	"calls of import": `import_module(${" ".repeat(20)}`.repeat(30_000),
};

test.each(Object.entries(HOSTILE))("hostile code is scanned within the time of a test: %s", (_, source) => {
	expect(scanPython(source).imports.length).toBeLessThan(source.length);
});
