import type { AssistantMessageEvent } from "@mariozechner/pi-ai";

/** A change of a reply that the model writes, without the partial message. */
export type MessageChange = AssistantMessageEvent extends infer E
	? E extends { partial: unknown }
		? Omit<E, "partial">
		: E
	: never;

/** The change without the partial message, which its event contains already. */
export function withoutPartial(event: AssistantMessageEvent): MessageChange {
	if (!("partial" in event)) return event;
	const { partial: _, ...rest } = event;
	return rest;
}

/** Joins two deltas of the same block; null for other changes. */
export function joinChanges(first: MessageChange, second: MessageChange): MessageChange | null {
	if (!("delta" in first) || !("delta" in second)) return null;
	if (first.type !== second.type || first.contentIndex !== second.contentIndex) return null;
	return { ...second, delta: first.delta + second.delta };
}
