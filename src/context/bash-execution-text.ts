import type { BashExecutionMessage } from "../log/entry.js";

/** A `!` command as text for the model: the command, its fenced output, its result. */
export function bashExecutionText(message: BashExecutionMessage): string {
	const fence = fenceFor(message.output);
	const lines = [`Ran \`${message.command}\``, fence, message.output.trimEnd() || "(no output)", fence];
	if (message.cancelled) lines.push("The command was cancelled.");
	else if (message.exitCode) lines.push(`The command exited with code ${message.exitCode}.`);
	if (message.truncated && message.fullOutputPath) lines.push(`Full output: ${message.fullOutputPath}`);
	return lines.join("\n");
}

/** A fence longer than every run of backticks in the text. */
function fenceFor(text: string): string {
	const longest = (text.match(/`{3,}/g) ?? []).reduce((max, run) => Math.max(max, run.length), 2);
	return "`".repeat(longest + 1);
}
