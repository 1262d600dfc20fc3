import type { ContextStage } from "./build-context.js";
import type { ContextMessage } from "./context-message.js";
import { digestContext } from "./digest.js";

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

	/** Forgets what was seen: the log is another one now. */
	reset(): void {
		this.#seen.clear();
	}

	#compare(key: string, hook: string, now: Seen): void {
		const before = this.#seen.get(key);
		this.#seen.set(key, now);
		if (!before || before.entries !== now.entries || this.#unstable.has(hook)) return;
		if (!isSameList(before.input, now.input) || fingerprint(before.answer) === fingerprint(now.answer)) return;
		this.#unstable.add(hook);
		this.onUnstable(hook);
	}
}

function isSameList(a: readonly ContextMessage[], b: readonly ContextMessage[]): boolean {
	return a.length === b.length && a.every(({ message }, at) => message === b[at]?.message);
}

/** What an answer says to the model. An answer that is no list of messages is dropped anyway. */
function fingerprint(answer: unknown): string {
	const list = typeof answer === "object" && answer !== null && "messages" in answer ? answer.messages : undefined;
	if (!Array.isArray(list)) return "";
	try {
		return digestContext(list.map((item) => item.message ?? item));
	} catch {
		return "";
	}
}
