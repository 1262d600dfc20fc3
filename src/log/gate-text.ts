import type { ChangedInput } from "./entry.js";

/** Maximum characters of a value. */
const MAX_VALUE = 80;

/** The hooks and the arguments that they changed, in one line: `changed by gate · command: rm x → ls x`. Not safe for a terminal. */
export function describeChangedInput({ by, from, to }: ChangedInput): string {
	const names = [...new Set([...Object.keys(from), ...Object.keys(to)])];
	const changes = names.map((name) => `${name}: ${valueText(from[name])} → ${valueText(to[name])}`);
	return [`changed by ${by.join(", ")}`, ...changes].join(" · ");
}

function valueText(value: unknown): string {
	if (value === undefined) return "none";
	const text = (typeof value === "string" ? value : (JSON.stringify(value) ?? "")).replace(/\s+/g, " ");
	return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text;
}
