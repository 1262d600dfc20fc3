import type { TracedMessage } from "./context-message.js";
import { digestContext } from "./digest.js";

/** A message in the comparison of two requests. Positions are from 0; null where a request does not have it. */
export interface RequestChange {
	/** `replaced`: the message of one entry has another content now. */
	kind: "kept" | "added" | "removed" | "replaced";
	previous: number | null;
	current: number | null;
}

/**
 * Compares two requests. In the order of the current one; what was removed stands before what is there now. Messages
 * that reach the model alike count as the same.
 */
export function diffRequests(previous: readonly TracedMessage[], current: readonly TracedMessage[]): RequestChange[] {
	const kept = keptPairs(previous.map(keyOf), current.map(keyOf));
	const changes: RequestChange[] = [];
	let [before, now] = [0, 0];
	for (const [keptBefore, keptNow] of [...kept, [previous.length, current.length] as const]) {
		changes.push(...changed(previous, current, [before, keptBefore], [now, keptNow]));
		if (keptNow < current.length) changes.push({ kind: "kept", previous: keptBefore, current: keptNow });
		[before, now] = [keptBefore + 1, keptNow + 1];
	}
	return changes;
}

type Stretch = readonly [from: number, to: number];

/** What lies between two messages that were kept. */
function changed(
	previous: readonly TracedMessage[],
	current: readonly TracedMessage[],
	[from, before]: Stretch,
	[start, now]: Stretch,
): RequestChange[] {
	const ofEntry = new Map<number, number>();
	for (let at = from; at < before; at++) {
		const index = previous[at]?.entryIndex ?? null;
		if (index !== null) ofEntry.set(index, at);
	}
	const changes: RequestChange[] = [];
	let [gone, come] = [from, start];
	for (let at = start; at < now; at++) {
		const index = current[at]?.entryIndex ?? null;
		const twin = index === null ? undefined : ofEntry.get(index);
		if (twin === undefined || twin < gone) continue;
		changes.push(...removed(gone, twin), ...added(come, at), { kind: "replaced", previous: twin, current: at });
		[gone, come] = [twin + 1, at + 1];
	}
	return [...changes, ...removed(gone, before), ...added(come, now)];
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

function keyOf({ message }: TracedMessage): string {
	return digestContext([message]);
}

/** Pairs of equal keys whose positions rise in both lists: as many as can be found when each key is matched in order. */
function keptPairs(previous: readonly string[], current: readonly string[]): (readonly [number, number])[] {
	const places = new Map<string, number[]>();
	for (const [at, key] of previous.entries()) places.set(key, [...(places.get(key) ?? []), at]);
	const pairs: (readonly [number, number])[] = [];
	for (const [at, key] of current.entries()) {
		const place = places.get(key)?.shift();
		if (place !== undefined) pairs.push([place, at]);
	}
	return longestRising(pairs);
}

/** The longest part of a list whose first members rise. */
function longestRising(pairs: readonly (readonly [number, number])[]): (readonly [number, number])[] {
	/** `ends[n]` is the pair with the least end among the rising parts of length n + 1. */
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
	const rising: (readonly [number, number])[] = [];
	for (let at = ends.at(-1) ?? -1; at >= 0; at = before[at] ?? -1) {
		const pair = pairs[at];
		if (pair) rising.unshift(pair);
	}
	return rising;
}
