import type { BuiltContext } from "../../context/context-message.js";
import { sectionTokens } from "../../context/preamble.js";
import { estimateTokens } from "../../context/tokens.js";
import { divideWindow, minReply, type WindowBudget } from "../../context/window-budget.js";
import { PiError } from "../../errors.js";
import { hookName } from "../../hooks/hook-name.js";
import type { AppMessage } from "../../log/entry.js";
import type { Store } from "../../services/service-types.js";
import type { SessionContext } from "../session-context.js";
import type { SessionState } from "../session-state.js";

export interface SessionWindowDeps {
	store: Pick<Store, "settings">;
	state: Pick<SessionState, "model">;
	context: Pick<SessionContext, "calibration" | "calibrated" | "estimatedTokens" | "tokens" | "current" | "preamble">;
}

/** Estimates of a request with a counted start are off by less than this. */
const UNCERTAINTY = 0.02;
const UNCERTAIN_TOKENS = 32;
/** A prompt must leave room for at least this much of what came before. */
const MIN_SUMMARY_TOKENS = 100;

/** What fits into the context window of the session's model. */
export class SessionWindow {
	constructor(private readonly deps: SessionWindowDeps) {}

	/** The window of the model in its own tokens; 0 when unknown. */
	get size(): number {
		return this.deps.context.calibration.window(this.deps.state.model ?? undefined);
	}

	/** How the window is divided, in estimated tokens; null when it is unknown. */
	budget(): WindowBudget | null {
		const { store, context } = this.deps;
		if (this.size === 0) return null;
		const { reserveTokens, keepRecentTokens } = store.settings.current.compaction;
		const window = Math.floor(this.size / context.calibrated(1));
		return divideWindow({ window, preamble: context.preamble.tokens, reserveTokens, keepRecentTokens });
	}

	/** Tokens that the model may write in reply to the next request; null when its window is unknown. */
	replyRoom(): number | null {
		if (this.size === 0) return null;
		const room = Math.floor(this.size - this.deps.context.tokens() * (1 + UNCERTAINTY) - UNCERTAIN_TOKENS);
		return Math.max(minReply(this.size), room);
	}

	/** Why the next request cannot be sent, because it exceeds the window; null if it fits. */
	describeExcess(): string | null {
		const { context, store, state } = this.deps;
		const budget = this.budget();
		if (!budget || !state.model || context.estimatedTokens() <= budget.max) return null;
		// Only the model knows then.
		if (context.calibration.isGuess(state.model)) return null;
		const size = `about ${formatCount(context.tokens())} tokens do not fit into the window of ${state.model.name}, ${formatCount(this.size)}`;
		if (context.preamble.tokens > budget.max)
			return `The system prompt and the tools are too large: ${size}; turn tools off with /tools, or choose a model with a larger window`;
		const hook = largestHookShare(context.current);
		if (hook && hook.tokens > budget.max / 4)
			return `The context is too large: ${size}; hook ${hook.name} adds ${formatCount(hook.tokens)} of them: turn it off in /hooks, or choose a model with a larger window`;
		const step = store.settings.current.compaction.enabled ? "" : "/compact makes room, or ";
		return `The context is too large: ${size}; ${step}choose a model with a larger window`;
	}

	/** @throws PiError `prompt_too_large` for a prompt that does not fit even without the conversation before it */
	checkPrompt(message: AppMessage): void {
		const { context, state } = this.deps;
		const budget = this.budget();
		// Only the model knows then.
		if (!budget || !state.model || context.calibration.isGuess(state.model)) return;
		const tokens = estimateTokens(message);
		const preamble = context.preamble.tokens;
		if (preamble > budget.max || preamble + tokens + MIN_SUMMARY_TOKENS <= budget.max) return;
		throw new PiError(
			"prompt_too_large",
			`The prompt has about ${formatCount(context.calibrated(tokens))} tokens, but ${state.model.name} has a window of ${formatCount(this.size)}, and the system prompt and tools take ${formatCount(context.calibrated(preamble))} of it`,
			{ hint: "shorten it, name the file instead of attaching it, or choose a model with a larger window" },
		);
	}
}

/** The hook that adds most to a context. */
function largestHookShare({ messages, preamble }: BuiltContext): { name: string; tokens: number } | null {
	const shares = new Map<string, number>();
	const add = (origin: { kind: string; hook?: string }, tokens: number) => {
		if (origin.hook !== undefined) shares.set(origin.hook, (shares.get(origin.hook) ?? 0) + tokens);
	};
	for (const { message, origin } of messages) add(origin, estimateTokens(message));
	for (const { section, origin } of preamble.sections) add(origin, sectionTokens(section));
	const [largest] = [...shares].sort(([, a], [, b]) => b - a);
	return largest ? { name: hookName(largest[0]), tokens: largest[1] } : null;
}

/** 12345 → "12,345". */
function formatCount(tokens: number): string {
	return Math.ceil(tokens).toLocaleString("en-US");
}
