import { isProxy } from "node:util/types";
import type { AppMessage } from "../log/entry.js";
import { freezeDeep, MAX_ENTRY_DEPTH } from "../log/freeze.js";
import { isKnownRole, isWellFormed } from "./check.js";

/** Messages that nobody can change any more: well formed, plain data, deeply frozen. */
const settled = new WeakSet<object>();

/** A message as it goes on, or the rule that it breaks. */
export type Settled = { message: AppMessage } | { rule: "known_role" | "well_formed_content" };

/**
 * Takes over a message that a hook made: as it is when nobody can change it any more, else a frozen copy of what JSON
 * holds of it. So a message that was checked once stays what it was, whatever the hook or a later one does to its object.
 * @throws what its accessors throw
 */
export function settleMessage(given: object): Settled {
	if (settled.has(given)) return { message: given as AppMessage };
	const message = isFixed(given) ? given : copy(given);
	if (!isWellFormed(message)) return { rule: isKnownRole(given) ? "well_formed_content" : "known_role" };
	settled.add(message);
	return { message };
}

/** True when a value has the data of a settled message, so that this one can stand for it. @throws as `settleMessage` */
export function isSameData(value: unknown, plain: unknown): boolean {
	if (value === plain) return true;
	if (typeof value !== "object" || typeof plain !== "object" || value === null || plain === null) return false;
	if (Array.isArray(plain)) {
		if (!Array.isArray(value) || value.length !== plain.length) return false;
		return plain.every((item, index) => isSameData(value[index], item));
	}
	if (Array.isArray(value) || "toJSON" in value) return false;
	const fields = Object.entries(plain);
	const given = Object.entries(value).filter(([, field]) => field !== undefined);
	if (given.length !== fields.length) return false;
	const byKey = new Map(given);
	return fields.every(([key, field]) => isSameData(byKey.get(key), field));
}

function copy(given: object): unknown {
	try {
		return freezeDeep(JSON.parse(JSON.stringify(given) ?? "null"));
	} catch {
		return null; // cycles, BigInt, nested too deeply: no message
	}
}

/** True for plain data that is frozen all through. */
function isFixed(value: unknown, depth = 1): boolean {
	if (typeof value !== "object" || value === null) return typeof value !== "function";
	if (depth > MAX_ENTRY_DEPTH || isProxy(value) || !Object.isFrozen(value)) return false;
	const prototype: unknown = Object.getPrototypeOf(value);
	if (prototype !== Object.prototype && prototype !== Array.prototype) return false;
	return Object.values(Object.getOwnPropertyDescriptors(value)).every(
		(property) => "value" in property && isFixed(property.value, depth + 1),
	);
}
