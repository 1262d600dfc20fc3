import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import { piProgram } from "../helpers/pi-environment.js";
import { tempDir } from "../helpers/temp.js";
import { agentDirFor } from "./support.js";

interface Poverty {
	/** The complete environment, without the agent directory. */
	env?: Record<string, string>;
	/** Commands of the shell that starts pi. */
	before?: string;
	/** Redirections of pi. */
	redirect?: string;
}

/** Asks pi in print mode, started by a shell. The provider answers "hello". */
async function ask({ env = {}, before = ":", redirect = "" }: Poverty) {
	const provider = await startProvider();
	provider.reply("hello");
	const cwd = join(tempDir(), "project");
	mkdirSync(cwd);
	const program = `"${process.execPath}" "${piProgram()}" --model loopback/scripted -p hi`;
	const options = { cwd, env: { ...env, PI_CODING_AGENT_DIR: agentDirFor(provider) } };
	return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
		const child = execFile("/bin/sh", ["-c", `${before}; ${program} ${redirect}`], options, (error, stdout, stderr) =>
			resolve({ code: error?.code ?? 0, stdout, stderr }),
		);
		child.stdin?.end();
	});
}

test.each<[string, Poverty]>([
	["no environment", {}],
	["no home directory", { env: { HOME: "/nonexistent/home" } }],
	["no temporary directory", { env: { TMPDIR: "/nonexistent/tmp" } }],
	["an empty PATH", { env: { PATH: "" } }],
	["an unknown locale and time zone", { env: { LANG: "xx_YY.none", LC_ALL: "zz", TZ: "Nowhere/None" } }],
	["values that make no sense", { env: { TERM: "", COLUMNS: "-1", LINES: "x", FORCE_COLOR: "9", NO_COLOR: "" } }],
	["an environment of 120 KB", { env: { BIG: "x".repeat(120_000) } }],
	["40 open files", { before: "ulimit -n 40" }],
	["a heap of 64 MB", { env: { NODE_OPTIONS: "--max-old-space-size=64" } }],
	["stdin closed", { redirect: "<&-" }],
	["stderr closed", { redirect: "2>&-" }],
])("with %s, pi answers", async (_, poverty) => {
	expect(await ask(poverty)).toEqual({ code: 0, stdout: "hello\n", stderr: "" });
});

test("with stdout closed, pi ends silently", async () => {
	expect(await ask({ redirect: ">&-" })).toEqual({ code: 0, stdout: "", stderr: "" });
});

test("in a directory that was deleted, one line says so", async () => {
	const answer = await ask({ before: 'rmdir "$PWD"' });
	const stderr = "pi: the current directory no longer exists · change to another one\n";
	expect(answer).toEqual({ code: 1, stdout: "", stderr });
});
