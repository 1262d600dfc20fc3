#!/usr/bin/env node
// `npm start`: builds if dist/ is missing or older than its sources, then runs pi with the arguments.
import { spawnSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Modification time in ms; 0 for a missing file. */
function modifiedAt(path) {
	return statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Time of the latest change to the sources of the bundle, in ms. Folders count, because a file may have been deleted. */
function sourcesModifiedAt() {
	const folders = ["bin", "hooks-examples", "patches", "src"];
	const files = folders.flatMap((folder) =>
		readdirSync(join(root, folder), { recursive: true }).map((path) => join(folder, path)),
	);
	return Math.max(...["package.json", "package-lock.json", "CHANGELOG.md", ...folders, ...files].map(modifiedAt));
}

// The build writes CHANGELOG.md last, so it is missing after an interrupted build.
const builtAt = Math.min(modifiedAt("dist/main.cjs"), modifiedAt("dist/CHANGELOG.md"));
let ready = true;
if (builtAt < sourcesModifiedAt()) {
	// The build and its output go to stderr: pi's stdout may be piped.
	process.stderr.write("Building pi, which takes about 10 seconds …\n");
	const build = spawnSync(process.execPath, [join(root, "bin/build.js")], { cwd: root, stdio: ["ignore", 2, 2] });
	ready = build.status === 0;
}
if (ready) await import("./pi.cjs");
else {
	process.stderr.write("The build failed: see the messages above. `npm ci` installs its dependencies\n");
	process.exitCode = 1;
}
