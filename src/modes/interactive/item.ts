import type { Block } from "../../tui/live-tui.js";
import { EntryBlock, type Gap } from "./views/entry-block.js";
import type { ViewStyle } from "./views/view.js";

/** What a part of the transcript is; decides what stands above it and whether the gutter speaks of it. */
export type ItemKind =
	| "user"
	| "text"
	| "thinking"
	| "tool"
	| "outcome"
	| "bash"
	| "system"
	| "notice"
	| "custom"
	| "event";

/** A part of the transcript, in the order in which it came. */
export interface Item {
	readonly kind: ItemKind;
	readonly block: EntryBlock;
	/** The message entries it shows, the one that decides first; empty for what is no message. Grows while it runs. */
	readonly entryIndices: number[];
	/** Never in the context, such as a `!!` command. */
	excluded: boolean;
}

/** Makes an item of a view. */
export function createItem(
	kind: ItemKind,
	view: Block,
	style: ViewStyle,
	options: { entryIndex?: number; excluded?: boolean } = {},
): Item {
	const block = new EntryBlock(view, style);
	const excluded = options.excluded ?? false;
	block.mark = excluded ? "out" : isMessage(kind) ? "in" : "none";
	return { kind, block, entryIndices: options.entryIndex === undefined ? [] : [options.entryIndex], excluded };
}

/** What stands above an item that follows another. */
export function gapBetween(before: ItemKind | null, kind: ItemKind): Gap {
	if (before === null) return "turn";
	if (kind === before && (kind === "tool" || kind === "notice" || kind === "event")) return "none";
	switch (kind) {
		case "text":
		case "thinking":
		case "tool":
		case "outcome":
			return SAME_TURN.has(before) ? "line" : "turn";
		default:
			return "turn";
	}
}

const SAME_TURN: ReadonlySet<ItemKind> = new Set(["user", "text", "thinking", "tool", "outcome"]);

function isMessage(kind: ItemKind): boolean {
	return kind !== "notice" && kind !== "custom" && kind !== "event";
}
