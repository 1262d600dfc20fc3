import type { AppMessage } from "../log/entry.js";
import type { ContextStage } from "./build-context.js";
import type { ContextMessage } from "./context-message.js";
import { digestContext } from "./digest.js";
import { sharedLength } from "./shared-length.js";

interface Seen {
	entries: number;
	input: readonly ContextMessage[];
	answer: unknown;
}

/**
 * Finds hooks that answer differently when they are asked the same again: such an answer can change the start of every
 * request, and then nothing of it comes from the provider's cache.
 */
export class StabilityWatch {
	readonly #seen = new Map<string, Seen>();
	readonly #unstable = new Set<string>();

	/** @param onUnstable called once for each hook, with its path */
	constructor(private readonly onUnstable: (hook: string) => void = () => {}) {}

	/** Paths of the hooks that were found. */
	get unstable(): ReadonlySet<string> {
		return this.#unstable;
	}

	/** The same stages, watched. @param entries number of entries that the context is computed from */
	watch(stages: readonly ContextStage[], entries: number): ContextStage[] {
		return stages.map(({ hook, transform }, place) => ({
			hook,
			transform: async (input) => {
				const answer = await transform(input);
				this.#compare(`${place} ${hook}`, hook, { entries, input, answer });
				return answer;
			},
		}));
	}

	#compare(key: string, hook: string, now: Seen): void {
		const before = this.#seen.get(key);
		this.#seen.set(key, now);
		if (!before || before.entries !== now.entries || this.#unstable.has(hook)) return;
		const isSameInput =
			before.input.length === now.input.length && sharedLength(before.input, now.input) === now.input.length;
		if (!isSameInput || saySame(before.answer, now.answer)) return;
		this.#unstable.add(hook);
		this.onUnstable(hook);
	}
}

/** True for answers that are the same to the model. An answer that is no list of messages is dropped anyway. */
function saySame(a: unknown, b: unknown): boolean {
	try {
		const [before, now] = [listOf(a), listOf(b)];
		if (before.length !== now.length) return false;
		return before.every(
			(message, at) => message === now[at] || digestContext([message]) === digestContext(now.slice(at, at + 1)),
		);
	} catch {
		return true; // what cannot be read is dropped as well
	}
}

function listOf(answer: unknown): AppMessage[] {
	const list = typeof answer === "object" && answer !== null && "messages" in answer ? answer.messages : undefined;
	return Array.isArray(list) ? list.map((item) => item.message ?? item) : [];
}
