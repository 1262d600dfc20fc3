import type { CommandResult } from "../../hooks/types.js";
import type { BuiltinCommandContext } from "../command.js";

/** Shows lines: in the shell under a title, elsewhere as the command's status. */
export function report(
	{ shell }: BuiltinCommandContext,
	title: string,
	lines: readonly string[],
): CommandResult | undefined {
	if (!shell) return { status: [title, ...lines].join("\n") };
	shell.show(title, lines);
	return undefined;
}
