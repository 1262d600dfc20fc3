import type { ApprovalEntry, ChangedInput, MessageEntry } from "./entry.js";

/** Maximum characters of a value. */
const MAX_VALUE = 80;

/** The hooks and the arguments that they changed, in one line: `changed by gate · command: rm x → ls x`. Not safe for a terminal. */
export function describeChangedInput({ by, from, to }: ChangedInput): string {
	const names = [...new Set([...Object.keys(from), ...Object.keys(to)])];
	const changes = names.map((name) => `${name}: ${valueText(from[name])} → ${valueText(to[name])}`);
	return [`changed by ${by.join(", ")}`, ...changes].join(" · ");
}

/**
 * What hooks changed in a prompt: `by` is `changed by gate`, `typed` the text of the user. Not safe for a terminal. Null if
 * they changed nothing.
 */
export function describeChangedPrompt({ typed, changedBy }: MessageEntry): { by: string; typed: string } | null {
	if (typeof typed !== "string") return null;
	// Sessions of older versions do not name the hooks.
	const names = Array.isArray(changedBy) ? changedBy.filter((name) => typeof name === "string") : [];
	return { by: `changed by ${names.join(", ") || "a hook"}`, typed };
}

function valueText(value: unknown): string {
	if (value === undefined) return "none";
	const text = (typeof value === "string" ? value : (JSON.stringify(value) ?? "")).replace(/\s+/g, " ");
	return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text;
}

/** A question about a tool call and its answer, in one line: `permissions asked: Run this command? → yes, always: git push *`. */
export function describeApproval({ by, question, allowed, choice, rule, message }: ApprovalEntry): string {
	const word = allowed ? "yes" : "no";
	// Labels begin with the same word.
	const label = choice === undefined ? word : choice.replace(/^yes\b/i, "yes");
	const more = rule === undefined ? "" : `: ${rule}`;
	return `${by} asked: ${question} → ${label}${more}${message === undefined ? "" : `: ${message}`}`;
}
