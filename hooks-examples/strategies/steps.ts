/**
 * What `clear`, `dedupe` and `distill` share: which results of tools the model has in front of it, when it pays to hide some of them, and
 * how they are hidden.
 *
 * Each change of the start of a request makes the provider process everything behind it again. So results are hidden in steps:
 * a step hides many results at once, and only if the tokens that it saves in the next requests cost more than those that it sends
 * again. A step is decided once, at `turn_start`, and saved as an entry. `context` handlers only apply these entries.
 */
import {
	type ContextMessage,
	type CustomEntry,
	estimateTokens,
	type HookEventContext,
	isCompactionEntry,
	isMessageEntry,
	type SessionEntry,
} from "@mariozechner/pi-coding-agent/hooks";

/** Results with fewer tokens stay: the line that replaces a result has about 40. */
const MIN_RESULT_TOKENS = 200;
/** A step saves at least this many tokens per request: not every result is worth an entry. */
const MIN_STEP_TOKENS = 4000;
/** A session of N requests makes another N / 8 with a probability of 89 %, if nothing else is known (Lindy's law). */
const EXPECTED_SHARE = 1 / 8;
const MIN_EXPECTED_REQUESTS = 5;
/** Lifetime of the provider's cache, in seconds, and price of what it has not cached per price of what it has, if unknown. */
const [DEFAULT_LIFETIME, DEFAULT_PRICE_RATIO] = [300, 10];
/** Characters of the path, command or pattern of a call in the line that replaces its result. */
const MAX_SUBJECT = 80;

type Message = ContextMessage["message"];
type ResultMessage = Extract<Message, { role: "toolResult" }>;

/** A call of a tool: `toolCall` in a reply. */
export interface Call {
	id: string;
	name: string;
	arguments: Record<string, unknown>;
}

/** A result that the model has in front of it in full. */
export interface ShownResult {
	entryIndex: number;
	message: ResultMessage;
	call: Call;
	/** Estimated. */
	tokens: number;
	/** Tokens of the context from this result to the end. */
	tail: number;
}

/** Results to hide together. */
export interface Step {
	results: readonly ShownResult[];
	/** Tokens that each request has less. */
	saved: number;
	/** Tokens that the next request sends again because of this step; 0 if the provider has forgotten them anyway. */
	resent: number;
}

/** A step in the log; `results` are the indices of their entries. */
export interface StepEntry extends CustomEntry, Pick<Step, "saved" | "resent"> {
	results: readonly number[];
}

/** The results of the context that no hook has changed, in order. */
export function shownResults({ entries, messages }: Pick<HookEventContext, "entries" | "messages">): ShownResult[] {
	const indices = new Map<Message, number>();
	for (const [index, entry] of entries.entries()) if (isMessageEntry(entry)) indices.set(entry.message, index);
	const calls = new Map<string, Call>();
	const results: ShownResult[] = [];
	let before = 0;
	for (const message of messages) {
		const tokens = estimateTokens(message);
		if (message.role === "assistant") for (const call of callsIn(message)) calls.set(call.id, call);
		const entryIndex = indices.get(message);
		const call = message.role === "toolResult" ? calls.get(message.toolCallId) : undefined;
		if (message.role === "toolResult" && call && entryIndex !== undefined) {
			results.push({ entryIndex, message, call, tokens, tail: before });
		}
		before += tokens;
	}
	return results.map((result) => ({ ...result, tail: before - result.tail }));
}

/**
 * The step that saves most with some of these results, in order; null if none pays.
 * @param now ms since the epoch
 */
export function chooseStep(
	results: readonly ShownResult[],
	ctx: Pick<HookEventContext, "entries" | "model">,
	now: number,
): Step | null {
	const large = results.filter(({ tokens }) => tokens >= MIN_RESULT_TOKENS);
	const extraPrice = isCold(ctx, now) ? 0 : priceRatio(ctx.model) - 1;
	return bestStep(large, expectedRequests(ctx.entries), extraPrice);
}

/**
 * Hiding a result sends everything behind it again. So the results after some position are hidden: that at which the savings of the
 * expected requests, minus the price of what is sent again, are largest.
 * @param extraPrice what a token that is sent again costs more than a cached one, in prices of a cached one
 */
