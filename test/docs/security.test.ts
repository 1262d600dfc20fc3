import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const page = readFileSync(`${root}docs/security.md`, "utf8");
/** Rows of the tables, without their heads. */
const rows = page
	.split("\n")
	.filter((line) => line.startsWith("| ") && !line.startsWith("| protection |"))
	.map((line) => line.slice(2, -2).split(" | "));

test("every protection in docs/security.md names a test that exists", () => {
	expect(rows.length).toBeGreaterThan(15);
	const missing = rows.filter(([, cell = ""]) => {
		const [, file = "", name = ""] = /^`(test\/[\w./-]+\.test\.ts)` · (.+)$/.exec(cell) ?? [];
		return name === "" || !readFileSync(root + file, "utf8").includes(`"${name}"`);
	});
	expect(missing).toEqual([]);
});
