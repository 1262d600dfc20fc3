import type { Tool } from "@mariozechner/pi-ai";
import type { AppMessage } from "./message.js";

/** Record of the context that the model received before it wrote an assistant message. */
export interface ContextRecord {
	/** SHA-256, hex, of the messages as sent. */
	digest: string;
	messages: number;
	tokens: number;
	/** Estimated tokens of the complete request before calibration, from which the next estimates are calibrated. */
	estimate?: number;
	/** True if a subscription paid for the request: the `usage.cost` of the reply is its price without one. */
	subscription?: true;
	/** Estimated tokens that the previous request had and that were sent again uncached. Absent for none. */
	resent?: number;
	/** The messages of the request. Present only if hooks changed the request. */
	shape?: RecordedRequest;
	/** SHA-256, hex, of the system prompt as sent. Absent in records of older versions, like `tools` and `preamble`. */
	system?: string;
	/** SHA-256, hex, of the names, descriptions and parameters of the offered tools. */
	tools?: string;
	/** The system prompt and the tools, before and after hooks. */
	preamble?: RecordedPreamble;
	/** What `context` handlers could know besides the entries. Present only if one of them read it. */
	facts?: RequestFacts;
	/** What hooks asked the provider to do itself: fields of the body by wire format. Absent for nothing. */
	provider?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
	/** Index of the compaction that the provider got in its own form instead of the summary. Absent for none. */
	native?: number;
	/** The hooks that could change the request. Absent if all of them are part of pi. */
	hooks?: RecordedHooks;
}

/** What a `context` handler may know about a request besides the entries. */
export interface RequestFacts {
	/** The model of the request; null if none is chosen. */
	readonly model: { readonly provider: string; readonly id: string } | null;
	/** The context window of the model in tokens; 0 if unknown. */
	readonly contextWindow: number;
	/** Tokens of the model for each estimated token. */
	readonly ratio: number;
	/** Values of the flags that hooks declare. */
	readonly flags: Readonly<Record<string, boolean | string | undefined>>;
	readonly cache: CacheFacts;
	/** Absent in records of older versions. */
	readonly appends?: AppendFacts;
	/** ms since the epoch. */
	readonly time: number;
}

/** What the model can take in the middle of a conversation, so that the request begins like the one before. */
export interface AppendFacts {
	readonly instructions: boolean;
	readonly tools: boolean;
}

/** What the provider's cache holds before a request, and what it costs. */
export interface CacheFacts {
	/** Tokens of the previous request that the provider still has, if this one begins with them; 0 after the lifetime. */
	readonly warmTokens: number;
	/** Time in ms after which the provider forgets what was not sent again; null if unknown, and 300,000 is assumed. */
	readonly lifetimeMs: number | null;
	/** USD per million tokens that the provider has: the price of a hit. */
	readonly readPrice: number;
	/** USD per million tokens that it does not have: the price of writing to the cache, or of input where writing is free. */
	readonly writePrice: number;
}

/** Hooks with a `context` handler or a tool in load order, or the reply whose record lists the same ones. */
export type RecordedHooks = { readonly reply: number } | readonly RecordedHook[];

/** A hook as it was loaded for a request. */
export interface RecordedHook {
	readonly name: string;
	/** Of its file. */
	readonly path: string;
	/** SHA-256, hex, of its source and of the files that it imports by relative paths, as far as pi compiles them itself. */
	readonly digest: string;
}

/** A section of the system prompt. */
export interface PromptSection {
	/** `base`, `tools`, `context-files`, `skills`, `environment`, or `<hook>:<name>` for a section of a hook. */
	readonly id: string;
	readonly text: string;
}

/** A tool as the model gets it, and its lines in the system prompt. */
export interface ToolInfo {
	readonly name: string;
	readonly description: string;
	/** JSON Schema of the arguments. */
	readonly parameters: Tool["parameters"];
	/** The line in the list of tools; absent: the first sentence of the description. */
	readonly promptLine?: string;
	readonly guidelines?: readonly string[];
	/** Path of the hook that registered it; absent for other tools. */
	readonly hook?: string;
}

/** The system prompt and the tools of a request: those of the record in an earlier reply, or its own. */
export type RecordedPreamble = { readonly reply: number } | OwnPreamble;

/** See `RecordedPreamble`. Sections and tools are written once in a session; lists refer to them. */
export interface OwnPreamble {
	/** The sections and tools that no earlier record has. */
	readonly parts: readonly (PromptSection | ToolInfo)[];
	/** What pi alone would send. */
	readonly core: readonly PartReference[];
	/** What was sent. Present only if hooks changed it. */
	readonly sent?: readonly PartReference[];
	/** Sections that pi generated again for the offered tools, by id; null: omitted. */
	readonly generated?: Readonly<Record<string, PartReference | null>>;
}

/** Position in the `parts` of the same record, or those of the record in an earlier reply. */
export type PartReference = number | readonly [reply: number, part: number];

/**
 * The messages of a request in order, as segments: `[from, to)` is the messages of these entries; `compaction` the
 * summary of that entry, or with `entry` the output that it shortens; `message` a message from a hook, with the index of the entry that it replaces, if any; `part`
 * the message at that position in the record stored with the earlier reply `reply`, so that each is written once.
 */
export type RecordedRequest = readonly RecordedSegment[];

/** See `RecordedRequest`. */
export type RecordedSegment =
	| readonly [from: number, to: number]
	| { compaction: number; entry?: number }
	| { message: AppMessage; entryIndex: number | null }
	| { reply: number; part: number };
