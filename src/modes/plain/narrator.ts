import type { AssistantMessage } from "@mariozechner/pi-ai";
import { describeFailure } from "../../agent/failure.js";
import { describeHookErrorInFull, errorText } from "../../errors.js";
import { hookFileName, hookName } from "../../hooks/hook-name.js";

import { PLAIN_THEME } from "../../hooks/plain-theme.js";
import { type Drawing, drawCall, drawResult, readDrawnText } from "../../hooks/tool-drawing.js";
import {
	type BashExecutionMessage,
	hasToolCalls,
	isEmptyReply,
	isImageOmissionEntry,
	isMessageEntry,
	isSystemItemEntry,
	messageText,
	type SessionEntry,
} from "../../log/entry.js";
import { describeChangedInput, describeChangedPrompt } from "../../log/gate-text.js";
import type { AgentSession } from "../../sdk/agent-session.js";
import type { AgentSessionEvent } from "../../session/events.js";
import { commandEnd } from "../../tools/describe-shell.js";
import type { CallArguments } from "../../tools/description.js";
import type { ToolResult } from "../../tools/tool.js";
import { monotonicMs } from "../../util/clock.js";
import { describeContextFile, describeOmission, formatDuration, formatTokens, plural } from "../format.js";
import { nextStep, stoppedText, waitText } from "../request-error.js";
import { ShownHookErrors, withNextStep } from "../shown-hook-errors.js";
import { ContextNarrator } from "./context-narrator.js";
import { type PlainOutput, plainLine } from "./plain-output.js";
import { headLines, outputLines, plainWords, resultLines, resultWords, toolTitle } from "./tool-words.js";

/** Prints the events of a session as lines of text. */
export class Narrator {
	readonly #context = new ContextNarrator();
	readonly #hookErrors = new ShownHookErrors();
	readonly #calls = new Map<string, { title: string; args: CallArguments; startedAt: number }>();
	/** The incomplete last line of the reply. */
	#text = "";
	#isReplying = false;
	#runSince = 0;
	/** A command compacts, and reports a failure as its result. */
	#isCompactedByCommand = false;

	/** @param now clock in ms, for durations */
	constructor(
		private readonly session: AgentSession,
		private readonly output: PlainOutput,
		private readonly now: () => number = monotonicMs,
	) {}

	/** Starts with the current context without describing it. */
	begin(): void {
		this.#context.reset(this.session.context);
	}

	handle(event: AgentSessionEvent): void {
		switch (event.type) {
			case "agent_start":
				this.#runSince = this.now();
				this.#say("thinking");
				break;
			case "agent_end":
				this.#endRun();
				break;
			case "message_update":
				this.#updateReply(event.assistantMessageEvent);
				break;
			case "message_end":
				if (event.message.role === "assistant") this.#endReply(event.message, event.isRetried);
				else this.#describeChange(event.entryIndex);
				break;
			case "tool_execution_start": {
				const { toolName: name, args } = event;
				const words = plainWords({ name, args }, this.session.host);
				const title = this.#drawnTitle(name, args) ?? toolTitle(name, words);
				this.#calls.set(event.toolCallId, { title, args, startedAt: this.now() });
				const by = event.caller ? `, called by hook ${plainLine(event.caller.hook, 40)}` : "";
				this.#say(`running ${title}${by}`);
				break;
			}
			case "tool_input_changed":
				this.#say(plainLine(`${event.toolName} ${describeChangedInput(event.changed)}`, 1000));
				break;
			case "tool_execution_end":
				this.#endCall(event);
				break;
			case "auto_retry_start": {
				const wait = waitText(event.delayMs, Date.now());
				this.#say(`retry ${event.attempt} of ${event.maxAttempts} ${wait}: ${plainLine(event.errorMessage)}`);
				break;
			}
			case "auto_compaction_start":
				this.#isCompactedByCommand = event.reason === "manual";
				this.#say("compacting the context");
				break;
			case "auto_compaction_end":
				if (event.errorMessage && this.#isCompactedByCommand) break;
				if (event.errorMessage && !event.aborted)
					this.#say(`Error: compaction failed: ${plainLine(event.errorMessage)}`);
				else this.#say(event.aborted ? "compaction aborted" : "context compacted");
				break;
			case "bash_start":
				this.#runSince = this.now();
				this.#say(`running ${plainLine(event.command)}`);
				break;
			case "bash_done":
				this.#endBash(event.message);
				break;
			case "context_changed":
				for (const line of this.#context.describe(event.context)) this.#say(line);
				break;
			case "session_changed":
				this.#context.reset(this.session.context);
				this.#say(this.describeSession());
				break;
			case "entry_appended":
				this.#describeEntry(event.entry);
				break;
			case "notice":
				this.notice(event.level, event.message);
				break;
			case "hook_error": {
				const line = describeHookErrorInFull(event, hookFileName(event.hookPath));
				if (this.#hookErrors.accepts(event, line)) this.notice("error", withNextStep(event, line));
				break;
			}
			case "activity_changed":
				this.#hookErrors.handle(event);
				break;
		}
	}

	/** Prints a prompt as hooks changed it. */
	#describeChange(entryIndex: number): void {
		const entry = this.session.log.at(entryIndex);
		if (!isMessageEntry(entry) || entry.message.role !== "user") return;
		const change = describeChangedPrompt(entry);
		if (change) this.#say(plainLine(`prompt ${change.by}: ${messageText(entry.message)}`, 4000));
	}

	notice(level: "info" | "warning" | "error", message: string): void {
		const word = level === "error" ? "Error: " : level === "warning" ? "Warning: " : "";
		this.#say(word + message);
	}

	/** Name and length of the session. */
	describeSession(): string {
		const { sessionName } = this.session;
		const { totalMessages } = this.session.stats();
		const name = sessionName ? `, ${plainLine(sessionName)}` : "";
		return totalMessages === 0 ? `New session${name}` : `Session${name}: ${plural(totalMessages, "message")} so far`;
	}

	#updateReply(event: Extract<AgentSessionEvent, { type: "message_update" }>["assistantMessageEvent"]): void {
		if (event.type === "text_delta") {
			this.#text += event.delta;
			const end = this.#text.lastIndexOf("\n");
			if (end < 0) return;
			const lines = this.#text.slice(0, end);
			this.#text = this.#text.slice(end + 1);
			this.#reply(lines);
		} else if (event.type === "text_end") this.#flush();
	}

	/** Prints text of the model, with a prefix on the first line of each reply. */
	#reply(text: string): void {
		if (!this.#isReplying && text.trim() === "") return;
		this.output.say(this.#isReplying ? text : `pi: ${text.trimStart()}`);
		this.#isReplying = true;
	}

	#flush(): void {
		const text = this.#text;
		this.#text = "";
		if (text.trim() !== "") this.#reply(text);
	}

	#endReply(message: AssistantMessage, isRetried = false): void {
		const { stopReason, errorMessage } = message;
		this.#flush();
		this.#isReplying = false;
		// The line of the retry tells the error.
		if (isRetried) return;
		if (isEmptyReply(message)) this.#say("the model returned an empty reply");
		if (stopReason === "aborted") this.#say(stoppedText(errorMessage));
		if (stopReason === "length") {
			const next = hasToolCalls(message) ? "" : " · send continue to get the rest";
			this.#say(`Warning: the reply was truncated at the model's output limit${next}`);
		}
		if (stopReason === "error") {
			const why = describeFailure(errorMessage);
			this.#say(`Error: ${why} · ${nextStep(why)}`);
		}
	}

