import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import { rgPath } from "@vscode/ripgrep";
import { onTestFinished } from "vitest";
import { createLocalMachine } from "../../src/tools/machine/local-machine.js";
import type { ToolHost } from "../../src/tools/machine/machine.js";
import type { ShellEngine } from "../../src/tools/machine/shell-engine.js";
import { createShellHost } from "../../src/tools/machine/shell-machine.js";
import { tempDir } from "./temp.js";

/**
 * The host on which the tests of tools run: `local`, `sh` (a shell on this machine), `sh-posix` (the same, without ripgrep) or
 * `sandbox` or one of engine-hosts.ts.
 */
export const TEST_HOST = process.env.PI_TEST_HOST ?? "local";

/** Why searches that only ripgrep can do are skipped; null if the host has it. */
export const NO_RIPGREP = ["busybox", "sh-posix"].includes(TEST_HOST)
	? `ripgrep is missing on the host ${TEST_HOST}`
	: null;

/** A shell on this machine, as an engine would start it elsewhere. */
export function localShell({ path = process.env.PATH ?? "", shell = "sh" } = {}): ShellEngine {
	return {
		name: "sh here",
		spawn: ([, ...args]) =>
			spawn(shell, args, {
				cwd: "/",
				env: { ...process.env, PATH: path },
				detached: true,
				stdio: ["pipe", "pipe", "pipe"],
			}),
	};
}

/** A PATH on which ripgrep is found first. */
export function withRipgrep(): string {
	const bin = join(tempDir(), "bin");
	mkdirSync(bin);
	symlinkSync(rgPath, join(bin, "rg"));
	return `${bin}:${process.env.PATH}`;
}

/** The PATH of the tests without ripgrep, which this machine may have. */
export function withoutRipgrep(): string {
	const bin = join(tempDir(), "bin");
	mkdirSync(bin);
	for (const directory of (process.env.PATH ?? "").split(delimiter).filter((path) => path !== "" && existsSync(path))) {
		for (const name of readdirSync(directory)) {
			// The first directory of a PATH wins.
			if (name !== "rg" && !existsSync(join(bin, name))) symlinkSync(join(directory, name), join(bin, name));
		}
	}
	return bin;
}

/** The host named by `PI_TEST_HOST`, with this working directory. It ends with the test. */
export async function createTestHost(cwd: string): Promise<ToolHost> {
	if (TEST_HOST === "local") return createLocalMachine(cwd);
	if (TEST_HOST !== "sh" && TEST_HOST !== "sh-posix") return createOtherHost(cwd);
	const engine = localShell({ path: TEST_HOST === "sh" ? withRipgrep() : withoutRipgrep() });
	const host = await createShellHost(engine, { cwd });
	onTestFinished(() => host.dispose());
	return host;
}

/** Imports bundled hooks, and with them most of pi, only where they are tested. */
async function createOtherHost(cwd: string): Promise<ToolHost> {
	if (TEST_HOST !== "sandbox") {
		const { openEngineHost } = await import("./engine-hosts.js");
		const engineHost = await openEngineHost(TEST_HOST, cwd);
		if (engineHost === undefined) throw new Error(`There is no host ${TEST_HOST}`);
		return engineHost;
	}
	const [{ default: sandbox }, { openHookHost }] = await Promise.all([
		import("../../hooks-examples/sandbox.js"),
		import("./hook-session.js"),
	]);
	const host = await openHookHost(sandbox, "sandbox:", { cwd });
	onTestFinished(() => host.dispose());
	return host;
}
