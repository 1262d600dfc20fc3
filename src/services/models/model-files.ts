import type { Api, Model } from "@mariozechner/pi-ai";
import type { CommandAccounts } from "../../commands/command.js";
import type { CommandModels, ModelUpdates } from "../../commands/pickers.js";
import { readJsonFile } from "../../config/json-file.js";
import type { Settings } from "../../config/settings-schema.js";
import { errorText } from "../../errors.js";
import type { HookProvider } from "../../hooks/providers.js";
import type { FindLocalOptions } from "../../models/local-servers.js";
import type { KnownModel } from "../../models/model-facts.js";
import { loadModelSources, type ModelSources, type ModelSourcesOptions } from "../../models/model-sources.js";
import type { Network } from "../../network/network.js";
import type { SessionModels } from "../service-types.js";
import { createAccounts } from "./accounts.js";
import { createModelUpdates } from "./model-updates.js";
import { offeringFinder } from "./offering-finder.js";
import {
	createModelOffers,
	createSessionModels,
	type FindOffering,
	type SessionModelsOptions,
} from "./session-models.js";

export interface ModelFilesOptions extends Omit<ModelSourcesOptions, "settings" | "onWarning" | "hookProviders"> {
	/** Read again each time. */
	settings(): Pick<Settings, "apiKeys" | "models">;
	/** `--models`. */
	patterns: readonly string[] | undefined;
	/** Carries the requests of logins. */
	network: Network;
	/** Where local model servers are. */
	local: FindLocalOptions;
	/** True: no requests except to the model. */
	isOffline: boolean;
	/** Called when an update has changed the list. */
	onUpdate(): void;
	/** Models to add to those of pi-ai and models.json. */
	extraModels: readonly Model<Api>[];
}

/** What a session makes of the model files, as last read. */
interface Loaded extends ModelSources {
	models: SessionModels;
	findOffering: FindOffering | undefined;
	offers: CommandModels;
	accounts: CommandAccounts;
}

/** The models and keys of a session, from models.json, auth.json and the settings. */
export class ModelFiles {
	readonly #overrides = new Map<string, string>();
	/** Older ones too: text may contain keys that have changed since. */
	readonly #credentials: ModelSources["credentials"][] = [];

	#hookProviders: readonly HookProvider[] = [];
	/** Providers whose hook was unloaded, with its path. */
	readonly #gone = new Map<string, string>();
	private loaded: Loaded;
	/** As last read. `current.models` waits for those being read. */
	#models: SessionModels;
	#offers: CommandModels;
	/** Updates of the list of models. */
	readonly updates: ModelUpdates;
	/** Settles when the files have been read as often as requested: one after another, so that the last one counts. */
	#reading: Promise<unknown> = Promise.resolve();

	private constructor(
		private readonly options: ModelFilesOptions,
		first: Loaded,
		private known: readonly string[],
	) {
		this.#models = first.models;
		this.#offers = first.offers;
		this.updates = createModelUpdates({
			sources: () => this.loaded,
			settings: options.settings,
			modelsFile: options.paths.models,
			network: options.network,
			isOffline: options.isOffline,
			reread: async () => {
				await this.reread();
				options.onUpdate();
			},
		});
		this.loaded = this.#use(first);
		this.#credentials.push(first.credentials);
	}

	/** Reads the files. `warnings` has a line for each problem. */
	static async load(options: ModelFilesOptions): Promise<{ files: ModelFiles; warnings: string[] }> {
		const warnings: string[] = [];
		return {
			files: new ModelFiles(options, await load(options, { added: [], hooks: [] }, warnings), warnings),
			warnings,
		};
	}

	/** The parts as last read; each is replaced when the files are read again. */
	get current(): Loaded {
		return this.loaded;
	}

	/** The provider of a hook that is in use; undefined if models.json defines it or it is not registered. */
	hookProvider(name: string): HookProvider | undefined {
		return this.#hookProviders.find((provider) => provider.name === name && !this.loaded.isOwn(provider));
	}

