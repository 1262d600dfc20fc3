import { defineConfig } from "vitest/config";
import { unit } from "./vitest.config.js";

const CONTEXT_CHECKS =
	"build-context check convert core describe-problem own-message preamble-answer ranges replacement"
		.split(" ")
		.map((name) => `src/context/${name}.ts`);
const THRESHOLD = { lines: 95, branches: 90 };

/** `npm run coverage`: the code that keeps data and decides about trust must stay covered by its unit tests. */
export default defineConfig({
	resolve: unit.resolve,
	plugins: unit.plugins,
	test: {
		...unit.test,
		pool: "forks",
		maxWorkers: 1,
		minWorkers: 1,
		include: [
			"test/{context,log}/**/*.test.ts",
			"test/trust/{store,code-files,script-imports}.test.ts",
			"test/hooks/{check-answer,gates,prompt-event}.test.ts",
			"test/util/sanitize.test.ts",
		],
		coverage: {
			enabled: true,
			provider: "v8",
			include: [
				"src/log/**",
				// The session tests, which are slow, cover the rest of src/context.
				...CONTEXT_CHECKS,
				"src/trust/store.ts",
				"src/trust/code-files.ts",
				"src/trust/script-imports.ts",
				"src/hooks/check-answer.ts",
				"src/hooks/gates.ts",
				"src/util/sanitize.ts",
			],
			reporter: [["text", { skipFull: true }], "json-summary"],
			reportsDirectory: "reports/coverage",
			thresholds: {
				"src/log/**": THRESHOLD,
				"src/context/**": THRESHOLD,
				"src/trust/**": THRESHOLD,
				"src/hooks/**": THRESHOLD,
				"src/util/sanitize.ts": THRESHOLD,
			},
		},
	},
});
