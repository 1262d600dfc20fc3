import { PARTS } from "./parts.js";

const name = process.env.PI_MUTATION_PART ?? "";
const part = PARTS[name];
if (!part) throw new Error("Run npm run mutation");

export default {
	testRunner: "vitest",
	plugins: ["@stryker-mutator/vitest-runner"],
	vitest: { configFile: "test/mutation/vitest.config.ts", related: false },
	mutate: part.mutate,
	ignorePatterns: ["dist", "reports", "docs/images", "test/screens"],
	disableTypeChecks: false,
	// Stryker would rewrite tsconfig.json with an API that TypeScript 7 does not have.
	tsconfigFile: "none.json",
	coverageAnalysis: "perTest",
	// A mutant that runs when its module loads is covered by every test, and costs as much as a hundred others.
	ignoreStatic: true,
	concurrency: 1,
	timeoutMS: 5_000,
	tempDirName: ".stryker-tmp",
	// A second run repeats only the mutants whose code or tests have changed.
	incremental: true,
	incrementalFile: `reports/mutation/${name}.incremental.json`,
	reporters: ["clear-text", "progress-append-only", "json"],
	clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
	jsonReporter: { fileName: `reports/mutation/${name}.json` },
	thresholds: { high: 95, low: 85, break: 85 },
};
