/**
 * Asks before every bash command that is not plainly harmless. Where nobody can be asked, such a command does not run.
 *
 * What this is worth: the text of a command does not say what it does. `git log` can run a program that the repository's
 * configuration names, `npm test` runs whatever the project says, any name can be another program on the PATH, and quotes,
 * `$(…)`, `&&`, `|` and line breaks hide one command in another. So this gate does not look for dangerous words, and does
 * not match the beginning of a command: any character that could start a second command, and any program that is not on
 * a short list, means that you are asked. It guards against accidents. Against a model that was told to do harm, run pi
 * in a container or under a user of its own.
 */
import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";

/** Everything by which a shell could do more than run one program with plain arguments. */
const SHELL_SYNTAX = /[;&|<>$`\n\r()\\]/;

/**
 * Programs that only read, whatever their arguments are. `git`, `find`, `rg`, `sort`, `sed` and `env` are not among them:
 * each has an option or a setting that writes a file or runs a program.
 */
const READERS = new Set(["ls", "pwd", "cat", "head", "wc", "stat", "basename", "dirname", "true", "false", "echo"]);

export default function permissionGate(pi: HookAPI): void {
	pi.on("tool_call", async (event, ctx) => {
		if (event.toolName !== "bash") return undefined;
		const command = String(event.input.command);
		if (isPlainlyHarmless(command)) return undefined;
		// Without a screen this is false at once; a program that drives pi may still answer.
		if (await ctx.ui.confirm("Run this command?", command)) return undefined;
		const reason = ctx.hasUI
			? "The user refused to run this command. Ask what to do instead."
			: "This command needs a permission that nobody is there to give. Use the read, grep, find and ls tools.";
		return { block: true, reason };
	});
}

function isPlainlyHarmless(command: string): boolean {
	if (SHELL_SYNTAX.test(command)) return false;
	const program = command.trim().split(/[ \t]/, 1)[0] ?? "";
	return READERS.has(program);
}
