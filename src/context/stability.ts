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
		return stages.map(({ hook, transform }, index) => ({
			hook,
			transform: async (input) => {
				const answer = await transform(input);
				this.#compare(`${index} ${hook}`, hook, { entries, input, answer });
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
		if (!isSameInput || areEqual(before.answer, now.answer)) return;
		this.#unstable.add(hook);
		this.onUnstable(hook);
	}
}

/** True for answers that are sent alike. Answers without a list of messages are dropped later, so they count as equal. */
function areEqual(a: unknown, b: unknown): boolean {
	try {
		const [before, now] = [listOf(a), listOf(b)];
		if (before.length !== now.length) return false;
		return before.every(
			(message, at) => message === now[at] || digestContext([message]) === digestContext(now.slice(at, at + 1)),
		);
	} catch {
		return true; // an unreadable answer is dropped as well
	}
}

function listOf(answer: unknown): AppMessage[] {
	const list = typeof answer === "object" && answer !== null && "messages" in answer ? answer.messages : undefined;
	return Array.isArray(list) ? list.map((item) => item.message ?? item) : [];
}
