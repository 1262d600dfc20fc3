import type { BuiltContext, TracedMessage } from "../../context/context-message.js";
import { messageText } from "../../log/entry.js";
import { hookName, plural } from "../format.js";
import { plainLine } from "./plain-output.js";

/** Tells in words what the gutter of the screen shows: what the model does not see any more, and what stands for it. */
export class ContextWords {
	#messages: readonly TracedMessage[] = [];
	/** Entries that are hidden, and by what. */
	#hidden: ReadonlyMap<number, string> = new Map();

	/** Takes a context as known, without a word: one that belongs to another session. */
	reset(context: BuiltContext): void {
		this.#messages = context.messages;
		this.#hidden = hiddenBy(context);
	}

	/** What changed since the last call. A context that only grew costs nothing. */
	describe(context: BuiltContext): string[] {
		const before = this.#messages;
		this.#messages = context.messages;
		if (onlyGrew(before, context.messages)) return [];
		const known = this.#hidden;
		const hidden = hiddenBy(context);
		this.#hidden = hidden;
		const gone = new Map<string, number>();
		for (const [index, by] of hidden) if (!known.has(index)) gone.set(by, (gone.get(by) ?? 0) + 1);
		const back = [...known.keys()].filter((index) => !hidden.has(index)).length;
		const told = new Set(before.filter(standsIn).map(({ message }) => messageText(message)));
		return [
			...[...gone].map(
				([by, count]) => `${by}: ${plural(count, "message")} hidden, the model does not see them any more`,
			),
			...context.messages
				.filter((traced) => standsIn(traced) && !told.has(messageText(traced.message)))
				.map(({ message }) => `  in their place: ${plainLine(bare(messageText(message)), 200)}`),
			...(back > 0 ? [`${plural(back, "message")} back in the context`] : []),
		];
	}
}

function standsIn({ origin, entryIndex }: TracedMessage): boolean {
	return origin.kind === "compaction" || (origin.kind === "hook" && entryIndex === null);
}

function hiddenBy({ hidden }: BuiltContext): ReadonlyMap<number, string> {
	return new Map(
		hidden.map(({ entryIndex, by }) => [entryIndex, by.kind === "hook" ? hookName(by.hook) : "compaction"]),
	);
}

function onlyGrew(before: readonly TracedMessage[], after: readonly TracedMessage[]): boolean {
	const same = (at: number) => before[at]?.entryIndex === after[at]?.entryIndex;
	return after.length >= before.length && same(0) && same(before.length - 1);
}

/** Takes off what a summary is wrapped in. */
function bare(text: string): string {
	const tagged = /<summary>\s*([\s\S]*?)\s*<\/summary>/.exec(text);
	return (tagged?.[1] ?? text).replace(/^\s*\[summary\]:?\s*/i, "").trim();
}
