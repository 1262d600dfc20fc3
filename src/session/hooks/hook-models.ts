import { describeError } from "../../errors.js";
import type { HookProvider } from "../../hooks/providers.js";
import type { Models } from "../../services/service-types.js";
import type { SessionState } from "../session-state.js";

export interface HookModelsDeps {
	models: Pick<Models, "list" | "useProviders" | "late" | "client">;
	state: Pick<SessionState, "model" | "useDefaults" | "refreshModel" | "modelRemarks">;
	warn(line: string): void;
}

/** Adds the models of hooks to those of the session, and takes them away when their hook is unloaded. */
export class HookModels {
	#providers: readonly HookProvider[] = [];
	#isStarted = false;
	/** Settles when all changes so far are applied. They are applied in order. */
	#applied: Promise<void> = Promise.resolve();

	constructor(private readonly deps: HookModelsDeps) {}

	/** Uses these providers from now on; `ready` waits until their models are known. */
	update(providers: readonly HookProvider[]): void {
		const isSame =
			providers.length === this.#providers.length && providers.every((item, at) => item === this.#providers[at]);
		if (isSame) return;
		this.#providers = providers;
		// At once: a list of models that is requested now includes theirs.
		const applying = this.#apply(providers);
		this.#applied = this.#applied.then(() => applying);
	}

	/** Resolves when the models of all providers are known. */
	ready(): Promise<void> {
		return this.#applied;
	}

	/**
	 * Chooses the model of the session again, once the hooks have loaded. Reports the problems of the first choice, which
	 * waited for the hooks.
	 * @throws PiError `model_unknown` if neither the files nor the hooks have the model that the options name
	 */
	async start(): Promise<void> {
		await this.#applied;
		this.#isStarted = true;
		const { models, state, warn } = this.deps;
		if (!models.late) return;
		const before = state.model;
		const chosen = await models.late(this.#providers.length > 0);
		const gone = state.useDefaults(chosen, models.list);
		for (const line of chosen.warnings) warn(line);
		if (gone) warn(models.list.describeReplaced(gone, state.model));
		for (const line of state.modelRemarks()) warn(line);
		if (!state.model || state.model === before) return;
		models.client.prepare(state.model).catch(() => {}); // the first request reports it
	}

	async #apply(providers: readonly HookProvider[]): Promise<void> {
		const { models, state, warn } = this.deps;
		try {
			for (const line of await models.useProviders(providers)) warn(line);
			if (this.#isStarted) state.refreshModel(models.list.find);
		} catch (error) {
			warn(`The providers of hooks cannot be used: ${describeError(error)}`);
		}
	}
}
