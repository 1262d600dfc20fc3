import type { ApprovalSubject } from "../util/approval.js";
import { isRecord } from "../util/is-record.js";
import { describeInput } from "./describe-input.js";
import type { ToolCallEvent } from "./types.js";

/**
 * What a tool call would do, complete, for the question whether it may: its command, its changes to a file as lines that begin
 * with `- ` and `+ `, or its most informative argument; then all other arguments.
 */
export function describeSubject({
	toolName,
	input,
	caller,
}: Omit<ToolCallEvent, "type" | "toolCallId">): ApprovalSubject {
	const by = caller ? `called by hook ${caller.hook}` : "";
	const more = (others: Readonly<Record<string, unknown>>) => {
		const text = [describeInput(others), by].filter(Boolean).join("\n");
		return text === "" ? {} : { more: text };
	};
	if (typeof input.command === "string") {
		const { command, ...others } = input;
		return { kind: "command", head: `${toolName}: `, text: command, ...more(others) };
	}
	const change = typeof input.path === "string" ? describeChange(input) : null;
	if (change) return { kind: "diff", head: `${toolName}: ${input.path}\n`, text: change.diff, ...more(change.others) };
	const main = ["path", "pattern"].find((name) => typeof input[name] === "string");
	const { [main ?? ""]: first = "", ...others } = input;
	return { kind: "text", text: `${toolName}: ${first}`.trim(), ...more(others) };
}

/** The change of a call to the file `path`, and its other arguments; null if it is not like one of `edit` or `write`. */
function describeChange(
	input: Readonly<Record<string, unknown>>,
): { diff: string; others: Record<string, unknown> } | null {
	const { path: _, content, oldText, newText, edits, ...others } = input;
	if (typeof content === "string" && oldText === undefined && newText === undefined && edits === undefined)
		return { diff: signed("+", content), others };
	if (content !== undefined) return null;
	const own = oldText === undefined && newText === undefined ? [] : [{ oldText, newText }];
	const all: readonly unknown[] = edits === undefined ? own : Array.isArray(edits) ? [...own, ...edits] : [null];
	const shown = all.map((edit) => (isRecord(edit) ? describeEdit(edit) : null));
	return shown.length > 0 && shown.every((text) => text !== null) ? { diff: shown.join("\n"), others } : null;
}

/** Null if it has a form that is not known, which is then shown as it is. */
function describeEdit({ oldText, newText, ...others }: Record<string, unknown>): string | null {
	if (typeof oldText !== "string" || typeof newText !== "string") return null;
	const rest = describeInput(others);
	return [
		...(oldText === "" ? [] : [signed("-", oldText)]),
		...(newText === "" ? [] : [signed("+", newText)]),
		...(rest === "" ? [] : [signed(" ", rest)]),
	].join("\n");
}

function signed(sign: string, text: string): string {
	return text
		.replace(/\n$/, "")
		.split("\n")
		.map((line) => `${sign} ${line}`)
		.join("\n");
}
