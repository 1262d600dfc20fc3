import { hookName } from "../../hooks/hook-name.js";
import type { ActiveOperation, Activity, OperationKind } from "../../session/activity.js";
import type { AgentSessionEvent } from "../../session/events.js";
import { describeCall } from "../../tools/describe-call.js";
import { formatElapsed, formatTokens } from "../format.js";
import { cleanLine } from "./clean-text.js";
import type { ViewStyle } from "./views/view.js";

/** What a session is doing. */
export interface RunDescription {
	/** Of any length. */
	title: string;
	/** Elapsed time and counts, which follow the title. */
	figures: string;
	/** What the abort key does to it; null: nothing. */
	keyDoes: "stops" | "cancels" | null;
	/** It is a command that has run for a while, and that could go on in the background. */
	isLongCommand?: boolean;
}

/** A reply that is silent for this long is said to be, ms. */
const SILENCE_MS = 20_000;
/** A command that runs for this long is said to be movable, ms. */
const LONG_COMMAND_MS = 5000;

/** Describes what a session is doing in one line. Its activity says whether it is busy, its events provide the details. */
export class RunStatus {
	/** Operations of the session and when each started, oldest first. */
	#operations: (ActiveOperation & { startedAt: number })[] = [];
	/** A text of a hook that is shown instead of what the model is doing; null: none. */
	message: string | null = null;
	/** False: what the model and its tools do is not described. */
	isWorkShown = true;
	#startedAt = 0;
	/** When the provider last sent a part of the reply. */
	#heardAt = 0;
	#doing = "thinking";
	#receivedCharacters = 0;
	readonly #tools = new Map<string, { title: string; startedAt: number; isCommand: boolean }>();
	#retry: { attempt: number; maxAttempts: number; until: number; reason: string } | null = null;
	/** How the running shell command was typed. */
	#shellSign = "!";
	/** Slow hook handlers, oldest first. */
	#hooks: { title: string; startedAt: number }[] = [];

	/** @param style the directories from which paths are shown */
	constructor(private readonly style: Pick<ViewStyle, "cwd" | "home" | "remote">) {}

	/** True when `describe` has a line to show. */
	get isShown(): boolean {
		return this.#hooks.length > 0 || this.#operations.some(isDescribed);
	}

