import { randomUUID } from "node:crypto";
import type { PlanEntry, SessionUpdate } from "@agentclientprotocol/sdk";
import type { AssistantMessage, UserMessage } from "@mariozechner/pi-ai";
import { describeHookError } from "../../errors.js";
import { type Task, tasksIn } from "../../features/tasks.js";
import { isUserMessageEntry } from "../../log/entry.js";
import { promptText } from "../../log/prompt-text.js";
import { onOneLine } from "../../log/session-summary.js";
import type { AgentSession } from "../../sdk/agent-session.js";
import type { AgentSessionEvent } from "../../session/events.js";
import { stripAll } from "../../util/sanitize.js";
import { waitText } from "../request-error.js";
import { EventSender } from "../rpc/event-sender.js";
import type { RpcEvent } from "../rpc/protocol.js";
import { imageBlock, textBlock } from "./acp-tool-calls.js";
import { CallUpdates } from "./call-updates.js";

/** Updates that a client must support explicitly. */
export interface ClientSupport {
	notices: boolean;
	compaction: boolean;
}

/** Dependencies of the updates of a session. */
export interface SessionUpdatesOptions {
	session: AgentSession;
	support: ClientSupport;
	/** Sends an update; never rejects. Resolves when the client has received it, as far as pi can know. */
	send(update: SessionUpdate): Promise<void>;
}

/** Longest title of a session in characters. */
const MAX_TITLE = 100;

type NoticeLevel = "info" | "warning" | "error";

/** Sends what happens in a session as updates, in order and about ten per second for each message and tool call. */
export class SessionUpdates {
	readonly calls: CallUpdates;
	/** Number of prompts of the client whose message is not written yet: the client shows these itself. */
	expectedPrompts = 0;
	readonly #options: SessionUpdatesOptions;
	readonly #events: EventSender;
	#waiting = 0;
	#messageId = "";
	/** Blocks of the message that were sent in pieces, by index. */
	readonly #streamed = new Set<number>();
	#isInTurn = false;
	/** Notices from before the first turn, for a client that gets them as messages. */
	readonly #held: { level: NoticeLevel; text: string }[] = [];
	#compactionId: string | null = null;
	#title: string | null = null;
	/** The usage that was sent last. */
	#usage = "";

