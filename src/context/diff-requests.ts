import type { TracedMessage } from "./context-message.js";
import { digestContext } from "./digest.js";
import { type Preamble, sentTool } from "./preamble.js";

/** A message, section or tool in the comparison of two requests. Positions are from 0; null for the request that lacks it. */
export interface RequestChange {
	/** `replaced`: both requests have a message of the same entry, or a section or tool of this name, with different content. */
	kind: "kept" | "added" | "removed" | "replaced";
	previous: number | null;
	current: number | null;
}

/**
 * Compares the messages of two requests. The result is in the order of the current one; removed messages come before the
 * ones now at their position. Messages that are sent alike count as equal.
 */
export function diffRequests(previous: readonly TracedMessage[], current: readonly TracedMessage[]): RequestChange[] {
	const items = (list: readonly TracedMessage[]) =>
		list.map(({ message, entryIndex }): Item => ({ key: digestContext([message]), name: entryIndex }));
	return diffItems(items(previous), items(current));
}

/** Compares the tools and the sections of two requests, like `diffRequests`. */
export function diffPreambles(
	previous: Preamble,
	current: Preamble,
): { tools: RequestChange[]; sections: RequestChange[] } {
	const tools = (preamble: Preamble) =>
		preamble.tools.map((tool): Item => ({ key: JSON.stringify(sentTool(tool)), name: tool.name }));
	const sections = (preamble: Preamble) =>
		preamble.promptSections.map(({ id, text }): Item => ({ key: JSON.stringify([id, text]), name: id }));
	return {
		tools: diffItems(tools(previous), tools(current)),
		sections: diffItems(sections(previous), sections(current)),
	};
}

/** A part of a request: equal keys are sent alike; an equal name with another key is a replacement. */
interface Item {
	key: string;
	name: number | string | null;
}

function diffItems(previous: readonly Item[], current: readonly Item[]): RequestChange[] {
	const kept = keptPairs(previous, current);
	const changes: RequestChange[] = [];
	let [before, now] = [0, 0];
	for (const [keptBefore, keptNow] of [...kept, [previous.length, current.length] as const]) {
		changes.push(...changed(previous, current, [before, keptBefore], [now, keptNow]));
		if (keptNow < current.length) changes.push({ kind: "kept", previous: keptBefore, current: keptNow });
		[before, now] = [keptBefore + 1, keptNow + 1];
	}
	return changes;
}

type Span = readonly [from: number, to: number];

/** The changes between two kept parts. */
function changed(
	previous: readonly Item[],
	current: readonly Item[],
	[from, before]: Span,
	[start, now]: Span,
): RequestChange[] {
	const previousByName = new Map<number | string, number>();
	for (let at = from; at < before; at++) {
		const name = previous[at]?.name ?? null;
		if (name !== null) previousByName.set(name, at);
	}
	const changes: RequestChange[] = [];
	let [oldAt, newAt] = [from, start];
	for (let at = start; at < now; at++) {
		const name = current[at]?.name ?? null;
		const twin = name === null ? undefined : previousByName.get(name);
		if (twin === undefined || twin < oldAt) continue;
		changes.push(...removed(oldAt, twin), ...added(newAt, at), { kind: "replaced", previous: twin, current: at });
		[oldAt, newAt] = [twin + 1, at + 1];
	}
	return [...changes, ...removed(oldAt, before), ...added(newAt, now)];
}

function removed(from: number, to: number): RequestChange[] {
	return range(from, to).map((previous) => ({ kind: "removed", previous, current: null }));
}

function added(from: number, to: number): RequestChange[] {
	return range(from, to).map((current) => ({ kind: "added", previous: null, current }));
}

function range(from: number, to: number): number[] {
	return Array.from({ length: Math.max(0, to - from) }, (_, step) => from + step);
}

/**
 * Pairs of equal keys whose positions increase in both lists; the most that can be found by matching the shared start, then
 * items of the same name, and then the others in order.
 */
function keptPairs(previous: readonly Item[], current: readonly Item[]): (readonly [number, number])[] {
	const found = new Map<number, number>();
	const free = new Set(previous.keys());
	for (let at = 0; at < current.length && previous[at]?.key === current[at]?.key; at++) {
		found.set(at, at);
		free.delete(at);
	}
	const match = (idOf: (item: Item) => string) => {
		const positions = new Map<string, number[]>();
		for (const at of free) {
			const item = previous[at];
			if (item) positions.set(idOf(item), [...(positions.get(idOf(item)) ?? []), at]);
		}
		for (const [at, item] of current.entries()) {
			const position = found.has(at) ? undefined : positions.get(idOf(item))?.shift();
			if (position === undefined) continue;
			found.set(at, position);
			free.delete(position);
		}
	};
	match(({ key, name }) => JSON.stringify([name, key]));
	match(({ key }) => key);
	return longestIncreasing(
		[...current.keys()].flatMap((at) => {
			const position = found.get(at);
			return position === undefined ? [] : [[position, at] as const];
		}),
	);
}

/** The longest subsequence with increasing first members. */
function longestIncreasing(pairs: readonly (readonly [number, number])[]): (readonly [number, number])[] {
	/** `ends[n]`: index of the pair with the smallest end among increasing subsequences of length n + 1. */
	const ends: number[] = [];
	const before: number[] = [];
	for (const [at, [value]] of pairs.entries()) {
		let [low, high] = [0, ends.length];
		while (low < high) {
			const middle = (low + high) >> 1;
			if ((pairs[ends[middle] ?? 0]?.[0] ?? 0) < value) low = middle + 1;
			else high = middle;
		}
		before[at] = low > 0 ? (ends[low - 1] ?? -1) : -1;
		ends[low] = at;
	}
	const increasing: (readonly [number, number])[] = [];
	for (let at = ends.at(-1) ?? -1; at >= 0; at = before[at] ?? -1) {
		const pair = pairs[at];
		if (pair) increasing.unshift(pair);
	}
	return increasing;
}
