import type { ToolResultMessage } from "@mariozechner/pi-ai";
import type { CommandHost } from "../commands/command.js";
import type { CommandCompaction } from "../commands/compaction.js";
import type { BranchRow } from "../commands/pickers.js";
import { resolveUserPath } from "../config/paths.js";
import type { BuiltContext } from "../context/context-message.js";
import { type EntrySource, entryMessage } from "../context/entry-message.js";
import { estimateTokens } from "../context/tokens.js";
import type { DrawTool } from "../export/html-tool.js";
import { PLAIN_THEME } from "../hooks/plain-theme.js";
import { type Drawing, drawCall, drawResult, readDrawnText, type ToolRenderer } from "../hooks/tool-drawing.js";
import { isMessageEntry, isUserMessageEntry, messageText, type SessionEntry } from "../log/entry.js";
import { promptText } from "../log/prompt-text.js";
import type { AgentSession } from "./agent-session.js";
import { writeDebugReport } from "./debug-report.js";
import { describeContext, describeHooks } from "./describe-context.js";
import type { Lifecycle } from "./lifecycle.js";
import { openSavedUsage } from "./saved-usage.js";
import type { SessionSetup } from "./session-setup.js";
import { createSessionStore } from "./session-store.js";

/** The view that built-in commands have of the session; every member reads the current state. */
export function createCommandHost(
	session: AgentSession,
	lifecycle: Lifecycle,
	setup: SessionSetup,
	compaction: CommandCompaction,
	{ jobs, mcp }: Pick<CommandHost, "jobs" | "mcp">,
): CommandHost {
	return {
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
			return setup.accounts;
		},
		trust: setup.trust,
		get models() {
			return setup.offers;
		},
		availableModels: () => setup.models.available(),
		setModel: (model, level) => session.setModel(model, level),
		setThinkingLevel: (level) => session.setThinkingLevel(level),
		setAutoCompaction: (enabled) => {
			session.autoCompaction = enabled;
		},
		setName: (name) => session.setName(name),
		stats: () => session.stats(),
		usageSince: async (time, signal) => {
			const index = await openSavedUsage(setup);
			await index.refresh(signal);
			await index.save();
			return [...index.requests(time)];
		},
		sessions: createSessionStore({
			dir: setup.savedSessionsDir,
			root: setup.sessionsRoot,
			cwd: setup.cwd,
			current: () => session.sessionFile,
			setName: (name) => session.setName(name),
		}),
		tools: setup.toolSwitch,
		jobs,
		mcp,
		settings: setup.settings,
		newSession: () => lifecycle.newSession(),
		switchSession: (path, as) => lifecycle.switchSession(path, as),
		branchTargets: () => lifecycle.branchTargets(),
		branchRows: async () => {
			await session.rebuildContext();
			return branchRows(session.log, session.context);
		},
		branch: (entryIndex) => lifecycle.branch(entryIndex),
		compaction,
		reload: (screen) => session.reload(screen),
		exportHtml: (path) => exportSession(session, path),
		lastAssistantText: () => lastAssistantText(session.entries),
		describeContext: (at = null) => session.inspector.inspectContext({ at }).then(describeContext),
		describeHooks: () => describeHooks(session.inspector.hookStatuses()),
		inspector: session.inspector,
		writeDebugReport: (screen) => writeDebugReport(session, setup, screen),
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

/**
 * Exports a session to one HTML file.
 * @param path relative to the session's directory, or in the home directory with `~/`; default: a name that contains the session id
 * @returns the absolute path
 * @throws PiError `export_failed`
 */
export async function exportSession(session: AgentSession, path?: string): Promise<string> {
	const { exportToFile } = await import("../export/html.js");
	const id = session.sessionId.slice(0, 8);
	const target = resolveUserPath(path ?? `pi-session-${id}.html`, session.cwd);
	await exportToFile(target, {
		entries: session.log,
		context: session.context,
		title: session.sessionName ?? `Session ${id}`,
		drawTool: (call, result) => drawToolText(session.toolRenderer(call.name), call.arguments, result),
	});
	return target;
}

/** A call as its hook draws it, in text; null if no hook does. */
function drawToolText(
	renderer: ToolRenderer | undefined,
	args: Readonly<Record<string, unknown>>,
	result: ToolResultMessage | undefined,
): ReturnType<DrawTool> {
	if (!renderer) return null;
	const options = { expanded: true, isPartial: false, isError: result?.isError ?? false };
	const head = drawCall(renderer, args, PLAIN_THEME, readDrawnText);
	const body = result ? drawResult(renderer, result, options, PLAIN_THEME, readDrawnText) : null;
	const textOf = (drawing: Drawing<string> | null) => (drawing && "drawn" in drawing ? drawing.drawn : null);
	return {
		title: textOf(head),
		body: textOf(body),
		errors: [head, body].flatMap((drawing) => (drawing && "error" in drawing ? [drawing.error] : [])),
	};
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
