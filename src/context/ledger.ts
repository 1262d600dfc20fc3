import { type AppMessage, messageText, type ToolInfo } from "../log/entry.js";
import { sum } from "../util/sum.js";
import { bashExecutionText } from "./bash-execution-text.js";
import type { BuiltContext, HiddenEntry, Origin, TracedMessage } from "./context-message.js";
import { describeProblem } from "./describe-problem.js";
import { digestContext } from "./digest.js";
import { type EntrySource, entryMessage } from "./entry-message.js";
import { isSameSection, isSameTool, type SectionOrigin, sectionTokens, sentTool, toolTokens } from "./preamble.js";
import { sharedLength } from "./shared-length.js";
import { estimateTokens } from "./tokens.js";

/** A message of a request. Tokens are estimates. */
export interface LedgerMessage {
	/** From 0. */
	position: number;
	/** null when it is not from a single entry. */
	entryIndex: number | null;
	role: string;
	tokens: number;
	/** True when the previous request started with the same messages up to this one. Absent when that request is unknown. */
	cached?: boolean;
	/** True when the previous request or its reply had it, but not at this place after the same start: it is sent again uncached. */
	resent?: true;
	origin: { kind: Origin["kind"]; hook?: string };
	/** True for a summary whose compaction the provider gets in its own form instead. Tokens and text are those of the summary. */
	native?: true;
	/** Tokens of the entry's own message, if a hook replaced it or a compaction shortened it. */
	replacedTokens?: number;
	text: string;
}

/** A section of the system prompt of a request. */
export interface LedgerSection {
	id: string;
	tokens: number;
	/** As in `LedgerMessage`. */
	cached?: boolean;
	/** As in `LedgerMessage`. */
	resent?: true;
	origin: { kind: SectionOrigin["kind"]; hook?: string };
	/** Tokens of pi's own section, if a hook changed it. */
	replacedTokens?: number;
	text: string;
}

/** A tool that a request offers. */
export interface LedgerTool {
	name: string;
	tokens: number;
	/** As in `LedgerMessage`. */
	cached?: boolean;
	/** As in `LedgerMessage`. */
	resent?: true;
	/** `hook`: the hook registered it. */
	origin: { kind: "core" | "hook"; hook?: string };
	/** Its description. */
	text: string;
}

/** A section or tool that a hook removed. */
export type LedgerRemoved = ({ id: string } | { name: string }) & {
	tokens: number;
	by: { kind: "hook"; hook: string };
};

/** An entry whose message is not in the request. */
export interface LedgerHidden {
	entryIndex: number;
	role: string;
	tokens: number;
	by: HiddenEntry["by"];
}

/** Everything that a request sends, and what it omits. */
export interface Ledger {
	/** Of the complete request. */
	tokens: number;
	/**
	 * The start that is shared with the previous request, in the order in which providers cache: tools, system prompt,
	 * messages. Absent when that request is unknown.
	 */
	prefix?: RequestPrefix & { tokens: number };
	/** Tokens of all parts that are `resent`. Absent when the previous request is unknown. */
	resent?: number;
	systemPrompt: LedgerSection[];
	/** In the order in which they are sent. */
	tools: LedgerTool[];
	messages: LedgerMessage[];
	/** By entry index, ascending. */
	hidden: LedgerHidden[];
	/** Sections and tools that hooks removed. */
	removed: LedgerRemoved[];
	/** `reason`: the rule and its position as a sentence. */
	problems: { hook: string | null; rule: string; position: number; reason: string }[];
}

/** The output of `pi context --json` and `get_context`. */
export interface ContextReport extends Ledger {
	/** Path of the session; null when it is kept in memory. */
	session: string | null;
	/** Index of the last entry that was used. */
	at: number;
	hooks: { path: string; scope: string }[];
}

export interface LedgerSource {
	context: BuiltContext;
	entries: EntrySource;
	/** The previous request; `none` if there was none, null when unknown. */
	previous: SentRequest | "none" | null;
	/** The summary that the provider gets in its own form. Default: none. */
	native?: { position: number } | null;
}

