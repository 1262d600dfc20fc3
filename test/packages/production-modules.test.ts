import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { productionModules } from "../../src/packages/production-modules.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

/** Writes installed packages with their dependencies. @returns the directory */
function place(packages: Readonly<Record<string, readonly string[]>>): string {
	const dir = tempDir();
	for (const [path, names] of Object.entries(packages)) {
		const dependencies = Object.fromEntries(names.map((name) => [name, "*"]));
		writeFiles(join(dir, "node_modules", path), { "package.json": { name: path, dependencies } });
	}
	return dir;
}

const found = (dir: string, manifest: unknown) => productionModules(dir, manifest).flatMap(({ only }) => only ?? []);

test("finds dependencies, optional and peer ones too, and theirs, but no devDependencies and nothing that pi provides", () => {
	const dir = place({ a: ["b"], b: [], "@ada/c": ["a"], d: [], dev: ["e"], e: [], typebox: [], peer: [] });
	const manifest = {
		dependencies: { a: "1", missing: "1", "../outside": "1", typebox: "*" },
		optionalDependencies: { "@ada/c": "1" },
		peerDependencies: { peer: "1", "@mariozechner/pi-coding-agent": "*" },
		devDependencies: { dev: "1" },
	};
	expect(found(dir, manifest)).toEqual(["@ada/c", "a", "b", "peer"]);
	expect([found(dir, null), found(dir, { dependencies: [] })]).toEqual([[], []]);
});

test("a dependency of its own version belongs to the dependency that contains it", () => {
	const dir = place({ a: ["b"], "a/node_modules/b": ["c"], b: [], c: ["a"], d: [] });
	expect(found(dir, { dependencies: { a: "1" } })).toEqual(["a", "c"]);
});

test("follows the links of a package manager that installs packages in a folder of their own", () => {
	const dir = place({
		".pnpm/a@1/node_modules/a": ["b"],
		".pnpm/b@1/node_modules/b": [],
		".pnpm/d@1/node_modules/d": [],
	});
	for (const [link, target] of [
		["a", ".pnpm/a@1/node_modules/a"],
		[".pnpm/a@1/node_modules/b", ".pnpm/b@1/node_modules/b"],
		["d", ".pnpm/d@1/node_modules/d"],
	] as const) {
		mkdirSync(dirname(join(dir, "node_modules", link)), { recursive: true });
		symlinkSync(join(dir, "node_modules", target), join(dir, "node_modules", link));
	}
	expect(found(dir, { dependencies: { a: "1" } })).toEqual([
		".pnpm/a@1/node_modules/a",
		".pnpm/a@1/node_modules/b",
		".pnpm/b@1/node_modules/b",
		"a",
	]);
});
