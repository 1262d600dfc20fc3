import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { tempDir } from "../helpers/temp.js";

const PROGRAM = fileURLToPath(new URL("../../bin/", import.meta.url));

const FLAGS: Readonly<Record<string, { start: string; later: string }>> = {
	20: { start: "--interrupt-budget=67584", later: "--interrupt-budget=1500000" },
	22: { start: "--invocation-count-for-turbofan=3000", later: "--invocation-count-for-turbofan=10000" },
};
const flags = FLAGS[Number.parseInt(process.versions.node, 10)] ?? { start: "", later: "" };

/** A directory with a module and an empty cache. */
function createDirectory() {
	const directory = tempDir();
	mkdirSync(join(directory, "cache"));
	writeFileSync(join(directory, "part.0123abcd.cjs"), 'exports.name = "loaded";');
	return directory;
}

/** Runs code in a process that caches compiled code like pi does. @returns its output, and the flags that V8 was given */
function run(directory: string, ...code: string[]) {
	const start = `const v8 = require("node:v8"), set = v8.setFlagsFromString;
		v8.setFlagsFromString = (flags) => { console.log(flags); set(flags); };
		const { optimizeLate } = require(${JSON.stringify(join(PROGRAM, "optimize-late.cjs"))});
		const cache = ${JSON.stringify(join(directory, "cache"))};
		require(${JSON.stringify(join(PROGRAM, "code-cache.cjs"))}).useCodeCache(${JSON.stringify(directory)}, cache);
		const load = () => console.log(require(${JSON.stringify(join(directory, "part.0123abcd.cjs"))}).name);
		${code.join("\n")}`;
	const { stdout, stderr } = spawnSync(process.execPath, ["-e", start], {
		encoding: "utf8",
		env: { PATH: process.env.PATH },
	});
	expect(stderr).toBe("");
	return stdout.split("\n").filter((line) => line !== "");
}

/** The cached files of the module, with what changes when one is written again. */
function written(directory: string): Record<string, number> {
	const files = readdirSync(join(directory, "cache"), { recursive: true, encoding: "utf8" });
	return Object.fromEntries(files.map((name) => [name, statSync(join(directory, "cache", name)).ino]));
}

const START = "optimizeLate();";
const LOAD = "load();";

test("once the program has started, V8 optimizes later on Node 20 and 22", () => {
	const lines = run(createDirectory(), LOAD, START, 'console.log("started");');
	const atExit = [flags.start, flags.later]; // writes the cache
	expect(lines).toEqual(["loaded", flags.later, "started", ...atExit].filter(Boolean));
});

test("a module that is loaded later is compiled as during the start, so that any start can take it from the cache", () => {
	const directory = createDirectory();
	const later = [flags.later, flags.start, flags.later, "loaded"].filter(Boolean);
	expect(run(directory, START, LOAD).slice(0, 4)).toEqual(later);
	const first = written(directory);
	expect(Object.keys(first)).toHaveLength(2); // with its directory
	run(directory, START, LOAD);
	expect(written(directory)).toEqual(first);
	run(directory, LOAD, START);
	expect(written(directory)).toEqual(first);
});

test("the start has V8's defaults", () => {
	const { stdout } = spawnSync(process.execPath, ["--v8-options"], { encoding: "utf8" });
	for (const flag of flags.start.split(" ").filter(Boolean)) expect(stdout).toContain(`default: ${flag}\n`);
});
