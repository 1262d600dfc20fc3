import { errorText } from "../../errors.js";
import type { AgentSessionEvent } from "../../session/events.js";
import type { LineWriter } from "./lines.js";
import type { RpcEvent, RpcMessageEvent } from "./protocol.js";

/** Least time between two updates of the same thing. */
const UPDATE_INTERVAL_MS = 100;
const MESSAGE = "message";

type Update = Extract<RpcEvent, { type: "message_update" | "tool_execution_update" | "bash_update" }>;

/** Updates of one thing: what was sent last, and what waits. */
interface UpdateStream {
	sentAt: number;
	pending: Update | null;
	timer: NodeJS.Timeout | undefined;
}

/**
 * Sends the events of a session. Updates repeat all there is so far, so few of them are sent: about ten a second of
 * each message, tool call and shell command, and none while the reader is behind. No delta is lost: those that wait are
 * joined.
 */
export class EventSender {
	readonly #streams = new Map<string, UpdateStream>();

	constructor(private readonly writer: LineWriter) {}

	send(event: AgentSessionEvent): void {
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
				this.#update("bash", event);
				return;
			case "context_changed": {
				const { messages, hidden, problems } = event.context;
				this.#write({ type: event.type, messages: messages.length, hidden: hidden.length, problems });
				return;
			}
			case "tool_execution_end":
				// The result has all that the updates would say.
				this.#end(`tool ${event.toolCallId}`);
				break;
			case "bash_end":
				this.#end("bash");
				break;
			case "message_end":
				this.#flush(MESSAGE);
				this.#end(MESSAGE);
				break;
		}
		this.#write(event);
	}

	/** Forgets what waits. */
	close(): void {
		for (const key of [...this.#streams.keys()]) this.#end(key);
	}

	/** Writes an event behind the updates of the message that it may belong to. */
	#write(event: RpcEvent): void {
		this.#flush(MESSAGE);
		this.#put(event);
	}

	/** Details of tools may hold what JSON cannot: that must not break the run that told of it. */
	#put(event: RpcEvent): void {
		try {
			this.writer.write(event);
		} catch (error) {
			const message = `${event.type} cannot be told as JSON: ${errorText(error)}`;
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
		const waitMs = stream.sentAt + UPDATE_INTERVAL_MS - performance.now();
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
		this.#put(stream.pending);
		stream.pending = null;
		stream.sentAt = performance.now();
	}

	#end(key: string): void {
		clearTimeout(this.#streams.get(key)?.timer);
		this.#streams.delete(key);
	}
}

function withoutPartial(
	event: Extract<AgentSessionEvent, { type: "message_update" }>["assistantMessageEvent"],
): RpcMessageEvent {
	if (!("partial" in event)) return event;
	const { partial: _, ...rest } = event;
	return rest;
}

/** One update that says what both say; null when the first must be sent by itself. */
function join(first: Update, second: Update): Update | null {
	// All but messages repeat everything: the later one is enough.
	if (first.type !== "message_update" || second.type !== "message_update") return second;
	const [a, b] = [first.assistantMessageEvent, second.assistantMessageEvent];
	if (!("delta" in a) || !("delta" in b) || a.type !== b.type || a.contentIndex !== b.contentIndex) return null;
	return { ...second, assistantMessageEvent: { ...b, delta: a.delta + b.delta } };
}
