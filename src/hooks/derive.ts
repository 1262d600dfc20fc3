import { createHash } from "node:crypto";
import type { SessionEntry } from "../log/entry.js";
import { onAbort } from "../util/abort.js";
import { isRecord } from "../util/is-record.js";
import type { Derived, DeriveEvent, DeriveOptions, HookEventContext } from "./types.js";

/** Inputs that are worked on at the same time: they are mostly requests to models. */
const MAX_PARALLEL = 4;

const EVENTS: readonly string[] = ["turn_start", "turn_end", "agent_settled"] satisfies DeriveEvent[];

/** Times that an input is tried although Escape or the time limit interrupts it: each delays what waits for it. */
const MAX_TRIES = 3;

/** A derivation of a hook: the type of its entries, which event it runs at, the handler for it, and what the hook gets to read values. */
export interface Derivation<I, V> {
	type: string;
	event: DeriveEvent;
	handler(event: unknown, ctx: HookEventContext): Promise<void>;
	derived: Derived<I, V>;
}

/**
 * Creates what `pi.derive` registers. A value is an entry `{ type: "<hook>:<name>", input, value }`, where `input` is the SHA-256 of
 * the input as JSON. An input that failed, or for which `run` returned nothing, is not tried again until the hook is loaded again, and
 * one that is interrupted only `MAX_TRIES` times.
 * @throws TypeError that names the invalid field
 */
export function createDerivation<I, V>(hook: string, name: string, options: DeriveOptions<I, V>): Derivation<I, V> {
	if (typeof name !== "string" || name === "")
		throw new TypeError("the name of a derivation must be a non-empty string");
	const { at = "agent_settled", from, run, ...others } = options ?? {};
	const [unknown] = Object.keys(others);
	if (unknown !== undefined) throw new TypeError(`the derivation ${name} has the unknown option ${unknown}`);
	if (typeof from !== "function" || typeof run !== "function")
		throw new TypeError(`the derivation ${name} needs the functions from and run`);
	if (!EVENTS.includes(at)) throw new TypeError(`at of the derivation ${name} must be one of ${EVENTS.join(", ")}`);
	const type = `${hook}:${name}`;
	/** Digests of inputs that are being worked on, or of which nothing came. */
	const done = new Set<string>();
	const interrupted = new Map<string, number>();
	/** Works on an input. @returns whether its value was saved */
	const derive = async (digest: string, input: I, ctx: HookEventContext): Promise<boolean> => {
		done.add(digest);
		// Also if `run` ignores the signal: nothing waits for it then, and its value is not saved.
		const release = onAbort(ctx.signal, () => {
			const tries = (interrupted.get(digest) ?? 0) + 1;
			interrupted.set(digest, tries);
			if (tries < MAX_TRIES) done.delete(digest);
		});
		try {
			const value = await run(input, ctx);
			if (value === undefined || ctx.signal.aborted) return false;
			await ctx.saveEntry({ type, input: digest, value });
			return true;
		} finally {
			release();
		}
	};
	return {
		type,
		event: at,
		async handler(_, ctx) {
			const inputs: unknown = from(ctx.entries);
			if (!Array.isArray(inputs)) throw new TypeError(`from of the derivation ${name} returned no list`);
			const known = valuesOf(type, ctx.entries);
			const wanted = new Map(inputs.map((input: I) => [digestOf(input), input]));
			const missing = [...wanted].filter(([digest]) => !known.has(digest) && !done.has(digest));
			if (missing.length === 0) return;
			const failures: unknown[] = [];
			let isSaved = false;
			const work = async () => {
				for (let next = missing.shift(); next && !ctx.signal.aborted; next = missing.shift()) {
					try {
						isSaved = (await derive(...next, ctx)) || isSaved;
					} catch (error) {
						if (!ctx.signal.aborted) failures.push(error);
					}
				}
			};
			await Promise.all(Array.from({ length: MAX_PARALLEL }, work));
			if (isSaved && !ctx.signal.aborted) await ctx.rebuildContext();
			if (failures.length > 0) throw failures[0];
		},
		derived: Object.freeze<Derived<I, V>>({
			get: (input, entries) => valuesOf(type, entries).get(digestOf(input)) as V | undefined,
		}),
	};
}

// Contexts are computed for the same entries several times.
const values = new WeakMap<
	readonly SessionEntry[],
	{ length: number; byType: Map<string, ReadonlyMap<string, unknown>> }
>();

/** The values of a derivation by the digest of their input; the first one counts, so that a request never changes afterwards. */
function valuesOf(type: string, entries: readonly SessionEntry[]): ReadonlyMap<string, unknown> {
	let memo = values.get(entries);
	if (memo?.length !== entries.length) memo = { length: entries.length, byType: new Map() };
	values.set(entries, memo);
	const found = memo.byType.get(type) ?? readValues(type, entries);
	memo.byType.set(type, found);
	return found;
}

function readValues(type: string, entries: readonly SessionEntry[]): ReadonlyMap<string, unknown> {
	const found = new Map<string, unknown>();
	for (const entry of entries) {
		if (entry.type !== type || !isRecord(entry)) continue;
		const { input, value } = entry;
		if (typeof input === "string" && value !== undefined && !found.has(input)) found.set(input, value);
	}
	return found;
}

function digestOf(input: unknown): string {
	return createHash("sha256")
		.update(JSON.stringify(input) ?? "undefined")
		.digest("hex");
}
