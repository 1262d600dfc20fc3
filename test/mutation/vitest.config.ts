import { defineConfig } from "vitest/config";
import { unit } from "../vitest.config.js";
import { PARTS } from "./parts.js";

const part = PARTS[process.env.PI_MUTATION_PART ?? ""];
if (!part) throw new Error(`PI_MUTATION_PART names no part of ${Object.keys(PARTS).join(", ")}`);

export default defineConfig({
	resolve: unit.resolve,
	plugins: unit.plugins,
	test: {
		...unit.test,
		include: part.tests,
		// Fewer runs of the long properties: the first find nearly all mutants.
		env: { ...unit.test.env, PI_TEST_RUNS: "300", PI_TEST_SEED: "1" },
		poolOptions: { threads: { isolate: false, singleThread: true } },
	},
});
