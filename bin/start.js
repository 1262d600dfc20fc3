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
	const folders = ["bin", "patches", "src"];
	const files = folders.flatMap((folder) =>
		readdirSync(join(root, folder), { recursive: true }).map((path) => join(folder, path)),
	);
	return Math.max(...["package.json", "package-lock.json", "CHANGELOG.md", ...folders, ...files].map(modifiedAt));
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
