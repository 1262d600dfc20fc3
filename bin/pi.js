#!/usr/bin/env node
// Answers what needs no program at once, else loads the bundle. Runs on any Node, so that an old one can be named.
import module from "node:module";

// As ES modules they would cost what bin/build.js says.
const require = module.createRequire(import.meta.url);
const { mkdirSync, readFileSync } = require("node:fs");
const { homedir } = require("node:os");
const { join } = require("node:path");

const OLDEST_NODE = 20;

/** Text of a file of the package, path relative to its root; null when it is missing. */
function packageFile(path) {
	try {
		return readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
	} catch {
		return null;
	}
}

/** What `args` ask for that is answered from a file: only as the single argument, so that it is never someone's text. */
function answer(args) {
	if (args.length !== 1) return null;
	if (args[0] === "--version" || args[0] === "-v") return `${JSON.parse(packageFile("package.json")).version}\n`;
	if (args[0] === "--help" || args[0] === "-h") return packageFile("dist/help.txt");
	return null;
}

/**
 * Keeps what V8 compiled for the next start, among the user's own files: Node's default is a directory of the system's
 * temporary ones, where another user could put code in its place. Absent before Node 22.1.
 */
function useCompileCache() {
	if (!module.enableCompileCache) return;
	const chosen = process.env.PI_CODING_AGENT_DIR?.trim().replace(/^~(?=$|[\\/])/, homedir());
	const directory = join(chosen || join(homedir(), ".pi", "agent"), "cache", "node");
	try {
		mkdirSync(directory, { recursive: true, mode: 0o700 });
	} catch {
		return; // a home that cannot be written to: the start takes a little longer
	}
	module.enableCompileCache(directory);
}

const text = answer(process.argv.slice(2));
if (text !== null) process.stdout.write(text);
else if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
	process.stderr.write(`pi needs Node ${OLDEST_NODE} or newer, this is ${process.versions.node}\n`);
	process.exitCode = 1;
} else {
	useCompileCache();
	try {
		await import("../dist/main.js");
	} catch (error) {
		if (packageFile("dist/main.js") !== null) throw error;
		process.stderr.write("pi is not built yet: run `npm run build`, or `npm start`\n");
		process.exitCode = 1;
	}
}
