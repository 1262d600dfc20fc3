import type { Message } from "./fetch.js";

/** A search engine that pi asks itself. */
export type EngineName = "searxng" | "brave" | "tavily" | "exa";

/** What an engine found, as it says it. */
export interface FoundPage {
	title: unknown;
	url: unknown;
	snippet: unknown;
	date: unknown;
}

/** A search engine: its request, and how its answer is read. */
export interface Engine {
	/** As people write it. */
	title: string;
	/** The variable with its key; null: it needs none. */
	variable: string | null;
	/** Its address; null: that of `webSearch.url`. */
	origin: string | null;
	request(query: string, count: number, key: string): { path: string } & Message;
	/** The results in the parsed answer; undefined if the answer has another form. */
	read(answer: Answer): readonly FoundPage[] | undefined;
}

/** Parsed JSON of a stranger. Members may be missing or anything else. */
interface Answer {
	readonly [member: string]: unknown;
}

const JSON_BODY = { "content-type": "application/json" };

/** The engines, in the order in which `auto` tries those that have a key. */
export const ENGINES: Readonly<Record<EngineName, Engine>> = {
	searxng: {
		title: "SearXNG",
		variable: null,
		origin: null,
		request: (query) => ({ path: `search?${new URLSearchParams({ q: query, format: "json" })}`, headers: {} }),
		read: ({ results }) => list(results, { snippet: "content", date: "publishedDate" }),
	},
	brave: {
		title: "Brave",
		variable: "BRAVE_API_KEY",
		origin: "https://api.search.brave.com/",
		request: (query, count, key) => ({
			path: `res/v1/web/search?${new URLSearchParams({ q: query, count: String(count), text_decorations: "false" })}`,
			headers: { "x-subscription-token": key },
		}),
		// An answer without web pages has no member `web`.
		read: ({ type, web }) =>
			type === "search" && web === undefined
				? []
				: list(member(web, "results"), { snippet: "description", date: "page_age" }),
	},
	tavily: {
		title: "Tavily",
		variable: "TAVILY_API_KEY",
		origin: "https://api.tavily.com/",
		request: (query, count, key) => ({
			path: "search",
			headers: { ...JSON_BODY, authorization: `Bearer ${key}` },
			body: JSON.stringify({ query, max_results: count }),
		}),
		read: ({ results }) => list(results, { snippet: "content", date: "published_date" }),
	},
	exa: {
		title: "Exa",
		variable: "EXA_API_KEY",
		origin: "https://api.exa.ai/",
		request: (query, count, key) => ({
			path: "search",
			headers: { ...JSON_BODY, "x-api-key": key },
			body: JSON.stringify({ query, numResults: count, contents: { text: { maxCharacters: 1000 } } }),
		}),
		read: ({ results }) => list(results, { snippet: "text", date: "publishedDate" }),
	},
};

function list(results: unknown, names: { snippet: string; date: string }): FoundPage[] | undefined {
	if (!Array.isArray(results)) return undefined;
	return results.map((result) => ({
		title: member(result, "title"),
		url: member(result, "url"),
		snippet: member(result, names.snippet),
		date: member(result, names.date),
	}));
}

function member(value: unknown, name: string): unknown {
	return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
