import type { Api, Model } from "@mariozechner/pi-ai";
import { describeError } from "../errors.js";
import { didYouMean } from "../util/nearest.js";
import type { ProviderAccess } from "./credentials.js";
import { isJsonObject, type JsonObject, readJsonObject } from "./json-file.js";

type Compat = NonNullable<Model<Api>["compat"]>;

/** A provider of models.json. */
export interface CustomProvider extends ProviderAccess {
	baseUrl?: string;
	api?: string;
	compat?: Compat;
	/** null: no models of its own, the entry changes how the built-in ones are reached. */
	models: CustomModel[] | null;
}

/** A model of models.json; what is left out comes from its provider or is a default. */
export interface CustomModel {
	id: string;
	name: string;
	api?: string;
	baseUrl?: string;
	reasoning: boolean;
	thinkingLevelMap?: Model<Api>["thinkingLevelMap"];
	input: ("text" | "image")[];
	cost: Model<Api>["cost"];
	contextWindow: number;
	maxTokens: number;
	compat?: Compat;
}

/** models.json and what is wrong with it, a line each. */
export interface ModelsFile {
	path: string;
	providers: CustomProvider[];
	warnings: string[];
}

/** Wire formats that pi-ai speaks. */
export const MODEL_APIS: readonly string[] = [
	"openai-completions",
	"openai-responses",
	"anthropic-messages",
	"google-generative-ai",
	"google-vertex",
	"mistral-conversations",
	"azure-openai-responses",
	"openai-codex-responses",
	"bedrock-converse-stream",
];

const PROVIDER_KEYS = ["baseUrl", "api", "apiKey", "headers", "authHeader", "compat", "models"];
const MODEL_KEYS = [
	...["id", "name", "api", "baseUrl", "reasoning", "thinkingLevelMap"],
	...["input", "cost", "contextWindow", "maxTokens", "compat", "headers"],
];
const LOOPBACK = /^https?:\/\/(?:localhost|127(?:\.\d+){3}|\[::1\])(?:[:/]|$)/i;

/** Reads the user's own providers. Never throws: what is broken is named and left out, the rest works. */
export function loadModelsFile(path: string): ModelsFile {
	const file: ModelsFile = { path, providers: [], warnings: [] };
	try {
		const { providers } = readJsonObject(path) ?? {};
		if (providers !== undefined && !isJsonObject(providers)) throw new Error(`${path}: providers must be an object`);
		for (const [name, value] of Object.entries(providers ?? {})) {
			const reader = new FieldReader(value, `providers.${name}`, file);
			const provider = reader.isObject() ? readProvider(name, reader) : null;
			if (provider) file.providers.push(provider);
		}
	} catch (error) {
		file.warnings.push(describeError(error));
	}
	return file;
}

function readProvider(name: string, reader: FieldReader): CustomProvider {
	reader.expectKeys(PROVIDER_KEYS);
	const baseUrl = reader.url("baseUrl");
	const apiKey = reader.text("apiKey");
	const models = reader.list("models")?.flatMap((item) => (item.isObject() ? (readModel(item) ?? []) : []));
	return {
		name,
		baseUrl,
		api: reader.api(),
		apiKey,
		headers: reader.texts("headers"),
		authHeader: reader.flag("authHeader") ?? false,
		compat: reader.compat(),
		keyless: apiKey === undefined && baseUrl !== undefined && LOOPBACK.test(baseUrl),
		models: models ?? null,
	};
}

function readModel(reader: FieldReader): CustomModel | null {
	reader.expectKeys(MODEL_KEYS);
	const id = reader.text("id");
	if (id === undefined) {
		reader.warn("id", "must be a text; the model is left out");
		return null;
	}
	return {
		id,
		name: reader.text("name") ?? id,
		api: reader.api(),
		baseUrl: reader.url("baseUrl"),
		reasoning: reader.flag("reasoning") ?? false,
		thinkingLevelMap: reader.levelMap(),
		input: reader.input() ?? ["text"],
		cost: reader.cost(),
		contextWindow: reader.count("contextWindow") ?? 128_000,
		maxTokens: reader.count("maxTokens") ?? 16_384,
		compat: reader.compat(),
	};
}

/** Reads the fields of one object and names each value that does not fit. */
class FieldReader {
	readonly #fields: JsonObject;

	constructor(
		private readonly value: unknown,
		private readonly path: string,
		private readonly file: ModelsFile,
	) {
		this.#fields = isJsonObject(value) ? value : {};
	}

