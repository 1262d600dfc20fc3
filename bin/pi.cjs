#!/usr/bin/env node
// Answers --version, and --help without hooks, from files; else loads the bundle. Runs on any Node, to report versions that are
// too old. CommonJS, like the bundle, because Node starts modules of that kind faster.
"use strict";

const { existsSync, mkdirSync, readdirSync, readFileSync } = require("node:fs");
const nodeModule = require("node:module");
const { homedir } = require("node:os");
const { join } = require("node:path");

const ROOT = join(__dirname, "..");

const OLDEST_NODE = 20;

/** Text of a file of the package, by its path from the root; null if it is missing. */
function packageFile(path) {
	try {
		return readFileSync(join(ROOT, path), "utf8");
	} catch {
		return null;
	}
}

/** The output for --version, or for --help without hooks, else null. Only as the single argument, because otherwise it may be a prompt. */
function answer(args) {
	if (args.length !== 1) return null;
	if (args[0] === "--version" || args[0] === "-v") return `${JSON.parse(packageFile("package.json")).version}\n`;
	if ((args[0] === "--help" || args[0] === "-h") && !mayHaveHooks()) return packageFile("dist/help.txt");
	return null;
}

/** False if no hook of the user, the project or a package can add flags to the help. */
function mayHaveHooks() {
	try {
		const places = ["hooks", "extensions"].flatMap((name) => [
			join(agentDir(), name),
			join(process.cwd(), ".pi", name),
		]);
		return places.some(hasFiles) || hasConfiguredHooks();
	} catch {
		return true; // the program reports what cannot be read
	}
}

function hasFiles(directory) {
	return existsSync(directory) && readdirSync(directory).length > 0;
}

function hasConfiguredHooks() {
	const files = [join(agentDir(), "settings.json"), join(process.cwd(), ".pi", "settings.json")];
	return files.some((file) => existsSync(file) && /"(?:hooks|packages)"/.test(readFileSync(file, "utf8")));
}

function agentDir() {
	const chosen = process.env.PI_CODING_AGENT_DIR?.trim().replace(/^~(?=$|[\\/])/, homedir());
	return chosen || join(homedir(), ".pi", "agent");
}

/**
 * Caches compiled code in the agent directory: in a directory of all users, another one could replace the code. Node caches that of
 * hooks, since 22.1.
 */
function cacheCode() {
	const directory = join(agentDir(), "cache", "node");
	try {
		mkdirSync(directory, { recursive: true, mode: 0o700 });
	} catch {
		return; // not writable: only the start takes a little longer
	}
	nodeModule.enableCompileCache?.(directory);
	require("./code-cache.cjs").useCodeCache(join(ROOT, "dist"), directory);
}

/** Like `standardIO` in src/cli/standard-io.ts, which is too much for a text. */
function print(text) {
	process.stdout.on("error", ({ code, message }) => {
		if (code === "EPIPE") process.exit(141);
		process.stderr.write(`pi: cannot write the output: ${message}\n`);
		process.exitCode = 1;
	});
	process.stdout.write(text);
}

const text = answer(process.argv.slice(2));
if (text !== null) print(text);
else if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
	process.stderr.write(`pi requires Node ${OLDEST_NODE} or newer; this is Node ${process.versions.node}\n`);
	process.exitCode = 1;
} else {
	process.once("pi:started", () => require("./optimize-late.cjs").optimizeLate());
	cacheCode();
	try {
		require("../dist/main.cjs");
	} catch (error) {
		if (packageFile("dist/main.cjs") !== null) throw error;
		process.stderr.write("pi is not built: run `npm run build` or `npm start`\n");
		process.exitCode = 1;
	}
}
