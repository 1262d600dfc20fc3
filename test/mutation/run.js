import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { PARTS } from "./parts.js";

// npm run mutation [-- <part>…]: runs Stryker for each part, and fails if the score of one is too low.
const names = process.argv.slice(2);
const unknown = names.filter((name) => !Object.hasOwn(PARTS, name));
if (unknown.length > 0) {
	console.error(`Unknown part ${unknown.join(", ")} · parts: ${Object.keys(PARTS).join(", ")}`);
	process.exit(2);
}
const stryker = fileURLToPath(new URL("../../node_modules/.bin/stryker", import.meta.url));
const config = fileURLToPath(new URL("stryker.config.js", import.meta.url));
const failed = (names.length > 0 ? names : Object.keys(PARTS)).filter((name) => {
	console.log(`\n== ${name}`);
	const env = { ...process.env, PI_MUTATION_PART: name };
	return spawnSync(process.execPath, [stryker, "run", config], { env, stdio: "inherit" }).status !== 0;
});
if (failed.length > 0) {
	console.error(`\nFailed or below the threshold: ${failed.join(", ")}`);
	process.exitCode = 1;
}
