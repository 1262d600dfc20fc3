import { join } from "node:path";
import { expect, test } from "vitest";
import {
	compareVersions,
	joinWrapped,
	loadChangelog,
	newerThan,
	parseChangelog,
} from "../../src/resources/changelog.js";
import { packageRoot } from "../../src/util/package-root.js";

const TEXT = "# Changelog\n\n## Unreleased\n\n## [0.10.0] - 2026-02-01\r\n\n### Added\n\n- ten\n\n## 0.9.1\n- nine\n";

test("a changelog is parsed into its versions, newest first", () => {
	expect(parseChangelog(TEXT)).toEqual([
		{ version: "Unreleased", lines: [] },
		{ version: "0.10.0", lines: ["### Added", "", "- ten"] },
		{ version: "0.9.1", lines: ["- nine"] },
	]);
	expect(parseChangelog("")).toEqual([]);
});

test.each([
	["0.9.1", ["0.10.0"]],
	["0.9.0", ["0.10.0", "0.9.1"]],
	["0.10.0", []],
	["1.0.0", []],
])("the versions newer than %s are %j", (version, expected) => {
	expect(newerThan(parseChangelog(TEXT), version).map((section) => section.version)).toEqual(expected);
});

test.each([
	["0.10.0", "0.9.9", 1],
	["1.0", "1.0.0", 0],
	["v2.0.0", "10.0.0", -8],
	["Unreleased", "10.0.0", 1],
	["Unreleased", "next", 0],
])("comparing %s with %s returns %d", (a, b, expected) => {
	expect(compareVersions(a, b)).toBe(expected);
});

test("pi's own changelog can be read, one that is missing is empty", async () => {
	const released = (await loadChangelog(join(packageRoot(), "CHANGELOG.md"))).find(
		({ version }) => version === "0.1.0",
	);
	expect(released?.lines.length).toBeGreaterThan(0);
	expect(await loadChangelog("/nowhere/CHANGELOG.md")).toEqual([]);
});

test("wrapped paragraphs and list items become one line each; headings, lists and code stay apart", () => {
	const lines = [
		"One",
		"two.",
		"",
		"### Added",
		"- a",
		"  long item",
		"  - inner",
		"    goes on",
		"1. first",
		"```",
		"x",
		"  y",
		"```",
	];
	expect(joinWrapped(lines)).toEqual([
		"One two.",
		"",
		"### Added",
		"- a long item",
		"  - inner goes on",
		"1. first",
		"```",
		"x",
		"  y",
		"```",
	]);
});
