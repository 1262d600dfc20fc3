import { expect, test } from "vitest";
import { Random } from "./random.js";

/** A run of a random test. The same seed makes the same choices. */
export interface Round {
	seed: number;
	random: Random;
}

/** Number of rounds in the suite, and in the long form. */
export interface RoundCounts {
	short: number;
	long: number;
	/** Rounds that share a vitest test and what it cleans up. Default 25. */
	perTest?: number;
	/** False skips the test, visibly. */
	runIf?: boolean;
}

const { PI_FAULTS, PI_FAULTS_SEED, PI_FAULTS_ROUNDS } = process.env;

/** True for `npm run test:faults`. */
export const IS_LONG = PI_FAULTS === "long";

/** The first seed. The suite repeats the same rounds. */
export const FIRST_SEED = Number(PI_FAULTS_SEED ?? 1);

const TIMEOUT_MS = 900_000;

/**
 * Registers the rounds of a random test, in blocks whose names hold their seeds. A failure names the command that repeats
 * its round.
 * @param family title of the file's tests, for `--only`
 */
export function faultTest(
	family: string,
	name: string,
	{ short, long, perTest = 25, runIf = true }: RoundCounts,
	play: (round: Round) => Promise<void>,
): void {
	const total = Number(PI_FAULTS_ROUNDS ?? (IS_LONG ? long : short));
	const blocks = Array.from({ length: Math.ceil(total / perTest) }, (_, at) => {
		const first = FIRST_SEED + at * perTest;
		return { first, last: Math.min(first + perTest, FIRST_SEED + total) - 1 };
	});
	test.runIf(runIf).each(blocks)(
		`${family}: ${name} (seeds $first to $last)`,
		{ timeout: TIMEOUT_MS },
		async ({ first, last }) => {
			for (let seed = first; seed <= last; seed++) {
				try {
					await play({ seed, random: new Random(seed) });
				} catch (cause) {
					const replay = `npm run test:faults -- --only "${family}" --seed ${seed} --rounds 1`;
					throw new Error(`Seed ${seed}: ${String(cause)}\nRepeat it with: ${replay}`, { cause });
				}
			}
			expect(last - first).toBeLessThan(perTest);
		},
	);
}
