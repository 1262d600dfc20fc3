/** Facts about a model as a provider or the catalog reports them; absent: unknown. */
export interface ListedFacts {
	name?: string;
	/** Tokens. */
	contextWindow?: number;
	/** Tokens of one reply. */
	maxTokens?: number;
	reasoning?: boolean;
	tools?: boolean;
	input?: ("text" | "image")[];
	/** US dollars per million tokens. */
	cost?: ListedCost;
	/** `2026-09-22`. */
	released?: string;
	/** Id of the listed model from which a new one has its other facts, so that a start need not search it. */
	relative?: string;
}

/** Prices in US dollars per million tokens. */
export interface ListedCost {
	input: number;
	output: number;
	cacheRead?: number;
	cacheWrite?: number;
}

/** A model of an answer. */
export interface ListedModel {
	id: string;
	facts: ListedFacts;
}

/** The models of an answer. */
export interface ListedModels {
	/** Those that write text. */
	models: ListedModel[];
	/** The ids of all models, also of those that create images or speech. */
	ids: string[];
	/** The number of entries that no model can have. */
	dropped: number;
	/** The number of models beyond `MAX_MODELS`, which are not in `models`. */
	omitted: number;
	/** False if the list was too long to be read completely: an id that it lacks may exist. */
	isComplete: boolean;
}

/** Maximum number of models that pi reads from the list of a provider: more would make model-list.json too large. */
export const MAX_MODELS = 5000;

const MAX_TEXT = 200;
const MAX_TOKENS = 1_000_000_000;
const MAX_PRICE = 1_000_000;
const FIRST_DATE = Date.UTC(2015, 0, 1);
const YEAR_MS = 365 * 24 * 3_600_000;
/** Most ids, names and days are recognized at once. */
const PLAIN_ID = /^[\w.:@/~+-]{1,200}$/;
const PLAIN_NAME = /^[!-~]+(?: [!-~]+)*$/;
const CONTROLS = /\p{C}|\s{2}/u;
/** Names of members that every object has. */
const INHERITED: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype", "toString", "valueOf"]);

/** An id that requests and files can contain; undefined for anything else. */
export function readId(value: unknown): string | undefined {
	if (typeof value !== "string" || value === "" || value.length > MAX_TEXT) return undefined;
	if (INHERITED.has(value)) return undefined;
	return PLAIN_ID.test(value) || !(CONTROLS.test(value) || /\s/.test(value)) ? value : undefined;
}

/** A name that can be displayed. */
export function readName(value: unknown): string | undefined {
	if (typeof value !== "string" || value.trim() === "" || value.length > MAX_TEXT) return undefined;
	if (PLAIN_NAME.test(value)) return value;
	return CONTROLS.test(value) ? undefined : value.trim();
}

/** A list of models within the limit. */
export function limitModels(models: readonly ListedModel[]): Pick<ListedModels, "models" | "omitted"> {
	return { models: models.slice(0, MAX_MODELS), omitted: Math.max(0, models.length - MAX_MODELS) };
}

/** A number of tokens. */
export function readCount(value: unknown): number | undefined {
	return typeof value === "number" && Number.isInteger(value) && value > 0 && value <= MAX_TOKENS ? value : undefined;
}

/** A price. @param perMillion factor that makes it one per million tokens */
export function readPrice(value: unknown, perMillion = 1): number | undefined {
	if (typeof value !== "number" || !(value >= 0)) return undefined;
	// Without the digits that only come from binary fractions.
	const price = perMillion === 1 ? value : Number((value * perMillion).toPrecision(12));
	return price <= MAX_PRICE ? price : undefined;
}

/** A day, of seconds since the epoch or an ISO date. */
export function readDay(value: unknown, now = Date.now()): string | undefined {
	if (value === undefined) return undefined;
	const isText = typeof value === "string" && /^\d{4}-\d{2}(?:-\d{2})?(?:$|T)/.test(value);
	const ms = isText ? Date.parse(value) : typeof value === "number" ? value * 1000 : Number.NaN;
	return ms >= FIRST_DATE && ms <= now + YEAR_MS ? new Date(ms).toISOString().slice(0, 10) : undefined;
}

/** Prices of which at least input and output are known. */
export function readCost(prices: { [K in keyof ListedCost]: number | undefined }): ListedCost | undefined {
	const { input, output, cacheRead, cacheWrite } = prices;
	if (input === undefined || output === undefined) return undefined;
	const cost: ListedCost = { input, output };
	if (cacheRead !== undefined) cost.cacheRead = cacheRead;
	if (cacheWrite !== undefined) cost.cacheWrite = cacheWrite;
	return cost;
}

/** The kinds of input that pi knows. */
export function readInput(kinds: unknown): ListedFacts["input"] {
	if (!Array.isArray(kinds) || !kinds.includes("text")) return undefined;
	return kinds.includes("image") ? ["text", "image"] : ["text"];
}

/** Without the members that are undefined. */
export function known<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> };
export function known(fields: object): object {
	return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
