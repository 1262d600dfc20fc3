import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inject } from "vitest";
import { tempAgentDir, tempDir } from "./temp.js";

/** The program's entry: of the installed program in e2e tests, else of the checkout, which needs a build. */
export function piProgram(): string {
	return inject("program") ?? fileURLToPath(new URL("../../bin/pi.js", import.meta.url));
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

/** Where the program runs. All of it is private to the test. */
export interface PiPlace {
	env: Record<string, string>;
	cwd: string;
	agentDir: string;
	home: string;
}

/**
 * A private place for one start of the program: home, temp and agent directory of its own, and an environment that
 * holds no key, no proxy and nothing else of the machine but PATH.
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
