import type { AppMessage, PromptSection, RequestFacts, ToolInfo } from "../log/entry.js";
import { type Addition, placeAdditions, readAdditions } from "./additions.js";
import { checkMessages, KNOWN_GOOD, type Violation } from "./check.js";
import { ContextMemo } from "./context-memo.js";
import type {
	ActiveOutputSchema,
	BuiltContext,
	ContextMessage,
	ContextProblem,
	HiddenEntry,
	HookEdits,
	TracedMessage,
} from "./context-message.js";
import { type EntrySource, entryMessage } from "./entry-message.js";
import { FactsOffer, factsWithoutModel } from "./facts.js";
import { withoutOmitted } from "./omitted-images.js";
import { withAnswerTool } from "./output-schema.js";
import { type CorePreamble, NO_PREAMBLE, type Preamble, plainPreamble } from "./preamble.js";
import { type AnsweringHook, applyPreambleAnswer, generateSections } from "./preamble-answer.js";
import { addProviderFields, type ProviderFields } from "./provider-fields.js";
import { frozenPreamble } from "./recorded-preamble.js";
import type { ActiveCompaction, ActiveFreeze } from "./replacement.js";
import { findChangedThinking } from "./signed-thinking.js";
import { type AnswerFields, readAnswer, type TracedList, type TraceFault, traceAnswer, UNREADABLE } from "./trace.js";

/** What a handler gets besides the messages. Frozen. */
export interface TransformInput {
	readonly systemPrompt: readonly PromptSection[];
	readonly tools: readonly ToolInfo[];
	/** The facts of the request; those that a handler reads are recorded with it. */
	readonly facts: FactsOffer;
}

/** Returns a hook's answer to a request; undefined leaves it unchanged. Must not throw: report errors inside. */
export type ContextTransform = (messages: readonly ContextMessage[], input: TransformInput) => Promise<unknown>;

/** A hook's `context` handler as the pipeline sees it. */
export interface ContextStage {
	/** Path of the hook, for origins and problems. */
	hook: string;
	/** Name of the hook, with which the ids of its sections begin. Default: its path. */
	name?: string;
	/** What was registered: tells the handlers of a hook apart. */
	handler?: object;
	transform: ContextTransform;
}

export interface BuildContextOptions {
	/** Called for each dropped answer of a hook, with its `handler`, and each clamped compaction. */
	onProblem?(problem: ContextProblem, handler?: object): void;
	/** Earlier results for the same log; see `ContextMemo`. */
	memo?: ContextMemo;
	/** System prompt and tools before hooks. Default: none. */
	preamble?: CorePreamble;
	/** The facts of the request, called only if a handler reads them. Default: those of a request without a model. */
	facts?(): RequestFacts;
}

/**
 * Computes the context: `hookN(… hook1(core(entries)) …)`. An answer that no model would accept is reported and dropped,
 * and the request before it is used. A hook is not blamed for faults that its input already had. Images that entries omit
 * are replaced last, so that no hook can bring them back. Every message, section and tool carries its origin.
 */
export async function buildContext(
	entries: EntrySource,
	stages: readonly ContextStage[],
	{ onProblem, memo = new ContextMemo(), preamble: start = NO_PREAMBLE, facts }: BuildContextOptions = {},
): Promise<BuiltContext> {
	const core = memo.core(entries);
	const problems: ContextProblem[] = [];
	const report = (problem: ContextProblem, handler?: object) => {
		problems.push(problem);
		onProblem?.(problem, handler);
	};
	for (const problem of core.problems) report(problem);

	let current: TracedList = core;
	const { outputSchema } = core;
	let preamble = plainPreamble(withAnswerTool(frozenPreamble(start, core.replacement, entries), outputSchema));
	const offer = new FactsOffer(facts ?? (() => factsWithoutModel(entries)));
	const changes: Change[] = [];
	const additions: Addition[] = [];
	let provider: ProviderFields | null = null;
	/** Faults of `current`; null until they are needed. */
	let faults: ReadonlySet<string> | null = null;
	for (const [index, { hook, name = hook, handler, transform }] of stages.entries()) {
		const by = { hook, name, ...(handler && { handler }) };
		const drop = (fault: TraceFault) => report({ hook, ...fault }, handler);
		const answer = await transform(current.messages, inputOf(preamble, offer));
		if (answer === undefined) continue;
		const fields = readAnswer(answer);
		if ("rule" in fields) {
			drop(fields);
			continue;
		}
		const changed = applyTo(preamble, fields, by);
		if ("rule" in changed) {
			drop(changed);
			continue;
		}
		const added = addedBy(fields, changed, entries.length, by);
		if ("rule" in added) {
			drop(added);
			continue;
		}
		const asked = askedBy(fields, provider);
		if ("rule" in asked) {
			drop(asked);
			continue;
		}
		if (fields.messages === undefined) {
			preamble = changed;
			additions.push(...added);
			provider = asked.fields;
			continue;
		}
		const stage = memo.stage(`${index} ${hook}`);
		const traced = traceAnswer({ list: fields.messages, before: current, entries, hook, previousOwn: stage.own });
		if ("rule" in traced) {
			drop(traced);
			continue;
		}
		const changedThinking = findChangedThinking({
			core: core.messages,
			before: current.messages,
			answer: traced,
			entries,
		});
		if (changedThinking) {
			drop(changedThinking);
			continue;
		}
		const violations = stage.check(traced);
		if (violations.length > 0) {
			const known: ReadonlySet<string> = faults ?? keys(checkMessages(current.messages, KNOWN_GOOD));
			const broken = violations.find(({ key }) => !known.has(key));
			if (broken) {
				const { key: _, ...problem } = broken;
				drop(problem);
				faults = known;
				continue;
			}
		}
		faults = keys(violations);
		changes.push({ hook, before: current.messages, after: traced.messages });
		current = traced;
		preamble = changed;
		additions.push(...added);
		provider = asked.fields;
	}
	let messages = withoutOmitted(current.messages, core.omitted);
	if (additions.length > 0) {
		const place = { takes: offer.facts.appends, entries, memo: memo.additions };
		({ messages, preamble } = placeAdditions(additions, { messages, preamble }, place, report));
	}
	const sent = memo.preamble(generateSections(preamble));
	const asked = { facts: offer.used, provider, outputSchema };
	const built = { length: core.length, messages, preamble: sent, problems, ...asked };
	const hooked = additions.length > 0 ? messages : current.messages;
	return new Context(built, core.messages, hooked, core.replacement, changes, entries);
}

