import type { Api, Model } from "@mariozechner/pi-ai";
import type { KeyState } from "../config/credentials.js";
import type { ResolvedModel } from "../config/models.js";

/** A model as it is offered. */
export interface ModelOffer {
	model: Model<Api>;
	key: KeyState;
}

/** The models that can be named, as commands see them. */
export interface CommandModels {
	/** Every model that is known now, by provider. */
	offers(): ModelOffer[];
	keyState(provider: string): KeyState;
	/** Looks for servers on this machine; theirs are among the offers afterwards. @returns whether there are any */
	findLocal(signal?: AbortSignal): Promise<boolean>;
	/**
	 * The model that a user means, as on the command line.
	 * @throws PiError `model_unknown` with the nearest names
	 */
	resolve(spec: string): Promise<ResolvedModel>;
}

/** What a picker of models starts from. */
export interface ModelQuestion {
	models: CommandModels;
	current: Model<Api> | null;
}

/**
 * What only a screen can let a user choose from. All are absent where a command prints or asks by itself. Each promise
 * resolves once, when the picker is closed: with null when nothing was chosen, also when the signal closes it.
 */
export interface PickerShell {
	pickModel?(question: ModelQuestion, signal: AbortSignal): Promise<ResolvedModel | null>;
}
