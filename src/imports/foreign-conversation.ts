import type { Api, AssistantMessage, ImageContent, Model, TextContent, ToolCall, Usage } from "@mariozechner/pi-ai";
import type { CompactionEntry, MessageEntry, SessionEntry } from "../log/entry.js";
import { builtInModels } from "../models/built-in-models.js";
import { calculateCost } from "../util/pi-ai.js";
import { type CallNames, ownCall } from "./own-calls.js";
import type { ForeignSession } from "./program.js";
import { timeOf } from "./records.js";

/** Content of a prompt or of a tool result. */
export type Content = (TextContent | ImageContent)[];

/** Tokens of a reply as its provider counted them. `input` is without tokens of the cache. */
export interface ForeignUsage {
	input: number;
	output: number;
	cacheRead: number;
	cacheWrite: number;
	/** Dollars, if the program recorded them. Default: list prices. */
	cost?: number;
}

/** Which model wrote a reply. */
export interface ForeignModel {
	api: Api;
	provider: string;
	id: string;
}

type Block = AssistantMessage["content"][number];

/** A reply of which parts may still come. */
export interface Reply {
	readonly content: Block[];
	readonly model: ForeignModel;
	readonly time: number;
	usage?: ForeignUsage;
	/** Default: derived from the content. */
	stopReason?: AssistantMessage["stopReason"];
}

interface Result {
	content: Content;
	isError: boolean;
	time: number;
}

type Step = { entry: SessionEntry } | { reply: Reply } | { summary: string; tokensBefore: number; time: number };

const NO_RESULT = "No result of this call was recorded.";

/**
 * Collects the parts of a session in the order in which another program wrote them, and makes legal entries of them: every
 * call has one result, directly after its reply; one without a recorded result has an error. Parts without a place are counted.
 */
export class Conversation {
	readonly leftOut: Record<string, number> = {};
	readonly #steps: Step[] = [];
	readonly #calls = new Set<string>();
	readonly #results = new Map<string, Result>();
	#lastTime = 0;

	/** @param names how the program calls tools of pi */
	constructor(private readonly names: CallNames) {}

	/** Counts something that is not taken over. */
	leaveOut(what: string, count = 1): void {
		if (count > 0) this.leftOut[what] = (this.leftOut[what] ?? 0) + count;
	}

	/** Adds a prompt, unless it is empty. */
	prompt(parts: Content, time: number | undefined): void {
		const [first, ...more] = parts;
		if (!first) return;
		const content = more.length === 0 && first.type === "text" ? first.text : parts;
		const timestamp = this.#at(time);
		this.#add({ type: "message", timestamp: iso(timestamp), message: { role: "user", content, timestamp } });
	}

	/** Adds text that the program gave to the model. @param source its name */
	notice(source: string, text: string, time: number | undefined): void {
		if (text.trim() === "") return;
		this.#add({
			...{ type: "system_item", timestamp: iso(this.#at(time)), source },
			item: { kind: "notification", text },
		});
	}

	/** Adds a shell command of the user. */
	shellCommand(command: string, output: string, time: number | undefined): void {
		const timestamp = this.#at(time);
		const message = {
			role: "bashExecution",
			command,
			output,
			exitCode: 0,
			cancelled: false,
			truncated: false,
			timestamp,
		};
		this.#add({ type: "message", timestamp: iso(timestamp), message });
	}

	/** Names the session. */
	name(name: string): void {
		this.#add({ type: "session_info", timestamp: iso(this.#at(undefined)), name });
	}

	/** The model has seen this summary instead of all that was before. */
	compaction(summary: string, tokensBefore: number, time: number | undefined): void {
		this.#steps.push({ summary, tokensBefore, time: this.#at(time) });
	}

