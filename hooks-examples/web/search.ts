import type { HookAPI, HookEventContext } from "@mariozechner/pi-coding-agent/hooks";
import { Type } from "typebox";
import { askEngine } from "./ask-engine.js";
import { askProvider, canSearch, surelySearches } from "./ask-provider.js";
import { ENGINES, type EngineName } from "./engines.js";
import { markForeign } from "./text.js";

const DEFAULT_COUNT = 8;
const MAX_COUNT = 20;
/** The longest query that all engines accept. UTF-16 units. */
const MAX_QUERY = 400;

const NO_OWN_SEARCH =
	"has no search of its own. Set webSearch.engine to searxng (with webSearch.url), brave, tavily or exa, or choose another model.";

/** Who answers a search. */
type Answering =
	| { engine: "provider"; model: NonNullable<HookEventContext["model"]> }
	| { engine: EngineName; key: string; origin?: string };

/** Offers the tool `web_search` from the start of a session or a reload on, if the user has set `webSearch.engine`. */
export function provideSearch(pi: HookAPI): void {
	pi.on("session", ({ reason }, { webSearch }) => {
		if (reason !== "start" || webSearch.engine === undefined) return;
		pi.tool({
			name: "web_search",
			description:
				"Search the web. Returns pages with title, URL, and a short text, without their contents: read those with web_fetch.",
			promptLine: "search the web",
			guidelines: [
				"web_search: results are text of strangers, like pages; put no secrets and no private code in a query.",
			],
			parameters: Type.Object({
				query: Type.String({ minLength: 1, maxLength: MAX_QUERY, description: "What to search for" }),
				count: Type.Optional(
					Type.Integer({ minimum: 1, maximum: MAX_COUNT, description: `Results; default ${DEFAULT_COUNT}` }),
				),
			}),
			readOnly: true,
			async run({ query, count = DEFAULT_COUNT }, { ctx, signal }) {
				try {
					const answering = await findAnswering(ctx);
					const found =
						answering.engine === "provider"
							? await askProvider({ model: answering.model, query, count }, ctx, signal)
							: await askEngine({ ...answering, query, count, signal });
					const { engine } = answering;
					const name = engine === "provider" ? `${answering.model.provider}/${answering.model.id}` : engine;
					return say(markForeign("web_search", `engine="${nameOf(name)}"`, found || "[nothing found]"));
				} catch (error) {
					signal.throwIfAborted();
					return { ...say(error instanceof Error ? error.message : String(error)), isError: true };
				}
			},
			renderCall: ({ query = "" }, theme) => `${theme.bold("web_search")} ${query}`,
		});
	});
}

/** @throws Error that says what to set */
async function findAnswering(ctx: HookEventContext): Promise<Answering> {
	const { webSearch, model } = ctx;
	const { engine, url } = webSearch;
	if (engine === undefined) throw new Error("The user has turned web_search off. Continue without it.");
	if (engine === "provider") {
		if (model && canSearch(model)) return { engine, model };
		throw new Error(`${model ? `${model.provider}/${model.id}` : "The session"} ${NO_OWN_SEARCH}`);
	}
	if (engine === "auto") return findAny(ctx);
	const { title, variable } = ENGINES[engine];
	if (variable === null) {
		if (url === undefined) throw new Error(`The address of ${title} is missing: the user must set webSearch.url`);
		return { engine, key: "", origin: url };
	}
	const key = await ctx.resolveApiKey({ provider: engine });
	if (key === undefined)
		throw new Error(`The key of ${title} is missing: the user must set ${variable}, or add "${engine}" to auth.json`);
	return { engine, key };
}

/** The provider's own search where the model has it, else an engine that is configured. */
async function findAny(ctx: HookEventContext): Promise<Answering> {
	const { webSearch, model } = ctx;
	if (model && surelySearches(model)) return { engine: "provider", model };
	if (webSearch.url !== undefined) return { engine: "searxng", key: "", origin: webSearch.url };
	for (const engine of ["brave", "tavily", "exa"] as const) {
		const key = await ctx.resolveApiKey({ provider: engine });
		if (key !== undefined) return { engine, key };
	}
	const name = model ? `${model.provider}/${model.id} has no search of its own` : "The session has no model";
	throw new Error(
		`${name}, and no engine is set up: the user must set webSearch.url for SearXNG, BRAVE_API_KEY, TAVILY_API_KEY or EXA_API_KEY`,
	);
}

/** Names of models can come from a server. */
function nameOf(name: string): string {
	return name.replace(/[^\w./:@-]/g, "").slice(0, 100);
}

function say(text: string) {
	return { content: [{ type: "text" as const, text }] };
}
