/** Divides room fairly: nobody gets more than wanted, nor more than another one who still wants more. */
export function fairShares(wanted: readonly number[], room: number): number[] {
	const shares = wanted.map(() => 0);
	for (let left = room; left > 0; ) {
		const open = shares.flatMap((share, at) => (share < (wanted[at] ?? 0) ? [at] : [])).slice(0, left);
		if (open.length === 0) break;
		for (const at of open) shares[at] = (shares[at] ?? 0) + 1;
		left -= open.length;
	}
	return shares;
}