	/** Begins a reply, to which blocks may be added until `session` is called. */
	reply(model: ForeignModel, time: number | undefined): Reply {
		const reply: Reply = { content: [], model, time: this.#at(time) };
		this.#steps.push({ reply });
		return reply;
	}

	/** Adds a call to a reply, as a call of a tool of pi if it means one. A second call with the same id is omitted. */
	call(reply: Reply, call: { id: string; name: string; arguments: Readonly<Record<string, unknown>> }): void {
		if (this.#calls.has(call.id)) {
			this.leaveOut("repeated calls");
			return;
		}
		this.#calls.add(call.id);
		reply.content.push(ownCall({ type: "toolCall", ...call } as ToolCall, this.names));
	}

	/** Adds the result of a call. */
	result(callId: string, content: Content, isError: boolean, time: number | undefined): void {
		if (!this.#calls.has(callId)) {
			this.leaveOut("results without a call");
			return;
		}
		if (this.#results.has(callId)) {
			this.leaveOut("repeated results");
			return;
		}
		this.#results.set(callId, { content, isError, time: this.#at(time) });
	}

	/**
	 * The complete session. @param origin `startedAt`: the first time that can be read counts
	 * @param losses what could not be read of its file; default: nothing
	 */
	session(
		{ id, cwd, startedAt }: { id: string; cwd: string | undefined; startedAt: readonly unknown[] },
		losses: Partial<Pick<ForeignSession, "damaged" | "isCut">> = {},
	): ForeignSession {
		const began = startedAt.map(timeOf).find((time) => time !== undefined) ?? 0;
		const entries = this.#entries();
		return {
			...{ id, cwd: cwd ?? null, startedAt: iso(began), entries, leftOut: this.leftOut },
			...{ kept: {}, damaged: 0, isCut: false, ...losses },
		};
	}

	#entries(): SessionEntry[] {
		const entries: SessionEntry[] = [];
		for (const step of this.#steps) {
			if ("entry" in step) entries.push(step.entry);
			else if ("reply" in step) entries.push(...this.#withResults(step.reply));
			else entries.push(compactionEntry(step, entries.length + 1));
		}
		return entries;
	}

	#withResults(reply: Reply): SessionEntry[] {
		if (reply.content.length === 0) {
			this.leaveOut("empty replies");
			return [];
		}
		const results = reply.content.flatMap((block): MessageEntry[] => {
			if (block.type !== "toolCall") return [];
			const recorded = this.#results.get(block.id);
			const { content, isError, time } = recorded ?? {
				...{ content: [{ type: "text", text: NO_RESULT }], isError: true, time: reply.time },
			};
			const message = { role: "toolResult", toolCallId: block.id, toolName: block.name, content, isError } as const;
			return [{ type: "message", timestamp: iso(time), message: { ...message, timestamp: time } as never }];
		});
		return [{ type: "message", timestamp: iso(reply.time), message: assistantMessage(reply) }, ...results];
	}

	#add(entry: SessionEntry): void {
		this.#steps.push({ entry });
	}

	/** Parts without a time have the time of the part before. */
	#at(time: number | undefined): number {
		this.#lastTime = time ?? this.#lastTime;
		return this.#lastTime;
	}
}

function compactionEntry(
	{ summary, tokensBefore, time }: { summary: string; tokensBefore: number; time: number },
	ownIndex: number,
): CompactionEntry {
	return { type: "compaction", timestamp: iso(time), summary, firstKeptEntryIndex: ownIndex, tokensBefore };
}

function assistantMessage({ content, model, time, usage, stopReason }: Reply): AssistantMessage {
	const hasCalls = content.some(({ type }) => type === "toolCall");
	return {
		...{ role: "assistant", content, api: model.api, provider: model.provider, model: model.id },
		usage: fullUsage(model, usage ?? { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }),
		stopReason: hasCalls ? "toolUse" : (stopReason ?? "stop"),
		timestamp: time,
	};
}

function fullUsage({ provider, id }: ForeignModel, { cost, ...tokens }: ForeignUsage): Usage {
	const { input, output, cacheRead, cacheWrite } = tokens;
	const usage: Usage = {
		...{ input, output, cacheRead, cacheWrite, totalTokens: input + output + cacheRead + cacheWrite },
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: cost ?? 0 },
	};
	if (cost !== undefined) return usage;
	const model: Model<Api> | undefined = builtInModels().lists.find(provider, id);
	return model ? { ...usage, cost: calculateCost(model, usage) } : usage;
}

function iso(time: number): string {
	return new Date(time).toISOString();
}
