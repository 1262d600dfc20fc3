/** How the keys of providers begin; those of others have no shape of their own. */
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
 * A key as it was pasted, without what comes along with one: `NAME=`, quotes, blanks and line ends, also in its middle,
 * where a terminal broke it, and characters that show nothing.
 */
export function cleanKey(pasted: string): string {
	const key = pasted.replace(/[\s\p{Cc}\p{Cf}]+/gu, " ").trim();
	return key
		.replace(/^(?:export )?[A-Z][A-Z0-9_]*=/, "")
		.replace(/^(["'`])(.*)\1;?$/, "$2")
		.replace(/ /g, "");
}

/** What speaks against a text being a key of a provider, a clause without a period; null when nothing does. */
export function keyProblem(provider: string, key: string): string | null {
	if (/[^\x21-\x7e]/.test(key)) return "it has characters that no key has";
	if (/^https?:/i.test(key)) return "it is a web address";
	if (key.length < SHORTEST_KEY) return `it is only ${key.length} characters long`;
	const owner = ownerOf(key);
	const expected = PREFIXES[provider];
	if (expected === undefined || key.startsWith(expected)) {
		const isOther = owner !== null && owner !== provider && expected !== PREFIXES[owner];
		return isOther && expected !== undefined ? `it looks like a key of ${owner}` : null;
	}
	return owner === null ? `keys of ${provider} begin with ${expected}` : `it looks like a key of ${owner}`;
}

/** The provider whose keys alone begin like this one. */
function ownerOf(key: string): string | null {
	const fitting = Object.entries(PREFIXES)
		.filter(([, prefix]) => key.startsWith(prefix))
		.sort(([, a], [, b]) => b.length - a.length);
	const [best, second] = fitting;
	return best && best[1] !== second?.[1] ? best[0] : null;
}
