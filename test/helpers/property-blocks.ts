/** Runs of a property test that share a test, so that their sessions are released before the next block starts. */
const BLOCK = 100;

/** Enough for 10,000 runs of most properties, in ms. */
export const PROPERTY_TIMEOUT_MS = 600_000;

/** Some runs of a property test. The same seed gives the same runs. */
export interface PropertyBlock {
	runs: number;
	seed: number;
}

/**
 * Splits the runs of a property test into blocks. The suite repeats the same runs. `PI_TEST_RUNS` replaces their number, and
 * they are others each time; `PI_TEST_SEED` repeats a block, whose seed is in the test name.
 * @param runs number of runs in the suite
 */
export function propertyBlocks(runs: number): PropertyBlock[] {
	const { numRuns: total, seed } = propertyRuns(runs);
	return Array.from({ length: Math.ceil(total / BLOCK) }, (_, at) => ({
		runs: Math.min(BLOCK, total - at * BLOCK),
		seed: seed + at,
	}));
}

/**
 * Number and seed of the runs of a property test whose runs leave nothing behind. `PI_TEST_RUNS` and `PI_TEST_SEED` replace
 * them as in `propertyBlocks`.
 * @param runs number of runs in the suite
 */
export function propertyRuns(runs: number, seed = 1): { numRuns: number; seed: number } {
	const { PI_TEST_RUNS, PI_TEST_SEED } = process.env;
	return {
		numRuns: Number(PI_TEST_RUNS ?? runs),
		seed: Number(PI_TEST_SEED ?? (PI_TEST_RUNS ? Date.now() % 2 ** 31 : seed)),
	};
}
