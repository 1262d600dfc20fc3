import type { Environment } from "../config/paths.js";
import { PiError } from "../errors.js";
import { type ExecResult, exec } from "../util/process.js";

/**
 * Variables that npm and git get: where programs and their settings are, proxies, certificates and the SSH agent. Keys of
 * models are not among them.
 */
const PASSED =
	/^(?:PATH|PATHEXT|SYSTEMROOT|USERPROFILE|APPDATA|LOCALAPPDATA|PROGRAMFILES|TEMP|TMP|TMPDIR|HOME|USER|LOGNAME|LANG|LANGUAGE|LC_[A-Z]+|XDG_[A-Z_]+|(?:https?|all|no)_proxy|SSL_CERT_(?:FILE|DIR)|NODE_EXTRA_CA_CERTS|GIT_SSL_CAINFO|GIT_CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM)|GIT_SSH(?:_COMMAND)?|SSH_AUTH_SOCK|npm_config_\w+)$/i;

/** A program that pi runs for packages. */
export interface ProgramOptions {
	env: Environment;
	cwd: string;
	signal?: AbortSignal;
	/** Added to the environment. */
	variables?: Readonly<Record<string, string>>;
}

const TIMEOUT_MS = 10 * 60_000;

/**
 * Runs npm or git as installed on this machine, without a terminal, so that it cannot ask.
 * @returns its output; the caller checks `code`
 * @throws PiError `package_failed` if the program is missing, or was ended
 */
export async function runProgram(
	program: "npm" | "git",
	args: readonly string[],
	{ env, cwd, signal, variables }: ProgramOptions,
): Promise<ExecResult> {
	const passed = Object.entries(env).flatMap(([name, value]) =>
		PASSED.test(name) && value !== undefined ? [[name, value] as const] : [],
	);
	const result = await exec(program, args, {
		cwd,
		...(signal ? { signal } : {}),
		timeout: TIMEOUT_MS,
		env: { ...Object.fromEntries(passed), ...variables },
		onlyEnv: true,
	});
	if (result.code === 127) {
		throw new PiError("package_failed", `${program} is not installed, or not in PATH`, {
			hint: program === "npm" ? "install Node.js with npm" : "install git",
		});
	}
	if (result.killed) {
		if (signal?.aborted) throw new PiError("package_failed", "The installation was stopped; nothing has changed");
		throw new PiError("package_failed", `${program} did not end within ${TIMEOUT_MS / 60_000} minutes`);
	}
	return result;
}
