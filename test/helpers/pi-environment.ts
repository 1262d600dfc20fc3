import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inject } from "vitest";
import { tempAgentDir, tempDir } from "./temp.js";

/** The program's entry point: of the installed package in e2e tests, else of the checkout, which must be built. */
export function piProgram(): string {
	return inject("program") ?? fileURLToPath(new URL("../../bin/pi.cjs", import.meta.url));
}

/** How a test starts the program. */
export interface PiOptions {
	/** Arguments after `pi`. */
	args?: string[];
	/** Added to the scrubbed environment; undefined removes a variable. */
	env?: Record<string, string | undefined>;
	/** Default: an empty directory. */
	cwd?: string;
	/** Default: an empty agent directory. */
	agentDir?: string;
	/** The JavaScript file to run. Default: `piProgram()`. */
	entry?: string;
}

/** Directories and environment of the program, private to the test. */
export interface PiPlace {
	env: Record<string, string>;
	cwd: string;
	agentDir: string;
	home: string;
}

/**
 * Creates a private environment for one start of the program: its own home, temp and agent directories, and an environment
 * without keys, proxies or anything else of the machine except PATH.
 */
export function piPlace(options: PiOptions): PiPlace {
	const home = tempDir("pi-home-");
	const agentDir = options.agentDir ?? tempAgentDir();
	const tmp = join(home, "tmp");
	mkdirSync(tmp);
	const cwd = options.cwd ?? join(home, "project");
	mkdirSync(cwd, { recursive: true });
	const env: Record<string, string> = {
		PATH: process.env.PATH ?? "/usr/bin:/bin",
		HOME: home,
		SHELL: "/bin/sh",
		TMPDIR: tmp,
		LANG: "C.UTF-8",
		TZ: "UTC",
		PI_CODING_AGENT_DIR: agentDir,
	};
	for (const [name, value] of Object.entries(options.env ?? {})) {
		if (value === undefined) delete env[name];
		else env[name] = value;
	}
	return { env, cwd, agentDir, home };
}
