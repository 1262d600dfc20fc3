import { isProxy } from "node:util/types";
import type { AppMessage } from "../log/entry.js";
import { freezeDeep, MAX_ENTRY_DEPTH } from "../log/freeze.js";
import { detailOf, isKnownRole, isWellFormed, roleOf } from "./check.js";

/** Messages that cannot change: well formed, plain data, deeply frozen. */
const adopted = new WeakSet<object>();

const NOT_JSON: ReadonlySet<string> = new Set(["function", "bigint", "symbol"]);

/** An adopted message, or the rule that it breaks. */
export type AdoptedMessage = { message: AppMessage } | { rule: "known_role" | "well_formed_content"; detail?: string };

/**
 * Adopts a message that a hook created: the object itself if it cannot change, else a frozen JSON copy. Hooks cannot change
 * a message after it was checked.
 * @throws errors of its accessors
 */
export function adoptMessage(candidate: object): AdoptedMessage {
	if (adopted.has(candidate)) return { message: candidate as AppMessage };
	const message = isDeeplyFrozen(candidate) ? candidate : copy(candidate);
	if (!isWellFormed(message)) {
		return { rule: isKnownRole(candidate) ? "well_formed_content" : "known_role", ...detailOf(roleOf(candidate)) };
	}
	adopted.add(message);
	return { message };
}

/** True when a value has the same data as an adopted message, which can then be reused. @throws as `adoptMessage` */
export function isSameData(value: unknown, plain: unknown): boolean {
	if (value === plain) return true;
	if (typeof value !== "object" || typeof plain !== "object" || value === null || plain === null) return false;
	if (Array.isArray(plain)) {
		if (!Array.isArray(value) || value.length !== plain.length) return false;
		return plain.every((item, index) => isSameData(value[index], item));
	}
	if (Array.isArray(value) || "toJSON" in value) return false;
	const fields = Object.entries(plain);
	const entries = Object.entries(value).filter(([, field]) => field !== undefined);
	if (entries.length !== fields.length) return false;
	const byKey = new Map(entries);
	return fields.every(([key, field]) => isSameData(byKey.get(key), field));
}

function copy(candidate: object): unknown {
	try {
		return freezeDeep(JSON.parse(JSON.stringify(candidate) ?? "null"));
	} catch {
		return null; // cycles, BigInt or deep nesting: not a valid message
	}
}

/** True for deeply frozen plain data. */
function isDeeplyFrozen(value: unknown, depth = 1): boolean {
	if (typeof value !== "object" || value === null) return !NOT_JSON.has(typeof value);
	if (depth > MAX_ENTRY_DEPTH || isProxy(value) || !Object.isFrozen(value)) return false;
	const prototype: unknown = Object.getPrototypeOf(value);
	if (prototype !== Object.prototype && prototype !== Array.prototype) return false;
	return Object.values(Object.getOwnPropertyDescriptors(value)).every(
		(property) => "value" in property && isDeeplyFrozen(property.value, depth + 1),
	);
}