	/** @param now ms since the epoch */
	handle(event: AgentSessionEvent, now: number): void {
		switch (event.type) {
			case "activity_changed":
				this.#follow(event.activity, now);
				break;
			case "turn_start":
				this.#begin(now);
				break;
			case "message_start":
				if (event.message.role === "assistant") this.#begin(now);
				break;
			case "message_update":
				this.#heardAt = now;
				this.#receive(event.assistantMessageEvent);
				break;
			case "tool_execution_start":
			case "tool_input_changed":
				// The transcript shows what the call of a hook does; the call in which it runs goes on.
				if (!event.caller)
					this.#tools.set(event.toolCallId, {
						title: this.#toolTitle(event),
						startedAt: now,
						isCommand: event.toolName === "bash",
					});
				break;
			case "tool_execution_end":
				this.#tools.delete(event.toolCallId);
				break;
			case "bash_start":
				this.#shellSign = event.excludeFromContext ? "!!" : "!";
				break;
			case "auto_retry_start": {
				const reason = cleanLine(event.errorMessage, 120);
				this.#retry = { ...event, until: now + event.delayMs, reason };
				break;
			}
			case "hook_running":
				this.#hooks.push({ title: hookTitle(event), startedAt: now - event.ms });
				break;
			case "hook_done": {
				const at = this.#hooks.findIndex(({ title }) => title === hookTitle(event));
				if (at >= 0) this.#hooks.splice(at, 1);
				break;
			}
		}
	}

	/**
	 * The most important current activity.
	 * @returns null when there is nothing to show
	 */
	describe(now: number): RunDescription | null {
		const run = this.#find("run");
		if (this.#retry && run?.phase === "retrying") {
			const { attempt, maxAttempts, until, reason } = this.#retry;
			const seconds = Math.max(0, Math.ceil((until - now) / 1000));
			const wait = seconds <= 60 ? `${seconds} s` : formatElapsed(seconds * 1000);
			return { title: `retry ${attempt}/${maxAttempts} in ${wait} · ${reason}`, figures: "", keyDoes: "stops" };
		}
		const [hook] = this.#hooks;
		if (hook) {
			const isBusy = this.#operations.some(({ kind }) => kind !== "closing");
			return timed(`hook ${hook.title}`, hook, now, isBusy ? (run ? "stops" : "cancels") : null);
		}
		const compacting = this.#find("compacting");
		if (compacting) return timed("compacting", compacting, now, "cancels");
		const shell = this.#find("shell");
		if (shell) {
			const title = `${this.#shellSign} ${cleanLine(shell.name, 200)}`;
			return { ...timed(title, shell, now, "stops"), isLongCommand: this.#shellSign === "!" && isLong(shell, now) };
		}
		if (run && !this.isWorkShown) return null;
		const [tool, ...others] = this.#tools.values();
		if (tool) {
			const more = others.length > 0 ? ` +${others.length}` : "";
			return { ...timed(tool.title, tool, now, "stops", more), isLongCommand: tool.isCommand && isLong(tool, now) };
		}
		if (run && isDescribed(run)) {
			const tokens = Math.round(this.#receivedCharacters / 4);
			const received = tokens > 0 ? ` · ↓ ${formatTokens(tokens)}` : "";
			const description = timed(this.message ?? this.#doing, { startedAt: this.#startedAt }, now, "stops");
			const silentMs = now - this.#heardAt;
			const silence = silentMs >= SILENCE_MS ? ` · no data for ${formatElapsed(silentMs)}` : "";
			return { ...description, figures: description.figures + received + silence };
		}
		const command = this.#find("command");
		const prompting = this.#find("prompting");
		if (prompting) return timed("checking the prompt", prompting, now, "cancels");
		return command ? timed(commandTitle(command), command, now, "cancels") : null;
	}

	/** The operation of a kind that started last; not a shell command that has ended. */
	#find(kind: OperationKind): (ActiveOperation & { startedAt: number }) | undefined {
		return this.#operations.findLast(
			(operation) => operation.kind === kind && (kind === "run" || operation.phase !== "ending"),
		);
	}

	#follow({ operations, phase }: Activity, now: number): void {
		this.#operations = operations.map((operation) => {
			const startedAt = this.#operations.find(({ id }) => id === operation.id)?.startedAt ?? now;
			if (operation.kind === "run" && startedAt === now) this.#begin(now);
			return { ...operation, startedAt };
		});
		if (phase === null || phase === "ending") this.#tools.clear();
		if (!this.#find("shell")) this.#shellSign = "!";
	}

	#toolTitle({ toolName: name, args }: { toolName: string; args: Record<string, unknown> }): string {
		const { brief } = describeCall({ name, args }, { roots: this.style.remote ?? this.style });
		return `${cleanLine(name, 40)} ${brief}`.trimEnd();
	}

	#begin(now: number): void {
		this.#doing = "thinking";
		this.#startedAt = now;
		this.#heardAt = now;
		this.#receivedCharacters = 0;
	}

	#receive(event: Extract<AgentSessionEvent, { type: "message_update" }>["assistantMessageEvent"]): void {
		if (event.type === "thinking_delta") this.#doing = "thinking";
		else if (event.type === "text_delta") this.#doing = "writing";
		else if (event.type === "toolcall_delta") this.#doing = "writing a tool call";
		else return;
		this.#receivedCharacters += event.delta.length;
	}
}

/** False for opening a session and the last milliseconds of a run, which need no line. */
function isDescribed({ kind, phase }: ActiveOperation): boolean {
	if (kind === "run") return phase !== "ending";
	return kind === "compacting" || kind === "shell" || kind === "prompting" || kind === "command";
}

/** `/name`, or `shortcut ctrl+y`: names of commands contain no space. */
function commandTitle({ name }: ActiveOperation): string {
	return cleanLine(name.includes(" ") ? name : `/${name}`, 60);
}

/** `stack · tool_call` */
function hookTitle({ hookPath, event }: { hookPath: string; event: string }): string {
	return cleanLine(`${hookName(hookPath)} · ${event}`, 120);
}

function isLong({ startedAt }: { startedAt: number }, now: number): boolean {
	return now - startedAt >= LONG_COMMAND_MS;
}

function timed(
	title: string,
	{ startedAt }: { startedAt: number },
	now: number,
	keyDoes: RunDescription["keyDoes"],
	more = "",
): RunDescription {
	return { title, figures: `${more} · ${formatElapsed(now - startedAt)}`, keyDoes };
}
