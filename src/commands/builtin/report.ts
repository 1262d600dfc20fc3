import type { CommandResult } from "../../hooks/types.js";
import type { BuiltinCommandContext } from "../command.js";

/** Reports a fact that other keys may change: in a line that goes then or, without such a line, as the status of the command. */
export function hint({ shell }: BuiltinCommandContext, text: string): CommandResult | undefined {
	if (!shell?.hint) return { status: text };
	shell.hint(text);
	return undefined;
}

/** Shows lines under a title: in the transcript or, without a shell, as the status of the command. */
export function report(
	{ shell }: BuiltinCommandContext,
	title: string,
	lines: readonly string[],
): CommandResult | undefined {
	if (!shell) return { status: [title, ...lines].join("\n") };
	shell.show(title, lines);
	return undefined;
}
