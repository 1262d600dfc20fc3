import { dirname } from "node:path";
import { setImmediate as nextTick } from "node:timers/promises";
import type { PaletteItem } from "../../commands/command.js";
import { builtinName } from "../../commands/registry.js";
import { createContextReport } from "../../context/ledger.js";
import { describeError, PiError } from "../../errors.js";
import { findSession } from "../../log/catalog.js";
import { isCompactionEntry, isMessageEntry } from "../../log/entry.js";
import type { AgentSession } from "../../session/agent-session.js";
import { exportSession, lastAssistantText } from "../../session/command-host.js";
import type { PromptResult } from "../../session/prompter.js";
import type { Concurrency } from "./command-scheduler.js";
import type { PromptAnswer, RpcBashResult, RpcCommandName, RpcParams, RpcResults } from "./protocol.js";

/** Dependencies of the command handlers. */
export interface HandlerOptions {
	session: AgentSession;
	/** Reports a run that failed after its prompt was answered. */
	onFailure(message: string): void;
}

/** The handler of each command. */
export type RpcHandlers = {
	[N in RpcCommandName]: (params: RpcParams[N]) => RpcResults[N] | Promise<RpcResults[N]>;
};

/** The concurrency classes of commands; all others are `ordered`. */
const CONCURRENCY: Partial<Readonly<Record<RpcCommandName, Concurrency>>> = {
	prompt: "conversation",
	queue_message: "conversation",
	compact: "conversation",
	reset: "barrier",
	switch_session: "barrier",
	branch: "barrier",
	bash: "parallel",
	abort: "interrupt",
	abort_retry: "interrupt",
	abort_bash: "interrupt",
};

/** The concurrency class of a command. */
export function concurrencyOf(name: RpcCommandName): Concurrency {
	return CONCURRENCY[name] ?? "ordered";
}

/** Creates the command handlers of a session. Each throws a `PiError` when it fails. */
export function createHandlers({ session, onFailure }: HandlerOptions): RpcHandlers {
	const { controls } = session;
	const accept = (send: () => Promise<PromptResult>) => acceptPrompt(session, send, onFailure);
	return {
		prompt: ({ message, attachments, images }) =>
			accept(() => session.prompt(message, { attachments, images, source: "rpc" })),
		queue_message: ({ message, attachments, images }) =>
			accept(() => session.send(message, { attachments, images, source: "rpc" })),
		async abort() {
			// The previous line may have just arrived and not begun its run yet; the next line waits for the abort.
			await nextTick();
			return { queued: await session.abort() };
		},
		async abort_retry() {
			if (session.activity.phase === "retrying") await session.abort();
			return null;
		},
		async abort_bash() {
			await nextTick();
			await controls.abortBash();
			return null;
		},
		reset: async () => ({ cancelled: !(await session.lifecycle.newSession()) }),
		get_state: () => ({
			model: session.model,
			thinkingLevel: session.thinkingLevel,
			isStreaming: session.isRunning && session.activity.phase !== "ending",
			isCompacting: session.isCompacting,
			queueMode: controls.queueMode,
			sessionFile: session.sessionFile,
			sessionId: session.sessionId,
			autoCompactionEnabled: session.autoCompaction,
			autoRetryEnabled: controls.autoRetry,
			messageCount: controls.messages.length,
			queuedMessageCount: session.queue.steering.length + session.queue.followUps.length,
			jobCount: session.jobs.running,
		}),
		get_messages: () => ({ messages: controls.messages }),
		async set_model({ provider, modelId }) {
			const model = await controls.findModel(provider, modelId);
			if (!model) {
				throw new PiError("model_unknown", `Model ${provider}/${modelId} does not exist or has no API key`, {
					hint: "get_available_models lists the available models",
				});
			}
			await session.setModel(model);
			return model;
		},
		async cycle_model() {
			const model = await session.cycleModel(1);
			return model && { model, thinkingLevel: session.thinkingLevel };
		},
		get_available_models: async () => ({ models: await controls.availableModels() }),
		set_thinking_level({ level }) {
			session.setThinkingLevel(level);
			return null;
		},
		cycle_thinking_level: () => ({ level: session.cycleThinkingLevel() }),
		set_queue_mode({ mode }) {
			controls.queueMode = mode;
			return null;
		},
		async compact({ customInstructions }) {
			const tokens = await session.compact(customInstructions);
			const entry = session.entries.findLast(isCompactionEntry);
			return { summary: entry?.summary ?? "", ...tokens };
		},
		set_auto_compaction({ enabled }) {
			session.autoCompaction = enabled;
			return null;
		},
		set_auto_retry({ enabled }) {
			controls.autoRetry = enabled;
			return null;
		},
		bash: ({ command, excludeFromContext = false }) => runBash(session, command, excludeFromContext),
		get_session_stats: () => session.stats(),
		export_html: async ({ outputPath }) => ({ path: await exportSession(session, outputPath) }),
		async switch_session({ sessionPath }) {
			const dir = session.sessionFile === null ? session.cwd : dirname(session.sessionFile);
			return { cancelled: !(await session.lifecycle.switchSession(findSession(dir, sessionPath))) };
		},
		async branch({ entryIndex }) {
			const text = await session.lifecycle.branch(entryIndex);
			return { text: text ?? "", cancelled: text === null };
		},
		get_branch_messages: () => ({ messages: session.lifecycle.branchTargets() }),
		get_last_assistant_text: () => ({ text: lastAssistantText(session.entries) }),
		get_commands: () => ({ commands: session.palette().filter(isOfferedByRpc) }),
		async get_context() {
			const { context, entries, previous } = await session.inspector.inspectContext();
			return createContextReport({
				session: session.sessionFile,
				context,
				entries,
				hooks: session.loaded.hooks,
				previous: previous ?? "none",
			});
		},
	};
}

