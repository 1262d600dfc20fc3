import { ENGINES, type EngineName, type FoundPage } from "./engines.js";
import { fetchAddress, parseAddress, privateAddresses } from "./fetch.js";
import { clean } from "./text.js";

/** An engine, what it needs, and what to find. */
export interface EngineSearch {
	engine: EngineName;
	query: string;
	count: number;
	/** The key of the engine; empty if it needs none. */
	key: string;
	/** The address of the engine, if it has none of its own or a test replaces it. */
	origin?: string | undefined;
	signal: AbortSignal;
	/** Default: that of `fetchAddress`. */
	timeoutMs?: number;
}

/** Limits of one result, in UTF-16 units. */
const [MAX_TITLE, MAX_SNIPPET, MAX_URL] = [200, 600, 1000];

/**
 * Asks a search engine.
 * @returns its results as text for the model, numbered; empty: it found nothing
 * @throws Error with what happened and what to do, which never contains the key; the reason of `signal` once it is aborted
 */
export async function askEngine(search: EngineSearch): Promise<string> {
	const { engine, query, count, key, signal, timeoutMs } = search;
	const { title, origin: own, request, read } = ENGINES[engine];
	const base = search.origin ?? own ?? "";
	const { path, ...message } = request(query, count, key);
	let url: URL;
	try {
		url = new URL(path, parseAddress(base.endsWith("/") ? base : `${base}/`));
	} catch {
		throw new Error(`${title} cannot be asked: webSearch.url is not an http or https address without a password`);
	}
	const headers = { ...message.headers, accept: "application/json" };
	// The address of an engine is from the user or from pi, not from the model.
	const allowed = search.origin === undefined ? [] : await privateAddresses(url).catch(() => []);
	const answer = await fetchAddress(url, {
		...{ signal, allowed, message: { ...message, headers } },
		...(timeoutMs !== undefined && { timeoutMs }),
	}).catch((error: unknown) => {
		signal.throwIfAborted();
		throw new Error(`${title} did not answer: ${mask(error instanceof Error ? error.message : String(error), key)}`);
	});
	if (answer.status < 200 || answer.status > 299)
		throw new Error(`${title} answered with status ${answer.status}${adviceFor(engine, answer.status)}`);
	if (answer.isCut) throw new Error(`${title} sent more than 5 MB. Search for something more specific.`);
	const found = parse(answer.bytes, read);
	if (found === undefined) {
		const where = engine === "searxng" ? ": check webSearch.url" : "";
		throw new Error(`${title} did not answer with results in JSON${where}`);
	}
	return mask(listed(found, count), key);
}

function adviceFor(engine: EngineName, status: number): string {
	const { variable } = ENGINES[engine];
	if (status === 429) return ": too many searches. Wait, or continue without a search.";
	if (engine === "searxng" && status === 403) return ": its settings.yml must have json in search.formats";
	if (variable !== null && (status === 401 || status === 403 || status === 422))
		return `: the user must check the key in ${variable}`;
	return "";
}

function parse(bytes: Buffer, read: (typeof ENGINES)[EngineName]["read"]): readonly FoundPage[] | undefined {
	try {
		const answer: unknown = JSON.parse(bytes.toString("utf8"));
		return typeof answer === "object" && answer !== null ? read({ ...answer }) : undefined;
	} catch {
		return undefined; // no JSON
	}
}

/** A service may repeat the key that it received. */
export function mask(text: string, key: string): string {
	return key.length < 4 ? text : text.replaceAll(key, "‹key›");
}

function listed(found: readonly FoundPage[], count: number): string {
	const results = found.flatMap((page) => {
		const url = addressOf(page.url);
		return url === null ? [] : [{ ...page, url }];
	});
	return results
		.slice(0, count)
		.flatMap(({ title, url, snippet, date }, at) => {
			const day = typeof date === "string" ? (/^\d{4}-\d\d-\d\d/.exec(date)?.[0] ?? "") : "";
			const text = [day, line(snippet, MAX_SNIPPET)].filter(Boolean).join(" · ");
			return [`${at + 1}. ${line(title, MAX_TITLE) || "[no title]"}`, `   ${url}`, ...(text ? [`   ${text}`] : [])];
		})
		.join("\n");
}

function addressOf(url: unknown): string | null {
	if (typeof url !== "string" || url.length > MAX_URL || !URL.canParse(url)) return null;
	const { protocol, href } = new URL(url);
	return /^https?:$/.test(protocol) ? href : null;
}

/** Tags with which engines mark words. */
const MARKUP = /<\/?(?:b|em|i|mark|strong)>/gi;
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", "#x27": "'" };

/** Text of a result as one line. */
function line(value: unknown, maxLength: number): string {
	if (typeof value !== "string") return "";
	// Before the rest: a text can be as long as the answer.
	const start = value.slice(0, 4 * maxLength);
	const text = start
		.replace(MARKUP, "")
		.replace(/&(amp|lt|gt|quot|#39|#x27);/g, (entity, name: string) => ENTITIES[name] ?? entity);
	const plain = clean(text).replace(/\s+/g, " ").trim();
	return plain.length > maxLength ? `${plain.slice(0, maxLength).toWellFormed()}…` : plain;
}
