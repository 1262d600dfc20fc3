import type { BashExecutionMessage } from "../log/entry.js";
import { codeFence } from "../util/code-fence.js";

/** A `!` command as text for the model: the command, its fenced output, its result. */
export function bashExecutionText(message: BashExecutionMessage): string {
	const fence = codeFence(message.output);
	const lines = [`Ran \`${message.command}\``, fence, message.output.trimEnd() || "(no output)", fence];
	if (message.job !== undefined)
		lines.push(`The user moved it to the background as ${message.job}, where it still ran.`);
	else if (message.cancelled) lines.push("The command was cancelled.");
	else if (message.exitCode) lines.push(`The command exited with code ${message.exitCode}.`);
	if (message.truncated && message.fullOutputPath) lines.push(`Full output: ${message.fullOutputPath}`);
	return lines.join("\n");
}
