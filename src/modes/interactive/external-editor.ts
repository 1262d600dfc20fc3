import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PiError } from "../../errors.js";
import { exec } from "../../util/process.js";

/** Editors that git would use if nothing names another one. */
const USUAL = process.platform === "win32" ? ["notepad"] : ["vi", "nano"];

/**
 * The command of the user's editor: that of `$VISUAL` or `$EDITOR`, else of git's core.editor, else vi or nano.
 * @returns null if none is installed
 */
export async function findEditor(env: { VISUAL?: string; EDITOR?: string }, home: string): Promise<string | null> {
	const named = env.VISUAL || env.EDITOR;
	if (named) return named;
	// Only the user's own configuration: a repository must not choose a command that pi runs.
	const { code, stdout } = await exec("git", ["config", "--global", "--get", "core.editor"], { cwd: home });
	const configured = stdout.trim();
	if (code === 0 && configured !== "") return configured;
	for (const name of USUAL) if (await isInstalled(name)) return name;
	return null;
}

async function isInstalled(name: string): Promise<boolean> {
	if (process.platform === "win32") return true;
	return (await exec("sh", ["-c", 'command -v "$1"', "sh", name])).code === 0;
}

/** Exit code of a shell that cannot find the program. */
const COMMAND_NOT_FOUND = 127;

/**
 * Opens a text in the user's editor, which uses the terminal until it exits.
 * @param command the editor with arguments, as in `$EDITOR`
 * @returns the text as saved, without the final newline that editors add; null when the program failed
 * @throws PiError `command_failed` when the program cannot be started
 */
export function editExternally(text: string, command: string): Promise<string | null> {
	return withFile({ name: "prompt.md", text, mode: 0o600 }, async (file) => {
		const code = await run(command, file);
		return code === 0 ? (await readFile(file, "utf8")).replace(/\r?\n$/, "") : null;
	});
}

/**
 * Opens a read-only copy of a text in the user's editor, which uses the terminal until it exits.
 * @param command see `editExternally`
 * @throws PiError `command_failed` when the program cannot be started
 */
export async function viewExternally(text: string, command: string): Promise<void> {
	await withFile({ name: "transcript.md", text, mode: 0o400 }, (file) => run(command, file));
}

/** Calls `use` with a temporary file. */
async function withFile<T>(
	{ name, text, mode }: { name: string; text: string; mode: number },
	use: (path: string) => Promise<T>,
): Promise<T> {
	const folder = await mkdtemp(join(tmpdir(), "pi-prompt-"));
	try {
		const file = join(folder, name);
		await writeFile(file, text, { mode });
		return await use(file);
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}

/** A shell splits the command, which may contain arguments. The file name is passed separately, so it needs no quoting. */
async function run(command: string, file: string): Promise<number | null> {
	const code = await new Promise<number | null>((resolve, reject) => {
		const child =
			process.platform === "win32"
				? spawn(`${command} "${file}"`, { shell: true, stdio: "inherit" })
				: spawn("sh", ["-c", `${command} "$1"`, "sh", file], { stdio: "inherit" });
		child.once("exit", resolve);
		child.once("error", (cause) => {
			reject(new PiError("command_failed", `Cannot start the editor: ${command}`, { cause, hint: "set $EDITOR" }));
		});
	});
	if (code === COMMAND_NOT_FOUND) {
		throw new PiError("command_failed", `Editor not found: ${command}`, { hint: "set $VISUAL or $EDITOR" });
	}
	return code;
}
