import { isDeepStrictEqual } from "node:util";
import { freezeDeep } from "../log/freeze.js";
import { isRecord } from "../util/is-record.js";

/** Fields of the body of a request by wire format, such as `anthropic-messages`: what hooks ask a provider to do itself. Frozen. */
export type ProviderFields = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Each reply records the fields of its request. */
const MAX_CHARACTERS = 10_000;

/**
 * Fields that hold what pi records of a request: instructions, conversation, tools and model. Google has some of them in `config`.
 * Hooks change these with `messages`, `systemPrompt` and `tools`.
 */
export const RECORDED_FIELDS: readonly string[] =
	"model modelId messages system tools input instructions contents systemInstruction toolConfig".split(" ");

/** What else pi decides: how the reply and its usage arrive, and the object that has fields of the conversation. */
const OWN_FIELDS: readonly string[] = ["stream", "stream_options", "config", "__proto__"];

/** Lists of names, to which hooks add. */
const LISTS: ReadonlySet<string> = new Set(["betas"]);

/**
 * Adds the field `provider` of an answer to those of previous hooks. Of two hooks with the same field, the later one counts.
 * @returns a fault if the answer is invalid
 * @throws errors of accessors in the answer
 */
export function addProviderFields(
	before: ProviderFields | null,
	answer: unknown,
): { fields: ProviderFields } | { rule: string; position: number; detail?: string } {
	const malformed = { rule: "provider_is_object", position: 0 };
	if (!isRecord(answer)) return malformed;
	const text = JSON.stringify(answer);
	if (text === undefined || text.length > MAX_CHARACTERS) return { rule: "provider_is_small", position: 0 };
	const merged: Record<string, Record<string, unknown>> = { ...before };
	for (const [api, fields] of Object.entries(JSON.parse(text))) {
		if (!isRecord(fields) || api === "__proto__") return malformed;
		const taken = Object.keys(fields).find((name) => RECORDED_FIELDS.includes(name) || OWN_FIELDS.includes(name));
		if (taken !== undefined) return { rule: "provider_field_is_free", position: 0, detail: taken };
		merged[api] = withFields({ ...merged[api] }, fields);
	}
	return { fields: freezeDeep(merged) };
}

/** The body of a request with the fields for its wire format. */
export function withFields(
	body: Readonly<Record<string, unknown>>,
	fields: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
	const merged = { ...body };
	for (const [name, value] of Object.entries(fields)) {
		const known = body[name];
		merged[name] =
			LISTS.has(name) && Array.isArray(known) && Array.isArray(value) ? [...new Set([...known, ...value])] : value;
	}
	return merged;
}

/** True for requests that ask the same of their provider. */
export function asksTheSame(a: ProviderFields | null | undefined, b: ProviderFields | null | undefined): boolean {
	return isDeepStrictEqual(a ?? null, b ?? null);
}
