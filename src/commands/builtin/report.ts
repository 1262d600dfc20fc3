import type { CommandResult } from "../../hooks/types.js";
import type { BuiltinCommandContext } from "../command.js";

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