	constructor(options: SessionUpdatesOptions) {
		this.#options = options;
		this.calls = new CallUpdates(options.session, (update) => this.send(update));
		const isBehind = () => this.#waiting > 0;
		this.#events = new EventSender({
			get isBehind() {
				return isBehind();
			},
			write: (event) => this.#show(event),
		});
	}

	/** Sends the updates for an event, now or with the next ones. */
	handle(event: AgentSessionEvent): void {
		// The protocol has no call within a call: to clients, a call is one of the agent.
		if (!("caller" in event) || !event.caller) this.#events.send(event);
	}

	/** Begins a turn: while it lasts, notices can be sent as messages. */
	beginTurn(): void {
		this.#isInTurn = true;
		for (const { level, text } of this.#held.splice(0)) this.notice(level, text);
	}

	/** Ends a turn. Call it before the answer to the prompt. */
	endTurn(): void {
		this.#isInTurn = false;
		this.sendUsage();
	}

	/** Forgets what was sent, for a client that has opened the session again. */
	reset(): void {
		this.#title = null;
		this.#usage = "";
	}

	/** Drops pending updates. */
	close(): void {
		this.#events.close();
	}

	send(update: SessionUpdate): void {
		this.#waiting++;
		void this.#options.send(update).finally(() => this.#waiting--);
	}

	/** Sends a line for the user: as a notice, or within a turn as a message if the client does not support notices. */
	notice(level: NoticeLevel, message: string): void {
		const text = stripAll(message).trim();
		if (text === "") return;
		if (this.#options.support.notices) {
			const [title = "", ...rest] = text.split("\n");
			const description = rest.join("\n").trim();
			const more = description === "" ? {} : { description };
			this.send({ sessionUpdate: "notice", severity: level, title, ...more });
			return;
		}
		if (this.#isInTurn) {
			const words = level === "info" ? text : `${level === "error" ? "Error" : "Warning"}: ${text}`;
			this.send({ sessionUpdate: "agent_message_chunk", content: textBlock(`${words}\n\n`), messageId: randomUUID() });
		} else if (level !== "info") this.#held.push({ level, text });
	}

	/** Sends the size of the context and the cost of the session so far, if they have changed. */
	sendUsage(): void {
		const { session } = this.#options;
		const { tokens: used, contextWindow: size } = session.contextUsage();
		if (size === 0) return;
		const { cost } = session.stats();
		const spent = cost > 0 ? { cost: { amount: cost, currency: "USD" } } : {};
		const key = `${used} ${size} ${cost}`;
		if (key === this.#usage) return;
		this.#usage = key;
		this.send({ sessionUpdate: "usage_update", used, size, ...spent });
	}

	/** Sends the title of the session if it has changed. */
	sendTitle(title: string): void {
		if (title === this.#title || title === "") return;
		this.#title = title;
		this.send({ sessionUpdate: "session_info_update", title, updatedAt: new Date().toISOString() });
	}

	sendPlan(tasks: readonly Task[]): void {
		this.send({ sessionUpdate: "plan", entries: tasks.map(planEntry) });
	}

	/** Sends a message of the user that the client has not sent itself. */
	sendUserMessage({ content }: UserMessage, messageId: string): void {
		const blocks =
			typeof content === "string"
				? [textBlock(content)]
				: content.map((block) => (block.type === "image" ? imageBlock(block) : textBlock(block.text)));
		for (const block of blocks) this.send({ sessionUpdate: "user_message_chunk", content: block, messageId });
	}

	#show(event: RpcEvent): void {
		switch (event.type) {
			case "message_start":
				if (event.message.role !== "assistant") return;
				this.#messageId = randomUUID();
				this.#streamed.clear();
				return;
			case "message_update":
				this.#showDelta(event);
				return;
			case "message_end":
				this.#endMessage(event);
				return;
			case "tool_execution_start":
			case "tool_input_changed":
				this.calls.begin(event.toolCallId, event.toolName, event.args);
				return;
			case "tool_execution_update":
				this.calls.progress(event.toolCallId, event.partialResult);
				return;
			case "tool_execution_end":
				this.calls.end(event.toolCallId, event.result, event.isError);
				return;
			case "turn_end":
				this.sendUsage();
				return;
			case "auto_retry_start":
				this.notice("warning", `${event.errorMessage} · trying again ${waitText(event.delayMs, Date.now())}`);
				return;
			case "auto_compaction_start":
				this.#compactionId = randomUUID();
				this.#showCompaction("in_progress");
				return;
			case "auto_compaction_end":
				this.#endCompaction(event);
				return;
			case "notice":
				this.notice(event.level, event.message);
				return;
			case "hook_error":
				// The error of a command is the answer to its prompt.
				if (!event.event.startsWith("/")) this.notice("error", describeHookError(event, event.hookPath));
				return;
		}
	}

	#showDelta({ message, assistantMessageEvent: event }: Extract<RpcEvent, { type: "message_update" }>): void {
		switch (event.type) {
			case "text_delta":
				this.#streamed.add(event.contentIndex);
				this.#sendText("agent_message_chunk", event.delta);
				return;
			case "thinking_delta":
				this.#streamed.add(event.contentIndex);
				this.#sendText("agent_thought_chunk", event.delta);
				return;
			case "toolcall_start": {
				const block = message.role === "assistant" ? message.content[event.contentIndex] : undefined;
				if (block?.type === "toolCall") this.calls.announce(block.id, block.name, null);
				return;
			}
			case "toolcall_end":
				this.calls.announce(event.toolCall.id, event.toolCall.name, event.toolCall.arguments);
				return;
		}
	}

	#sendText(sessionUpdate: "agent_message_chunk" | "agent_thought_chunk", text: string): void {
		if (text !== "") this.send({ sessionUpdate, content: textBlock(text), messageId: this.#messageId });
	}

	#endMessage({ message, isRetried }: Extract<RpcEvent, { type: "message_end" }>): void {
		switch (message.role) {
			case "assistant":
				this.#sendRest(message);
				for (const block of message.content) {
					if (block.type === "toolCall") this.calls.announce(block.id, block.name, block.arguments);
				}
				this.calls.settleReply(isRetried ? [] : message.content);
				return;
			case "toolResult": {
				// Calls that never ran have no other end.
				this.calls.end(message.toolCallId, message, message.isError);
				const tasks = tasksIn(message);
				if (tasks) this.sendPlan(tasks);
				return;
			}
			case "user":
				if (this.expectedPrompts > 0) this.expectedPrompts--;
				else this.sendUserMessage(message, randomUUID());
				return;
		}
	}

	/** Sends blocks that arrived only with the end of the message. */
	#sendRest(message: AssistantMessage): void {
		for (const [index, block] of message.content.entries()) {
			if (this.#streamed.has(index)) continue;
			if (block.type === "text") this.#sendText("agent_message_chunk", block.text);
			else if (block.type === "thinking") this.#sendText("agent_thought_chunk", block.thinking);
		}
	}

	#showCompaction(
		status: "in_progress" | "completed" | "failed" | "cancelled",
		more: { summary?: string; error?: string } = {},
	) {
		if (!this.#options.support.compaction || this.#compactionId === null) return;
		const { summary, error } = more;
		this.send({
			...{ sessionUpdate: "compaction_update", compactionId: this.#compactionId, status },
			...(summary === undefined ? {} : { summary: [textBlock(summary)] }),
			...(error === undefined ? {} : { error }),
		});
	}

	#endCompaction({ result, aborted, errorMessage }: Extract<RpcEvent, { type: "auto_compaction_end" }>): void {
		if (result) {
			this.#showCompaction("completed", { summary: result.summary });
			if (!this.#options.support.compaction) this.notice("info", "Earlier messages were replaced with a summary");
		} else if (aborted) this.#showCompaction("cancelled");
		else {
			const error = errorMessage ?? "The compaction failed";
			this.#showCompaction("failed", { error });
			if (!this.#options.support.compaction) this.notice("warning", error);
		}
		this.#compactionId = null;
		this.sendUsage();
	}
}

/** The title of a session: its name, else the start of its first message. */
export function titleOf(session: AgentSession): string {
	if (session.sessionName !== null) return session.sessionName;
	const { log } = session;
	for (let index = 1; index < log.length; index++) {
		if (log.roleOf(index) !== "user") continue;
		const entry = log.peek(index);
		if (isUserMessageEntry(entry)) return onOneLine(promptText(entry), MAX_TITLE);
	}
	return "";
}

function planEntry({ text, status }: Task): PlanEntry {
	return { content: text, priority: "medium", status: status === "done" ? "completed" : status };
}
