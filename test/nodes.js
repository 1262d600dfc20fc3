// Runs tests on other versions of Node, taken from npm's own packages of Node. By default these are the end-to-end tests,
// which run the installed program as users do.
// Usage: node test/nodes.js [22] [24] [--all | --script FILE] [arguments of vitest or the script…]
//   --all          runs the complete suite
//   --script FILE  runs a script instead of tests
// A version that cannot be installed, for example without network, is skipped, and the last lines say so.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PLACE = join(ROOT, "node_modules/.cache/pi-tests/nodes");
/** Pinned, so that the same commit runs the same tests. */
const VERSIONS = { 22: "22.23.3", 24: "24.21.0" };

/** npm's package of Node for this system; the `node` package would install it with a script. */
function packageName() {
	const system = process.platform === "win32" ? "win" : process.platform;
	return `node-${system === "darwin" && process.arch === "arm64" ? "bin-darwin" : system}-${process.arch}`;
}

/**
 * Installs a version unless it is installed.
 * @returns the path of its `node`
 * @throws Error with the reason when npm cannot install it, or it does not start
 */
function install(version) {
	const directory = join(PLACE, version);
	const node = join(
		directory,
		"node_modules",
		packageName(),
		"bin",
		process.platform === "win32" ? "node.exe" : "node",
	);
	if (!existsSync(node)) {
		mkdirSync(directory, { recursive: true });
		writeFileSync(join(directory, "package.json"), '{ "private": true }\n');
		const name = `${packageName()}@${version}`;
		const npm = spawnSync("npm", ["install", name, "--no-audit", "--no-fund", "--loglevel=error"], {
			cwd: directory,
			encoding: "utf8",
		});
		if (npm.status !== 0) throw new Error(npm.stderr?.trim().split("\n")[0] || "npm does not run");
	}
	const started = spawnSync(node, ["--version"], { encoding: "utf8" });
	if (started.stdout !== `v${version}\n`) throw new Error(started.error?.message ?? `${node} does not start`);
	return node;
}

/** Runs a program on this Node; what it starts by name, such as npm, runs on it too. @returns true on success */
function runOn(node, args) {
	const env = { ...process.env, PATH: [dirname(node), process.env.PATH].join(delimiter) };
	return spawnSync(node, args, { cwd: ROOT, env, stdio: "inherit" }).status === 0;
}

const args = process.argv.slice(2);
const named = args.filter((arg) => arg in VERSIONS);
const scriptAt = args.indexOf("--script");
const vitest = [join(ROOT, "node_modules/vitest/vitest.mjs"), "run", "--config", join(ROOT, "test/vitest.config.ts")];
const program =
	scriptAt >= 0
		? args.splice(scriptAt, 2).slice(1)
		: [...vitest, ...(args.includes("--all") ? [] : ["--project", "e2e"])];
const passedOn = args.filter((arg) => !(arg in VERSIONS) && arg !== "--all");
const results = [];
for (const major of named.length > 0 ? named : Object.keys(VERSIONS)) {
	const version = VERSIONS[major];
	let node;
	try {
		node = install(version);
	} catch (error) {
		results.push(`Node ${version}: SKIPPED, not installed from npm: ${error.message}`);
		continue;
	}
	console.log(`\nNode ${version}`);
	const passed = runOn(node, [...program, ...passedOn]);
	if (!passed) process.exitCode = 1;
	results.push(`Node ${version}: ${passed ? "passed" : "FAILED"}`);
}
console.log(results.join("\n"));