export function bestStep(results: readonly ShownResult[], requests: number, extraPrice: number): Step | null {
	let best: Step | null = null;
	let bestGain = 0;
	let saved = 0;
	for (let start = results.length - 1; start >= 0; start--) {
		const { tokens, tail } = results[start] as ShownResult;
		saved += tokens;
		const resent = extraPrice > 0 ? tail - saved : 0;
		const gain = requests * saved - extraPrice * resent;
		if (saved < MIN_STEP_TOKENS || gain <= bestGain) continue;
		best = { results: results.slice(start), saved, resent };
		bestGain = gain;
	}
	return best;
}

/** A modest estimate of the requests that the session still makes. */
export function expectedRequests(entries: readonly SessionEntry[]): number {
	return Math.max(MIN_EXPECTED_REQUESTS, Math.floor(entries.filter(isReply).length * EXPECTED_SHARE));
}

/** True if the provider has forgotten the last request, so that a change of its start costs nothing. */
function isCold({ entries, model }: Pick<HookEventContext, "entries" | "model">, now: number): boolean {
	const last = entries.findLast(
		(entry) => isCompactionEntry(entry) || (isMessageEntry(entry) && entry.message.role === "assistant"),
	);
	if (!isMessageEntry(last) || last.message.role !== "assistant") return true;
	const { provider, model: id, timestamp } = last.message;
	const lifetime = model?.promptCache?.short ?? DEFAULT_LIFETIME;
	return provider !== model?.provider || id !== model.id || now - timestamp > lifetime * 1000;
}

/** The price of a token that the provider has to process, divided by that of a cached one. */
export function priceRatio(model: HookEventContext["model"]): number {
	if (!model || model.cost.input === 0) return DEFAULT_PRICE_RATIO;
	const { input, cacheRead, cacheWrite } = model.cost;
	return cacheRead > 0 ? (cacheWrite || input) / cacheRead : 1;
}

/** Saves a step as an entry. Hooks that run later then have the context without its results. */
export async function saveStep(
	ctx: HookEventContext,
	type: string,
	{ results, saved, resent }: Step,
	fields: Readonly<Record<string, string>> = {},
): Promise<void> {
	await ctx.saveEntry({ ...fields, type, results: results.map(({ entryIndex }) => entryIndex), saved, resent });
	await ctx.rebuildContext();
}

/** The steps of a type that the log has. */
export function stepsOf(entries: readonly SessionEntry[], type: string): StepEntry[] {
	return entries.filter((entry): entry is StepEntry => entry.type === type && isStep(entry));
}

/** True if the entry has the fields of a step: the log is a file that anything could have written. */
export function isStep(entry: SessionEntry): entry is StepEntry {
	const { results, saved, resent } = entry as Partial<StepEntry>;
	return Array.isArray(results) && results.every(Number.isInteger) && Number.isFinite(saved) && Number.isFinite(resent);
}

/** The lines that replace the results of steps, by entry index. @param reason such as `cleared` */
export function linesOf(entries: readonly SessionEntry[], type: string, reason: string): Map<number, string> {
	const lines = new Map<number, string>();
	for (const index of stepsOf(entries, type).flatMap(({ results }) => results)) {
		const line = handleOf(entries, index, reason);
		if (line !== null) lines.set(index, line);
	}
	return lines;
}

/** One line for the user: what the steps of a type hid, and about what they saved until now. */
export function describeSteps(
	{ entries, model }: Pick<HookEventContext, "entries" | "model">,
	type: string,
	done: string,
): string {
	const steps = stepsOf(entries, type);
	const results = steps.flatMap((step) => step.results);
	if (results.length === 0) return `No tool results were ${done} yet`;
	const names = results.flatMap((index) => callOf(entries, index)?.name ?? []);
	const counts = [...new Set(names)].map((name) => `${names.filter((other) => other === name).length} ${name}`);
	const saved = steps.reduce((sum, step) => sum + step.saved, 0);
	const what = `${results.length} ${results.length === 1 ? "tool result was" : "tool results were"} ${done} (${counts.join(", ")})`;
	const price =
		model && model.cost.input > 0 ? ` · ${describeDollars(dollarsSaved(entries, steps, model))} so far` : "";
	return `${what} in ${steps.length === 1 ? "1 step" : `${steps.length} steps`} · ${short(saved)} tokens less per request${price}`;
}

