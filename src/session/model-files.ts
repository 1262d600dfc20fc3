import type { Api, Model } from "@mariozechner/pi-ai";
import type { CommandAccounts } from "../commands/command.js";
import type { CommandModels } from "../commands/pickers.js";
import { readJsonFile } from "../config/json-file.js";
import type { FindLocalOptions } from "../config/local-servers.js";
import { loadModelSources, type ModelSources, type ModelSourcesOptions } from "../config/model-sources.js";
import { errorText } from "../errors.js";
import { createAccounts } from "./accounts.js";
import { createModelOffers, createSessionModels } from "./session-models.js";
import type { SessionModels } from "./session-setup.js";

export interface ModelFilesOptions extends Omit<ModelSourcesOptions, "settings" | "onWarning"> {
	/** Read again each time. */
	settings(): ModelSourcesOptions["settings"];
	/** `--models`. */
	patterns: readonly string[] | undefined;
	/** Where local model servers are. */
	local: FindLocalOptions;
	/** Models to add to those of pi-ai and models.json. */
	extraModels: readonly Model<Api>[];
}

/** What a session makes of the model files, as last read. */
interface Loaded extends ModelSources {
	models: SessionModels;
	offers: CommandModels;
	accounts: CommandAccounts;
}

/** The models and keys of a session, from models.json, auth.json and the settings. */
export class ModelFiles {
	readonly #overrides = new Map<string, string>();
	/** Older ones too: text may contain keys that have changed since. */
	readonly #credentials: ModelSources["credentials"][] = [];

	private constructor(
		private readonly options: ModelFilesOptions,
		private loaded: Loaded,
	) {
		this.#credentials.push(loaded.credentials);
	}

	/** Reads the files. `warnings` has a line for each problem. */
	static async load(options: ModelFilesOptions): Promise<{ files: ModelFiles; warnings: string[] }> {
		const warnings: string[] = [];
		return { files: new ModelFiles(options, await load(options, [], warnings)), warnings };
	}

	/** The parts as last read; each is replaced when the files are read again. */
	get current(): Loaded {
		return this.loaded;
	}

	/** Uses this key for the provider, in this process only. */
	overrideKey(provider: string, key: string): void {
		this.#overrides.set(provider, key);
		this.loaded.credentials.overrideKey(provider, key);
	}

	/** Replaces all keys known so far in a text. */
	redact(text: string): string {
		return this.#credentials.reduce((redacted, credentials) => credentials.redactSecrets(redacted), text);
	}

	/** Reads the files again. A models.json that cannot be parsed changes nothing. @returns a line for each problem */
	async reread(): Promise<string[]> {
		const { models: path } = this.options.paths;
		try {
			readJsonFile(path);
		} catch (error) {
			return [`${errorText(error)} · the models read before are kept`];
		}
		const warnings: string[] = [];
		this.loaded = await load(this.options, this.loaded.registry.registered, warnings);
		for (const [provider, key] of this.#overrides) this.loaded.credentials.overrideKey(provider, key);
		this.#credentials.push(this.loaded.credentials);
		return warnings;
	}
}

async function load(options: ModelFilesOptions, added: readonly Model<Api>[], warnings: string[]): Promise<Loaded> {
	const { settings, patterns, local, extraModels, ...files } = options;
	const sources = await loadModelSources({
		...files,
		settings: settings(),
		onWarning: (line) => warnings.push(line),
	});
	const { registry, credentials } = sources;
	registry.registerModels([...added, ...extraModels]);
	return {
		...sources,
		models: createSessionModels({ ...sources, local, ...(patterns ? { patterns } : {}) }),
		offers: createModelOffers({ ...sources, local }),
		accounts: createAccounts(credentials, registry),
	};
}
