/** Plan mode: the model can only read, and ends its answer with a plan, about which the user decides. */
import { isMessageEntry, messageText, type SessionEntry } from "@mariozechner/pi-coding-agent/hooks";

/** Tools that change no files: those of pi, of the task list, of question.ts, clear.ts and web.ts, and of batch.ts, whose calls are checked. */
export const PLAN_TOOLS: ReadonlySet<string> = new Set([
	...["read", "grep", "find", "ls", "tasks", "question", "recall", "web_fetch", "web_search", "batch"],
]);

/** Added to the system prompt. */
export const PLAN_RULES = `You are in plan mode: find out what is needed, but change nothing. You can only read.
Ask if the task is ambiguous. Otherwise end your answer with the plan: a heading "## Plan", then numbered steps that name the
files to change, and how to check the result. The user decides if the plan is carried out.`;

export const CARRY_OUT = "Carry it out";
export const CARRY_OUT_EDITS = "Carry it out, and accept edits";
export const EDIT_PLAN = "Edit it first";
export const KEEP_PLANNING = "Keep planning";

/** The plan at the end of the last answer; null if it has none or was stopped. */
export function lastPlan(entries: readonly SessionEntry[]): string | null {
	const last = entries.findLast(isMessageEntry)?.message;
	if (last?.role !== "assistant" || last.stopReason !== "stop") return null;
	const parts = messageText(last).split(/^#{1,6} *plan\b.*$/im);
	return parts.length > 1 ? parts.at(-1)?.trim() || null : null;
}
