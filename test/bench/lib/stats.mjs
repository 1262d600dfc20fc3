/** @param {number[]} values NaN: not measured, such as the CPU of a process that has just exited. All NaN without others */
export function summarize(values) {
	const sorted = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
	if (sorted.length === 0) return { min: Number.NaN, median: Number.NaN, max: Number.NaN };
	return { min: sorted[0], median: sorted[Math.floor(sorted.length / 2)], max: sorted.at(-1) };
}

/** The value below which `percent` of the values lie. */
export function percentile(values, percent) {
	const sorted = [...values].sort((a, b) => a - b);
	return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))];
}

/**
 * Runs each subject once per round, in turn, so that drift of the machine affects all equally.
 * @param {Record<string, () => Promise<Record<string, number>>>} subjects each run returns numbers by name
 * @returns {Promise<Record<string, Record<string, number[]>>>} subject → name → values in order of rounds
 */
export async function interleave(rounds, subjects) {
	const values = Object.fromEntries(Object.keys(subjects).map((name) => [name, {}]));
	for (let round = 0; round < rounds; round++) {
		for (const [name, run] of Object.entries(subjects)) {
			for (const [key, value] of Object.entries(await run())) {
				values[name][key] ??= [];
				values[name][key].push(value);
			}
		}
	}
	return values;
}
