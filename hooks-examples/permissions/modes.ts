/** The modes of the guard. The current one is an entry of the session: plan mode survives a restart. */
import type { EntryTheme, SessionEntry } from "@mariozechner/pi-coding-agent/hooks";

export type Mode = "ask" | "act" | "accept-edits" | "plan" | "bypass";

/** Type of the entries that change the mode. */
export const MODE_ENTRY = "permission_mode";
/** Type of the entries of former versions, which only had the mode `plan`: `{ on }`. */
export const OLD_ENTRY = "plan_mode";

interface ModeText {
	name: string;
	description: string;
	/** Shown in the footer; null for the first mode. */
	show: ((theme: EntryTheme) => string) | null;
}

export const MODES: Readonly<Record<Mode, ModeText>> = {
	ask: { name: "Ask", description: "rules decide which calls run, ask or are blocked", show: null },
	act: { name: "Act", description: "the model can use all tools", show: null },
	"accept-edits": {
		name: "Accept edits",
		description: "changes of files in the project run without a question",
		show: (theme) => theme.accent("accept edits"),
	},
	plan: {
		name: "Plan",
		description: "the model can only read, and ends its answer with a plan",
		show: (theme) => theme.warning("plan mode"),
	},
	bypass: {
		name: "Bypass permissions",
		description: "nothing asks; only deny rules hold",
		show: (theme) => theme.error("bypass permissions"),
	},
};

/** The modes in the order in which a key goes through them; the first is the default. */
export function modesFor({ asks, bypass }: { asks: boolean; bypass: boolean }): readonly Mode[] {
	return [
		...(asks ? (["ask", "accept-edits", "plan"] as const) : (["act", "plan"] as const)),
		...(bypass ? (["bypass"] as const) : []),
	];
}

/** The mode that the entries name; null: the first one. */
export function savedMode(entries: readonly SessionEntry[]): string | null {
	const last = entries.findLast(({ type }) => type === MODE_ENTRY || type === OLD_ENTRY);
	if (last === undefined) return null;
	if (last.type === OLD_ENTRY) return "on" in last && last.on === true ? "plan" : null;
	return "mode" in last && typeof last.mode === "string" ? last.mode : null;
}

/** Modes that allow more than the first one: the file of a session, which may be somebody else's, does not turn them on. */
const LOOSE: readonly string[] = ["accept-edits", "bypass"];

/**
 * The current mode: the saved one, if the session has it, else the first.
 * @param granted the mode that the user chose since the session was opened
 */
export function modeOf(entries: readonly SessionEntry[], modes: readonly Mode[], granted: Mode | null): Mode {
	const saved = savedMode(entries);
	const isHeld = saved !== null && (!LOOSE.includes(saved) || saved === granted);
	return modes.find((mode) => isHeld && mode === saved) ?? modes[0] ?? "ask";
}

/** The mode that a user names: `accept-edits`, `Accept edits`. */
export function findMode(name: string, modes: readonly Mode[]): Mode | undefined {
	const id = name.trim().toLowerCase().replaceAll(/\s+/g, "-");
	return modes.find((mode) => mode === id);
}