/** What a request sends. */
export type SentRequest = Pick<BuiltContext, "messages" | "preamble" | "length">;

/** Lists the parts of a computed context, and what hooks and compactions hide. */
export function createLedger({ context, entries, previous, native }: LedgerSource): Ledger {
	const prefix = previous === null ? null : previous === "none" ? NO_PREFIX : sharedPrefix(previous, context);
	const resent = isRequest(previous) && prefix ? findResent(previous, context, prefix) : NOTHING_RESENT;
	const cachedIn = (part: keyof RequestPrefix, position: number) => ({
		...(prefix === null ? {} : { cached: position < prefix[part] }),
		...(resent[part].has(position) ? { resent: true as const } : {}),
	});
	const messages = context.messages.map(({ message, entryIndex, origin }, position): LedgerMessage => {
		const isReplaced = origin.kind === "hook" || origin.kind === "shortened";
		const own = isReplaced && entryIndex !== null ? entryMessage(entries.at(entryIndex)) : null;
		return {
			position,
			entryIndex,
			role: message.role,
			tokens: estimateTokens(message),
			...cachedIn("messages", position),
			origin: origin.kind === "hook" ? { kind: origin.kind, hook: origin.hook } : { kind: origin.kind },
			...(native?.position === position ? { native: true } : {}),
			...(own === null ? {} : { replacedTokens: estimateTokens(own) }),
			text: fullText(message),
		};
	});
	const { preamble } = context;
	const systemPrompt = preamble.sections.map(
		({ section, origin, replaced }, position): LedgerSection => ({
			id: section.id,
			tokens: sectionTokens(section),
			...cachedIn("systemPrompt", position),
			origin,
			...(replaced ? { replacedTokens: sectionTokens(replaced) } : {}),
			text: section.text,
		}),
	);
	const tools = preamble.tools.map(
		(tool, position): LedgerTool => ({
			name: tool.name,
			tokens: toolTokens(tool),
			...cachedIn("tools", position),
			origin: originOf(tool),
			text: tool.description,
		}),
	);
	const parts = [tools, systemPrompt, messages];
	const cached = parts.flatMap((list) => list.filter((part) => part.cached === true));
	return {
		tokens: parts.reduce((total, list) => total + sumTokens(list), 0),
		...(prefix === null ? {} : { prefix: { ...prefix, tokens: sumTokens(cached) }, resent: resent.tokens }),
		systemPrompt,
		tools,
		messages,
		hidden: context.hidden.map(({ entryIndex, by }) => {
			const message = entryMessage(entries.at(entryIndex));
			return { entryIndex, role: message?.role ?? "", tokens: message ? estimateTokens(message) : 0, by };
		}),
		removed: [
			...preamble.hiddenSections.map(({ section, hook }) => ({
				id: section.id,
				tokens: sectionTokens(section),
				by: { kind: "hook" as const, hook },
			})),
			...preamble.hiddenTools.map(({ tool, hook }) => ({
				name: tool.name,
				tokens: toolTokens(tool),
				by: { kind: "hook" as const, hook },
			})),
		],
		problems: context.problems.map((problem) => {
			const { hook, rule, position } = problem;
			return { hook, rule, position, reason: describeProblem(problem) };
		}),
	};
}

function originOf({ hook }: ToolInfo): LedgerTool["origin"] {
	return hook === undefined ? { kind: "core" } : { kind: "hook", hook };
}

/** What lists say of a message that is `native`. */
export const NATIVE = "sent in the provider's own form";

/** How the provider gets a part of a request; empty when the previous request is unknown. */
export function cacheState({ cached, resent }: LedgerMessage | LedgerSection | LedgerTool): CacheState {
	if (cached === undefined) return "";
	return cached ? "cached" : resent ? "resent" : "new";
}

export type CacheState = "cached" | "resent" | "new" | "";

