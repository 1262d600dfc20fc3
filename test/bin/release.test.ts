import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { release, releaseChangelog } from "../../bin/release.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

const CHANGELOG = "# Changelog\n\n## Unreleased\n\n### Added\n\n- A thing.\n";

/** A checkout in which npm's scripts do nothing but are noted. */
function checkout({ failing = "" } = {}) {
	const root = tempDir();
	writeFiles(root, { "package.json": '{ "version": "0.1.0" }\n', "CHANGELOG.md": CHANGELOG });
	const git = (...args: string[]) => execFileSync("git", args, { cwd: root, encoding: "utf8" });
	git("init", "--quiet");
	for (const [name, value] of [
		["user.name", "Ann"],
		["user.email", "ann@example.com"],
	] as const) {
		git("config", name, value);
	}
	git("add", ".");
	git("commit", "--quiet", "--message", "start");
	const scripts: string[] = [];
	const run = (command: string, ...args: string[]) => {
		if (command === "git") return git(...args);
		if (args[0] === "version") return execFileSync(command, args, { cwd: root, encoding: "utf8" });
		scripts.push(args.join(" "));
		if (args[1] === failing) throw new Error(`${failing} failed`);
		return "";
	};
	return { root, git, run, scripts };
}

describe("a release", () => {
	test("is tested, gets a heading in the changelog, a version, a commit and a tag", () => {
		const { root, git, run, scripts } = checkout();
		release({ root, version: "0.2.0", date: "2026-11-26", run });
		expect(scripts).toEqual(["run release:check", "run test", "run test:slow", "run test:e2e"]);
		expect(readFileSync(join(root, "CHANGELOG.md"), "utf8")).toBe(
			"# Changelog\n\n## Unreleased\n\n## 0.2.0 · 2026-11-26\n\n### Added\n\n- A thing.\n",
		);
		expect(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version).toBe("0.2.0");
		expect(git("log", "--format=%s", "--max-count=1").trim()).toBe("release: 0.2.0");
		expect(git("tag").trim()).toBe("v0.2.0");
		expect(git("status", "--porcelain")).toBe("");
	});

	test("leaves everything unchanged when a test fails", () => {
		const { root, git, run } = checkout({ failing: "test:e2e" });
		expect(() => release({ root, version: "0.2.0", date: "2026-11-26", run })).toThrow("test:e2e failed");
		expect([git("status", "--porcelain"), git("tag"), readFileSync(join(root, "CHANGELOG.md"), "utf8")]).toEqual([
			"",
			"",
			CHANGELOG,
		]);
	});

	test.each([
		["0.1.0", "0.1.0 is not higher than 0.1.0"],
		["0.0.9", "0.0.9 is not higher than 0.1.0"],
		["next", '"next" is no version: use numbers, such as 0.2.0'],
	])("%s is refused", (version, reason) => {
		const { root, run, scripts } = checkout();
		expect(() => release({ root, version, date: "2026-11-26", run })).toThrow(reason);
		expect(scripts).toEqual([]);
	});

	test("the first one may have the version that package.json has", () => {
		const { root, git, run } = checkout();
		release({ root, version: "0.1.0", date: "2026-11-26", run, isFirst: true });
		expect(git("tag").trim()).toBe("v0.1.0");
	});

	test("is refused with changes that are not committed, and with an empty changelog", () => {
		const { root, git, run } = checkout();
		writeFiles(root, { "new.txt": "" });
		const options = { root, version: "0.2.0", date: "2026-11-26", run };
		expect(() => release(options)).toThrow("The checkout has changes that are not committed");
		writeFiles(root, { "CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n## 0.1.0 · 2026-11-01\n\n- Old.\n" });
		git("add", ".");
		git("commit", "--quiet", "--message", "empty");
		expect(() => release(options)).toThrow('CHANGELOG.md has nothing under "Unreleased"');
	});
});

test("earlier releases stay below the new one", () => {
	const changelog = `${CHANGELOG}\n## 0.1.0 · 2026-11-01\n\n- Old.\n`;
	expect(releaseChangelog(changelog, "0.2.0", "2026-11-26")).toBe(
		"# Changelog\n\n## Unreleased\n\n## 0.2.0 · 2026-11-26\n\n### Added\n\n- A thing.\n\n## 0.1.0 · 2026-11-01\n\n- Old.\n",
	);
	expect(() => releaseChangelog(changelog, "0.1.0", "2026-11-26")).toThrow("has a release 0.1.0 already");
});
