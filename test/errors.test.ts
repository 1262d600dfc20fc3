import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

test("the page lists every error code once, with its meaning and what to do", () => {
	const [, union = ""] = /export type PiErrorCode =([^;]+);/.exec(read("src/errors.ts")) ?? [];
	const codes = [...union.matchAll(/"(\w+)"/g)].map(([, code = ""]) => code);
	const rows = read("docs/errors.md")
		.split("\n")
		.filter((line) => line.startsWith("| `"))
		.map((line) =>
			line
				.slice(1, -1)
				.split("|")
				.map((cell) => cell.trim()),
		);
	expect(codes.length).toBeGreaterThan(20);
	expect(rows.map(([code = ""]) => code.slice(1, -1)).sort()).toEqual([...codes].sort());
	for (const row of rows)
		expect(row).toEqual([expect.anything(), expect.stringMatching(/\w/), expect.stringMatching(/\w/)]);
});
