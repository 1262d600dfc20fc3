import type { AssistantMessage } from "@mariozechner/pi-ai";
import { joinChanges, withoutPartial } from "../../agent/message-changes.js";
import type { HookEventName, MessageUpdateEvent, ReplyChange, ToolUpdateEvent } from "../../hooks/types.js";
import { freezeDeep } from "../../log/freeze.js";
import { monotonicMs } from "../../util/clock.js";
import type { AgentSessionEvent } from "../events.js";
import type { SessionCore } from "../session-core.js";

/** Minimum time between two updates of the same reply or tool call, ms. */
const UPDATE_INTERVAL_MS = 100;
const REPLY = "reply";

type ToolProgress = Extract<AgentSessionEvent, { type: "tool_execution_update" }>;

/** What was written since the last call of the handlers. */
type Progress = { message: AssistantMessage; changes: ReplyChange[] } | ToolProgress;

/** The updates of one reply or tool call. */
interface UpdateStream {
	pending: Progress | null;
	isScheduled: boolean;
	timer: NodeJS.Timeout | undefined;
	sentAt: number;
}

/**
 * Passes partial replies and results to hooks. The stream never waits for their handlers: what is written in the meantime is
 * joined into one update. A handler that fails is not called again in the run, so that it neither reports an error nor
 * times out with every update.
 */
export class HookUpdates {
	readonly #streams = new Map<string, UpdateStream>();
	readonly #failed = new Set<object>();
	#last: Promise<void> = Promise.resolve();

	constructor(private readonly deps: Pick<SessionCore, "activity" | "hooks" | "ended">) {}

	/** Call with every event of the session. */
	observe(event: AgentSessionEvent): void {
		switch (event.type) {
			case "agent_start":
				this.#failed.clear();
				break;
			case "message_start":
				if (event.message.role === "assistant") this.#begin();
				break;
			case "message_update":
				if (this.#has("message_update")) this.#addChange(event.message, withoutPartial(event.assistantMessageEvent));
				break;
			case "tool_execution_update":
				// Nothing waits for the updates of a call that a hook makes.
				if (!event.caller && this.#has("tool_update")) this.#add(`call ${event.toolCallId}`, () => event);
				break;
			case "tool_execution_end":
				this.#streams.delete(`call ${event.toolCallId}`);
		}
	}

	/** Delivers what was written so far. @returns null if there is nothing to wait for; else resolves when the handlers have returned */
	settled(): Promise<void> | null {
		if (this.#streams.size === 0) return null;
		for (const stream of this.#streams.values()) if (stream.isScheduled) this.#send(stream);
		return this.#last;
	}

	#has(event: HookEventName): boolean {
		return this.deps.hooks().registry.has(event);
	}

	/** Begins another reply: what is left of one that broke off is delivered first. */
	#begin(): void {
		const left = this.#streams.get(REPLY);
		if (left?.isScheduled) this.#send(left);
		this.#streams.delete(REPLY);
	}

	#addChange(message: AssistantMessage, change: ReturnType<typeof withoutPartial>): void {
		if (change.type === "done" || change.type === "error") return;
		const isNew = !this.#streams.has(REPLY);
		this.#add(REPLY, (pending) => {
			const changes: ReplyChange[] =
				pending && "changes" in pending ? pending.changes : isNew ? [{ type: "start" }] : [];
			const last = changes.at(-1);
			const joined = last && (joinChanges(last, change) as ReplyChange | null);
			if (joined) changes[changes.length - 1] = joined;
			else changes.push(change);
			return { message, changes };
		});
	}

	#add(key: string, progress: (pending: Progress | null) => Progress): void {
		const unused = { pending: null, isScheduled: false, timer: undefined, sentAt: Number.NEGATIVE_INFINITY };
		const stream: UpdateStream = this.#streams.get(key) ?? unused;
		this.#streams.set(key, stream);
		stream.pending = progress(stream.pending);
		if (stream.isScheduled) return;
		stream.isScheduled = true;
		const waitMs = stream.sentAt + UPDATE_INTERVAL_MS - monotonicMs();
		if (waitMs <= 0) this.#send(stream);
		else stream.timer = setTimeout(() => this.#send(stream), waitMs);
	}

	#send(stream: UpdateStream): void {
		clearTimeout(stream.timer);
		this.#last = this.#last.then(() => this.#deliver(stream));
	}

	async #deliver(stream: UpdateStream): Promise<void> {
		const { pending } = stream;
		stream.pending = null;
		stream.isScheduled = false;
		stream.sentAt = monotonicMs();
		const { hooks, activity, ended } = this.deps;
		const signal = AbortSignal.any([ended, activity.nextAbort]);
		if (pending) await hooks().emit(createEvent(pending), signal, this.#failed);
	}
}

/** A frozen copy: the agent and the tool continue to change their own. */
function createEvent(progress: Progress): MessageUpdateEvent | ToolUpdateEvent {
	if ("changes" in progress) return freezeDeep(structuredClone({ type: "message_update", ...progress }));
	const { toolName, toolCallId, args: input, partialResult } = progress;
	const { content, details } = partialResult;
	return freezeDeep(structuredClone({ type: "tool_update", toolName, toolCallId, input, content, details }));
}