/** Built-in commands that are refused without a terminal. */
const NEEDS_TERMINAL: ReadonlySet<string> = new Set(["login", "quit", "setup", "theme"]);

function isOfferedByRpc({ name, origin }: PaletteItem): boolean {
	return origin !== "built-in" || !NEEDS_TERMINAL.has(builtinName(name));
}

/** Answers a prompt when its run has begun, when it is queued, or when it was a command; not at the end of the run. */
function acceptPrompt(
	session: AgentSession,
	send: () => Promise<PromptResult>,
	onFailure: (message: string) => void,
): Promise<PromptAnswer> {
	return new Promise((accept, refuse) => {
		let isAnswered = false;
		const stop = session.subscribe(({ type }) => {
			if (type !== "agent_start") return;
			isAnswered = true;
			accept({ outcome: "started" });
		});
		send()
			.then(
				(result) => accept(toAnswer(result)),
				(error: unknown) => {
					if (isAnswered) onFailure(describeError(error));
					else refuse(error);
				},
			)
			.finally(stop);
	});
}

function toAnswer(result: PromptResult): PromptAnswer {
	if (result.kind === "run") return { outcome: "started" };
	if (result.kind === "handled") return { outcome: "handled", hook: result.by };
	return result.kind === "queued" ? { outcome: "queued" } : { outcome: "command", status: result.status };
}

async function runBash(session: AgentSession, command: string, excludeFromContext: boolean): Promise<RpcBashResult> {
	let entryIndex = -1;
	const stop = session.subscribe((event) => {
		if (event.type === "bash_end") entryIndex = event.entryIndex;
	});
	try {
		await session.runBash(command, { excludeFromContext });
	} finally {
		stop();
	}
	const entry = session.entries[entryIndex];
	if (!isMessageEntry(entry) || entry.message.role !== "bashExecution") {
		throw new PiError("command_failed", "The shell command did not write an entry");
	}
	const { output, exitCode, cancelled, truncated, fullOutputPath } = entry.message;
	return { output, exitCode, cancelled, truncated, ...(fullOutputPath ? { fullOutputPath } : {}), entryIndex };
}
