import type { Api, Model } from "@mariozechner/pi-ai";

/** Why a thinking level cannot be chosen; null if the model thinks, or is not chosen yet. */
export function describeNoThinking(model: Model<Api> | null): string | null {
	return model === null || model.reasoning ? null : `${model.name} does not support thinking`;
}
