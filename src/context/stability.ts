import { isDeepStrictEqual } from "node:util";
import type { AppMessage, PromptSection, RequestFacts } from "../log/entry.js";
import type { ContextStage, TransformInput } from "./build-context.js";
import type { ContextMessage } from "./context-message.js";
import { digestContext } from "./digest.js";
import { hasSameItems, isSameSection } from "./preamble.js";
import { sharedLength } from "./shared-length.js";
import { readAnswer } from "./trace.js";

interface Seen {
	entries: number;
	input: readonly ContextMessage[];
	preamble: Preamble;
	/** Those that handlers have read so far. */
	facts: RequestFacts | null;
	answer: unknown;
}

type Preamble = Pick<TransformInput, "systemPrompt" | "tools">;

/**
 * Finds hooks that answer differently to the same input. Such answers can change the start of every request, so that the
 * provider's cache is never used.
 */
export class StabilityWatch {
	readonly #seen = new Map<string, Seen>();
	readonly #unstable = new Set<string>();

	/** @param onUnstable called once for each hook, with its path */
	constructor(private readonly onUnstable: (hook: string) => void = () => {}) {}

	/** Wraps stages to compare their answers. @param entries number of entries from which the context is computed */
	watch(stages: readonly ContextStage[], entries: number): ContextStage[] {
		return stages.map((stage, index) => ({
			...stage,
			transform: async (input, others) => {
				const { hook } = stage;
				const answer = await stage.transform(input, others);
				const facts = others.facts.used;
				this.#compare(`${index} ${hook}`, hook, { entries, input, preamble: others, facts, answer });
				return answer;
			},
		}));
	}

	#compare(key: string, hook: string, now: Seen): void {
		const before = this.#seen.get(key);
		this.#seen.set(key, now);
		if (!before || before.entries !== now.entries || this.#unstable.has(hook)) return;
		const isSameInput =
			isSamePreamble(before.preamble, now.preamble) &&
			isDeepStrictEqual(before.facts, now.facts) &&
			before.input.length === now.input.length &&
			sharedLength(before.input, now.input) === now.input.length;
		if (!isSameInput || areEqual(before.answer, now.answer)) return;
		this.#unstable.add(hook);
		this.onUnstable(hook);
	}
}

function isSamePreamble(a: Preamble, b: Preamble): boolean {
	const isSameList = a.systemPrompt.length === b.systemPrompt.length && hasSameItems(a.tools, b.tools);
	return isSameList && a.systemPrompt.every((section, at) => isSameSection(section, b.systemPrompt[at]));
}

/** True for answers that are sent alike. Answers without valid fields are dropped later, so they count as equal. */
function areEqual(a: unknown, b: unknown): boolean {
	try {
		const [before, now] = [fieldsOf(a), fieldsOf(b)];
		if (before.preamble !== now.preamble || before.messages.length !== now.messages.length) return false;
		return before.messages.every(
			(message, at) =>
				message === now.messages[at] || digestContext([message]) === digestContext(now.messages.slice(at, at + 1)),
		);
	} catch {
		return true; // an unreadable answer is dropped as well
	}
}

function fieldsOf(answer: unknown): { messages: AppMessage[]; preamble: string } {
	const fields = readAnswer(answer);
	if ("rule" in fields) return { messages: [], preamble: "" };
	const { messages, systemPrompt, tools } = fields;
	return {
		messages: Array.isArray(messages) ? messages.map((item) => item.message ?? item) : [],
		preamble: JSON.stringify([Array.isArray(systemPrompt) ? systemPrompt.map(idAndText) : null, tools]),
	};
}

function idAndText({ id, text }: PromptSection): [string, string] {
	return [id, text];
}
