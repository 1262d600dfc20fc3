import { withoutScratch } from "../../agent/incomplete-calls.js";
import { joinChanges, withoutPartial } from "../../agent/message-changes.js";
import { errorText } from "../../errors.js";
import type { AgentSessionEvent } from "../../session/events.js";
import { monotonicMs } from "../../util/clock.js";
import type { RpcEvent } from "./protocol.js";

/** Minimum time between two updates of the same message, tool call or shell command. */
const UPDATE_INTERVAL_MS = 100;
const MESSAGE = "message";

/** The destination of events. */
export interface EventWriter {
	/** True while the reader does not keep up. */
	readonly isBehind: boolean;
	/** @throws if JSON cannot represent the event */
	write(event: RpcEvent): void;
}

type Update = Extract<RpcEvent, { type: "message_update" | "tool_execution_update" | "bash_update" }>;

/** Throttled updates of one message, tool call or shell command. */
interface UpdateStream {
	sentAt: number;
	pending: Update | null;
	timer: NodeJS.Timeout | undefined;
}

/**
 * Sends the events of a session. Updates contain the complete state so far, so they are throttled: about ten per second
 * for each message, tool call and shell command, and none while the reader is behind. Pending deltas are joined, so
 * none is lost.
 */
export class EventSender {
	readonly #streams = new Map<string, UpdateStream>();

	constructor(private readonly writer: EventWriter) {}

	send(event: AgentSessionEvent | Extract<RpcEvent, { type: "error" }>): void {
		switch (event.type) {
			case "message_update": {
				const { message, assistantMessageEvent } = event;
				this.#update(MESSAGE, {
					type: event.type,
					message,
					assistantMessageEvent: withoutPartial(assistantMessageEvent),
				});
				return;
			}
			case "tool_execution_update":
				this.#update(`tool ${event.toolCallId}`, event);
				return;
			case "bash_update":
				this.#update("bash", { type: event.type, output: event.output });
				return;
			case "context_changed": {
				const { messages, hidden, problems } = event.context;
				this.#write({ type: event.type, messages: messages.length, hidden: hidden.length, problems });
				return;
			}
			case "tool_execution_end":
				// The result contains everything in the pending update.
				this.#end(`tool ${event.toolCallId}`);
				break;
			case "bash_done":
				this.#end("bash");
				break;
			case "message_end":
				this.#flush(MESSAGE);
				this.#end(MESSAGE);
				break;
		}
		this.#write(event);
	}

	/** Drops pending updates. */
	close(): void {
		for (const key of [...this.#streams.keys()]) this.#end(key);
	}

	/** Writes an event after the pending update of the message, which may precede it. */
	#write(event: RpcEvent): void {
		this.#flush(MESSAGE);
		this.#put(event);
	}

	/** Writes an event. Tool details that JSON cannot represent are reported, so that they do not break the run. */
	#put(event: RpcEvent): void {
		try {
			this.writer.write(event);
		} catch (error) {
			const message = `Cannot send ${event.type} as JSON: ${errorText(error)}`;
			this.writer.write({ type: "notice", level: "error", message } satisfies RpcEvent);
		}
	}

	#update(key: string, update: Update): void {
		const stream = this.#streams.get(key) ?? { sentAt: Number.NEGATIVE_INFINITY, pending: null, timer: undefined };
		this.#streams.set(key, stream);
		if (stream.pending) {
			const joined = join(stream.pending, update);
			if (!joined) this.#flush(key);
			stream.pending = joined ?? update;
		} else stream.pending = update;
		if (stream.timer === undefined) this.#schedule(key, stream);
	}

	#schedule(key: string, stream: UpdateStream): void {
		const waitMs = stream.sentAt + UPDATE_INTERVAL_MS - monotonicMs();
		if (waitMs <= 0 && !this.writer.isBehind) {
			this.#flush(key);
			return;
		}
		stream.timer = setTimeout(
			() => {
				stream.timer = undefined;
				this.#schedule(key, stream);
			},
			Math.max(waitMs, UPDATE_INTERVAL_MS / 4),
		);
	}

	#flush(key: string): void {
		const stream = this.#streams.get(key);
		if (!stream?.pending) return;
		clearTimeout(stream.timer);
		stream.timer = undefined;
		const update = stream.pending;
		this.#put(update.type === "message_update" ? { ...update, message: withoutScratch(update.message) } : update);
		stream.pending = null;
		stream.sentAt = monotonicMs();
	}

	#end(key: string): void {
		clearTimeout(this.#streams.get(key)?.timer);
		this.#streams.delete(key);
	}
}

/** Joins two updates; null when the first must be sent separately. */
function join(first: Update, second: Update): Update | null {
	// Other updates are complete, so the second replaces the first.
	if (first.type !== "message_update" || second.type !== "message_update") return second;
	const assistantMessageEvent = joinChanges(first.assistantMessageEvent, second.assistantMessageEvent);
	return assistantMessageEvent && { ...second, assistantMessageEvent };
}
