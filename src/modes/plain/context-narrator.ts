import type { BuiltContext, TracedMessage } from "../../context/context-message.js";
import { hookName } from "../../hooks/hook-name.js";
import { messageText } from "../../log/entry.js";
import { bareSummary, plural } from "../format.js";
import { plainLine } from "./plain-output.js";

type DescribedContext = Pick<BuiltContext, "messages" | "hidden">;

/** Describes changes of the context in words: hidden messages and the summaries that replace them. */
export class ContextNarrator {
	#messages: readonly TracedMessage[] = [];
	/** Hidden entries by index, with the name of what hides them. */
	#hidden: ReadonlyMap<number, string> = new Map();

	/** Sets the baseline for the next description. */
	reset(context: DescribedContext): void {
		this.#messages = context.messages;
		this.#hidden = hiddenBy(context);
	}

	/** Lines that describe the changes since the last call; none for appended messages. */
	describe(context: DescribedContext): string[] {
		const before = this.#messages;
		this.#messages = context.messages;
		if (onlyGrew(before, context.messages)) return [];
		const previous = this.#hidden;
		const hidden = hiddenBy(context);
		this.#hidden = hidden;
		const newlyHidden = new Map<string, number>();
		for (const [index, by] of hidden) if (!previous.has(index)) newlyHidden.set(by, (newlyHidden.get(by) ?? 0) + 1);
		const restored = [...previous.keys()].filter((index) => !hidden.has(index)).length;
		const known = new Set(before.filter(isReplacement).map(({ message }) => messageText(message)));
		return [
			...[...newlyHidden].map(([by, count]) => `${by}: ${plural(count, "message")} hidden from the model`),
			...context.messages
				.filter((traced) => isReplacement(traced) && !known.has(messageText(traced.message)))
				.map(({ message }) => `  replaced by: ${plainLine(bareSummary(messageText(message)), 200)}`),
			...(restored > 0 ? [`${plural(restored, "message")} restored to the context`] : []),
		];
	}
}

function isReplacement({ origin, entryIndex }: TracedMessage): boolean {
	return origin.kind === "compaction" || (origin.kind === "hook" && entryIndex === null);
}

function hiddenBy({ hidden }: DescribedContext): ReadonlyMap<number, string> {
	return new Map(hidden.map(({ entryIndex, by }) => [entryIndex, by.kind === "hook" ? hookName(by.hook) : by.kind]));
}

function onlyGrew(before: readonly TracedMessage[], after: readonly TracedMessage[]): boolean {
	const same = (at: number) => before[at]?.entryIndex === after[at]?.entryIndex;
	return after.length >= before.length && same(0) && same(before.length - 1);
}