	#endCall(event: Extract<AgentSessionEvent, { type: "tool_execution_end" }>): void {
		const { toolCallId, toolName, result, isError, blockedBy } = event;
		const call = this.#calls.get(toolCallId);
		this.#calls.delete(toolCallId);
		// While other calls are running, the line must name this one.
		const title = call && this.#calls.size > 0 ? call.title : "";
		const elapsedMs = call ? this.now() - call.startedAt : 0;
		const words = plainWords(
			{ name: toolName, args: call?.args ?? {}, result: { ...result, isError } },
			this.session.host,
		);
		const ended = { result, isError, elapsedMs, blockedBy };
		this.#say(resultWords(words, title, ended));
		// What a hook makes of it is the result of another call.
		if (event.caller && !isError) return;
		const lines = this.#drawnResult(toolName, result, isError) ?? resultLines(words, ended);
		for (const line of lines) this.#say(line);
	}

	/** A call as its hook draws it; null if none does. */
	#drawnTitle(name: string, args: Readonly<Record<string, unknown>>): string | null {
		const renderer = this.session.toolRenderer(name);
		const text = renderer ? this.#accept(drawCall(renderer, args, PLAIN_THEME, readDrawnText)) : null;
		return text === null ? null : plainLine(text, 200) || null;
	}

	#drawnResult(name: string, result: ToolResult, isError: boolean): string[] | null {
		const renderer = this.session.toolRenderer(name);
		const options = { expanded: false, isPartial: false, isError };
		const text = renderer ? this.#accept(drawResult(renderer, result, options, PLAIN_THEME, readDrawnText)) : null;
		return text === null ? null : headLines(text);
	}

	/** Reports a hook that failed to draw. */
	#accept(drawing: Drawing<string> | null): string | null {
		if (drawing === null || "drawn" in drawing) return drawing?.drawn ?? null;
		this.notice("error", drawing.error);
		return null;
	}

	#endBash({ output, exitCode, cancelled }: BashExecutionMessage): void {
		for (const line of outputLines(output, exitCode !== 0)) this.#say(line);
		const how = commandEnd({ exitCode, ...(cancelled && { endedBy: "abort" }) });
		this.#say(`done in ${formatDuration(this.now() - this.#runSince)}, ${how}`);
	}

	#endRun(): void {
		this.#flush();
		this.#isReplying = false;
		this.#calls.clear();
		const { tokens, contextWindow } = this.session.contextUsage();
		const share = contextWindow > 0 ? `${Math.round((100 * tokens) / contextWindow)} % of ` : "";
		const used = `context ${share}${formatTokens(contextWindow > 0 ? contextWindow : tokens)} tokens`;
		this.#say(`(${formatDuration(this.now() - this.#runSince)}, ${used})`);
	}

	/** Prints an entry that a hook renders, or a note that a hook sent to the model. */
	#describeEntry(entry: SessionEntry): void {
		if (isSystemItemEntry(entry)) {
			const file = describeContextFile(entry, { cwd: this.session.cwd, home: "" });
			if (file !== null) {
				this.#say(plainLine(file));
				return;
			}
			this.#say(`note to the model (${plainLine(hookName(entry.source))}): ${plainLine(entry.item.text)}`);
			return;
		}
		if (isImageOmissionEntry(entry)) {
			this.#say(plainLine(describeOmission(entry)));
			return;
		}
		const render = this.session.entryRenderer(entry.type, entry);
		if (!render) return;
		try {
			const text = readDrawnText(render(entry, PLAIN_THEME, { expanded: true }));
			if (text.trim() !== "") this.#say(text);
		} catch (error) {
			this.notice("error", `cannot render entry ${plainLine(entry.type)}: ${errorText(error)}`);
		}
	}

	#say(text: string): void {
		this.#flush();
		this.output.say(text);
	}
}
