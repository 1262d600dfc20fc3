/** A part of a scripted model reply. */
export type ReplyBlock =
	| { type: "text"; text: string }
	/** `signature` goes out on the Anthropic wire only; that of chat completions is the field name. */
	| { type: "thinking"; thinking: string; signature?: string }
	/** `rawArguments` replaces the JSON of `arguments` on the wire, broken or not. */
	| { type: "toolCall"; id?: string; name: string; arguments?: Record<string, unknown>; rawArguments?: string };

/** Tokens as a provider counts them: `input` is what was neither read from nor written to the cache. */
export interface ReplyUsage {
	input: number;
	output: number;
	cacheRead?: number;
	cacheWrite?: number;
}

/** Where a fault strikes: before the response's first byte, or after so many deltas (at the latest before the end). */
export type FaultPoint = "headers" | number;

/** What goes wrong with a reply. */
export type ReplyFault =
	/** An HTTP error in the provider's own shape. */
	| { kind: "http"; status: number; headers?: Record<string, string>; message?: string }
	/** The connection is reset. */
	| { kind: "cut"; at: FaultPoint }
	/** The body ends cleanly, without finish reason and closing events. */
	| { kind: "end"; at: number }
	/** Nothing more comes; with `keepAliveMs`, comment lines do. Lasts until the client goes away. */
	| { kind: "stall"; at: FaultPoint; keepAliveMs?: number }
	/** An error event inside the stream, such as `overloaded_error`. */
	| { kind: "error"; at: number; type?: string; message?: string }
	/** A data line that is no JSON; the stream then goes on. */
	| { kind: "bad_json"; at: number };

/** One scripted reply: what the model says, how it arrives and what goes wrong. */
export interface ReplyStep {
	content?: ReplyBlock[];
	/** Default 10 in, 5 out. */
	usage?: ReplyUsage;
	/** Default: `toolUse` when there are tool calls, else `stop`. null leaves it out. Any other text goes out as it is. */
	stopReason?: "stop" | "toolUse" | "length" | (string & {}) | null;
	/** UTF-16 units per delta. Default 16. */
	chunkSize?: number;
	/** Pause before each delta. Default none. */
	delayMs?: number;
	/** Cuts the byte stream into writes of this size, through characters and events alike. */
	writeBytes?: number;
	/** The reply stops after its last delta until this settles: lets a test act while the model still streams. */
	hold?: Promise<unknown>;
	fault?: ReplyFault;
}

/** What `reply` takes: a text, blocks, or a step in full. */
export type Reply = string | ReplyBlock[] | ReplyStep;

export function text(value: string): ReplyBlock {
	return { type: "text", text: value };
}

export function thinking(value: string, signature = "c2lnbmF0dXJl"): ReplyBlock {
	return { type: "thinking", thinking: value, signature };
}

/** @param id default: one of the provider's own making, unique in its run */
export function toolCall(name: string, args: Record<string, unknown>, id?: string): ReplyBlock {
	return { type: "toolCall", name, arguments: args, id };
}

/** A reply that is an HTTP error. */
export function httpError(status: number, headers: Record<string, string> = {}, message?: string): ReplyStep {
	return { fault: { kind: "http", status, headers, message } };
}

export function toStep(reply: Reply): ReplyStep {
	if (typeof reply === "string") return { content: [text(reply)] };
	return Array.isArray(reply) ? { content: reply } : reply;
}

/** A tool call as it goes out: with an id, its arguments as JSON text. */
export type WireBlock =
	| { type: "text"; deltas: string[] }
	| { type: "thinking"; deltas: string[]; signature: string }
	| { type: "toolCall"; id: string; name: string; deltas: string[] };

/** Cuts a step's blocks into deltas and gives ids to its tool calls. */
export function wireBlocks(step: ReplyStep, newId: () => string): WireBlock[] {
	const size = step.chunkSize ?? 16;
	return (step.content ?? []).map((block): WireBlock => {
		if (block.type === "text") return { type: "text", deltas: cut(block.text, size) };
		if (block.type === "thinking") {
			return { type: "thinking", deltas: cut(block.thinking, size), signature: block.signature ?? "" };
		}
		const json = block.rawArguments ?? JSON.stringify(block.arguments ?? {});
		return { type: "toolCall", id: block.id ?? newId(), name: block.name, deltas: cut(json, size) };
	});
}

/** Never cuts through a surrogate pair: JSON on the wire must be well formed. */
function cut(value: string, size: number): string[] {
	const parts: string[] = [];
	for (let start = 0; start < value.length; ) {
		let end = Math.min(start + size, value.length);
		const last = value.charCodeAt(end - 1);
		if (last >= 0xd800 && last <= 0xdbff && end < value.length) end += 1;
		parts.push(value.slice(start, end));
		start = end;
	}
	return parts;
}

/** A piece of an SSE body. `delta` marks those that carry content: pacing and faults count them. */
export interface Frame {
	data: string;
	delta: boolean;
	/** Part of the closing events: left out when the stream ends early. */
	closing?: boolean;
}
