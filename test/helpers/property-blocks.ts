/** Runs of a property test that share a test, so that their sessions are released before the next block starts. */
const BLOCK = 100;

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
	const { PI_TEST_RUNS, PI_TEST_SEED } = process.env;
	const total = Number(PI_TEST_RUNS ?? runs);
	const seed = Number(PI_TEST_SEED ?? (PI_TEST_RUNS ? Date.now() % 2 ** 31 : 1));
	return Array.from({ length: Math.ceil(total / BLOCK) }, (_, at) => ({
		runs: Math.min(BLOCK, total - at * BLOCK),
		seed: seed + at,
	}));
}
