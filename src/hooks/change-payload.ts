import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../util/is-record.js";

/** The body of a request, in the format of its provider. */
export type Payload = Readonly<Record<string, unknown>>;

/**
 * Fields that hold what pi has recorded of a request: instructions, conversation, tools and model. Google has some of them
 * in `config`.
 */
const RECORDED = "model modelId messages system tools input instructions contents systemInstruction toolConfig".split(
	" ",
);
const RECORDED_IN_CONFIG = ["systemInstruction", "tools"];

/** A copy of plain objects and lists that cannot be changed; other objects, such as signals, are the same. */
export function frozenPayload(payload: Payload): Payload {
	return frozen(payload) as Payload;
}

function frozen(value: unknown): unknown {
	if (Array.isArray(value)) return Object.freeze(value.map(frozen));
	if (!isPlain(value)) return value;
	return Object.freeze(Object.fromEntries(Object.entries(value).map(([name, field]) => [name, frozen(field)])));
}

/**
 * The request with the changes of a hook.
 * @param seen the copy of the request that the hook received
 * @returns the name of the field that it must not change, instead of a request
 */
export function changePayload(payload: Payload, seen: Payload, changed: Payload): Payload | string {
	const differs = (name: string, before: Payload, after: Payload) => !isDeepStrictEqual(before[name], after[name]);
	const forbidden = RECORDED.find((name) => differs(name, seen, changed));
	if (forbidden !== undefined) return forbidden;
	const [before, after] = [seen, changed].map(({ config }) => (isRecord(config) ? config : {})) as [Payload, Payload];
	const hidden = RECORDED_IN_CONFIG.find((name) => differs(name, before, after));
	if (hidden !== undefined) return `config.${hidden}`;
	// What the hook has not changed is the provider's own object, which is not frozen.
	const merged = Object.entries(changed).map(([name, value]) => [name, value === seen[name] ? payload[name] : value]);
	return Object.fromEntries(merged);
}

function isPlain(value: unknown): value is Record<string, unknown> {
	if (!isRecord(value)) return false;
	const prototype: unknown = Object.getPrototypeOf(value);
	return prototype === Object.prototype || prototype === null;
}
