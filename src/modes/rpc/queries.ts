import type { PaletteItem } from "../../commands/command.js";
import { builtinName } from "../../commands/command-registry.js";
import { createContextReport } from "../../context/ledger.js";
import type { AgentSession } from "../../sdk/agent-session.js";
import { lastAssistantText } from "../../sdk/command-session.js";
import type { RpcQueryName, RpcResults } from "./protocol.js";

/** Answers to the commands that read something. */
export type RpcQueries = { readonly [N in RpcQueryName]: () => RpcResults[N] | Promise<RpcResults[N]> };

/** Creates the answers of a session. Each throws a `PiError` when it fails. */
export function createQueries(session: AgentSession): RpcQueries {
	const { controls } = session;
	return {
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
		get_available_models: async () => ({ models: await controls.availableModels() }),
		get_session_stats: () => session.stats(),
		get_branch_messages: () => ({ messages: session.branchTargets() }),
		get_last_assistant_text: () => ({ text: lastAssistantText(session.entries) }),
		get_commands: () => ({ commands: session.palette().filter(isOfferedByRpc) }),
		async get_context() {
			const { context, entries, previous, native } = await session.inspector.inspectContext();
			return createContextReport({
				session: session.sessionFile,
				context,
				entries,
				hooks: session.loaded.hooks,
				previous: previous ?? "none",
				native,
			});
		},
	};
}

/** Built-in commands that are refused without a terminal. */
const NEEDS_TERMINAL: ReadonlySet<string> = new Set(["login", "quit", "setup", "theme"]);

function isOfferedByRpc({ name, origin }: PaletteItem): boolean {
	return origin !== "built-in" || !NEEDS_TERMINAL.has(builtinName(name));
}
