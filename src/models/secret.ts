import type { ExecFileException } from "node:child_process";
import type { Environment } from "../config/paths.js";
import { PiError } from "../errors.js";
import { formatDuration } from "../util/format-amounts.js";

/** A name such as `MY_PROXY_KEY`: capitals with an underscore. No provider issues keys like that. */
const VARIABLE = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/;
/** `$NAME` or `${NAME}`, as extensions and the shell write variables. */
const REFERENCE = /\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g;
const COMMAND_TIMEOUT_MS = 15_000;

/** Cached outputs of `!command`, by command. With another environment, such as that of another session, it may print another. */
const commandOutputs = new WeakMap<Environment, Map<string, Promise<string>>>();

/** Returns a configured secret if it is the name of an unset environment variable, else undefined. */
export function missingVariable(written: string, env: Environment): string | undefined {
	const name = variableOf(written);
	return name !== null && variable(name, env) === "" ? name : undefined;
}

/** The variable that a configured secret is; null for text. */
function variableOf(written: string): string | null {
	if (VARIABLE.test(written)) return written;
	const [reference, braced, plain] = [...written.matchAll(REFERENCE)][0] ?? [];
	return reference === written ? (braced ?? plain ?? null) : null;
}

/**
 * Resolves a configured secret: `!command` (its output), the name of an environment variable, also as `$NAME`, or the
 * secret itself, in which `$NAME` of a variable that is set is its value.
 * @returns undefined if it names a variable that is not set
 * @throws PiError `key_missing` if the command fails
 */
export async function resolveSecret(
	written: string,
	env: Environment,
	timeoutMs = COMMAND_TIMEOUT_MS,
): Promise<string | undefined> {
	if (written.startsWith("!")) return commandOutput(written.slice(1).trim(), env, timeoutMs);
	return plainSecret(written, env);
}

/** Like `resolveSecret`, but returns undefined for a command instead of running it. */
export function plainSecret(written: string, env: Environment): string | undefined {
	if (written.startsWith("!")) return undefined;
	const name = variableOf(written);
	if (name !== null) return variable(name, env) || undefined;
	const value = variable(written, env);
	return value || written.replace(REFERENCE, (text, braced, plain) => variable(braced ?? plain, env) || text);
}

/** The value of a variable; empty without one. */
function variable(name: string, env: Environment): string {
	return (Object.hasOwn(env, name) && env[name]?.trim()) || "";
}

async function commandOutput(command: string, env: Environment, timeoutMs: number): Promise<string> {
	const outputs = commandOutputs.get(env) ?? new Map<string, Promise<string>>();
	commandOutputs.set(env, outputs);
	const known = outputs.get(command);
	if (known) return known;
	const output = run(command, env, timeoutMs);
	outputs.set(command, output);
	// A failed command, such as one that reads a locked keyring, runs again for the next request.
	output.catch(() => outputs.delete(command));
	return output;
}

async function run(command: string, env: Environment, timeoutMs: number): Promise<string> {
	const { execFile } = await import("node:child_process");
	const windows = process.platform === "win32";
	const shell = windows ? "cmd.exe" : "/bin/sh";
	return new Promise((resolve, reject) => {
		const child = execFile(
			shell,
			[windows ? "/c" : "-c", command],
			{ env, timeout: timeoutMs, encoding: "utf8" },
			(error, stdout, stderr) => {
				const output = stdout.trim();
				if (!error && output) return resolve(output);
				reject(describeFailure(command, error, stderr, timeoutMs));
			},
		);
		child.stdin?.end();
	});
}

function describeFailure(command: string, error: ExecFileException | null, stderr: string, timeoutMs: number): PiError {
	const name = `The key command "${command}"`;
	// Node also kills a command that prints too much, whose error has a text as its code.
	const systemError = typeof error?.code === "string" ? error.message : null;
	if (error?.killed && systemError === null) {
		return new PiError("key_missing", `${name} timed out after ${formatDuration(timeoutMs)}`, {
			hint: "it must print the key without asking for anything; fix it in models.json",
		});
	}
	const ended = error?.signal ? `it was ended by ${error.signal}` : `exit code ${error?.code}`;
	const why = error ? (systemError ?? (stderr.trim().split("\n").at(-1) || ended)) : "it printed nothing";
	return new PiError("key_missing", `${name} failed: ${why}`, { hint: "fix it in models.json" });
}
