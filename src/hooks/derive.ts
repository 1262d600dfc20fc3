import { createHash } from "node:crypto";
import type { SessionEntry } from "../log/entry.js";
import { isRecord } from "../util/is-record.js";
import type { Derived, DeriveEvent, DeriveOptions, HookEventContext } from "./types.js";

/** Inputs that are worked on at the same time: they are mostly requests to models. */
const MAX_PARALLEL = 4;

const EVENTS: readonly string[] = ["turn_start", "turn_end", "agent_settled"] satisfies DeriveEvent[];

/** A derivation of a hook: which event it runs at, the handler for it, and what the hook gets to read values. */
export interface Derivation<I, V> {
	event: DeriveEvent;
	handler(event: unknown, ctx: HookEventContext): Promise<void>;
	derived: Derived<I, V>;
}

/**
 * Creates what `pi.derive` registers. A value is an entry `{ type: name, input, value }`, where `input` is the SHA-256 of the input as
 * JSON. An input that failed, or for which `run` returned nothing, is not tried again until the hook is loaded again.
 * @throws TypeError that names the invalid field
 */
export function createDerivation<I, V>(name: string, options: DeriveOptions<I, V>): Derivation<I, V> {
	if (typeof name !== "string" || name === "")
		throw new TypeError("the name of a derivation must be a non-empty string");
	const { at = "agent_settled", from, run } = options ?? {};
	if (typeof from !== "function" || typeof run !== "function")
		throw new TypeError(`the derivation ${name} needs the functions from and run`);
	if (!EVENTS.includes(at)) throw new TypeError(`at of the derivation ${name} must be one of ${EVENTS.join(", ")}`);
	/** Digests of inputs that are being worked on, or of which nothing came. */
	const done = new Set<string>();
	return {
		event: at,
		async handler(_, ctx) {
			const known = valuesOf(name, ctx.entries);
			const wanted = new Map(from(ctx.entries).map((input) => [digestOf(input), input]));
			const missing = [...wanted].filter(([digest]) => !known.has(digest) && !done.has(digest));
			if (missing.length === 0) return;
			const failures: unknown[] = [];
			let isSaved = false;
			const work = async () => {
				for (let next = missing.shift(); next && !ctx.signal.aborted; next = missing.shift()) {
					const [digest, input] = next;
					done.add(digest);
					try {
						const value = await run(input, ctx);
						if (value === undefined) continue;
						await ctx.saveEntry({ type: name, input: digest, value });
						isSaved = true;
					} catch (error) {
						// What was interrupted is tried again.
						if (ctx.signal.aborted) done.delete(digest);
						else failures.push(error);
					}
				}
			};
			await Promise.all(Array.from({ length: MAX_PARALLEL }, work));
			if (isSaved && !ctx.signal.aborted) await ctx.rebuildContext();
			if (failures.length > 0) throw failures[0];
		},
		derived: Object.freeze<Derived<I, V>>({
			get: (input, entries) => valuesOf(name, entries).get(digestOf(input)) as V | undefined,
		}),
	};
}

// Contexts are computed for the same entries several times.
const values = new WeakMap<
	readonly SessionEntry[],
	{ length: number; byName: Map<string, ReadonlyMap<string, unknown>> }
>();

/** The values of a derivation by the digest of their input; the first one counts, so that a request never changes afterwards. */
function valuesOf(name: string, entries: readonly SessionEntry[]): ReadonlyMap<string, unknown> {
	let memo = values.get(entries);
	if (memo?.length !== entries.length) memo = { length: entries.length, byName: new Map() };
	values.set(entries, memo);
	const found = memo.byName.get(name) ?? readValues(name, entries);
	memo.byName.set(name, found);
	return found;
}

function readValues(name: string, entries: readonly SessionEntry[]): ReadonlyMap<string, unknown> {
	const found = new Map<string, unknown>();
	for (const entry of entries) {
		if (entry.type !== name || !isRecord(entry)) continue;
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
