/**
 * `pi --on sandbox:` runs tools and `!` commands in a sandbox: bubblewrap on Linux, sandbox-exec on macOS. They can write to
 * the working directory and a temporary directory of their own, and read the rest without your credentials. They have no
 * network unless you add `--sandbox-net`. pi itself, its requests to the model and hooks are outside. See docs/hosts.md.
 *
 * A program in the sandbox must not influence what runs outside: paths are resolved again for each command, programs are
 * started by absolute paths that it cannot write, and bubblewrap itself gets an empty environment.
 */
import { spawn } from "node:child_process";
import { realpathSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { PiError } from "@mariozechner/pi-coding-agent";
import type {
	HookAPI,
	ShellEngine,
	ToolHost,
	ToolHostContext,
	ToolHostSpec,
} from "@mariozechner/pi-coding-agent/hooks";
import { replacedDirectories } from "./sandbox/bubblewrap.js";
import { BubblewrapEngine } from "./sandbox/engine.js";
import { sandboxEnvironment } from "./sandbox/environment.js";
import { contains, distinct, exists, isFile, readText, realPath, TEMP_DIRS, words } from "./sandbox/files.js";
import { linkInside, repositoryPaths } from "./sandbox/repository.js";
import { seatbeltProfile } from "./sandbox/seatbelt.js";
import { type SandboxFacts, type SandboxSetup, secretPaths } from "./sandbox/secrets.js";
import { makeState, removeState } from "./sandbox/state.js";
import { systemCallFilter } from "./sandbox/system-calls.js";
import { findHidden } from "./sandbox/views.js";

/** Directories in which nothing may be writable, because programs outside use what they contain. */
const SYSTEM_DIRS = words`/bin /boot /dev /etc /lib /lib32 /lib64 /proc /run /sbin /sys /usr/bin /usr/lib /usr/sbin`;

export default function sandbox(pi: HookAPI): void {
	pi.flag("sandbox-net", { type: "boolean", description: "let the sandbox of --on sandbox: use the network" });
	pi.toolHost("sandbox", openSandbox);
}

async function openSandbox({ rest, text }: ToolHostSpec, ctx: ToolHostContext): Promise<ToolHost> {
	if (rest !== "") {
		throw new PiError("bad_arguments", `The host ${text} has an address, but a sandbox is on this machine`, {
			hint: "use --on sandbox:",
		});
	}
	const cwd = realpathSync(ctx.cwd);
	const facts = {
		platform: process.platform,
		cwd,
		// A program that pi starts with another HOME can still find the one of the user's account.
		homes: distinct([homedir(), userInfo().homedir].map(realPath)),
		env: process.env,
		sessionDir: ctx.sessionFile === null ? null : realPath(dirname(ctx.sessionFile)),
		hasNetwork: ctx.flags["sandbox-net"] === true,
		hasGit: exists(join(cwd, ".git")),
	};
	checkDirectory(facts);
	const program = findEngine(facts);
	const ripgrep = await findRipgrep();
	const filter = facts.platform === "linux" ? systemCallFilter(process.arch) : null;
	const engine = createEngine(program, { ...facts, ripgrep, state: await makeState(cwd, filter) }, filter !== null);
	try {
		return await ctx.shellHost(engine, { cwd, signal: ctx.signal });
	} catch (error) {
		await engine.dispose?.();
		ctx.signal.throwIfAborted();
		const reason = error instanceof Error ? error.message : String(error);
		throw new PiError("host_unreachable", `The sandbox does not work here, and pi runs nothing outside it: ${reason}`, {
			cause: error,
			hint: namespaceHint(),
		});
	}
}

/** Refuses a working directory that would let programs out of the sandbox. @throws PiError `bad_arguments` */
function checkDirectory(facts: SandboxFacts): void {
	const { cwd, homes } = facts;
	const reason = () => {
		if (homes.some((home) => contains(cwd, home))) return "shells run files of your home directory";
		const system = SYSTEM_DIRS.find((dir) => contains(cwd, dir) || contains(realPath(dir), cwd));
		if (system) return `programs outside use ${system}`;
		if (TEMP_DIRS.some((dir) => contains(cwd, realPath(dir)))) return "other programs keep sockets and files there";
		const secret = secretPaths({ ...facts, sessionDir: null }).find((path) => contains(realPath(path), cwd));
		if (secret) return `the sandbox hides ${secret}`;
		const git = join(cwd, ".git");
		const link = linkInside(cwd, repositoryPaths(cwd));
		if (link !== null) return link === git ? "its .git is a link" : `its .git names ${link}, which is a link`;
		return null;
	};
	const problem = reason();
	if (problem === null) return;
	throw new PiError("bad_arguments", `The sandbox cannot make ${cwd} writable: ${problem}`, {
		hint: "start pi in the directory of a project",
	});
}

/**
 * Finds the program that makes the sandbox.
 * @throws PiError `host_unreachable` if it is missing
 */
function findEngine({ platform, env, cwd }: SandboxFacts): string {
	if (platform === "darwin") return "/usr/bin/sandbox-exec";
	if (platform !== "linux") {
		throw new PiError("host_unreachable", `There is no sandbox for ${platform}, and pi runs nothing outside it`, {
			hint: "use --on ssh://, docker: or podman:, or start pi without --on sandbox:",
		});
	}
	for (const dir of (env.PATH ?? "").split(delimiter).filter(isAbsolute)) {
		const path = realPath(join(dir, "bwrap"));
		// A program that the sandbox could have written must not make the next sandbox.
		if (isFile(path) && ![cwd, ...TEMP_DIRS].some((writable) => contains(writable, path))) return path;
	}
	throw new PiError(
		"host_unreachable",
		"The sandbox needs bubblewrap: there is no bwrap in PATH, and pi runs nothing outside it",
		{
			hint: "install the package bubblewrap",
		},
	);
}

/** How to make user namespaces available, from the settings of the kernel. */
function namespaceHint(): string {
	if (process.platform !== "linux") return "see docs/hosts.md";
	const setting = (name: string) => readText(`/proc/sys/${name}`).trim();
	if (setting("kernel/unprivileged_userns_clone") === "0") return "sysctl -w kernel.unprivileged_userns_clone=1";
	if (setting("user/max_user_namespaces") === "0") return "sysctl -w user.max_user_namespaces=15000";
	if (setting("kernel/apparmor_restrict_unprivileged_userns") === "1") {
		return "AppArmor allows user namespaces only with a profile for bwrap; see docs/hosts.md";
	}
	return "see docs/hosts.md; a container needs permission to create user namespaces";
}

function createEngine(program: string, setup: SandboxSetup, hasFilter: boolean): ShellEngine {
	const env = sandboxEnvironment(setup);
	if (setup.platform === "darwin") {
		return {
			name: "sandbox",
			note: describeSandbox(setup),
			sharesFiles: true,
			spawn: (command) =>
				spawn(program, ["-p", seatbeltProfile(setup), ...command], { cwd: setup.cwd, env, detached: true }),
			dispose: () => removeState(setup.state),
		};
	}
	const { tooLarge } = findHidden(setup, replacedDirectories().isReplaced);
	const warnings = [...(hasFilter ? [] : [describeNoFilter()]), ...tooLarge.map(describeLarge)];
	return new BubblewrapEngine(program, setup, env, { note: describeSandbox(setup), warnings, hasFilter });
}

/** For the user of a machine whose system calls cannot be filtered. */
function describeNoFilter(): string {
	return `On ${process.arch}, the sandbox does not keep programs from the Unix sockets of others, such as an ssh-agent · see docs/hosts.md`;
}

/** For the user of a directory with secrets that is too large to be replaced. */
function describeLarge(dir: string): string {
	return `${dir} has so many entries that commands in the sandbox can see credentials that change there while they run · see docs/hosts.md`;
}

/** The sentence of the system prompt. */
function describeSandbox({ cwd, hasNetwork }: SandboxSetup): string {
	const network = hasNetwork
		? "The network is available."
		: "There is no network, and each command has processes and a loopback interface of its own.";
	return (
		`Tools and commands run in a sandbox: they can write only to ${cwd} (except .git) and to the temporary directory, ` +
		`and credentials are hidden. ${network} Unix sockets do not work, except pairs. ` +
		"If this makes a task impossible, tell the user instead of looking for a way around it."
	);
}

async function findRipgrep(): Promise<string | null> {
	try {
		const { rgPath } = await import("@vscode/ripgrep");
		return realPath(dirname(rgPath));
	} catch {
		return null;
	}
}
