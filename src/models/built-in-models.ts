import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Api, Model, ThinkingLevelMap } from "@mariozechner/pi-ai";
import { packageRoot } from "../util/package-root.js";
import { ModelLists } from "./model-lists.js";
import { applyModelList } from "./update/apply-list.js";
import { readModelList } from "./update/model-list-file.js";

/** The models that ship with pi. */
export interface BuiltInModels {
	/** When the list was made, ms since the epoch. */
	madeAt: number;
	lists: ModelLists;
}

/** The name of the file with what the catalog knew at the release; next to this module, and in the bundle next to the lists. */
export const SHIPPED_UPDATES = "shipped-updates.json";

let builtIn: BuiltInModels | null = null;

/** The build copies the files of pi-ai next to the bundle. */
const isBundle = !import.meta.url.endsWith(".ts");

function directory(name: "lists" | "updates"): string {
	if (isBundle) return join(packageRoot(), "dist/model-lists");
	return join(
		packageRoot(),
		name === "updates" ? "src/models" : "node_modules/@mariozechner/pi-ai/dist/providers/data",
	);
}

/**
 * The models that ship with pi: those of pi-ai, with what the catalog knew at the release. Reads the names of the providers, and
 * the models of one when they are first asked for.
 */
export function builtInModels(): BuiltInModels {
	builtIn ??= withUpdates(libraryModels(), join(directory("updates"), SHIPPED_UPDATES));
	return builtIn;
}

/** The models as pi-ai lists them: one JSON file per provider. */
export function libraryModels(): BuiltInModels {
	const root = directory("lists");
	const manifest: { generatedAt: string; files: Record<string, string> } = readJson(join(root, ".manifest.json"));
	const list = (provider: string, file: string) => () => {
		const byApi: Record<string, Record<string, Model<Api>>> = readJson(join(root, file));
		const models = Object.values(byApi).flatMap((found) => Object.values(found));
		return correctList(provider, models, (other) => lists.of(other));
	};
	const files = Object.keys(manifest.files).map((file) => [file.replace(/\.json$/, ""), file] as const);
	const lists = new ModelLists(new Map(files.map(([provider, file]) => [provider, list(provider, file)])));
	return { madeAt: Date.parse(manifest.generatedAt), lists };
}

/** The list with an update. @param path of a file like model-list.json, which need not exist */
export function withUpdates({ lists, madeAt }: BuiltInModels, path: string): BuiltInModels {
	const file = readModelList(path);
	const [first] = file.providers;
	// All parts of the file are of the same time.
	const updatedAt = first === undefined ? 0 : (file.of(first).catalog?.updatedAt ?? 0);
	return { lists: applyModelList(lists, madeAt, file), madeAt: Math.max(madeAt, updatedAt) };
}

function readJson<T>(path: string): T {
	return JSON.parse(readFileSync(path, "utf8"));
}

/** Providers that serve models of another one under the same ids, and whose lists omit some of their thinking levels. */
const SAME_MODELS: Readonly<Record<string, string>> = {
	"azure-openai-responses": "openai",
	"openai-codex": "openai",
};

/**
 * Thinking levels that the lists of pi-ai have wrong, by full provider and id.
 * @see https://ai.google.dev/gemini-api/docs/thinking Gemini 2.5 Pro cannot stop thinking; Flash-Lite thinks with at least 512 tokens
 */
const LEVELS: Readonly<Record<string, Readonly<Record<string, ThinkingLevelMap>>>> = {
	google: { "gemini-2.5-pro": { off: null } },
	"google-vertex": { "gemini-2.5-pro": { off: null }, "gemini-2.5-flash-lite": { minimal: null } },
};

/**
 * Corrects the thinking levels of a provider's list.
 * @param listOf the list of another provider
 */
export function correctList(
	provider: string,
	models: readonly Model<Api>[],
	listOf: (provider: string) => readonly Model<Api>[],
): readonly Model<Api>[] {
	const other = Object.hasOwn(SAME_MODELS, provider) ? SAME_MODELS[provider] : undefined;
	const corrections = Object.hasOwn(LEVELS, provider) ? LEVELS[provider] : undefined;
	if (other === undefined && corrections === undefined) return models;
	const known = new Map(other === undefined ? [] : listOf(other).map((model) => [model.id, model.thinkingLevelMap]));
	return models.map((model) => {
		const levels = { ...known.get(model.id), ...model.thinkingLevelMap, ...corrections?.[model.id] };
		return Object.keys(levels).length === 0 ? model : { ...model, thinkingLevelMap: levels };
	});
}