	/** The models whose requests a hook sends. */
	streamed(): Model<Api>[] {
		const { registry } = this.loaded;
		const providers = registry.providers.filter((provider) => this.hookProvider(provider)?.stream !== undefined);
		return providers.flatMap((provider) => registry.ofProvider(provider));
	}

	/** The path of the hook that provided a model and is not loaded anymore; null if the model is available. */
	missingHook({ provider, id }: Pick<Model<Api>, "provider" | "id">): string | null {
		const hook = this.#gone.get(provider);
		return hook === undefined || this.loaded.registry.findModel(provider, id) ? null : hook;
	}

	/** Replaces the providers of hooks. @returns a line for each new problem */
	async useProviders(providers: readonly HookProvider[]): Promise<string[]> {
		for (const { name, hook } of this.#hookProviders) this.#gone.set(name, hook);
		for (const { name } of providers) this.#gone.delete(name);
		this.#hookProviders = providers;
		const { registry, isOwn } = this.loaded;
		registry.addProviders(providers.filter((provider) => !isOwn(provider)));
		const { known } = this;
		return (await this.#load()).filter((line) => !known.includes(line));
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
		return this.#load();
	}

	/** The parts, whose list of models and keys include those of providers that hooks have just registered. */
	#use(loaded: Loaded): Loaded {
		this.#models = loaded.models;
		this.#offers = loaded.offers;
		const latest = async () => {
			await this.#reading;
			return this.#models;
		};
		const models: SessionModels = {
			...loaded.models,
			available: async () => (await latest()).available(),
			resolveApiKey: async (model) => (await latest()).resolveApiKey(model),
			requestAuth: async (model) => (await latest()).requestAuth(model),
		};
		return { ...loaded, models, offers: { ...this.#stableOffers(), updates: this.updates } };
	}

	/** Dialogs keep the offers while an update replaces what they are made from. */
	#stableOffers(): CommandModels {
		const current = () => this.#offers;
		return {
			offers: () => current().offers(),
			keyState: (provider) => current().keyState(provider),
			bestOf: (provider) => current().bestOf(provider),
			findLocal: (signal) => current().findLocal(signal),
			resolve: (spec, asking) => current().resolve(spec, asking),
		};
	}

	#load(): Promise<string[]> {
		const reading = this.#reading.then(() => this.#read());
		this.#reading = reading.catch(() => {}); // the caller gets the error
		return reading;
	}

	async #read(): Promise<string[]> {
		const warnings: string[] = [];
		const added = this.loaded.registry.registered;
		const missingHook = (model: Model<Api>) => this.missingHook(model);
		this.loaded = this.#use(await load(this.options, { added, hooks: this.#hookProviders, missingHook }, warnings));
		this.known = warnings;
		for (const [provider, key] of this.#overrides) this.loaded.credentials.overrideKey(provider, key);
		this.#credentials.push(this.loaded.credentials);
		return warnings;
	}
}

interface HookSources {
	/** Models that were registered before. */
	added: readonly Model<Api>[];
	hooks: readonly HookProvider[];
	missingHook?: SessionModelsOptions["missingHook"];
}

async function load(
	options: ModelFilesOptions,
	{ added, hooks, missingHook }: HookSources,
	warnings: string[],
): Promise<Loaded> {
	const { settings, patterns, network, local, isOffline, extraModels, onUpdate: _, ...files } = options;
	const sources = await loadModelSources({
		...files,
		settings: settings(),
		hookProviders: hooks,
		onWarning: (line) => warnings.push(line),
	});
	const { registry, credentials } = sources;
	// An update may have found a model whose facts were assumed.
	const isListed = ({ provider, id, assumed }: KnownModel) => assumed && registry.findModel(provider, id);
	registry.registerModels([...added.filter((model) => !isListed(model)), ...extraModels]);
	const findOffering = offeringFinder({ registry, credentials, network, isOffline });
	return {
		...sources,
		findOffering,
		models: createSessionModels({ ...sources, network, local, missingHook, ...(patterns ? { patterns } : {}) }),
		offers: createModelOffers({ ...sources, local, findOffering }),
		accounts: createAccounts(credentials, registry, network, isOffline),
	};
}
