import { describeError, describeHookErrorInFull } from "../errors.js";
import { hookFileName } from "../hooks/hook-name.js";
import { isEmptyReply, isImageOmissionEntry, isSystemItemEntry, messageText } from "../log/entry.js";
import { describeChangedInput } from "../log/gate-text.js";
import type { AgentSession } from "../sdk/agent-session.js";
import type { AgentSessionEvent } from "../session/events.js";
import { describeCall } from "../tools/describe-call.js";
import type { ToolResult } from "../tools/tool.js";
import { sanitize, stripAll } from "../util/sanitize.js";
import { describeContextFile, describeOmission } from "./format.js";
import { type ExitCode, isOfCommand, type ModeIO, type ModePrompts } from "./mode.js";
import { waitText } from "./request-error.js";
import { runPrompts } from "./run-prompts.js";
import { ShownHookErrors } from "./shown-hook-errors.js";

/** Maximum length of a tool call's subject in a progress line, in characters. */
const MAX_SUBJECT = 100;

/**
 * Runs prompts without a screen. Prints the final text of each to stdout, progress and problems to stderr.
 * @param shown knows the errors that are on stderr already
 */
export async function runPrint(
	session: AgentSession,
	prompts: ModePrompts,
	io: ModeIO,
	shown = new ShownHookErrors(),
): Promise<ExitCode> {
	const clean = (text: string) => (io.outIsTerminal ? sanitize(text) : text);
	const line = (text: string) => io.err(`${stripAll(text)}\n`);
	const running: RunningWork = { calls: new Map(), isCompactedByCommand: false };
	const stop = session.subscribe((event) => {
		const progress = describe(event, running, session);
		shown.handle(event);
		if (progress !== null && isNew(event, progress, shown)) line(progress);
	});
	try {
		return await runPrompts(session, prompts, {
			onStatus: (status) => io.out(`${clean(status)}\n`),
			onReply: async (reply) => {
				const text = messageText(reply).trimEnd();
				if (text !== "") await io.out(`${clean(text)}\n`);
				if (isEmptyReply(reply)) line("the model returned an empty reply");
				if (reply.stopReason === "length")
					line(`the reply was truncated at the model's output limit · ${restHint(session)}`);
			},
			onStructured: (value) => io.out(`${clean(JSON.stringify(value))}\n`),
			onFailure: (error) => line(describeError(error)),
		});
	} finally {
		stop();
	}
}

function restHint({ sessionFile }: AgentSession): string {
	const command = "pi --continue -p continue";
	return sessionFile === null ? `without --no-session, ${command} gets the rest` : `get the rest with ${command}`;
}

/** False for an error that was shown already. */
function isNew(event: AgentSessionEvent, line: string, shown: ShownHookErrors): boolean {
	return event.type !== "hook_error" || isOfCommand(event) || shown.accepts(event, line);
}

/** What earlier events say about a later one. */
interface RunningWork {
	/** Titles of the running tool calls, by id. */
	calls: Map<string, string>;
	/** A command compacts, and reports a failure as its result. */
	isCompactedByCommand: boolean;
}

/** @param running updated */
function describe(event: AgentSessionEvent, running: RunningWork, session: AgentSession): string | null {
	const { calls } = running;
	switch (event.type) {
		case "tool_execution_start": {
			const { brief } = describeCall({ name: event.toolName, args: event.args }, { roots: session.host });
			const subject = brief.length > MAX_SUBJECT ? `${brief.slice(0, MAX_SUBJECT)}…` : brief;
			const title = `${event.toolName} ${subject}`.trimEnd();
			calls.set(event.toolCallId, title);
			if (!event.caller) return title;
			return event.caller.toolCallId === undefined ? `${title} · hook ${event.caller.hook}` : `  ${title}`;
		}
		case "tool_input_changed":
			return `${event.toolName} ${describeChangedInput(event.changed)}`;
		case "tool_execution_end": {
			const title = calls.get(event.toolCallId) ?? event.toolName;
			calls.delete(event.toolCallId);
			return event.blockedBy === undefined
				? null
				: `${title} · blocked by ${event.blockedBy}: ${firstText(event.result)}`;
		}
		case "auto_retry_start": {
			const wait = waitText(event.delayMs, Date.now());
			return `retry ${event.attempt}/${event.maxAttempts} ${wait}: ${event.errorMessage}`;
		}
		case "auto_compaction_start":
			running.isCompactedByCommand = event.reason === "manual";
			return "compacting the context";
		case "auto_compaction_end":
			if (!event.errorMessage || event.aborted || running.isCompactedByCommand) return null;
			return `compaction failed: ${event.errorMessage}`;
		case "entry_appended":
			if (isSystemItemEntry(event.entry)) return describeContextFile(event.entry, { cwd: session.cwd, home: "" });
			return isImageOmissionEntry(event.entry) ? describeOmission(event.entry) : null;
		case "hook_error":
			// The failure of a command is reported as its result.
			return isOfCommand(event) ? (event.stack ?? null) : describeHookErrorInFull(event, hookFileName(event.hookPath));
		case "notice":
			// Status lines of commands are printed to stdout.
			return event.level === "info" ? null : event.message;
		default:
			return null;
	}
}

/** The first line of a result. */
function firstText({ content }: ToolResult): string {
	const [block] = content;
	return block?.type === "text" ? (block.text.split("\n")[0] ?? "") : "";
}
