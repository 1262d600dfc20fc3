import { trimEndOf } from "../util/trim.js";

/**
 * Replaces the base URLs of a provider by the one of models.json. The models of some providers have several: those of OpenRouter
 * `https://openrouter.ai/api/v1` and, for Anthropic's format, `https://openrouter.ai/api`. If the new one ends like one of them
 * (`/v1`), only what precedes the ends is replaced.
 * @param known the base URLs of the provider's models
 * @param own the one of models.json
 * @returns the new base URL for a known one; one that was replaced before is unchanged
 */
export function replaceBaseUrls(known: readonly string[], own: string): (baseUrl: string) => string {
	const addresses = [...new Set(known)];
	const root = addresses.length > 1 ? commonRoot(addresses) : null;
	if (root === null) return () => own;
	const ends = addresses.map((address) => trimEndOf(address, "/").slice(root.length));
	const plain = trimEndOf(own, "/");
	const end = ends.find((candidate) => candidate !== "" && plain.endsWith(candidate));
	// It may be the address of a server that has no such parts.
	if (end === undefined && ends.includes("")) return () => own;
	const start = plain.slice(0, plain.length - (end ?? "").length);
	const replaced = new Map(addresses.map((address, at) => [address, `${start}${ends[at]}`]));
	const news = new Set(replaced.values());
	return (baseUrl) => replaced.get(baseUrl) ?? (news.has(baseUrl) ? baseUrl : own);
}

/** What all addresses begin with: the server and complete parts of the path; null if their servers differ. */
function commonRoot(addresses: readonly string[]): string | null {
	const [first = [], ...others] = addresses.map((address) => trimEndOf(address, "/").split("/"));
	const differs = (at: number) => others.some((parts) => parts[at] !== first[at]);
	let length = 0;
	while (length < first.length && !differs(length)) length++;
	// `https://host` has three parts.
	return length < 3 ? null : first.slice(0, length).join("/");
}
