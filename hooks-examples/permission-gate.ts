/**
 * Asks before every bash command that is not clearly harmless. If nobody can answer, such a command is blocked.
 *
 * Limits: the text of a command does not show what it does. `git log` can run a program from the repository's
 * configuration, `npm test` runs whatever the project defines, PATH can resolve any name to another program, and quotes,
 * `$(…)`, `&&`, `|` and line breaks can hide one command in another. Therefore this gate neither searches for dangerous
 * words nor matches the beginning of a command. It asks if the command contains a character that could start a second
 * command, or if its program is not on a short list. This prevents accidents. To protect against a malicious prompt, run
 * pi in a container or as a separate user.
 */
import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";

/** Characters that let a shell do more than run one program with literal arguments. */
const SHELL_SYNTAX = /[;&|<>$`\n\r()\\]/;

/**
 * Programs that only read, whatever their arguments. `git`, `find`, `rg`, `sort`, `sed` and `env` are excluded, because each
 * has an option or a setting that writes a file or runs a program.
 */
const READERS = new Set(["ls", "pwd", "cat", "head", "wc", "stat", "basename", "dirname", "true", "false", "echo"]);

export default function permissionGate(pi: HookAPI): void {
	pi.on("tool_call", ({ toolName, input }) => {
		if (toolName !== "bash" || isHarmless(String(input.command))) return undefined;
		// pi asks the user, or an RPC client, and blocks the call unless the answer is yes.
		return { ask: "Run this command?" };
	});
}

function isHarmless(command: string): boolean {
	if (SHELL_SYNTAX.test(command)) return false;
	const program = command.trim().split(/[ \t]/, 1)[0] ?? "";
	return READERS.has(program);
}
