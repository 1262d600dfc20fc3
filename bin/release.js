// Makes a release: `npm run release -- 0.2.0`. Checks, tests, turns the changelog's "Unreleased" into the release, sets the version,
// commits and tags. Publishes nothing.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const VERSION = /^(\d+)\.(\d+)\.(\d+)$/;

/**
 * @param {string} changelog
 * @param {string} version
 * @param {string} date `2026-11-26`
 * @returns {string} the changelog with "Unreleased" as the release, below a new, empty "Unreleased"
 * @throws Error if nothing is unreleased, or the version has a heading already
 */
export function releaseChangelog(changelog, version, date) {
	if (changelog.includes(`\n## ${version} `)) throw new Error(`CHANGELOG.md has a release ${version} already`);
	const [, before = "", body = "", after = ""] =
		/^([\s\S]*?\n)## Unreleased\n([\s\S]*?)(\n## [\s\S]*)?$/.exec(changelog) ?? [];
	if (body.trim() === "") throw new Error('CHANGELOG.md has nothing under "Unreleased"');
	return `${before}## Unreleased\n\n## ${version} · ${date}\n\n${body.trim()}\n${after}`;
}

/** @returns {boolean} whether the version `next` is higher than `last` */
export function isHigher(next, last) {
	const [a, b] = [next, last].map((version) => (VERSION.exec(version) ?? []).slice(1).map(Number));
	const at = a.findIndex((part, index) => part !== b[index]);
	return a.length === 3 && at !== -1 && a[at] > b[at];
}

/**
 * Releases the checkout in a directory.
 * @param {{ root: string, version: string, date: string, run: (command: string, ...args: string[]) => string, isFirst?: boolean }} options
 * `run` runs a program in the directory and returns its output; `isFirst` allows the version of package.json itself
 * @throws Error with the first reason not to
 */
export function release({ root, version, date, run, isFirst = false }) {
	const manifest = join(root, "package.json");
	const current = JSON.parse(readFileSync(manifest, "utf8")).version;
	if (!VERSION.test(version)) throw new Error(`"${version}" is no version: use numbers, such as 0.2.0`);
	if (!isHigher(version, current) && !(isFirst && version === current))
		throw new Error(`${version} is not higher than ${current}`);
	if (run("git", "status", "--porcelain").trim() !== "")
		throw new Error("The checkout has changes that are not committed");
	const changelog = join(root, "CHANGELOG.md");
	const released = releaseChangelog(readFileSync(changelog, "utf8"), version, date);
	for (const script of ["release:check", "test", "test:slow", "test:e2e"]) run("npm", "run", script);
	writeFileSync(changelog, released);
	if (version !== current) run("npm", "version", version, "--no-git-tag-version");
	run("git", "commit", "--all", "--message", `release: ${version}`);
	run("git", "tag", "--annotate", `v${version}`, "--message", `pi ${version}`);
}

if (import.meta.url === pathToFileURL(resolve(process.argv[1] ?? "")).href) {
	const root = fileURLToPath(new URL("..", import.meta.url));
	const run = (command, ...args) =>
		execFileSync(command, args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
	try {
		const [version = ""] = process.argv.slice(2);
		const isFirst = run("git", "tag", "--list", "v*").trim() === "";
		release({ root, version, date: new Date().toISOString().slice(0, 10), run, isFirst });
		console.log(`Released ${version}. Next: npm publish, git push --follow-tags`);
	} catch (error) {
		console.error(`release: ${error instanceof Error ? error.message : error}`);
		process.exitCode = 1;
	}
}
