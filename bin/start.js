#!/usr/bin/env node
// `npm start`: builds when dist/ is missing or older than its sources, then runs pi with the arguments.
import { spawnSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Modification time in ms; 0 for a file that is missing. */
function modifiedAt(path) {
	return statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** The latest change to what the bundle is made of. Folders count as well: a file may have been removed. */
function sourcesModifiedAt() {
	const sources = ["package.json", "package-lock.json", "bin/build.js", "bin/bundle-plugins.js", "CHANGELOG.md", "src"];
	for (const path of readdirSync(join(root, "src"), { recursive: true })) sources.push(join("src", path));
	return Math.max(...sources.map(modifiedAt));
}

// The build writes this file last: an interrupted build leaves none.
const builtAt = Math.min(modifiedAt("dist/main.js"), modifiedAt("dist/CHANGELOG.md"));
let ready = true;
if (builtAt < sourcesModifiedAt()) {
	// Stdout belongs to pi: its output may be piped.
	const build = spawnSync(process.execPath, [join(root, "bin/build.js")], { cwd: root, stdio: ["ignore", 2, 2] });
	ready = build.status === 0;
}
if (ready) await import("./pi.js");
else {
	process.stderr.write("pi was not built: see the messages above. `npm ci` installs what the build needs\n");
	process.exitCode = 1;
}
