import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(`${root}docs/testing.md`, "utf8");

/** The tests that a table names, as `file.test.ts` and a part of the name. */
function namedTests(): { file: string; name: string }[] {
	const rows = page.split("\n").filter((line) => line.startsWith("|") && line.includes(".test.ts`"));
	return rows.flatMap((row) =>
		[...row.matchAll(/`([\w/-]+\.test\.ts)` (.+?)(?=; `| \|$)/g)].map(([, file = "", name = ""]) => ({ file, name })),
	);
}

test("every test that the page names exists", () => {
	const named = namedTests();
	expect(named.length).toBeGreaterThan(40);
	const missing = named.filter(({ file, name }) => {
		const path = `${root}test/${file}`;
		return !existsSync(path) || !readFileSync(path, "utf8").includes(name);
	});
	expect(missing).toEqual([]);
});

test("every file of fault tests is named on the page", () => {
	const files = readdirSync(`${root}test/faults`).filter((name) => name.endsWith(".test.ts"));
	expect(files.filter((name) => !page.includes(`\`faults/${name}\``))).toEqual([]);
});

test("the long form of the fault tests runs with the options of the page", { timeout: 60_000 }, () => {
	const args = ["test/faults/run.js", "--seed", "7", "--only", "signals", "--rounds", "1"];
	const run = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
	const output = stripVTControlCharacters(run.stdout);
	expect(output).toMatch(/✓ signals: .*\(seeds 7 to 7\)/);
	expect(output).toMatch(/Tests {2}1 passed/);
	expect(run.status).toBe(0);
});
