import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { libraryPatches, libraryPatchesPlugin } from "../bin/library-patches.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const alias = {
	"@mariozechner/pi-coding-agent/hooks": `${root}src/hooks/index.ts`,
	"@mariozechner/pi-coding-agent": `${root}src/index.ts`,
};
const env = { FORCE_COLOR: "3", TZ: "UTC" };
/** Many tests wait for a process or a terminal: a third worker uses the time that two cores are idle. */
const WORKERS = 3;
/** A worker ends when the run that it belongs to was killed, and what its tests have started ends with it. */
const END_WITH_RUN = '--import=data:text/javascript,process.once("disconnect",()=>process.exit(1))';
/** A worker keeps what it has loaded for its next file: loading the sources anew took longer than the tests. */
const poolOptions = { forks: { isolate: false, execArgv: [END_WITH_RUN] } };

/** Libraries with replaced modules are loaded as the build bundles them. */
const patches = libraryPatches();
const plugins = [libraryPatchesPlugin(patches)];
const server = { deps: { inline: [patches.modules] } };

/** Tests of the built program in a pty run apart from the rest: they are slow, and a busy machine must not fail them. */
export default defineConfig({
	test: {
		root,
		pool: "forks",
		poolOptions,
		maxWorkers: WORKERS,
		// No fewer than at most: of workers that may go when they are idle, the pool ends one twice and falls over it.
		minWorkers: WORKERS,
		reporters: ["default"],
		projects: [
			{
				resolve: { alias },
				plugins,
				test: {
					name: "unit",
					server,
					env,
					poolOptions,
					include: ["test/**/*.test.ts"],
					exclude: ["test/e2e/**"],
					testTimeout: 15_000,
				},
			},
			{
				resolve: { alias },
				plugins,
				test: {
					name: "e2e",
					server,
					globalSetup: ["test/e2e/install-program.ts"],
					env,
					poolOptions,
					include: ["test/e2e/**/*.test.ts"],
					testTimeout: 60_000,
					hookTimeout: 60_000,
				},
			},
		],
	},
});