	isObject(): boolean {
		if (isJsonObject(this.value)) return true;
		this.file.warnings.push(`${this.file.path}: ${this.path} must be an object; it is left out`);
		return false;
	}

	warn(key: string, problem: string): void {
		this.file.warnings.push(`${this.file.path}: ${this.path}.${key} ${problem}`);
	}

	expectKeys(known: readonly string[]): void {
		for (const key of Object.keys(this.#fields)) {
			if (known.includes(key)) continue;
			const meant = didYouMean(key, known);
			this.warn(key, `is not known and not used${meant ? ` · ${meant}` : ""}`);
		}
	}

	text(key: string): string | undefined {
		return this.#read(key, "a text", (value) => (typeof value === "string" && value !== "" ? value : undefined));
	}

	flag(key: string): boolean | undefined {
		return this.#read(key, "true or false", (value) => (typeof value === "boolean" ? value : undefined));
	}

	count(key: string): number | undefined {
		return this.#read(key, "a number above 0", (value) =>
			typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.floor(value) : undefined,
		);
	}

	url(key: string): string | undefined {
		return this.#read(key, "an http or https address", (value) =>
			typeof value === "string" && /^https?:\/\//i.test(value) && URL.canParse(value) ? value : undefined,
		);
	}

	api(): string | undefined {
		return this.#read("api", `one of ${MODEL_APIS.join(", ")}`, (value) => MODEL_APIS.find((api) => api === value));
	}

	texts(key: string): Record<string, string> {
		const read = (value: unknown) => {
			if (!isJsonObject(value)) return undefined;
			const pairs = Object.entries(value).flatMap(([name, text]) => (typeof text === "string" ? [[name, text]] : []));
			return pairs.length === Object.keys(value).length ? Object.fromEntries(pairs) : undefined;
		};
		return this.#read(key, "an object of texts", read) ?? {};
	}

	list(key: string): FieldReader[] | undefined {
		const items = this.#read(key, "a list", (value) => (Array.isArray(value) ? value : undefined));
		return items?.map((item: unknown, index) => new FieldReader(item, `${this.path}.${key}[${index}]`, this.file));
	}

	compat(): Compat | undefined {
		return this.#read("compat", "an object of flags and names", (value) => (isCompat(value) ? value : undefined));
	}

	input(): ("text" | "image")[] | undefined {
		return this.#read("input", 'a list of "text" and "image"', (value) =>
			Array.isArray(value) && value.length > 0 && value.every((item) => item === "text" || item === "image")
				? value
				: undefined,
		);
	}

	cost(): Model<Api>["cost"] {
		const none = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
		const read = (value: unknown) => {
			if (!isJsonObject(value)) return undefined;
			const cost = { ...none };
			for (const key of ["input", "output", "cacheRead", "cacheWrite"] as const) {
				const price = value[key] ?? 0;
				if (typeof price !== "number" || !(price >= 0)) return undefined;
				cost[key] = price;
			}
			return cost;
		};
		return this.#read("cost", "an object of prices per million tokens", read) ?? none;
	}

	levelMap(): Model<Api>["thinkingLevelMap"] {
		const levels = ["off", "minimal", "low", "medium", "high", "xhigh"] as const;
		const read = (value: unknown) => {
			if (!isJsonObject(value)) return undefined;
			const map: Model<Api>["thinkingLevelMap"] = {};
			for (const level of levels) {
				const mapped = value[level];
				if (typeof mapped === "string" || mapped === null) map[level] = mapped;
				else if (mapped !== undefined) return undefined;
			}
			return map;
		};
		return this.#read("thinkingLevelMap", "an object from thinking levels to texts or null", read);
	}

	#read<T>(key: string, expected: string, read: (value: unknown) => T | undefined): T | undefined {
		const value = Object.hasOwn(this.#fields, key) ? this.#fields[key] : undefined;
		if (value === undefined) return undefined;
		const accepted = read(value);
		if (accepted === undefined) this.warn(key, `must be ${expected}; it is ignored`);
		return accepted;
	}
}

/** Flags for pi-ai, which reads those that it knows and ignores others. */
function isCompat(value: unknown): value is Compat {
	return (
		isJsonObject(value) &&
		Object.values(value).every((flag) => ["boolean", "string"].includes(typeof flag) || isJsonObject(flag))
	);
}
