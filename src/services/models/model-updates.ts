import type { ModelUpdateStep, ModelUpdates } from "../../commands/pickers.js";
import type { Settings } from "../../config/settings-schema.js";
import { errorText, PiError } from "../../errors.js";
import { builtInModels } from "../../models/built-in-models.js";
import type { ModelSources } from "../../models/model-sources.js";
import { describeListAge, summarizeUpdate } from "../../models/update/describe-update.js";
import type { Network } from "../../network/network.js";

export interface ModelUpdatesOptions {
	/** The models and keys as last read. */
	sources(): ModelSources;
	settings(): Pick<Settings, "models">;
	/** Path of models.json. */
	modelsFile: string;
	network: Network;
	/** True: an update is refused. */
	isOffline: boolean;
	/** Reads the files again, with what the update has found. */
	reread(): Promise<unknown>;
}

/** Updates the list of models of a session, one update at a time. */
export function createModelUpdates(options: ModelUpdatesOptions): ModelUpdates {
	const { sources, settings, modelsFile, network, isOffline, reread } = options;
	let weekly: string | null = null;
	let running: Promise<string> | null = null;
	/** @param isAsked limits an update to some providers */
	const ask = async (
		onStep: (step: ModelUpdateStep) => void,
		signal: AbortSignal,
		isAsked: (provider: string) => boolean = () => true,
	): Promise<string> => {
		if (isOffline) throw new PiError("command_failed", "Offline: the list of models cannot be updated");
		const { registry, credentials, list } = sources();
		const { updatableProviders, updateModels } = await import("../../models/update/update-models.js");
		const builtIn = builtInModels();
		const only = updatableProviders({ registry, credentials, builtIn }).filter(isAsked);
		if (only.length === 0) throw new PiError("command_failed", "No provider has a key to ask with");
		onStep({ left: only.length });
		const report = await updateModels({
			...{ registry, credentials, list, builtIn, network, only, signal },
			catalog: settings().models.catalog,
			onProgress: (_, left) => onStep({ left }),
		});
		if (report.isSaved) await reread();
		return summarizeUpdate(report);
	};
	const update = (...asking: Parameters<typeof ask>): Promise<string> => {
		running ??= ask(...asking).finally(() => {
			running = null;
		});
		return running;
	};
	return {
		age() {
			const { list, credentials } = sources();
			return describeListAge(list, Date.now(), (provider) => credentials.hasKey(provider));
		},
		async addServer(server, signal) {
			if (isOffline && server.model === undefined)
				throw new PiError("command_failed", "Offline: the server cannot be asked for its models");
			const { addServer } = await import("../../models/update/add-server.js");
			const { registry, credentials } = sources();
			const provider = await addServer(server, modelsFile, { registry, credentials, network, signal });
			await reread();
			return provider;
		},
		update: (onStep, signal) => update(onStep, signal),
		async updateWeekly(signal) {
			if (settings().models.update !== "weekly" || isOffline) return;
			const { list, registry, credentials } = sources();
			const isDue = (provider: string) => Date.now() > list.dueAt(provider);
			if (!registry.providers.some((provider) => credentials.hasKey(provider) && isDue(provider))) return;
			const { updatableProviders } = await import("../../models/update/update-models.js");
			if (!updatableProviders({ registry, credentials, builtIn: builtInModels() }).some(isDue)) return;
			weekly = await update(() => {}, signal, isDue).catch(errorText);
		},
		get weekly() {
			return weekly;
		},
	};
}
