import { lstatSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { BUILTIN_COMMANDS } from "../../commands/builtin/index.js";
import { PiError } from "../../errors.js";
import { errnoCode } from "../../util/fs.js";
import { packageRoot } from "../../util/package-root.js";

/** @throws PiError `bad_arguments` if a command of this name would not run */
export function rejectBuiltin(command: string): void {
	if (BUILTIN_COMMANDS.some(({ name, aliases = [] }) => [name, ...aliases].includes(command))) {
		throw new PiError("bad_arguments", `/${command} is a built-in command`, { hint: "choose another name" });
	}
}

/** Writes a file that does not exist, with missing directories. @throws PiError `bad_arguments` if it exists, `config_write_failed` */
export function writeNewFile(path: string, text: string): void {
	try {
		mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
		// Never writable by others, whatever the umask: pi would refuse to load it.
		writeFileSync(path, text, { flag: "wx", mode: 0o644 });
	} catch (cause) {
		if (errnoCode(cause) === "EEXIST") throw alreadyExists(path);
		throw new PiError("config_write_failed", `Cannot write ${path}`, { cause });
	}
}

/** Lets tests import the running installation by its name. @throws PiError `config_write_failed` */
export function linkPackage(path: string): void {
	try {
		mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
		const found = lstatSync(path, { throwIfNoEntry: false });
		// A package that someone has installed there is theirs.
		if (found && !found.isSymbolicLink()) return;
		rmSync(path, { force: true });
		symlinkSync(packageRoot(), path, "junction");
	} catch (cause) {
		throw new PiError("config_write_failed", `Cannot write ${path}`, { cause });
	}
}

export function alreadyExists(path: string): PiError {
	return new PiError("bad_arguments", `${path} already exists`, { hint: "choose another name" });
}

/** Source of a small working hook. @param name of its command */
export function hookSource(name: string): string {
	return `import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";

/** Counts the tool calls of a run and blocks git push. */
export default function (pi: HookAPI) {
	let calls = 0;

	pi.on("agent_start", () => {
		calls = 0;
	});

	// Runs before each tool call. Return nothing to allow the call.
	pi.on("tool_call", (event) => {
		calls++;
		if (event.toolName === "bash" && String(event.input.command).includes("git push")) {
			return { block: true, reason: "Only the user may push. Describe what you would push instead." };
		}
	});

	pi.command(${JSON.stringify(name)}, {
		description: "Show how many tools the last run called",
		handler: (ctx) => ({ status: \`\${calls} tool calls, \${ctx.entries.length} entries in the session\` }),
	});
}
`;
}
