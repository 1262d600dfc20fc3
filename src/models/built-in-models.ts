import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Api, Model } from "@mariozechner/pi-ai";
import { packageRoot } from "../util/package-root.js";
import { correctList } from "./list-corrections.js";
import { ModelLists } from "./model-lists.js";

/** The models that ship with pi, as pi-ai lists them: one JSON file per provider. */
export interface BuiltInModels {
	/** When the list was made, ms since the epoch. */
	madeAt: number;
	lists: ModelLists;
}

let builtIn: BuiltInModels | null = null;

/** The build copies the files of pi-ai next to the bundle. */
function directory(): string {
	const isBundle = !import.meta.url.endsWith(".ts");
	return join(packageRoot(), isBundle ? "dist/model-lists" : "node_modules/@mariozechner/pi-ai/dist/providers/data");
}

/** The models that ship with pi. Reads the names of the providers, and the models of one when they are first asked for. */
export function builtInModels(): BuiltInModels {
	builtIn ??= read();
	return builtIn;
}

function read(): BuiltInModels {
	const root = directory();
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

function readJson<T>(path: string): T {
	return JSON.parse(readFileSync(path, "utf8"));
}
