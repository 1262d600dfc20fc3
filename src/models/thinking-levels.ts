import type { Api, Model } from "@mariozechner/pi-ai";
import { THINKING_LEVELS, type ThinkingLevel } from "../log/entry.js";

/** Levels that a model has only if its facts name them. */
const NAMED: readonly ThinkingLevel[] = ["xhigh", "max"];

/** The thinking levels that a model has, least first; all without a model. As pi-ai decides it, without loading pi-ai. */
export function thinkingLevels(model: Model<Api> | null): ThinkingLevel[] {
	if (model === null) return [...THINKING_LEVELS];
	if (!model.reasoning) return ["off"];
	return THINKING_LEVELS.filter((level) => {
		const mapped = model.thinkingLevelMap?.[level];
		return mapped !== null && (mapped !== undefined || !NAMED.includes(level));
	});
}

/** The level that requests to a model use: the chosen one, the next higher one that the model has, else the next lower one. */
export function nearestThinkingLevel(model: Model<Api> | null, level: ThinkingLevel): ThinkingLevel {
	const known = thinkingLevels(model);
	const at = THINKING_LEVELS.indexOf(level);
	const higher = known.find((candidate) => THINKING_LEVELS.indexOf(candidate) >= at);
	return higher ?? known.at(-1) ?? "off";
}

/** Why a thinking level cannot be chosen; null if the model thinks, or is not chosen yet. */
export function describeNoThinking(model: Model<Api> | null): string | null {
	return model === null || model.reasoning ? null : `${model.name} does not support thinking`;
}

/** That a model does not have the chosen level, and which one it uses, as one line; null if it has the level. */
export function describeNearest(model: Model<Api> | null, level: ThinkingLevel): string | null {
	const nearest = nearestThinkingLevel(model, level);
	if (model === null || nearest === level) return null;
	const reason = level === "off" ? `${model.name} always thinks` : `${model.name} has no thinking level ${level}`;
	return describeNoThinking(model) ?? `${reason} · using ${nearest}`;
}