function inputOf({ promptSections: systemPrompt, tools }: Preamble, facts: FactsOffer): TransformInput {
	return { systemPrompt, tools, facts };
}

function applyTo(before: Preamble, fields: AnswerFields, by: AnsweringHook): Preamble | TraceFault {
	try {
		return applyPreambleAnswer(fields, before, by);
	} catch {
		return UNREADABLE; // an accessor or proxy of the hook threw
	}
}

/** What hooks ask of the provider, after an answer. */
function askedBy(
	{ provider }: AnswerFields,
	before: ProviderFields | null,
): { fields: ProviderFields | null } | TraceFault {
	if (provider === undefined) return { fields: before };
	try {
		return addProviderFields(before, provider);
	} catch {
		return UNREADABLE; // an accessor or proxy of the hook threw
	}
}

/** What an answer adds in the middle of the conversation. */
function addedBy(
	{ append }: AnswerFields,
	{ core }: Preamble,
	length: number,
	by: AnsweringHook,
): Addition[] | TraceFault {
	if (append === undefined) return [];
	try {
		return readAdditions(append, { tools: core.tools, length, by });
	} catch {
		return UNREADABLE; // an accessor or proxy of the hook threw
	}
}

function keys(violations: readonly Violation[]): Set<string> {
	return new Set(violations.map(({ key }) => key));
}

interface Change {
	hook: string;
	before: readonly TracedMessage[];
	after: readonly TracedMessage[];
}

/** A computed context. Finds hidden and edited entries on first use. */
class Context implements BuiltContext {
	#hidden: readonly HiddenEntry[] | null = null;
	#edits: readonly HookEdits[] | null = null;

	readonly length: number;
	readonly messages: readonly TracedMessage[];
	readonly preamble: Preamble;
	readonly problems: readonly ContextProblem[];
	readonly facts: RequestFacts | null;
	readonly provider: ProviderFields | null;
	readonly outputSchema: ActiveOutputSchema | null;

	constructor(
		{
			length,
			messages,
			preamble,
			problems,
			facts,
			provider,
			outputSchema,
		}: Pick<BuiltContext, "length" | "messages" | "preamble" | "problems" | "facts" | "provider" | "outputSchema">,
		/** The messages before hooks. */
		private readonly core: readonly TracedMessage[],
		/** The messages after hooks, before images were omitted. */
		private readonly hooked: readonly TracedMessage[],
		private readonly replacement: ActiveCompaction | ActiveFreeze | null,
		private readonly changes: readonly Change[],
		private readonly entries: EntrySource,
	) {
		this.length = length;
		this.messages = messages;
		this.preamble = preamble;
		this.problems = problems;
		this.facts = facts;
		this.provider = provider;
		this.outputSchema = outputSchema;
	}

	get isChanged(): boolean {
		const { core, hooked } = this;
		if (core === hooked) return false;
		return core.length !== hooked.length || core.some(({ message }, at) => message !== hooked[at]?.message);
	}

	get hidden(): readonly HiddenEntry[] {
		this.#hidden ??= this.#findHidden();
		return this.#hidden;
	}

	get edits(): readonly HookEdits[] {
		this.#edits ??= this.changes.map(findEdits);
		return this.#edits;
	}

	#findHidden(): HiddenEntry[] {
		const hidden = new Map<number, HiddenEntry["by"]>();
		if (this.replacement) {
			const { kind, entryIndex, firstKeptEntryIndex } = this.replacement;
			const by = { kind, entryIndex } as const;
			for (let index = 0; index < firstKeptEntryIndex; index++) {
				if (entryMessage(this.entries.at(index))) hidden.set(index, by);
			}
			if (kind === "compaction") for (const index of this.replacement.keptPrompts) hidden.delete(index);
			if (kind === "freeze") {
				for (const traced of this.replacement.messages)
					if (traced.entryIndex !== null) hidden.delete(traced.entryIndex);
			}
		}
		for (const { hook, before, after } of this.changes) {
			const by = { kind: "hook", hook } as const;
			const kept = new Set<number>();
			for (const { entryIndex } of after) if (entryIndex !== null) kept.add(entryIndex);
			for (const { entryIndex } of before) {
				if (entryIndex !== null && !kept.has(entryIndex)) hidden.set(entryIndex, by);
			}
			for (const index of kept) hidden.delete(index);
		}
		return [...hidden].sort(([a], [b]) => a - b).map(([entryIndex, by]) => ({ entryIndex, by }));
	}
}

function findEdits({ hook, before, after }: Change): HookEdits {
	const remaining = new Set<object>(after.map(({ message }) => message));
	const entries = before.flatMap(({ message, entryIndex }) =>
		entryIndex === null || remaining.has(message) ? [] : [entryIndex],
	);
	return { hook, entries: new Set(entries) };
}

/** The messages of a context, without their origins. */
export function plainMessages(context: BuiltContext): AppMessage[] {
	return context.messages.map(({ message }) => message);
}