/** Joins the tools that no hook registered, for a list with one line for all of them. */
export function groupTools(tools: readonly LedgerTool[]): LedgerTool[] {
	const core = tools.filter(({ origin }) => origin.kind === "core");
	if (core.length < 2) return [...tools];
	const cached = core.every((tool) => tool.cached === true);
	const isResent = core.some((tool) => tool.resent === true);
	const group: LedgerTool = {
		name: `${core.length < tools.length ? `${core.length} of ` : ""}${tools.length} tools`,
		tokens: sumTokens(core),
		...(core[0]?.cached === undefined ? {} : { cached }),
		...(isResent ? { resent: true } : {}),
		origin: { kind: "core" },
		text: core.map(({ name }) => name).join(", "),
	};
	return [group, ...tools.filter((tool) => !core.includes(tool))];
}

/** Creates the report of a computed context for programs. */
export function createContextReport(
	source: LedgerSource & { session: string | null; hooks: readonly { path: string; scope: string }[] },
): ContextReport {
	return {
		session: source.session,
		at: source.entries.length - 1,
		hooks: source.hooks.map(({ path, scope }) => ({ path, scope })),
		...createLedger(source),
	};
}

/** Number of equal tools, sections and messages at the start of two requests. */
export interface RequestPrefix {
	tools: number;
	/** 0 unless both requests have the same tools. */
	systemPrompt: number;
	/** 0 unless both requests have the same tools and system prompt. */
	messages: number;
}

const NO_PREFIX: RequestPrefix = { tools: 0, systemPrompt: 0, messages: 0 };

/** The start of a request that its provider may have cached. Providers cache tools, then system prompt, then messages. */
export function sharedPrefix(previous: SentRequest, current: SentRequest): RequestPrefix {
	const [before, now] = [previous.preamble, current.preamble];
	const tools = countEqual(before.tools, now.tools, isSameTool);
	if (tools < Math.max(before.tools.length, now.tools.length)) return { ...NO_PREFIX, tools };
	const systemPrompt = countEqual(before.promptSections, now.promptSections, isSameSection);
	if (systemPrompt < Math.max(before.sections.length, now.sections.length)) return { tools, systemPrompt, messages: 0 };
	const shared = sharedLength(previous.messages, current.messages);
	const rest = countEqual(previous.messages.slice(shared), current.messages.slice(shared), (a, b) =>
		isSameMessage(a?.message, b?.message),
	);
	return { tools, systemPrompt, messages: shared + rest };
}

/** The parts of a request that an earlier one or its reply already had, by position, and their estimated tokens. */
export type ResentParts = Record<keyof RequestPrefix, ReadonlySet<number>> & { tokens: number };

const NOTHING_RESENT: ResentParts = { tools: new Set(), systemPrompt: new Set(), messages: new Set(), tokens: 0 };

/**
 * Finds what a change of the start makes the provider process again: the parts after the shared start that the previous
 * request or its reply already had. New parts do not count, because they would have been sent anyway.
 */
export function findResent(previous: SentRequest, current: SentRequest, prefix: RequestPrefix): ResentParts {
	const [before, now] = [previous.preamble, current.preamble];
	const isExtended =
		prefix.tools === before.tools.length &&
		prefix.systemPrompt === before.sections.length &&
		prefix.messages === previous.messages.length;
	if (isExtended) return NOTHING_RESENT;
	const reply = current.messages.find(
		({ message, entryIndex, origin: { kind } }) =>
			message.role === "assistant" && kind === "entry" && entryIndex !== null && entryIndex >= previous.length,
	);
	const had = [...previous.messages.slice(prefix.messages), ...(reply ? [reply] : [])];
	const tools = findRepeated(before.tools.slice(prefix.tools), now.tools, prefix.tools, (tool) =>
		JSON.stringify(sentTool(tool)),
	);
	const systemPrompt = findRepeated(
		before.promptSections.slice(prefix.systemPrompt),
		now.promptSections,
		prefix.systemPrompt,
		({ id, text }) => JSON.stringify([id, text]),
	);
	const messages = findRepeated(
		had,
		current.messages,
		prefix.messages,
		({ message }) => `${message.role} ${digestContext([message])}`,
	);
	const tokens =
		sum(now.tools.map((tool, at) => (tools.has(at) ? toolTokens(tool) : 0))) +
		sum(now.promptSections.map((section, at) => (systemPrompt.has(at) ? sectionTokens(section) : 0))) +
		sum(current.messages.map(({ message }, at) => (messages.has(at) ? estimateTokens(message) : 0)));
	return { tools, systemPrompt, messages, tokens };
}

