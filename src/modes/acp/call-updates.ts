import { isDeepStrictEqual } from "node:util";
import type { SessionUpdate, ToolCallContent, ToolCallLocation, ToolCallStatus } from "@agentclientprotocol/sdk";
import type { AssistantMessage } from "@mariozechner/pi-ai";
import type { AgentSession } from "../../sdk/agent-session.js";
import type { ToolResult } from "../../tools/tool.js";
import {
	beforeOf,
	type CallFacts,
	describeForClient,
	diffsOf,
	type FileBefore,
	finalLocations,
	plainJson,
	readBefore,
	resultContent,
	textBlock,
} from "./acp-tool-calls.js";

/** A call that has not ended. */
interface OpenCall extends CallFacts {
	status: ToolCallStatus;
	/** Belongs to a reply that is still streaming. */
	isStreaming: boolean;
	locations: ToolCallLocation[];
	content: ToolCallContent[];
	before: FileBefore;
}

/** Sends the tool calls of a session: announced while the model writes them, then running, then completed or failed. */
export class CallUpdates {
	readonly #open = new Map<string, OpenCall>();

	constructor(
		private readonly session: Pick<AgentSession, "host">,
		private readonly send: (update: SessionUpdate) => void,
	) {}

	/** The only call that runs now; null if none or several do. */
	get running(): { toolCallId: string; content: readonly ToolCallContent[] } | null {
		const running = [...this.#open].filter(([, { status }]) => status === "in_progress");
		const [toolCallId, call] = running.length === 1 ? (running[0] ?? []) : [];
		return toolCallId !== undefined && call ? { toolCallId, content: call.content } : null;
	}

	/** Sends a call that the model writes. @param args null while they are incomplete */
	announce(id: string, name: string, args: Readonly<Record<string, unknown>> | null): void {
		if (typeof id !== "string" || id === "" || typeof name !== "string" || name === "") return;
		const known = this.#open.get(id);
		if (known && (args === null || isDeepStrictEqual(known.args, args))) return;
		const call = this.#describe(id, name, args ?? {}, "unknown");
		call.isStreaming = true;
		const { title, kind } = describeForClient(call);
		const { locations, content } = call;
		const input = args === null ? {} : { rawInput: plainJson(args) };
		const fields = { toolCallId: id, title, kind, locations, content, ...input };
		if (known) this.send({ sessionUpdate: "tool_call_update", ...fields });
		else this.send({ sessionUpdate: "tool_call", name, status: "pending", ...fields });
	}

	/** The reply is complete: fails the announced calls that are not part of it. */
	settleReply(content: AssistantMessage["content"]): void {
		const ids = new Set(content.flatMap((block) => (block.type === "toolCall" ? [block.id] : [])));
		for (const [id, call] of this.#open) {
			if (!call.isStreaming) continue;
			call.isStreaming = false;
			if (!ids.has(id)) this.#finish(id, "failed", [{ type: "content", content: textBlock("The reply broke off") }]);
		}
	}

	/** Marks a call as running, with the arguments that the tool receives. */
	begin(id: string, name: string, args: Readonly<Record<string, unknown>>): void {
		const isKnown = this.#open.has(id);
		const facts = { name, args, host: this.session.host };
		const call = this.#describe(id, name, args, readBefore(facts));
		call.status = "in_progress";
		const { title, kind } = describeForClient(call);
		const { locations, content, status } = call;
		const fields = { toolCallId: id, title, kind, status, locations, content, rawInput: plainJson(args) };
		if (isKnown) this.send({ sessionUpdate: "tool_call_update", ...fields });
		else this.send({ sessionUpdate: "tool_call", name, ...fields });
	}

	/** Sends the output so far. */
	progress(id: string, partial: ToolResult): void {
		const call = this.#open.get(id);
		if (!call) return;
		const content = resultContent(call, partial);
		if (content.length > 0) this.send({ sessionUpdate: "tool_call_update", toolCallId: id, content });
	}

	/** Sends the result of a call, once. */
	end(id: string, result: ToolResult, isError: boolean): void {
		const call = this.#open.get(id);
		if (!call) return;
		const isChange = !isError && call.content.some(({ type }) => type === "diff");
		const rawOutput = plainJson(result.details);
		this.#finish(id, isError ? "failed" : "completed", isChange ? call.content : resultContent(call, result), {
			locations: finalLocations(call.locations, result.details),
			...(rawOutput === undefined || rawOutput === null ? {} : { rawOutput }),
		});
	}

	/** Sends the complete content of a call again, after a question was shown with it. */
	restore(id: string): void {
		const call = this.#open.get(id);
		if (call) this.send({ sessionUpdate: "tool_call_update", toolCallId: id, content: call.content });
	}

	/** Sends a call of the log. @param outcome its result; null if it has none and never will */
	replay(
		id: string,
		name: string,
		args: Readonly<Record<string, unknown>>,
		outcome: ReplayedResult | "running" | null,
	): void {
		const result = outcome === "running" ? null : outcome;
		const facts = { name, args, host: this.session.host };
		const { title, kind, locations } = describeForClient(facts);
		const diffs = diffsOf(facts, beforeOf(facts, result?.details));
		const isChange = result !== null && !result.isError && diffs.length > 0;
		const rawOutput = plainJson(result?.details) ?? null;
		this.send({
			...{ sessionUpdate: "tool_call", toolCallId: id, name, title, kind },
			status: outcome === "running" ? "in_progress" : result === null || result.isError ? "failed" : "completed",
			locations: finalLocations(locations, result?.details),
			content: isChange ? diffs : result === null ? [] : resultContent(facts, result),
			rawInput: plainJson(args),
			...(rawOutput === null ? {} : { rawOutput }),
		});
	}

	#describe(id: string, name: string, args: Readonly<Record<string, unknown>>, before: FileBefore): OpenCall {
		const facts = { name, args, host: this.session.host };
		const { locations } = describeForClient(facts);
		const content = diffsOf(facts, before);
		const call: OpenCall = { ...facts, before, locations, content, status: "pending", isStreaming: false };
		this.#open.set(id, call);
		return call;
	}

	#finish(
		toolCallId: string,
		status: ToolCallStatus,
		content: ToolCallContent[],
		more: { locations?: ToolCallLocation[]; rawOutput?: unknown } = {},
	): void {
		this.#open.delete(toolCallId);
		this.send({ sessionUpdate: "tool_call_update", toolCallId, status, content, ...more });
	}
}

/** The result of a call in a log. */
export type ReplayedResult = ToolResult & { isError: boolean };