/** What the requests since each step cost less, minus what it sent again, in USD. A compaction ends the savings of earlier steps. */
function dollarsSaved(
	entries: readonly SessionEntry[],
	steps: readonly StepEntry[],
	model: NonNullable<HookEventContext["model"]>,
): number {
	const { input, cacheRead } = model.cost;
	const readPrice = cacheRead > 0 ? cacheRead : input;
	const tokens = steps.map((step) => {
		const start = entries.indexOf(step);
		const end = entries.findIndex((entry, index) => index > start && isCompactionEntry(entry));
		const requests = entries.slice(start, end < 0 ? undefined : end).filter(isReply).length;
		return requests * step.saved - (priceRatio(model) - 1) * step.resent;
	});
	return (tokens.reduce((sum, count) => sum + count, 0) * readPrice) / 1_000_000;
}

function describeDollars(dollars: number): string {
	return `about $${Math.abs(dollars).toFixed(2)} ${dollars < 0 ? "more" : "less"}`;
}

function isReply(entry: SessionEntry): boolean {
	return isMessageEntry(entry) && entry.message.role === "assistant";
}

/** A line that tells the model what was here, and how it gets it back: `[read a.ts · 3,200 tokens cleared · recall 12]`. */
export function handleOf(entries: readonly SessionEntry[], entryIndex: number, reason: string): string | null {
	const entry = entries[entryIndex];
	const call = callOf(entries, entryIndex);
	if (!isMessageEntry(entry) || !call) return null;
	const tokens = estimateTokens(entry.message).toLocaleString("en-US");
	return `[${`${call.name} ${subjectOf(call)}`.trim()} · ${tokens} tokens ${reason} · recall ${entryIndex}]`;
}

const hidden = new WeakMap<Message, Message>();

/** Replaces results by texts, which are given by entry index; undefined if none of them is in the list. */
export function replaceResults(
	messages: readonly ContextMessage[],
	texts: ReadonlyMap<number, string>,
): { messages: ContextMessage[] } | undefined {
	let isChanged = false;
	const replaced = messages.map((item) => {
		const { message, entryIndex } = item;
		const text = entryIndex === null ? undefined : texts.get(entryIndex);
		if (text === undefined || message.role !== "toolResult") return item;
		isChanged = true;
		return { message: withText(message, text), entryIndex };
	});
	return isChanged ? { messages: replaced } : undefined;
}

/** The same object for the same change: pi compares objects to see that the start of a request is unchanged. */
function withText(message: ResultMessage, text: string): Message {
	const known = hidden.get(message);
	if (known?.role === "toolResult" && known.content[0]?.type === "text" && known.content[0].text === text) return known;
	const changed: Message = { ...message, content: [{ type: "text", text }] };
	hidden.set(message, changed);
	return changed;
}

/** The path, command or pattern of a call, in one line. */
export function subjectOf(call: Call): string {
	const { path, command, pattern } = call.arguments;
	const subject = [pattern, path, command].find((value) => typeof value === "string" && value.trim() !== "");
	const line = String(subject ?? "")
		.replace(/\s+/g, " ")
		.trim();
	return (line.length > MAX_SUBJECT ? `${line.slice(0, MAX_SUBJECT)}…` : line).toWellFormed();
}

/** The call that a result answers. */
function callOf(entries: readonly SessionEntry[], entryIndex: number): Call | null {
	const result = entries[entryIndex];
	if (!isMessageEntry(result) || result.message.role !== "toolResult") return null;
	for (let index = entryIndex - 1; index > 0; index--) {
		const entry = entries[index];
		if (!isMessageEntry(entry) || entry.message.role !== "assistant") continue;
		const call = callsIn(entry.message).find(({ id }) => id === (result.message as ResultMessage).toolCallId);
		if (call) return call;
	}
	return null;
}

function callsIn(message: Message): Call[] {
	if (message.role !== "assistant") return [];
	return message.content.flatMap((block) => (block.type === "toolCall" ? [block] : []));
}

/** 14210 → "14.2k". */
export function short(tokens: number): string {
	return tokens < 1000 ? String(Math.round(tokens)) : `${(tokens / 1000).toFixed(1)}k`;
}