/** Positions of the items from `start` on that another list has too; each of its items counts once. */
function findRepeated<T>(
	had: readonly T[],
	sent: readonly T[],
	start: number,
	keyOf: (item: T) => string,
): Set<number> {
	const left = new Map<string, number>();
	for (const item of had) left.set(keyOf(item), (left.get(keyOf(item)) ?? 0) + 1);
	const repeated = new Set<number>();
	for (const [offset, item] of sent.slice(start).entries()) {
		const key = keyOf(item);
		const count = left.get(key) ?? 0;
		if (count === 0) continue;
		left.set(key, count - 1);
		repeated.add(start + offset);
	}
	return repeated;
}

function isRequest(previous: LedgerSource["previous"]): previous is SentRequest {
	return previous !== null && previous !== "none";
}

function countEqual<T>(
	a: readonly T[],
	b: readonly T[],
	isSame: (a: T | undefined, b: T | undefined) => boolean,
): number {
	if (a === b) return a.length;
	const end = Math.min(a.length, b.length);
	let count = 0;
	while (count < end && isSame(a[count], b[count])) count++;
	return count;
}

/** Number of equal messages at the start of both lists. */
export function countPrefix(previous: readonly AppMessage[], current: readonly TracedMessage[]): number {
	const end = Math.min(previous.length, current.length);
	let count = 0;
	while (count < end && isSameMessage(previous[count], current[count]?.message)) count++;
	return count;
}

/** True for two messages that are sent alike. */
export function isSameMessage(a: AppMessage | undefined, b: AppMessage | undefined): boolean {
	if (!a || !b) return false;
	return a === b || (a.role === b.role && digestContext([a]) === digestContext([b]));
}

/** Estimated tokens that a hook adds to a context and removes from it. */
export interface HookShare {
	added: number;
	removed: number;
}

/** The share of each hook in a context, by path. Hooks without effect are omitted. */
export function hookShares({
	messages,
	systemPrompt,
	tools,
	hidden,
	removed,
}: Pick<Ledger, "messages" | "systemPrompt" | "tools" | "hidden" | "removed">): Map<string, HookShare> {
	const shares = new Map<string, HookShare>();
	const add = (hook: string | undefined, added: number, lost: number) => {
		if (hook === undefined) return;
		const share = shares.get(hook) ?? { added: 0, removed: 0 };
		shares.set(hook, { added: share.added + added, removed: share.removed + lost });
	};
	for (const { origin, tokens, replacedTokens = 0 } of [...messages, ...systemPrompt])
		add(origin.hook, tokens, replacedTokens);
	for (const { origin, tokens } of tools) add(origin.hook, tokens, 0);
	for (const { by, tokens } of [...hidden, ...removed]) if (by.kind === "hook") add(by.hook, 0, tokens);
	return shares;
}

/** The full text of a message, including its tool calls. */
export function fullText(message: AppMessage): string {
	if (message.role === "bashExecution") return bashExecutionText(message);
	if (message.role !== "assistant") return messageText(message);
	const parts = message.content.flatMap((block) => {
		if (block.type === "text") return [block.text];
		return block.type === "toolCall" ? [`${block.name}(${JSON.stringify(block.arguments)})`] : [];
	});
	return parts.join("\n");
}

function sumTokens(list: readonly { tokens: number }[]): number {
	return list.reduce((total, { tokens }) => total + tokens, 0);
}
