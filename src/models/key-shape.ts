import { plural } from "../util/format-amounts.js";
import { providerName } from "./provider-names.js";

/** Prefixes of the keys of providers; the keys of all others have none. */
const PREFIXES: Readonly<Record<string, string>> = {
	anthropic: "sk-ant-",
	cerebras: "csk-",
	deepseek: "sk-",
	google: "AIza",
	groq: "gsk_",
	huggingface: "hf_",
	openai: "sk-",
	openrouter: "sk-or-",
	xai: "xai-",
};
const SHORTEST_KEY = 12;

/**
 * Removes everything from a pasted key that is not part of it: `NAME=`, quotes, invisible characters, and whitespace,
 * including line breaks that a terminal inserted.
 */
export function cleanKey(pasted: string): string {
	const key = pasted.replace(/[\s\p{Cc}\p{Cf}]+/gu, " ").trim();
	return key
		.replace(/^(?:export )?[A-Z][A-Z0-9_]*=/, "")
		.replace(/^(["'`])(.*)\1;?$/, "$2")
		.replace(/ /g, "");
}

/** Whether a pasted text has several lines that are not blank: a key that a terminal wrapped, or more than a key. */
export function hasSeveralLines(pasted: string): boolean {
	return /[\n\r\u2028]/.test(pasted.trim());
}

/** Why a text is probably not a key of the provider, as a clause without a period; null if it looks valid. */
export function keyProblem(provider: string, key: string): string | null {
	if (/[^\x21-\x7e]/.test(key)) return "it contains characters that are invalid in keys";
	if (/^https?:/i.test(key)) return "it is a web address";
	if (key.length < SHORTEST_KEY) return `it is only ${plural(key.length, "character")} long`;
	const owner = ownerOf(key);
	const expected = PREFIXES[provider];
	if (expected === undefined || key.startsWith(expected)) {
		const isOther = owner !== null && owner !== provider && expected !== PREFIXES[owner];
		return isOther && expected !== undefined ? `it looks like a key of ${providerName(owner)}` : null;
	}
	return owner === null
		? `keys of ${providerName(provider)} begin with ${expected}`
		: `it looks like a key of ${providerName(owner)}`;
}

/** The only provider with the longest matching prefix; null unless exactly one matches. */
function ownerOf(key: string): string | null {
	const [best, second] = Object.entries(PREFIXES)
		.filter(([, prefix]) => key.startsWith(prefix))
		.sort(([, a], [, b]) => b.length - a.length);
	return best && best[1] !== second?.[1] ? best[0] : null;
}
