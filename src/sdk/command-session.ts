import type { CommandSession } from "../commands/command.js";
import type { CommandCompaction } from "../commands/compaction-request.js";
import { describeTotals } from "../commands/inspection.js";
import type { BranchRow } from "../commands/pickers.js";
import type { BuiltContext } from "../context/context-message.js";
import { type EntrySource, entryMessage } from "../context/entry-message.js";
import { estimateTokens } from "../context/tokens.js";
import { isMessageEntry, isUserMessageEntry, messageText, type SessionEntry } from "../log/entry.js";
import { promptText } from "../log/prompt-text.js";
import type { SessionOperations } from "../operations/index.js";
import type { SessionServices } from "../services/service-types.js";
import { openSavedUsage } from "../services/store/saved-usage.js";
import { createSessionStore } from "../services/store/session-store.js";
import { describeContext, describeHooks } from "../session/describe-context.js";
import type { AgentSession } from "./agent-session.js";
import { writeDebugReport } from "./debug-report.js";

/** The view that built-in commands have of the session; every member reads the current state. */
export function createCommandSession(
	session: AgentSession,
	operations: SessionOperations,
	{ store, models, code }: Pick<SessionServices, "store" | "models" | "code">,
	compaction: CommandCompaction,
	{
		jobs,
		mcp,
		lifecycle,
	}: Pick<CommandSession, "jobs" | "mcp"> & { lifecycle: { readonly canceledBy: string | null } },
): CommandSession {
	const usageSince: CommandSession["usageSince"] = async (time, signal) => {
		const index = await openSavedUsage(store);
		await index.refresh(signal);
		await index.save();
		return [...index.requests(time)];
	};
	return {
		...operations,
		get cwd() {
			return session.cwd;
		},
		get sessionFile() {
			return session.sessionFile;
		},
		get isReadOnly() {
			return session.isReadOnly;
		},
		get sessionName() {
			return session.sessionName;
		},
		get model() {
			return session.model;
		},
		get thinkingLevel() {
			return session.thinkingLevel;
		},
		get autoCompaction() {
			return session.autoCompaction;
		},
		get accounts() {
			return models.accounts;
		},
		trust: code.trust,
		get models() {
			return models.offers;
		},
		availableModels: () => models.list.available(),
		stats: () => session.stats(),
		usageSince,
		sessions: createSessionStore({
			dir: store.savedSessionsDir,
			root: store.sessionsRoot,
			cwd: store.cwd,
			elsewhere: code.mcpContext,
			current: () => session.sessionFile,
			setName: operations.setName,
			async costs(signal) {
				const costs = new Map<string, number>();
				for (const { session: spender, usage } of await usageSince(0, signal)) {
					costs.set(spender.id, (costs.get(spender.id) ?? 0) + (usage.cost ?? 0));
				}
				return costs;
			},
		}),
		tools: code.toolSwitch,
		jobs,
		mcp,
		settings: store.settings,
		describeCanceled(change) {
			const { canceledBy } = lifecycle;
			return canceledBy === null ? `The ${change} was canceled` : `Hook ${canceledBy} canceled the ${change}`;
		},
		branchTargets: () => session.branchTargets(),
		branchRows: async () => {
			await operations.rebuildContext();
			return branchRows(session.log, session.context);
		},
		compaction,
		lastAssistantText: () => lastAssistantText(session.entries),
		async describeContext(at = null) {
			const lines = describeContext(await session.inspector.inspectContext({ at }));
			const totals = at === null ? session.inspector.contextTotals() : null;
			return totals ? [...lines, "", describeTotals(totals, await session.inspector.hooksSaved())] : lines;
		},
		async describeHooks(signal) {
			const shadows = await session.inspector.playShadows({ signal, onProgress() {} });
			return describeHooks(session.inspector.hookStatuses(), shadows ?? undefined);
		},
		inspector: session.inspector,
		writeDebugReport: (screen) => writeDebugReport(session, { store, models, code }, screen),
		commands: () => session.palette(),
	};
}

/** Text of the last assistant message that has text; null when none exists. */
export function lastAssistantText(entries: readonly SessionEntry[]): string | null {
	const entry = entries.findLast(
		(candidate) =>
			isMessageEntry(candidate) &&
			candidate.message.role === "assistant" &&
			messageText(candidate.message).trim() !== "",
	);
	return isMessageEntry(entry) ? messageText(entry.message) : null;
}

/** The user messages, oldest first, each with the messages and tokens after it. Reads every message. */
function branchRows(entries: EntrySource, context: BuiltContext): BranchRow[] {
	const inContext = new Set(
		context.messages.flatMap(({ entryIndex, origin }) =>
			entryIndex === null || origin.kind === "compaction" ? [] : [entryIndex],
		),
	);
	const rows: BranchRow[] = [];
	let messagesAfter = 0;
	let tokensAfter = 0;
	for (let entryIndex = entries.length - 1; entryIndex > 0; entryIndex--) {
		const entry = entries.at(entryIndex);
		const message = entryMessage(entry);
		if (message) tokensAfter += estimateTokens(message);
		if (isUserMessageEntry(entry)) {
			const text = promptText(entry);
			const at = entry.message.timestamp;
			rows.push({ entryIndex, text, at, messagesAfter, tokensAfter, isInContext: inContext.has(entryIndex) });
		}
		if (message) messagesAfter++;
	}
	return rows.reverse();
}
