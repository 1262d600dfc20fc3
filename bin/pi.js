#!/usr/bin/env node
// Answers what needs no program at once, else loads the bundle. Runs on any Node, so that an old one can be named.
import { readFileSync } from "node:fs";
import module from "node:module";
import { fileURLToPath } from "node:url";

const OLDEST_NODE = 20;

/** Text of a file of the package, path relative to its root; null when it is missing. */
function packageFile(path) {
	try {
		return readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), "utf8");
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

const text = answer(process.argv.slice(2));
if (text !== null) process.stdout.write(text);
else if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
	process.stderr.write(`pi needs Node ${OLDEST_NODE} or newer, this is ${process.versions.node}\n`);
	process.exitCode = 1;
} else {
	// Absent before Node 22.1.
	module.enableCompileCache?.();
	try {
		await import("../dist/main.js");
	} catch (error) {
		if (packageFile("dist/main.js") !== null) throw error;
		process.stderr.write("pi is not built yet: run `npm run build`, or `npm start`\n");
		process.exitCode = 1;
	}
}
