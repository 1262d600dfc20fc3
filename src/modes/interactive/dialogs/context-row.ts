import type { CacheState } from "../../../context/ledger.js";

/** A row of the context panel. Its texts are untrusted: clean them before drawing. */
export interface ContextRow {
	/** `in`, `out` and `summary` as in the gutter of the transcript; the others compare two requests. */
	mark: "in" | "out" | "summary" | "added" | "removed" | "replaced" | "gap";
	/** Entry index; empty for a message that is not from a single entry. */
	index: string;
	/** Role, tool or hook. */
	label: string;
	text: string;
	/** The effect of a hook or a compaction on the message. */
	note: string;
	/** null for a row that is not a message. */
	tokens: number | null;
	state: CacheState;
	/** Path of the hook that added, replaced or hid it. */
	hook: string | null;
	/** The full text of the message. */
	full: string;
}
