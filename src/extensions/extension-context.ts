import type { CommandContext, HookEventContext, SessionMode } from "../hooks/types.js";
import { isMessageEntry, isUserMessageEntry } from "../log/entry.js";
import { promptOptions } from "./before-agent-start.js";
import type { Extension } from "./extension.js";
import { promptText } from "./extension-context-event.js";
import { createExtensionUI } from "./extension-ui.js";
import { createModelView } from "./model-view.js";
import { NO_SUMMARY } from "./session-events.js";
import { createSessionView, entryIndex } from "./viewed-entries.js";
import { notAvailable } from "./with-refusals.js";

/** Their names of modes. Components need `tui`: the plain mode has only dialogs, as RPC does. */
const MODES: Readonly<Record<SessionMode, "tui" | "rpc" | "json" | "print">> = {
	interactive: "tui",
	plain: "rpc",
	rpc: "rpc",
	json: "json",
	print: "print",
	sdk: "print",
};

/** Makes the second argument of handlers from the context object of hooks. Not frozen, like `pi`. */
export function createExtensionContext(extension: Extension, ctx: HookEventContext): object {
	return contextMembers(extension, ctx);
}

function contextMembers(extension: Extension, ctx: HookEventContext) {
	const { theme, footer, editor, look, models, providers, calls } = extension;
	return {
		// What pi shows and reads for the extension lasts longer than the call: a timer may use it.
		ui: createExtensionUI({
			ctx: () => extension.current(ctx),
			theme,
			footer,
			editor,
			look,
			draw: (action) => calls.draw(action),
		}),
		get mode() {
			// A program that has attached a screen.
			return ctx.mode === "sdk" && ctx.hasUI ? "tui" : MODES[ctx.mode];
		},
		get hasUI() {
			return ctx.hasUI || MODES[ctx.mode] === "rpc";
		},
		get cwd() {
			return ctx.cwd;
		},
		get model() {
			return ctx.model ?? undefined;
		},
		scopedModels: Object.freeze([]),
		get thinkingLevel() {
			return ctx.thinkingLevel;
		},
		get signal() {
			return ctx.isIdle ? undefined : ctx.signal;
		},
		get sessionManager() {
			return createSessionView(ctx, extension.refusals);
		},
		get modelRegistry() {
			return createModelView(() => extension.current(ctx), models, providers);
		},
		isIdle: () => ctx.isIdle,
		hasPendingMessages: () => ctx.queued > 0,
		isProjectTrusted: () => ctx.projectTrusted,
		abort: () => ctx.abort(),
		shutdown: () => extension.shutdown(ctx),
		getContextUsage: () => ({ ...ctx.usage, tokens: ctx.usage.tokens }),
		getSystemPrompt: () => promptText(ctx.systemPrompt),
		compact(options: CompactOptions = {}) {
			const { customInstructions } = options;
			ctx
				.compact(customInstructions === undefined ? {} : { focus: customInstructions })
				.then(
					(result) => options.onComplete?.(result),
					(error: unknown) => {
						if (!options.onError) throw error;
						return options.onError(error);
					},
				)
				.catch((error: unknown) => extension.report("compact", error));
		},
	};
}

interface CompactOptions {
	customInstructions?: string;
	onComplete?: (result: object) => unknown;
	onError?: (error: unknown) => unknown;
}

interface SessionOptions {
	setup?: unknown;
	position?: "before" | "at";
	withSession?: (ctx: object) => Promise<void>;
}

/** Makes the second argument of command handlers. */
export function createExtensionCommandContext(extension: Extension, ctx: CommandContext): object {
	/** Tells the extension whether it happened, and passes it the new session. */
	const replaced = async (hasHappened: boolean, { withSession }: SessionOptions = {}) => {
		if (hasHappened && withSession) {
			const next = extension.current(ctx);
			const { sendMessage, sendUserMessage } = extension;
			const members = { ...Object.getOwnPropertyDescriptors(contextMembers(extension, next)) };
			const session = Object.defineProperties({ sendMessage, sendUserMessage }, members);
			await extension.calls.run(next, () => withSession(session));
		}
		return { cancelled: !hasHappened };
	};
	const members = Object.defineProperties(
		{
			waitForIdle: () => ctx.waitForIdle(),
			async newSession(options?: SessionOptions) {
				if (options?.setup !== undefined)
					throw notAvailable("setup of ctx.newSession", "entries of a session are written by the session itself");
				return replaced(await ctx.newSession(), options);
			},
			async fork(id: string, options?: SessionOptions) {
				if (options?.position === "at")
					throw notAvailable('position "at" of ctx.fork', "a branch of pi begins before a message of the user");
				return replaced(await ctx.branch(entryIndex(ctx, id)), options);
			},
			switchSession: async (path: string, options?: SessionOptions) => replaced(await ctx.switchSession(path), options),
			async navigateTree(id: string, { summarize = false }: { summarize?: boolean } = {}) {
				if (summarize) extension.refusals.refuse("summarize of ctx.navigateTree", NO_SUMMARY);
				const at = entryIndex(ctx, id);
				if (at < 0) throw new Error(`the session has no entry ${id}`);
				const turn = turnAfter(ctx, at);
				if (turn === null) return { cancelled: false };
				const { cancelled } = await replaced(await ctx.branch(turn));
				// The next prompt is in the editor, but the step was to the answer before it.
				if (!cancelled && turn !== at) extension.current(ctx).ui.setEditorText("");
				return { cancelled };
			},
			getSystemPromptOptions: () => promptOptions(ctx),
			reload: async () => void (await ctx.reload()),
		},
		Object.getOwnPropertyDescriptors(contextMembers(extension, ctx)),
	);
	return members;
}

/**
 * The prompt at which a branch begins that continues at an entry, as extensions name it: a prompt itself, or what was said last.
 * @returns null if the session is there already
 * @throws PiError for an entry in the middle of a turn
 */
function turnAfter({ entries }: CommandContext, at: number): number | null {
	const turn = entries.findIndex((entry, index) => index >= at && isUserMessageEntry(entry));
	const isEnd = !entries.slice(at + 1, turn < 0 ? undefined : turn).some(isMessageEntry);
	if (turn !== at && !isEnd)
		throw notAvailable(
			"ctx.navigateTree to an entry inside a turn",
			"a branch of pi begins before a message of the user",
		);
	return turn < 0 ? null : turn;
}
