import type { Block } from "../../tui/live-tui.js";
import { EntryBlock, type Gap } from "./views/entry-block.js";
import type { ViewStyle } from "./views/view.js";

/** Kind of a transcript item. It determines the gap above the item and its gutter mark. */
export type ItemKind =
	| "user"
	| "text"
	| "thinking"
	| "tool"
	| "replyEnd"
	| "bash"
	| "system"
	| "notice"
	| "page"
	| "custom"
	| "event";

/** One piece of the transcript. */
export interface Item {
	readonly kind: ItemKind;
	readonly block: EntryBlock;
	/** Entries it shows. The first one determines the mark; empty for items that are not messages. Grows during a run. */
	readonly entryIndices: number[];
	/** True for items that are never in the context, such as `!!` commands. */
	excluded: boolean;
}

/** Creates an item for a view. */
export function createItem(
	kind: ItemKind,
	view: Block,
	style: ViewStyle,
	options: { entryIndex?: number; excluded?: boolean } = {},
): Item {
	const block = new EntryBlock(view, style);
	const excluded = options.excluded ?? false;
	block.mark = excluded ? "out" : ["notice", "page", "custom", "event"].includes(kind) ? "none" : "in";
	return { kind, block, entryIndices: options.entryIndex === undefined ? [] : [options.entryIndex], excluded };
}

/** The gap between an item and the previous one. */
export function gapBetween(before: ItemKind | null, kind: ItemKind): Gap {
	if (before === null) return "turn";
	if (kind === before && (kind === "tool" || kind === "notice" || kind === "event")) return "none";
	return REPLY_KINDS.has(kind) && (before === "user" || REPLY_KINDS.has(before)) ? "line" : "turn";
}

const REPLY_KINDS: ReadonlySet<ItemKind> = new Set(["text", "thinking", "tool", "replyEnd"]);
