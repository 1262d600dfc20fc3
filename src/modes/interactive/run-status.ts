import type { SessionEvent } from "../../session/events.js";
import { formatElapsed, formatTokens, hookName } from "../format.js";
import { readableError } from "../request-error.js";
import { cleanLine } from "./lines.js";

/** What is going on in a session, as one line of words. Time comes from outside. */
export class RunStatus {
	#running = false;
	#startedAt = 0;
	#activity = "thinking";
	#receivedCharacters = 0;
	readonly #tools = new Map<string, { title: string; startedAt: number }>();
	#retry: { attempt: number; maxAttempts: number; until: number; reason: string } | null = null;
	#compacting: { startedAt: number } | null = null;
	#bash: { command: string; startedAt: number } | null = null;
	#commands: { name: string; startedAt: number }[] = [];
	/** Handlers that take long, the first of them first. */
	#hooks: { title: string; startedAt: number }[] = [];

	/** Whether there is a line to show. */
	get isShown(): boolean {
		return this.isBusy || this.#hooks.length > 0;
	}

	/** Whether something runs that the user can stop. */
	get isBusy(): boolean {
		return this.#running || this.#compacting !== null || this.#bash !== null || this.#commands.length > 0;
	}

	/** @param now ms since the epoch */
	handle(event: SessionEvent, now: number): void {
		switch (event.type) {
			case "agent_start":
				this.#running = true;
				this.#begin("thinking", now);
				break;
			case "agent_end":
				this.#running = false;
				this.#retry = null;
				this.#tools.clear();
				break;
			case "message_start":
				this.#retry = null;
				if (event.message.role === "assistant") this.#begin("thinking", now);
				break;
			case "message_update":
				this.#receive(event.assistantMessageEvent);
				break;
			case "turn_start":
				this.#begin("thinking", now);
				break;
			case "tool_execution_start":
				this.#tools.set(event.toolCallId, { title: toolTitle(event.toolName, event.args), startedAt: now });
				break;
			case "tool_execution_end":
				this.#tools.delete(event.toolCallId);
				break;
			case "auto_retry_start":
				this.#retry = {
					...event,
					until: now + event.delayMs,
					reason: cleanLine(readableError(event.errorMessage), 120),
				};
				break;
			case "auto_retry_end":
				this.#retry = null;
				break;
			case "auto_compaction_start":
				this.#compacting = { startedAt: now };
				break;
			case "auto_compaction_end":
				this.#compacting = null;
				break;
			case "bash_start":
				this.#bash = { command: cleanLine(event.command, 200), startedAt: now };
				break;
			case "bash_end":
				this.#bash = null;
				break;
			case "command_start":
				this.#commands.push({ name: cleanLine(event.name, 60), startedAt: now });
				break;
			case "command_end":
				this.#commands = this.#commands.filter(({ name }) => name !== cleanLine(event.name, 60));
				break;
			case "hook_running":
				this.#hooks.push({ title: hookTitle(event), startedAt: now - event.ms });
				break;
			case "hook_done": {
				const at = this.#hooks.findIndex(({ title }) => title === hookTitle(event));
				if (at >= 0) this.#hooks.splice(at, 1);
				break;
			}
			case "session_changed":
				this.#reset();
				break;
		}
	}

	/**
	 * The words of the line and what the key does, null when it does nothing: what most wants to be known first.
	 * Null when nothing goes on.
	 */
	describe(now: number): { text: string; keyDoes: "stops" | "cancels" | null } | null {
		if (this.#retry) {
			const { attempt, maxAttempts, until, reason } = this.#retry;
			const seconds = Math.max(0, Math.ceil((until - now) / 1000));
			return { text: `retry ${attempt}/${maxAttempts} in ${seconds} s · ${reason}`, keyDoes: "cancels" };
		}
		const [hook] = this.#hooks;
		if (hook) {
			const text = `hook ${hook.title} · ${elapsed(hook.startedAt, now)}`;
			return { text, keyDoes: this.isBusy ? (this.#running ? "stops" : "cancels") : null };
		}
		if (this.#compacting)
			return { text: `compacting · ${elapsed(this.#compacting.startedAt, now)}`, keyDoes: "cancels" };
		if (this.#bash)
			return { text: `! ${this.#bash.command} · ${elapsed(this.#bash.startedAt, now)}`, keyDoes: "stops" };
		const [tool, ...others] = this.#tools.values();
		if (tool) {
			const more = others.length > 0 ? ` +${others.length}` : "";
			return { text: `${tool.title}${more} · ${elapsed(tool.startedAt, now)}`, keyDoes: "stops" };
		}
		const command = this.#commands.at(-1);
		if (this.#running) {
			const tokens = Math.round(this.#receivedCharacters / 4);
			const received = tokens > 0 ? ` · ↓ ${formatTokens(tokens)}` : "";
			return { text: `${this.#activity} · ${elapsed(this.#startedAt, now)}${received}`, keyDoes: "stops" };
		}
		return command ? { text: `/${command.name} · ${elapsed(command.startedAt, now)}`, keyDoes: "cancels" } : null;
	}

	#begin(activity: string, now: number): void {
		this.#activity = activity;
		this.#startedAt = now;
		this.#receivedCharacters = 0;
	}

	#receive(event: Extract<SessionEvent, { type: "message_update" }>["assistantMessageEvent"]): void {
		if (event.type === "thinking_delta") this.#activity = "thinking";
		else if (event.type === "text_delta") this.#activity = "writing";
		else if (event.type === "toolcall_delta") this.#activity = "writing a tool call";
		else return;
		this.#receivedCharacters += event.delta.length;
	}

	#reset(): void {
		this.#running = false;
		this.#retry = null;
		this.#compacting = null;
		this.#bash = null;
		this.#tools.clear();
	}
}

/** A tool call in a few words: its name and the argument that says most. */
function toolTitle(name: string, args: Record<string, unknown>): string {
	const known = ["command", "path", "pattern"].map((key) => args[key]).find((value) => typeof value === "string");
	return cleanLine(typeof known === "string" ? `${name} ${known}` : name, 200);
}

/** `stack · tool_call` */
function hookTitle({ hookPath, event }: { hookPath: string; event: string }): string {
	return cleanLine(`${hookName(hookPath)} · ${event}`, 120);
}

function elapsed(since: number, now: number): string {
	return formatElapsed(now - since);
}
