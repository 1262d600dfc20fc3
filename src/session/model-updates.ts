import type { ModelUpdateStep, ModelUpdates } from "../commands/pickers.js";
import type { Settings } from "../config/settings-schema.js";
import { errorText, PiError } from "../errors.js";
import { builtInModels } from "../models/built-in-models.js";
import type { ModelSources } from "../models/model-sources.js";
import { describeListAge, summarizeUpdate } from "../models/update/describe-update.js";
import type { Network } from "../network/network.js";

const WEEK_MS = 7 * 24 * 3_600_000;

export interface ModelUpdatesOptions {
	/** The models and keys as last read. */
	sources(): ModelSources;
	settings(): Pick<Settings, "models">;
	network: Network;
	/** True: an update is refused. */
	isOffline: boolean;
	/** Reads the files again, with what the update has found. */
	reread(): Promise<unknown>;
}

/** Updates the list of models of a session, one update at a time. */
export function createModelUpdates(options: ModelUpdatesOptions): ModelUpdates {
	const { sources, settings, network, isOffline, reread } = options;
	let weekly: string | null = null;
	let running: Promise<string> | null = null;
	const ask = async (onStep: (step: ModelUpdateStep) => void, signal: AbortSignal): Promise<string> => {
		if (isOffline) throw new PiError("command_failed", "Offline: the list of models cannot be updated");
		const { registry, credentials, list } = sources();
		const { updatableProviders, updateModels } = await import("../models/update/update-models.js");
		const builtIn = builtInModels();
		const only = updatableProviders({ registry, credentials, builtIn });
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
	const update: ModelUpdates["update"] = (onStep, signal) => {
		running ??= ask(onStep, signal).finally(() => {
			running = null;
		});
		return running;
	};
	return {
		age: () => describeListAge(sources().list, Date.now()),
		update,
		async updateWeekly(signal) {
			const { list } = sources();
			const isDue = Date.now() - (list.updatedAt() ?? list.madeAt) > WEEK_MS;
			if (settings().models.update !== "weekly" || isOffline || !isDue) return;
			weekly = await update(() => {}, signal).catch(errorText);
		},
		get weekly() {
			return weekly;
		},
	};
}
