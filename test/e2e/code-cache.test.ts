import { spawnSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import { piProgram } from "../helpers/pi-environment.js";
import { tempDir } from "../helpers/temp.js";
import { agentDirFor, openPi } from "./support.js";

/** Replaces the function that Node has since 22.1, so that every Node version shows the cache directory. */
const PRELOAD = `data:text/javascript,${encodeURIComponent(
	'import module from "node:module"; module.enableCompileCache = (where) => console.error("cache:" + where);',
)}`;

test("compiled code is cached in a directory that only the user can write to", () => {
	const agentDir = join(tempDir(), "agent");
	const { stderr } = spawnSync(process.execPath, ["--import", PRELOAD, piProgram(), "--list-models"], {
		encoding: "utf8",
		env: { PATH: process.env.PATH, PI_CODING_AGENT_DIR: agentDir, PI_OFFLINE: "1" },
	});
	const directory = join(agentDir, "cache", "node");
	expect(stderr).toContain(`cache:${directory}\n`);
	expect(statSync(directory).mode & 0o777).toBe(0o700);
});

test("a home directory without write access only disables the cache", () => {
	const { stderr, status } = spawnSync(process.execPath, ["--import", PRELOAD, piProgram(), "--list-models"], {
		encoding: "utf8",
		env: { PATH: process.env.PATH, PI_CODING_AGENT_DIR: "/dev/null/agent", PI_OFFLINE: "1" },
	});
	expect(stderr).not.toContain("cache:");
	expect(stderr).toContain("No model is set up");
	expect(status).toBe(1);
});

test("a second start takes all code from the cache", async () => {
	const agentDir = agentDirFor(await startProvider());
	const directory = join(agentDir, "cache", "node", `${process.version}-${process.arch}`);
	/** What changes when a file is written again. */
	const written = () => readdirSync(directory).map((name) => [name, statSync(join(directory, name)).ino]);
	const startAndQuit = async () => {
		const pi = await openPi({ agentDir });
		await pi.press("ctrl+d");
		await pi.exited;
	};
	await startAndQuit();
	const first = written();
	expect(first.length).toBeGreaterThan(5);
	await startAndQuit();
	expect(written()).toEqual(expect.arrayContaining(first));
});
